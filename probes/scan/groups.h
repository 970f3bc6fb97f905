/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - canary tests in several groups of nodes at the same time. Rank 0
 * decides; all other ranks serve it, and sleep while they have no part.
 */
#ifndef PROBES_SCAN_GROUPS_H
#define PROBES_SCAN_GROUPS_H

#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "probes/scan/scan_judge.h"

#define GROUPS_TESTS_MAX 3

/* The arguments of a measurement. */
struct groups_ask {
	int groups; /* number of groups; 0: the end */
	int test_count;
	enum canary_test tests[GROUPS_TESTS_MAX];
	double time_s;  /* time of all tests together */
	int rounds_min; /* least rounds of each test */
};

/* Rank 0: measure. of_node[node] is the group of a node, or -1. ret: room for
 * groups * test_count results; the results of a group are next to each other.
 * The caller clears each. */
void groups_measure(struct world *w, const struct settings *base,
    const struct groups_ask *ask, const int *of_node,
    struct scan_judge_result *ret);
/* Rank 0, at the end: let the other ranks return from groups_serve. */
void groups_end(struct world *w);
/* All ranks except 0: serve rank 0 until groups_end. */
void groups_serve(struct world *w, const struct settings *base);

#endif
