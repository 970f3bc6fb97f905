/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed_form.c - how long a collective takes, from the bytes that each link
 * has to carry: for any number of ranks at once, where a simulation would take
 * its time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/predict/closed_form.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/predict/model.h"
#include "probes/topology/machine_path.h"

#define PS_PER_S 1e12

/* Each rank of a node has a ring, or a chain, over the nodes for its part of
 * the data, and the ranks of a node a ring of their own for all of it. These
 * move the fewest bytes that are possible; in small pieces, so that links
 * inside and between nodes are busy at the same time. */
static const struct closed_row {
	const char *name;
	int passes;  /* round the ring */
	int reduces; /* in one of them */
	int chain;   /* open: a link carries all, not all but its own part */
	int each;    /* nothing to reduce or copy: every rank to every other */
} closed_rows[] = {
	{ "allreduce", 2, 1, 0, 0 },
	{ "allgather", 1, 0, 0, 0 },
	{ "reduce-scatter", 1, 1, 0, 0 },
	{ "broadcast", 1, 0, 1, 0 },
	{ "reduce", 1, 1, 1, 0 },
	{ "alltoall", 1, 0, 0, 1 },
};

/* Bytes on the links, and the times of the slowest hop and edge. */
struct load {
	const struct machine *m;
	uint32_t nodes;
	double *bytes; /* by resource */
	double hop_s, edge_s;
	int rc;
};

static void
closed_form_edge(struct load *f, uint32_t src, uint32_t dst, double bytes)
{
	struct machine_ends ends = { f->nodes, src, dst,
		machine_rank_vertex(f->m, src),
		machine_rank_vertex(f->m, dst) };
	struct machine_path path;
	int rc = machine_path(f->m, &ends, MACHINES_MPI, &path);
	double hop_s;

	if (rc < 0) {
		f->rc = rc;
		return;
	}
	hop_s = (double)(path.latency_ps + path.overhead_ps + f->m->step_ps) /
	    PS_PER_S;
	f->hop_s = hop_s > f->hop_s ? hop_s : f->hop_s;
	if (path.rate_max_per_s > 0 && bytes / path.rate_max_per_s > f->edge_s)
		f->edge_s = bytes / path.rate_max_per_s;
	for (uint32_t i = 0; i < path.count; i++)
		f->bytes[path.resources[i]] += bytes;
}

/* The link that is busy longest, and for how long. */
static double
closed_form_longest_s(const struct load *f, struct closed_form *ret)
{
	uint32_t count = machine_resources(f->m, f->nodes);
	double *capacities = machine_capacities(f->m, f->nodes);

	for (uint32_t i = 0; i < count; i++) {
		double busy_s = capacities[i] > 0 ? f->bytes[i] / capacities[i]
						  : 0;

		if (busy_s <= ret->limit_s)
			continue;
		ret->limit_s = busy_s;
		ret->limit_per_s = capacities[i];
		machine_resource_name(f->m, f->nodes, i, ret->limit,
		    sizeof(ret->limit));
	}
	free(capacities);
	return fmax(f->edge_s, ret->limit_s);
}

int
closed_form(const struct machine *m, const char *name, double bytes,
    uint32_t ranks, struct closed_form *ret, struct err *err)
{
	int at = STR_FIND(closed_rows, name);
	const struct closed_row *row = &closed_rows[at < 0 ? 0 : at];
	struct machine fit = machine_fit(m, ranks);
	uint32_t g = fit.ranks < ranks ? fit.ranks : ranks;
	uint32_t nodes = machine_nodes(&fit, ranks);
	struct load f = { &fit, nodes, NULL, 0, 0, 0 };
	double part = bytes / g, inside, reduced;
	uint32_t passes = (uint32_t)row->passes;

	if (at < 0 || ranks != g * nodes ||
	    nodes > (row->each ? CLOSED_FORM_EACH_MAX : CLOSED_FORM_NODES_MAX))
		return err_set(err, -EINVAL,
		    "%.40s of %u ranks: expected a collective on whole nodes, "
		    "up to %d ranks, an alltoall up to %d",
		    name, ranks, CLOSED_FORM_NODES_MAX, CLOSED_FORM_EACH_MAX);
	memset(ret, 0, sizeof(*ret));
	f.bytes = xcalloc(machine_resources(&fit, nodes) + (size_t)1,
	    sizeof(*f.bytes));
	/* Inside a node as well every rank to every other: the ring carries as
	 * much. */
	inside = row->each ? bytes / ranks : passes * part;
	for (uint32_t r = 0; g > 1 && r < ranks; r++)
		closed_form_edge(&f, r, r / g * g + (r + 1) % g,
		    inside * (g - 1));
	ret->time_s = passes * (g - 1) * f.hop_s;
	/* For ranks that send to all others: the pairs of each distance in
	 * turn, whose sum loads a node's NICs and a leaf's uplinks. */
	for (uint32_t a = 0; row->each && a < nodes; a++)
		for (uint32_t b = 0; b < nodes; b++)
			for (uint32_t k = 0; a != b && k < g; k++)
				closed_form_edge(&f, a * g + k, b * g + k,
				    bytes / ranks * g);
	for (uint32_t r = 0; !row->each && nodes > 1 && r < ranks; r++)
		if (!row->chain || r + g < ranks)
			closed_form_edge(&f, r, (r + g) % ranks,
			    row->chain ? part
				       : passes * part * (nodes - 1) / nodes);
	ret->time_s += passes * (nodes - 1) * f.hop_s +
	    closed_form_longest_s(&f, ret);
	/* A reduction reads two and writes one. */
	reduced = row->reduces ? part * (g - 1) + part * (nodes - 1) / nodes
			       : 0;
	if (fit.memory_per_s > 0)
		ret->time_s += 3 * reduced / fit.memory_per_s;
	free(f.bytes);
	if (f.rc < 0)
		return err_set(err, f.rc,
		    "%.80s: the machine file describes no MPI path between "
		    "nodes",
		    m->name);
	return 0;
}
