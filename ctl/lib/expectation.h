/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.h - the performance to expect from some nodes today: the engine's
 * prediction for their machine, corrected by the collector's newest scores and
 * by the results of measured runs.
 */
#ifndef CTL_LIB_EXPECTATION_H
#define CTL_LIB_EXPECTATION_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "ctl/lib/ctl.h"

#define EXPECTATION_LEVEL 0.95 /* confidence level of intervals */
#define EXPECTATION_SOUND 0.95 /* lower limit of a normal node's share */

/* The arguments. */
struct expectation_spec {
	const char *machine;
	const char *op;   /* a collective; NULL: plan */
	const char *plan; /* PROBE option=value ... */
	uint64_t bytes;   /* of op: size of a block of every rank */
	int ranks_per_node;
	uint64_t until_ns;       /* time limit by clk_ns(); 0: none */
	const json_t *reference; /* rows of reference.h; NULL: none */
};

/* Read the options --machine, --op, --bytes, --ranks-per-node and --plan.
 * Return 0 or an exit code. */
int expectation_options(struct ctl *c, struct expectation_spec *ret);

/* Get from the collector what a prediction needs in addition to --machine:
 * {nodes leaves speedups}, as its API returns them. The caller decrefs it.
 * Return 0 or an exit code. */
int expectation_facts(struct ctl *c, json_t **ret);

/* Compute the expectation for a list of nodes, in natural order: {nodes ranks
 * seconds interval{level lo hi} predicted_seconds limit busy rate_bytes_per_s
 * compared slow unknown best}. best: the same object for as many of the best
 * nodes. Return 0 and the object, which the caller decrefs; or -errno with err.
 */
int expectation_make(const struct expectation_spec *spec, const json_t *facts,
    const char *nodes, json_t **ret, struct err *err);
/* Compute the expectations for several lists as expectation_make does, as an
 * array; the engine is started only once. */
int expectation_make_all(const struct expectation_spec *spec,
    const json_t *facts, const char *const *lists, size_t count, json_t **ret,
    struct err *err);
/* Return a list of the same number of nodes, or of fewer if there are not
 * enough: the nodes of the list that facts do not mark as gone, then the best
 * of the other nodes. The caller frees it. Return NULL without any node. */
char *expectation_replace(const json_t *facts, const char *nodes);
/* Print a line for each published result of the same class. */
void expectation_print_published(const json_t *o);
/* Print one line: "12.3 ms, in 95 of 100 runs 12.0 ms to 12.9 ms (by 6
 * runs)". */
void expectation_print(const json_t *o);

#endif
