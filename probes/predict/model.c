/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - formulas and nothing else; bounds of collectives are rows of how
 * often the bytes pass a node's NICs.
 */
#include "probes/predict/model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/str.h"

double
model_packed_per_s(double nic_per_s, uint32_t per_nic, uint32_t k)
{
	double more = k > per_nic ? (double)(k - per_nic) / per_nic : 0;

	return nic_per_s * (1 + more);
}

double
model_round_robin_per_s(double nic_per_s, uint32_t nics, uint32_t k)
{
	return nic_per_s * k / ceil((double)k / nics);
}

double
model_ring_s(const struct model_cast *mc)
{
	double piece_s = mc->bytes / mc->node_per_s / mc->depth;

	return (mc->alpha_s + piece_s) * ((double)mc->nodes + mc->depth - 2);
}

double
model_tree_s(const struct model_cast *mc)
{
	double all_s = mc->bytes / mc->node_per_s;

	return (mc->alpha_s * mc->depth + all_s) * log2(mc->nodes);
}

/* A bound is the rate of a node's NICs, times p over the traffic through them:
 * the traffic of the p - g other ranks, for each rank of the node or once. */
static const struct {
	const char *name;
	int others; /* 0: the rate of the NICs alone */
	int each;
} bounds[] = {
	{ "broadcast", 0, 0 },
	{ "reduce", 0, 0 },
	{ "gather", 1, 0 },
	{ "scatter", 1, 0 },
	{ "allgather", 1, 0 },
	{ "reduce-scatter", 1, 0 },
	{ "allreduce", 2, 0 },
	{ "alltoall", 1, 1 },
};

double
model_bound_per_s(const char *name, uint32_t p, uint32_t g, double node_per_s)
{
	if (p <= g)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		double moved = bounds[i].others * (double)(p - g);

		if (strcmp(bounds[i].name, name) != 0)
			continue;
		if (bounds[i].each)
			moved *= g;
		return bounds[i].others == 0 ? node_per_s
					     : node_per_s * (p / moved);
	}
	return 0;
}
