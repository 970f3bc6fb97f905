/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter.c - times and rates scatter by factors, so logarithms are compared.
 * Of many nodes or pairs some are far from the middle by chance, so the limit
 * depends on their number.
 */
#include "ctl/lib/scatter.h"

#include <math.h>
#include <stdlib.h>

#include "common/member.h"
#include "common/robust.h"
#include "common/xalloc.h"

#define SIGMAS    4.0  /* at least, from the median absolute deviation */
#define SHARE     1.1  /* factor to the middle, at least */
#define NODES_MIN 3    /* to compare */
#define CHANCE    0.01 /* that any node, or any pair, is beyond the limit */

/* Return how far above the middle the slowest of `count` parts is at most. Few
 * nodes show the scatter less well, as Student's t distribution has it. */
static double
scatter_reach(double sigma, double nodes, double count)
{
	double p = 1 - CHANCE / fmax(1, count);

	return nodes < NODES_MIN
	    ? INFINITY
	    : fmax(sigma * fmax(SIGMAS, robust_t_quantile(p, nodes - 1)),
		  log(SHARE));
}

struct scatter
scatter_of(const json_t *record, int sign)
{
	const json_t *nodes = json_object_get(record, "nodes"), *o;
	double *x = xcalloc(json_array_size(nodes) + 1, sizeof(*x)), n, sigma;
	struct scatter ret = { .sign = sign };
	size_t count = 0, i;

	json_array_foreach (nodes, i, o) {
		x[count] = sign * log(member_number(o, "p50"));
		if (!isfinite(x[count]))
			continue;
		count++;
		ret.samples += member_number(o, "n");
	}
	n = (double)count;
	ret.samples /= n;
	ret.middle = robust_median(x, count);
	sigma = robust_mad(x, count, ret.middle);
	ret.node_reach = scatter_reach(sigma, n, n);
	ret.pair_reach = scatter_reach(sigma, n,
	    n / 2 * fmin(n - 1, ret.samples));
	free(x);
	return ret;
}

int
scatter_has_node(const struct scatter *s, double value)
{
	return s->sign * log(value) > s->middle + s->node_reach;
}

int
scatter_has_pair(const struct scatter *s, double value, double n)
{
	double few = s->samples > n && n > 0 ? sqrt(s->samples / n) : 1;

	return s->sign * log(value) > s->middle + few * s->pair_reach;
}
