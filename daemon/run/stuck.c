/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.c - who waits for whom in vain, and who only for one of those.
 */
#include "daemon/run/run_int.h"

static int
is_in_vain(const struct stuck_rank *ranks, size_t count,
    const struct stuck_rank *one)
{
	for (size_t i = 0; i < count; i++)
		if (ranks[i].rank == one->with)
			return ranks[i].at >= one->at;
	return 1;
}

static int
is_same_pair(const struct stuck_rank *a, const struct stuck_rank *b)
{
	return (a->node == b->node && a->with_node == b->with_node) ||
	    (a->node == b->with_node && a->with_node == b->node);
}

size_t
stuck_pairs(const struct stuck_rank *ranks, size_t count,
    struct stuck_rank *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		if (ranks[i].with_node == NULL ||
		    !is_in_vain(ranks, count, &ranks[i]))
			continue;
		while (k < kept && !is_same_pair(&ret[k], &ranks[i]))
			k++;
		if (k == kept)
			ret[kept++] = ranks[i];
	}
	return kept;
}
