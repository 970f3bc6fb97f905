/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - a kind of fault: a row of faults.c, and the calls of its file. The
 * words of its verdicts and their meanings are in schema/faults.inc.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_H
#define DAEMON_DIAGNOSIS_FAULT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/names_verdict.h"

struct diagnosis;
struct diagnosis_series;
struct diagnosis_source;
struct incident;
struct node;
struct round;
struct confirm_pair;

/* The evidence that shows a fault. */
enum fault_source {
	FAULT_ROUNDS, /* rounds of tests and echoes */
	FAULT_LOSSES, /* losses of echoes */
	FAULT_FACT    /* the report of a program; without rounds */
};

/* A kind of fault. */
struct fault_kind {
	enum what what;  /* the word of a new case */
	uint32_t others; /* further words, 1 << enum what */
	/* The words of cases that need no confirmation or follow-up run,
	 * because the network is not their cause, 1 << enum what. */
	uint32_t excused;
	uint8_t about;         /* its subjects, 1 << enum judge_kind */
	enum verdict severity; /* verdict of a new case */
	enum fault_source source;
	size_t bytes; /* size of incident.data, which begins as zeros */
	/* 1: a judge finds it slower than peers, by rounds. */
	uint8_t is_judged;
	uint8_t is_share;       /* 1: only some pairs of its subject are slow */
	uint8_t is_confirmable; /* 1: a confirmation run can confirm it */
	uint8_t is_certain;     /* 1: if bad, it needs no other explanation */
	uint8_t stops_runs; /* 1: MPI cannot exchange messages with a subject */
	/* 1: not loaded, but detected again after a restart. */
	uint8_t is_volatile;

	/* Input: called for all kinds, in the order of the table. NULL: not
	 * used. */
	/* Called about once a second. */
	void (*tick)(struct diagnosis *d);
	/* The ports or settings of a node may have changed. */
	void (*hear_node)(struct diagnosis *d, const struct node *n);
	/* Process a record, and the end of a run. */
	void (*hear_record)(struct diagnosis *d,
	    const struct diagnosis_source *from, const struct round *round);
	void (*run_over)(struct diagnosis *d, const char *run);
	/* Process a round after its judge; the distances are in d->obs. */
	void (*hear_round)(struct diagnosis *d, struct diagnosis_series *s,
	    size_t count, const struct diagnosis_source *from);
	void (*free)(struct diagnosis *d);

	/* Calls for an open case k of this kind. */
	/* Append the text of the case, up to VERDICT_TEXT_MAX bytes in total.
	 */
	void (*text)(const struct diagnosis *d, const struct incident *k,
	    char *text);
	/* Return the next step of an operator. NULL: the step that
	 * schema/faults.inc has for its word. */
	const char *(
	    *step)(const struct diagnosis *d, const struct incident *k);
	/* Return the size of the effect, a logarithm; only for kinds with a
	 * judge. */
	double (*effect)(const struct diagnosis *d, const struct incident *k);
	/* Add the members of the case to o, in which member effect is 0; only
	 * for kinds without a judge. */
	void (*json)(const struct diagnosis *d, const struct incident *k,
	    json_t *o);
	/* Load the members that json has added. Return 0; -EAGAIN: the fault is
	 * detected again if it still exists; -EPROTO: a later version has
	 * written the members. NULL: nothing to load. */
	int (
	    *restore)(struct diagnosis *d, struct incident *k, const json_t *o);
	/* Update the text after a round of its series, or end the case. NULL:
	 * the case ends when its fact ends. */
	void (*still)(struct diagnosis *d, struct incident *k);
	/* Process the result that a confirmation run has dismissed the case. */
	void (*dispel)(struct diagnosis *d, struct incident *k);
	/* Process the pairs that a confirmation run has measured. slow_min: the
	 * effect from which on a pair is slow, see confirm_judge. */
	void (*hear_pairs)(struct diagnosis *d, struct incident *k,
	    const struct confirm_pair *pairs, size_t n, double slow_min);
};

#endif
