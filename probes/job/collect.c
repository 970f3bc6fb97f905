/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - histograms of ranks become one, and one of each node.
 */

#include "probes/job/collect.h"

#include <math.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/job/world.h"

#define NODE_DOUBLES (sizeof(struct collect_node) / sizeof(double))

void
collect_sum(MPI_Comm comm, const struct hist *mine, struct hist *ret)
{
	double sum = mine->count > 0 ? mine->sum : 0;
	/* minus the smallest, the largest */
	double edge[2] = { mine->count > 0 ? -mine->min : -INFINITY,
		mine->count > 0 ? mine->max : -INFINITY },
	       all[2];

	hist_clear(ret);
	MPI_DO(MPI_Reduce(mine->bucket, ret->bucket, HIST_BUCKETS, MPI_UINT64_T,
	    MPI_SUM, 0, comm));
	MPI_DO(MPI_Reduce(&mine->count, &ret->count, 1, MPI_UINT64_T, MPI_SUM,
	    0, comm));
	MPI_DO(MPI_Reduce(&sum, &ret->sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm));
	MPI_DO(MPI_Reduce(edge, all, 2, MPI_DOUBLE, MPI_MAX, 0, comm));
	if (ret->count == 0)
		return;
	ret->min = -all[0];
	ret->max = all[1];
}

static int
collect_compare_nodes(const void *a, const void *b)
{
	double x = ((const struct collect_node *)a)->node;
	double y = ((const struct collect_node *)b)->node;

	return (x > y) - (x < y);
}

int
collect_nodes(const struct world *w, const struct hist *mine,
    const struct cores *cores, struct collect_node **ret)
{
	struct collect_node me = { -1, 0, NAN, NAN, NAN, NAN, 0, 0 },
			    *all = NULL;
	struct hist *node = xcalloc(1, sizeof(*node));
	uint64_t ns[2] = { 0, 0 }, sum[2] = { 0, 0 };
	int node_rank, kept = 0;

	if (cores != NULL) {
		ns[0] = cores->run_ns;
		ns[1] = cores->wait_ns;
		MPI_DO(MPI_Reduce(ns, sum, 2, MPI_UINT64_T, MPI_SUM, 0,
		    w->node_comm));
		me.run_s = (double)sum[0] / (double)CLK_NS_PER_S;
		me.wait_s = (double)sum[1] / (double)CLK_NS_PER_S;
	}
	MPI_DO(MPI_Comm_rank(w->node_comm, &node_rank));
	collect_sum(w->node_comm, mine, node);
	if (node_rank == 0) {
		me.node = w->node;
		me.n = (double)node->count;
		me.p50 = hist_quantile(node, 0.5);
		me.q25 = hist_quantile(node, 0.25);
		me.q75 = hist_quantile(node, 0.75);
		me.p99 = hist_quantile(node, 0.99);
	}
	free(node);
	if (w->group_rank == 0)
		all = xcalloc((size_t)w->group_size, sizeof(*all));
	MPI_DO(MPI_Gather(&me, NODE_DOUBLES, MPI_DOUBLE, all, NODE_DOUBLES,
	    MPI_DOUBLE, 0, w->group));
	*ret = all;
	if (all == NULL)
		return 0;
	/* entries of the nodes' first ranks to the front, in order */
	for (int i = 0; i < w->group_size; i++)
		if (all[i].node >= 0)
			all[kept++] = all[i];
	qsort(all, (size_t)kept, sizeof(*all), collect_compare_nodes);
	return kept;
}
