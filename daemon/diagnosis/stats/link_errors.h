/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_errors.h - find ports, and GPUs, whose error counters increase again and
 * again: a Bernoulli CUSUM (cumulative sum; Page 1954) over looks, separate for
 * each kind of error. A look is one reading of the counters by the agent of the
 * node. Pure.
 *
 * Errors come in bursts, so their number in a look does not count. A look
 * counts if it found more than LINK_TIMES the errors that half of the ports of
 * this name have in this time, at least one. Each look adds the log likelihood
 * ratio of a port with errors in a share p1 of its looks against p0. p0 is the
 * share of the other ports of its name, learned from ports that are not near an
 * alarm; p1 is LINK_P1 or four times p0. One replugged cable is one look.
 * Continuous errors raise a port in half a dozen looks, errors every three
 * hours in two days. A counter that stays 0 on a working machine (is_fact of
 * schema/names_link.h) raises its port at once.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_LINK_ERRORS_H
#define DAEMON_DIAGNOSIS_STATS_LINK_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "schema/names_link.h"

/* Shares of looks with errors, and times the usual errors: see above. The
 * least p0 is one look in three days; above the largest p a port always has
 * errors, so nothing can be detected. */
#define LINK_P1       0.05
#define LINK_P0_MIN   1e-3
#define LINK_P_MAX    0.95
#define LINK_TIMES    10
#define LINK_CLEAN    24 /* looks without errors, if it always had some */
#define LINK_PORT_MAX 40 /* bytes of the name of a port */
#define LINK_CLASSES  64 /* names; all further names share one more */
#define LINK_OCTAVES  64 /* powers of two of an error count */

/* A port with recent errors of one kind. */
struct link_sum {
	/* Name of the port, and its newest counter with errors. */
	char port[LINK_PORT_MAX], counter[LINK_PORT_MAX];
	enum link_error kind;
	double sum;
	uint64_t errors, span_s;  /* since the sum was 0 */
	uint32_t looks, with;     /* since the sum was 0; with: with errors */
	uint32_t clean;           /* looks since the last with errors */
	uint32_t told, told_with; /* looks, and looks with errors, that the
				     usual share includes */
	uint8_t raised, seen;     /* seen: present in the look in progress */
};
/* The ports of a node with recent errors. */
struct link_place {
	struct link_sum *sums;
	size_t count;
	size_t ports; /* number of its ports in its last look */
};
/* Ports of one name in the last day: looks, looks with errors, and looks by the
 * logarithm of their errors (octave 0: none). */
struct link_class {
	char port[LINK_PORT_MAX];
	struct link_usual {
		double looks, with, octaves[LINK_OCTAVES];
	} usual[LINK_ERROR_MAX];
};
/* All ports. Begins as zeros. */
struct link_watch {
	struct link_place *places; /* by node id */
	size_t count;
	size_t ports; /* number of ports of all places */
	struct link_class *classes;
	size_t class_count;
};

/* Errors that one port has counted since the look before, by its largest
 * counter of each kind; 0: none. */
struct link_port {
	const char *name;
	struct {
		uint64_t errors;
		const char *counter;
		int is_fact;
	} of[LINK_ERROR_MAX];
};

/* Process one look at all ports of a place. */
void link_look(struct link_watch *w, uint32_t place, uint64_t span_s,
    const struct link_port *ports, size_t count);
/* Return the worst raised sum of the place, or NULL. */
const struct link_sum *link_worst(const struct link_watch *w, uint32_t place);
/* Restore a sum that was stored before a restart. */
void link_restore(struct link_watch *w, uint32_t place,
    const struct link_sum *as);
/* Return the share of looks in which other ports of its name count errors of
 * its kind. */
double link_usual_share(const struct link_watch *w, const struct link_sum *s);
/* Free the lists. */
void link_clear(struct link_watch *w);

#endif
