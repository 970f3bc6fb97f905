/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/baseline.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/xalloc.h"
#include "probes/execute/fill.h"
#include "probes/job/world.h"

#define SEND_BUF 0 /* any number: fill_make tells buffers apart */

/* Edges that end or begin here; bytes are those of the source. */
struct rival_edges {
	int *peers, *counts, *places; /* bytes, and offset in recv */
	int count;
};

struct baseline {
	const struct transport_team *team;
	MPI_Comm graph;
	struct rival_edges in, out;
	int equal; /* all blocks have the same size */
	int send_bytes;
	uint64_t recv_bytes;
	char *send, *recv;
	double setup_s;
	struct fill fill;
};

/* Room for one edge: MPI wants lists of no edges too. */
static void
edges_open(struct rival_edges *e)
{
	e->peers = xcalloc(1, sizeof(*e->peers));
	e->counts = xcalloc(1, sizeof(*e->counts));
	e->places = xcalloc(1, sizeof(*e->places));
}

static void
edges_add(struct rival_edges *e, uint32_t peer, uint64_t bytes)
{
	size_t n = (size_t)e->count + 1;

	e->peers = xreallocarray(e->peers, n, sizeof(*e->peers));
	e->counts = xreallocarray(e->counts, n, sizeof(*e->counts));
	e->places = xreallocarray(e->places, n, sizeof(*e->places));
	e->peers[e->count] = (int)peer;
	e->counts[e->count] = (int)bytes;
	e->places[e->count++] = 0;
}

/* A promise is an edge: that of a block, from its source to its one rank. */
static void
edges_read(struct baseline *r, const struct plan *p)
{
	uint32_t rank = (uint32_t)r->team->rank;

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];
		uint32_t src = p->sources[m->source].lo;
		uint32_t dst = p->spans[m->span].lo;

		r->equal &= m->bytes == p->promises[0].bytes;
		if (src == rank) {
			edges_add(&r->out, dst, m->bytes);
			r->send_bytes = (int)m->bytes;
		}
		if (dst == rank)
			edges_add(&r->in, src, m->bytes);
	}
	if (r->equal && p->promises_count > 0)
		r->send_bytes = (int)p->promises[0].bytes;
}

/* Every rank sees the same plan, so every rank finds the same. */
static int
lengths_check(const struct plan *p, uint32_t ranks, struct err *err)
{
	uint64_t *received = xcalloc(ranks, sizeof(*received)), most = 0;

	for (size_t i = 0; i < p->promises_count; i++) {
		uint64_t *to = &received[p->spans[p->promises[i].span].lo];

		*to += p->promises[i].bytes;
		most = *to > most ? *to : most;
	}
	free(received);
	if (most <= INT_MAX)
		return 0;
	return err_set(err, -ENOTSUP,
	    "MPI counts with int: a rank would receive %llu bytes",
	    (unsigned long long)most);
}

static void
places_make(struct baseline *r)
{
	for (int i = 0; i < r->in.count; i++) {
		r->in.places[i] = (int)r->recv_bytes;
		r->recv_bytes += (uint64_t)r->in.counts[i];
	}
	r->send = xcalloc((size_t)r->send_bytes + 1, 1);
	r->recv = xcalloc(r->recv_bytes + 1, 1);
}

int
baseline_open(const struct transport_team *team, const struct plan *p,
    struct baseline **ret, struct err *err)
{
	struct baseline *r;
	uint64_t start_ns;
	int rc = lengths_check(p, (uint32_t)team->ranks, err);

	if (rc < 0)
		return rc;
	r = xcalloc(1, sizeof(*r));
	r->team = team;
	r->equal = 1;
	r->fill.op = PLAN_COPY;
	edges_open(&r->in);
	edges_open(&r->out);
	edges_read(r, p);
	places_make(r);
	MPI_DO(MPI_Barrier(team->comm));
	start_ns = clk_ns();
	MPI_DO(MPI_Dist_graph_create_adjacent(team->comm, r->in.count,
	    r->in.peers, MPI_UNWEIGHTED, r->out.count, r->out.peers,
	    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &r->graph));
	r->setup_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &r->setup_s, 1, MPI_DOUBLE, MPI_MAX,
	    team->comm));
	*ret = r; /* handed over */
	return 0;
}

static void
edges_free(struct rival_edges *e)
{
	free(e->peers);
	free(e->counts);
	free(e->places);
}

void
baseline_close(struct baseline *r)
{
	if (r == NULL)
		return;
	MPI_Comm_free(&r->graph);
	edges_free(&r->in);
	edges_free(&r->out);
	free(r->send);
	free(r->recv);
	free(r);
}

const char *
baseline_name(const struct baseline *r)
{
	return r->equal ? "MPI_Neighbor_allgather" : "MPI_Neighbor_allgatherv";
}

double
baseline_setup_s(const struct baseline *r)
{
	return r->setup_s;
}

void
baseline_run(struct baseline *r)
{
	if (r->equal)
		MPI_DO(MPI_Neighbor_allgather(r->send, r->send_bytes, MPI_BYTE,
		    r->recv, r->send_bytes, MPI_BYTE, r->graph));
	else
		MPI_DO(MPI_Neighbor_allgatherv(r->send, r->send_bytes, MPI_BYTE,
		    r->recv, r->in.counts, r->in.places, MPI_BYTE, r->graph));
}

/* Whether every block holds what its source was filled with. */
static int
blocks_check(const struct baseline *r, uint64_t iteration)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < r->in.count; i++) {
		size_t bytes = (size_t)r->in.counts[i];
		char *want = xcalloc(bytes + 1, 1);

		fill_make(&r->fill, iteration, (uint32_t)r->in.peers[i],
		    SEND_BUF, 0, want, bytes);
		if (memcmp(r->recv + r->in.places[i], want, bytes) != 0)
			rc = -EBADMSG;
		free(want);
	}
	return rc;
}

int
baseline_prove(struct baseline *r, uint64_t iteration)
{
	fill_make(&r->fill, iteration, (uint32_t)r->team->rank, SEND_BUF, 0,
	    r->send, (size_t)r->send_bytes);
	memset(r->recv, 0, r->recv_bytes);
	baseline_run(r);
	return transport_agree(r->team, blocks_check(r, iteration));
}

void *
baseline_send(struct baseline *r)
{
	return r->send;
}

const void *
baseline_block(const struct baseline *r, uint32_t src)
{
	for (int i = 0; i < r->in.count; i++)
		if (r->in.peers[i] == (int)src)
			return r->recv + r->in.places[i];
	return NULL;
}
