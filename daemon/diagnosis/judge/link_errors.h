/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_errors.h - ports, and GPUs, whose error counters go up again and again:
 * a Bernoulli CUSUM (Page 1954) over looks, of each kind of error apart. Pure.
 *
 * What counts is not how many errors a look found, which come in bursts, but
 * whether it found more than LINK_TIMES what half of the ports of that name
 * count in such a time: one at least. Each look adds the logarithm of how much
 * likelier it is of a port that errs in a share p1 of its looks than in p0: p0
 * is that of the others of its name, learned from those that are not near an
 * alarm, p1 is LINK_P1 or four times p0. One replugged cable is one look;
 * errors all the time raise a port in half a dozen, those that come every three
 * hours in two days. A counter that no machine in order has (is_fact of
 * schema/names_link.h) raises its port at once.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_LINK_ERRORS_H
#define DAEMON_DIAGNOSIS_JUDGE_LINK_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "schema/names_link.h"

#define LINK_P1       0.05
#define LINK_P0_MIN   1e-3
#define LINK_P_MAX    0.95
#define LINK_TIMES    10
#define LINK_CLEAN    24 /* looks without, of one that had them always */
#define LINK_PORT_MAX 40
#define LINK_CLASSES  64 /* names; all others are one more */
#define LINK_OCTAVES  64

/* A port that has counted errors of a kind lately. */
struct link_sum {
	char port[LINK_PORT_MAX], counter[LINK_PORT_MAX]; /* the newest */
	enum link_error kind;
	double sum;
	uint64_t errors, span_s;  /* since the sum was 0 */
	uint32_t looks, with;     /* likewise; with: errors */
	uint32_t clean;           /* looks since the last with errors */
	uint32_t told, told_with; /* of them in what is usual */
	uint8_t raised, seen;     /* seen: in the look that is read */
};
struct link_place {
	struct link_sum *sums;
	size_t count;
	size_t ports; /* that its last look was at */
};
/* Ports of one name, the last day's: looks, those with errors, and by how many
 * (octave 0: none). */
struct link_class {
	char port[LINK_PORT_MAX];
	struct link_usual {
		double looks, with, octaves[LINK_OCTAVES];
	} usual[LINK_ERROR_MAX];
};
struct link_watch {
	struct link_place *places; /* by node id */
	size_t count;
	size_t ports; /* of all places */
	struct link_class *classes;
	size_t class_count;
};

/* What one port has counted since the look before, by its largest counter of
 * each kind; 0: nothing. */
struct link_port {
	const char *name;
	struct {
		uint64_t errors;
		const char *counter;
		int is_fact;
	} of[LINK_ERROR_MAX];
};

/* One look at all ports of a place. */
void link_look(struct link_watch *w, uint32_t place, uint64_t span_s,
    const struct link_port *ports, size_t count);
/* The worst that is raised there, or NULL. */
const struct link_sum *link_worst(const struct link_watch *w, uint32_t place);
/* As an earlier life left it. */
void link_restore(struct link_watch *w, uint32_t place,
    const struct link_sum *as);
/* Share of looks in which other ports of its name count errors of its kind. */
double link_usual_share(const struct link_watch *w, const struct link_sum *s);
void link_clear(struct link_watch *w);

#endif
