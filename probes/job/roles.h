/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.h - which nodes are canaries and which are congestors. Pure.
 *
 * Nodes are shuffled by the seed, so that no placement and no tuning of ranks
 * can keep canaries and congestors apart (GPCNeT section 3.3).
 */
#ifndef PROBES_JOB_ROLES_H
#define PROBES_JOB_ROLES_H

#include <stdint.h>

#define ROLES_CANARY     (-1) /* else an index into the mix */
#define ROLES_CANARY_MIN 2
#define ROLES_PER_KIND   2

struct roles_ask {
	int nodes;
	int kinds;    /* of congestors; 0: every node is a canary */
	double share; /* of the nodes, for canaries */
	uint64_t seed;
};

/* Canary nodes among that many: the share rounded to nearest, at least 2. */
int roles_canaries(const struct roles_ask *ask);
/* The smallest number of nodes that would do. */
int roles_needed(const struct roles_ask *ask);
/* ret_role[node] for ask->nodes nodes: ROLES_CANARY or the kind. -ERANGE when
 * there are too few nodes. */
int roles_assign(const struct roles_ask *ask, int *ret_role);

#endif
