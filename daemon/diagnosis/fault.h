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
struct round;
struct confirm_pair;

/* What shows a fault. */
enum fault_source {
	FAULT_ROUNDS, /* of tests and echoes */
	FAULT_LOSSES, /* of echoes */
	FAULT_FACT    /* what a program reports; without rounds */
};

struct fault_kind {
	enum what what;        /* the word of a new case */
	uint32_t others;       /* further words, 1 << enum what */
	uint8_t about;         /* its subjects, 1 << enum judge_kind */
	enum verdict severity; /* of a new case */
	enum fault_source source;
	size_t bytes;           /* of incident.data, 0 at first */
	uint8_t is_judged;      /* slower than peers, by its rounds */
	uint8_t is_share;       /* of its pairs only some are slow */
	uint8_t is_confirmable; /* by a confirmation run */
	uint8_t is_certain;     /* if bad, it needs no other explanation */
	uint8_t is_volatile;    /* detected again after a restart */

	/* Input, all kinds in their order in the table. NULL: not used. */
	/* About once a second. */
	void (*tick)(struct diagnosis *d);
	/* A record, and the end of a run. */
	void (*hear_record)(struct diagnosis *d,
	    const struct diagnosis_source *from, const struct round *round);
	void (*run_over)(struct diagnosis *d, const char *run);
	/* A round, after its judge: the distances are in d->obs. */
	void (*hear_round)(struct diagnosis *d, struct diagnosis_series *s,
	    size_t count, const struct diagnosis_source *from);
	void (*free)(struct diagnosis *d);

	/* An open case. */
	/* Append its text, at most VERDICT_TEXT_MAX bytes. */
	void (*text)(const struct diagnosis *d, const struct incident *k,
	    char *text);
	/* Return the operator's next step; NULL: the one of its word. */
	const char *(
	    *step)(const struct diagnosis *d, const struct incident *k);
	/* Of a judge: return its size, a logarithm. */
	double (*effect)(const struct diagnosis *d, const struct incident *k);
	/* Without a judge: add its members; member effect is 0. */
	void (*json)(const struct diagnosis *d, const struct incident *k,
	    json_t *o);
	/* Load them. Return 0; -EAGAIN: it is detected again if it still
	 * exists; -EPROTO: of a later version. NULL: nothing to load. */
	int (
	    *restore)(struct diagnosis *d, struct incident *k, const json_t *o);
	/* After each round of its series: update the text, or end the case.
	 * NULL: it ends when its fact ends. */
	void (*still)(struct diagnosis *d, struct incident *k);
	/* A confirmation run has dismissed it. */
	void (*dispel)(struct diagnosis *d, struct incident *k);
	/* A confirmation run has measured many pairs. */
	void (*hear_pairs)(struct diagnosis *d, struct incident *k,
	    const struct confirm_pair *pairs, size_t n, double slow_min);
};

#endif
