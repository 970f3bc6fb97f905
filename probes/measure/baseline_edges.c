/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_edges.c - the MPI calls for plans whose promises are edges, from one
 * source to one rank: MPI_Neighbor_allgather for edges of the builder neighbor,
 * MPI_Neighbor_allgatherv where sizes differ, MPI_Alltoallv for sparse.
 */
#include "probes/measure/baseline_edges.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/execute/fill.h"
#include "probes/job/world.h"
#include "probes/measure/baseline.h"

#define PROVE_DATA 1 /* "iteration" of fill: any number */
#define SEND_BUF   0 /* arbitrary; fill_make uses it to distinguish buffers */

static uint32_t
baseline_edges_edge_from(const struct plan *p, size_t i)
{
	return p->sources[p->promises[i].source].lo;
}

static uint32_t
baseline_edges_edge_to(const struct plan *p, size_t i)
{
	return p->spans[p->promises[i].span].lo;
}

/* The most that any rank sends, or receives: known to all ranks, since all see
 * the same plan. */
static uint64_t
baseline_edges_most_bytes(const struct plan *p,
    uint32_t (*end)(const struct plan *, size_t))
{
	uint64_t *of = xcalloc((size_t)p->ranks + 1, sizeof(*of)), most = 0;

	for (size_t i = 0; i < p->promises_count; i++) {
		uint64_t *bytes = &of[end(p, i)];

		*bytes += p->promises[i].bytes;
		most = *bytes > most ? *bytes : most;
	}
	free(of);
	return most;
}

/* ---- a neighborhood allgather ---- */

/* Edges that end or begin here; bytes are the source's. */
struct edges {
	int *peers, *counts, *offs; /* bytes, and offset in recv */
	int count;
};

struct neighborhood {
	struct baseline base;
	MPI_Comm graph;
	struct edges in, out;
	int equal; /* all blocks have the same size */
	int send_bytes;
	uint64_t recv_bytes;
	char *send, *recv;
};

static void
baseline_edges_add(struct edges *e, uint32_t peer, uint64_t bytes)
{
	e->peers[e->count] = (int)peer;
	e->counts[e->count++] = (int)bytes;
}

/* Room for one edge more: MPI wants lists of no edges too. */
static void
baseline_edges_open(struct edges *e, size_t count)
{
	e->peers = xcalloc(count + 1, sizeof(*e->peers));
	e->counts = xcalloc(count + 1, sizeof(*e->counts));
	e->offs = xcalloc(count + 1, sizeof(*e->offs));
}

static void
baseline_edges_close(struct edges *e)
{
	free(e->peers);
	free(e->counts);
	free(e->offs);
}

static int
baseline_edges_neighborhood_open(struct baseline *b, struct err *err)
{
	struct neighborhood *n = (struct neighborhood *)b;
	uint64_t start_ns,
	    most = baseline_edges_most_bytes(b->plan, baseline_edges_edge_to);
	uint32_t rank = (uint32_t)b->team->rank;
	const struct plan *p = b->plan;
	size_t in = 0, out = 0;

	if (!b->team->ops->host_access)
		return err_set(err, -ENOTSUP,
		    "the baseline supports host memory only");
	if (most > INT_MAX)
		return err_set(err, -ENOTSUP,
		    "a rank would receive %llu bytes, which exceeds MPI's int",
		    (unsigned long long)most);
	for (size_t i = 0; i < p->promises_count; i++) {
		out += baseline_edges_edge_from(p, i) == rank;
		in += baseline_edges_edge_to(p, i) == rank;
	}
	baseline_edges_open(&n->in, in);
	baseline_edges_open(&n->out, out);
	n->equal = 1;
	for (size_t i = 0; i < p->promises_count; i++) {
		uint64_t bytes = p->promises[i].bytes;

		n->equal &= bytes == p->promises[0].bytes;
		if (baseline_edges_edge_from(p, i) == rank) {
			baseline_edges_add(&n->out,
			    baseline_edges_edge_to(p, i), bytes);
			n->send_bytes = (int)bytes;
		}
		if (baseline_edges_edge_to(p, i) == rank)
			baseline_edges_add(&n->in,
			    baseline_edges_edge_from(p, i), bytes);
	}
	if (n->equal && p->promises_count > 0)
		n->send_bytes = (int)p->promises[0].bytes;
	for (int i = 0; i < n->in.count; i++) {
		n->in.offs[i] = (int)n->recv_bytes;
		n->recv_bytes += (uint64_t)n->in.counts[i];
	}
	n->send = xcalloc((size_t)n->send_bytes + 1, 1);
	n->recv = xcalloc(n->recv_bytes + 1, 1);
	b->name = n->equal ? "MPI_Neighbor_allgather"
			   : "MPI_Neighbor_allgatherv";
	MPI_DO(MPI_Barrier(b->team->comm));
	start_ns = clk_ns();
	MPI_DO(MPI_Dist_graph_create_adjacent(b->team->comm, n->in.count,
	    n->in.peers, MPI_UNWEIGHTED, n->out.count, n->out.peers,
	    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &n->graph));
	b->setup_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &b->setup_s, 1, MPI_DOUBLE, MPI_MAX,
	    b->team->comm));
	return 0;
}

static void
baseline_edges_neighborhood_close(struct baseline *b)
{
	struct neighborhood *n = (struct neighborhood *)b;

	MPI_Comm_free(&n->graph);
	baseline_edges_close(&n->in);
	baseline_edges_close(&n->out);
	free(n->send);
	free(n->recv);
}

static void
baseline_edges_neighborhood_run_cb(void *b)
{
	struct neighborhood *n = b;

	if (n->equal)
		MPI_DO(MPI_Neighbor_allgather(n->send, n->send_bytes, MPI_BYTE,
		    n->recv, n->send_bytes, MPI_BYTE, n->graph));
	else
		MPI_DO(MPI_Neighbor_allgatherv(n->send, n->send_bytes, MPI_BYTE,
		    n->recv, n->in.counts, n->in.offs, MPI_BYTE, n->graph));
}

/* Whether every block holds what its source was filled with. */
static int
baseline_edges_neighborhood_prove(struct baseline *b)
{
	struct neighborhood *n = (struct neighborhood *)b;
	struct fill f = { .op = PLAN_COPY };
	int rc = 0;

	fill_make(&f, PROVE_DATA, (uint32_t)b->team->rank, SEND_BUF, 0, n->send,
	    (size_t)n->send_bytes);
	memset(n->recv, 0, n->recv_bytes);
	baseline_edges_neighborhood_run_cb(n);
	for (int i = 0; rc == 0 && i < n->in.count; i++) {
		size_t bytes = (size_t)n->in.counts[i];
		char *want = xcalloc(bytes + 1, 1);

		fill_make(&f, PROVE_DATA, (uint32_t)n->in.peers[i], SEND_BUF, 0,
		    want, bytes);
		if (memcmp(n->recv + n->in.offs[i], want, bytes) != 0)
			rc = -EBADMSG;
		free(want);
	}
	return transport_agree(b->team, rc);
}

const struct baseline_row baseline_neighbor = { NULL,
	sizeof(struct neighborhood), baseline_edges_neighborhood_open,
	baseline_edges_neighborhood_prove, baseline_edges_neighborhood_run_cb,
	baseline_edges_neighborhood_close };

void *
baseline_neighbor_send(struct baseline *b)
{
	return ((struct neighborhood *)b)->send;
}

void *
baseline_neighbor_block(struct baseline *b, uint32_t src)
{
	struct neighborhood *n = (struct neighborhood *)b;

	for (int i = 0; i < n->in.count; i++)
		if (n->in.peers[i] == (int)src)
			return n->recv + n->in.offs[i];
	return NULL;
}

/* ---- MPI_Alltoallv ---- */

/* What this rank has for each other, or each other for it, packed by rank. So
 * this brings the same bytes whether the plan stripes them or not. */
struct packed {
	int *counts, *offs; /* bytes, by rank */
	char *data;
};

struct alltoallv {
	struct baseline base;
	struct packed sent, received;
};

static void
baseline_edges_packed_open(struct packed *a, const struct baseline *b,
    uint32_t (*here)(const struct plan *, size_t),
    uint32_t (*there)(const struct plan *, size_t))
{
	int ranks = b->team->ranks, all = 0;

	a->counts = xcalloc((size_t)ranks, sizeof(*a->counts));
	a->offs = xcalloc((size_t)ranks, sizeof(*a->offs));
	for (size_t i = 0; i < b->plan->promises_count; i++)
		if (here(b->plan, i) == (uint32_t)b->team->rank)
			a->counts[there(b->plan, i)] +=
			    (int)b->plan->promises[i].bytes;
	for (int i = 0; i < ranks; i++) {
		a->offs[i] = all;
		all += a->counts[i];
	}
	a->data = xcalloc((size_t)all + 1, 1);
}

static void
baseline_edges_packed_close(struct packed *a)
{
	free(a->counts);
	free(a->offs);
	free(a->data);
}

static int
baseline_edges_alltoallv_open(struct baseline *b, struct err *err)
{
	struct alltoallv *a = (struct alltoallv *)b;

	if (!b->team->ops->host_access)
		return err_set(err, -ENOTSUP,
		    "the baseline supports host memory only");
	if (baseline_edges_most_bytes(b->plan, baseline_edges_edge_from) >
		INT_MAX ||
	    baseline_edges_most_bytes(b->plan, baseline_edges_edge_to) >
		INT_MAX)
		return err_set(err, -ENOTSUP,
		    "a rank sends or receives more than 2 GiB, which exceeds "
		    "MPI's int");
	baseline_edges_packed_open(&a->sent, b, baseline_edges_edge_from,
	    baseline_edges_edge_to);
	baseline_edges_packed_open(&a->received, b, baseline_edges_edge_to,
	    baseline_edges_edge_from);
	b->name = "MPI_Alltoallv";
	return 0;
}

static void
baseline_edges_alltoallv_close(struct baseline *b)
{
	baseline_edges_packed_close(&((struct alltoallv *)b)->sent);
	baseline_edges_packed_close(&((struct alltoallv *)b)->received);
}

static void
baseline_edges_alltoallv_run_cb(void *arg)
{
	struct alltoallv *a = arg;

	MPI_DO(MPI_Alltoallv(a->sent.data, a->sent.counts, a->sent.offs,
	    MPI_BYTE, a->received.data, a->received.counts, a->received.offs,
	    MPI_BYTE, a->base.team->comm));
}

/* The pieces of a pair are in the order of the promises, at both ends. */
static int
baseline_edges_alltoallv_prove(struct baseline *b)
{
	struct alltoallv *a = (struct alltoallv *)b;
	const struct plan *p = b->plan;
	uint32_t rank = (uint32_t)b->team->rank;
	size_t ranks = (size_t)b->team->ranks;
	int *at = xcalloc(2 * ranks, sizeof(*at)), *got = at + ranks, rc = 0;

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_source *s =
		    &p->sources[p->promises[i].source];
		uint32_t to = baseline_edges_edge_to(p, i);

		if (s->lo != rank)
			continue;
		memcpy(a->sent.data + a->sent.offs[to] + at[to],
		    exec_place(b->exec, s->buf, s->off), p->promises[i].bytes);
		at[to] += (int)p->promises[i].bytes;
	}
	baseline_edges_alltoallv_run_cb(a);
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];
		uint32_t from = baseline_edges_edge_from(p, i);

		if (baseline_edges_edge_to(p, i) != rank)
			continue;
		if (memcmp(a->received.data + a->received.offs[from] +
			    got[from],
			exec_place(b->exec, m->to, m->to_off), m->bytes) != 0)
			rc = -EBADMSG;
		got[from] += (int)m->bytes;
	}
	free(at);
	return transport_agree(b->team, rc);
}

const struct baseline_row baseline_alltoallv = { NULL, sizeof(struct alltoallv),
	baseline_edges_alltoallv_open, baseline_edges_alltoallv_prove,
	baseline_edges_alltoallv_run_cb, baseline_edges_alltoallv_close };
