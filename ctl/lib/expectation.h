/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.h - the performance to expect of some nodes today: the engine's
 * prediction for their machine, corrected by the collector's newest scores and
 * by the results of its measured runs.
 */
#ifndef CTL_LIB_EXPECTATION_H
#define CTL_LIB_EXPECTATION_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "ctl/lib/ctl.h"

#define EXPECTATION_LEVEL 0.95
#define EXPECTATION_SOUND 0.95 /* lower limit of a normal node's share */

struct expectation_spec {
	const char *machine;
	const char *op;   /* a collective; NULL: plan */
	const char *plan; /* PROBE option=value ... */
	uint64_t bytes;   /* of op: a block for every rank */
	int ranks_per_node;
	uint64_t until_ns;       /* of clk_ns(); 0: as long as it takes */
	const json_t *reference; /* rows of reference.h; NULL: none */
};

/* Read --machine, --op, --bytes, --ranks-per-node and --plan. Return 0, or an
 * exit code after printing the error. */
int expectation_options(struct ctl *c, struct expectation_spec *ret);

/* Get the collector's data for a prediction, which needs --machine: {nodes
 * leaves speedups}, as in its API. Return 0 or an exit code. The caller
 * decrefs. */
int expectation_facts(struct ctl *c, json_t **ret);

/* Of a list of nodes, in human order: {nodes ranks seconds interval{level lo
 * hi} predicted_seconds limit busy rate_bytes_per_s compared slow unknown
 * best}, best being what as many of the best nodes would give. */
int expectation_make(const struct expectation_spec *spec, const json_t *facts,
    const char *nodes, json_t **ret, struct err *err);
/* The same of several lists, as an array, which starts the engine once. */
int expectation_make_all(const struct expectation_spec *spec,
    const json_t *facts, const char *const *lists, size_t count, json_t **ret,
    struct err *err);
/* Return a list of as many nodes, or fewer if there are not enough: those of
 * the list that facts do not mark as gone, then the best of the others; NULL
 * without any. The caller frees. */
char *expectation_replace(const json_t *facts, const char *nodes);
/* A line for each published result of the same class, if there are any. */
void expectation_print_published(const json_t *o);
/* "12.3 ms, in 95 of 100 runs 12.0 ms to 12.9 ms (by 6 runs)", a line. */
void expectation_print(const json_t *o);

#endif
