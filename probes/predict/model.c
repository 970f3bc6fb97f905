/* SPDX-License-Identifier: Apache-2.0 */
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

static double
once(double p, double g)
{
	(void)p;
	(void)g;
	return 1;
}

static double
others(double p, double g)
{
	return p / (p - g);
}

static double
others_twice(double p, double g)
{
	return p / (2 * (p - g));
}

static double
others_each(double p, double g)
{
	return p / (g * (p - g));
}

static const struct {
	const char *name;
	double (*factor)(double p, double g);
} bounds[] = {
	{ "broadcast", once },
	{ "reduce", once },
	{ "gather", others },
	{ "scatter", others },
	{ "allgather", others },
	{ "reduce-scatter", others },
	{ "allreduce", others_twice },
	{ "alltoall", others_each },
};

double
model_bound_per_s(const char *name, uint32_t p, uint32_t g, double node_per_s)
{
	if (p <= g)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		if (strcmp(bounds[i].name, name) == 0)
			return node_per_s * bounds[i].factor(p, g);
	return 0;
}
