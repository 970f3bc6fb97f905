/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - canary tests in several groups of nodes at the same time, as rank
 * 0 asks. All other ranks serve it, and sleep while they have no part.
 */
#ifndef PROBES_SCAN_GROUPS_H
#define PROBES_SCAN_GROUPS_H

#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "probes/scan/scan_judge.h"

#define GROUPS_TESTS_MAX 3

struct groups_ask {
	int groups; /* 0: no more are asked for */
	int test_count;
	enum canary_test tests[GROUPS_TESTS_MAX];
	double time_s;  /* of all tests together */
	int rounds_min; /* of each */
};

/* Rank 0: measure; of_node[node] is the node's group, or -1. ret has room for
 * groups * test_count results, the results of a group next to each other; the
 * caller clears each. */
void groups_measure(struct world *w, const struct settings *base,
    const struct groups_ask *ask, const int *of_node,
    struct scan_judge_result *ret);
/* Rank 0, at the end: the others return from groups_serve. */
void groups_end(struct world *w);
void groups_serve(struct world *w, const struct settings *base);

#endif
