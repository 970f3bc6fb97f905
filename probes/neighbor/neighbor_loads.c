/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/neighbor/neighbor.h"

uint32_t
neighbor_nodes(const struct neighbor *nb)
{
	return (nb->ranks + nb->per_node - 1) / nb->per_node;
}

/* A message between two nodes; its bytes. */
static uint64_t
load_add(struct neighbor_load *loads, uint32_t from, uint32_t to,
    uint64_t bytes)
{
	if (from == to)
		return 0;
	loads[from].out_bytes += bytes;
	loads[to].in_bytes += bytes;
	return bytes;
}

void
neighbor_loads_make(const struct neighbor *nb, struct neighbor_loads *ret)
{
	const struct graph_edge *e = nb->graph.edges;

	memset(ret, 0, sizeof(*ret));
	ret->nodes = neighbor_nodes(nb);
	ret->direct = xcalloc(ret->nodes, sizeof(*ret->direct));
	ret->leader = xcalloc(ret->nodes, sizeof(*ret->leader));
	for (size_t i = 0; i < nb->graph.count; i++) {
		uint32_t from = e[i].src / nb->per_node;
		uint32_t to = e[i].dst / nb->per_node;
		uint64_t bytes = nb->sizes[e[i].src];
		int again = i > 0 && e[i - 1].src == e[i].src;
		int copied = again && e[i - 1].dst == e[i].dst;
		int there = again && e[i - 1].dst / nb->per_node == to;

		ret->direct_bytes += load_add(ret->direct, from, to, bytes);
		/* below the threshold a copy still costs nothing */
		if (bytes < nb->threshold ? copied : there)
			continue;
		ret->leader_bytes += load_add(ret->leader, from, to, bytes);
	}
}

void
neighbor_loads_clear(struct neighbor_loads *nl)
{
	free(nl->direct);
	free(nl->leader);
	memset(nl, 0, sizeof(*nl));
}

static uint64_t
fullest(const struct neighbor_load *loads, uint32_t nodes)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		if (loads[i].out_bytes > most)
			most = loads[i].out_bytes;
		if (loads[i].in_bytes > most)
			most = loads[i].in_bytes;
	}
	return most;
}

double
neighbor_loads_bound(const struct neighbor_loads *nl)
{
	uint64_t leader = fullest(nl->leader, nl->nodes);

	if (leader == 0)
		return 1;
	return (double)fullest(nl->direct, nl->nodes) / (double)leader;
}

double
neighbor_loads_ratio(const struct neighbor_loads *nl)
{
	if (nl->leader_bytes == 0)
		return 1;
	return (double)nl->direct_bytes / (double)nl->leader_bytes;
}

double
neighbor_ratio_expected(double density, uint32_t per_node)
{
	if (density <= 0)
		return 1;
	return density * per_node / (1 - pow(1 - density, per_node));
}
