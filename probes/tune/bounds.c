/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.c - a few plans of pairs and groups give the rate of a node, from
 * which the bound of each collective follows.
 */

#include "probes/tune/bounds.h"

#include <string.h>

#include "common/xalloc.h"
#include "probes/predict/model.h"

#define BYTES_MAX                                                              \
	(64ULL << 20) /* long enough for any NIC to be at its best             \
		       */

char *
bounds_words(const struct bounds *b, enum bounds_probe which, uint64_t bytes,
    const char *via)
{
	unsigned long long n = bytes;
	unsigned g = b->per_node;

	if (which >= BOUNDS_PAIRS)
		return xasprintf("pairs g=%u bytes=%llu shift=%d via=%s", g, n,
		    which == BOUNDS_SHIFTED, via);
	return xasprintf("group pattern=rail direction=%s n=2 g=%u k=%u "
			 "count=%llu type=byte via=%s",
	    which == BOUNDS_ONE_WAY ? "out" : "bi", g, g, n, via);
}

/* Return the bytes of all blocks, striped over the ranks of a node, as for a
 * broadcast. */
uint64_t
bounds_bytes(const struct bounds *b, uint64_t block_bytes)
{
	double bytes = (double)block_bytes * b->ranks / b->per_node;

	if (bytes > (double)BYTES_MAX)
		return BYTES_MAX;
	return bytes < 1 ? 1 : (uint64_t)bytes;
}

void
bounds_learn(struct bounds *b, enum bounds_probe which, uint64_t bytes,
    double s)
{
	double per_s = (double)bytes * b->per_node / s;

	double *best = which == BOUNDS_ONE_WAY ? &b->one_way_per_s
					       : &b->each_way_per_s;

	if (per_s > *best)
		*best = per_s;
}

double
bounds_per_s(const struct bounds *b, const char *collective)
{
	int one_way = strcmp(collective, "gather") == 0 ||
	    strcmp(collective, "scatter") == 0;

	return model_bound_per_s(collective, b->ranks, b->per_node,
	    one_way ? b->one_way_per_s : b->each_way_per_s);
}
