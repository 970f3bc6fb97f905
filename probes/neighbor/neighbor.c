/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor.c - neighborhood allgather(v) through leaders (Temucin and others,
 * "ROCm-Aware Leader-based Designs for MPI Neighbourhood Collectives", sections
 * V-B to V-D), as corrected in docs/algorithms-neighbor-multipath.md, section
 * 1.3.
 *
 * For each message, step 0 scatters pieces, step 1 exchanges them among their
 * receivers, step 2 copies the whole message to the other device of a package.
 * On the sender's node both devices of a package get a piece each, as their
 * links to the sender allow; on another node the first receiver on each
 * package, its acting leader, gets one of equal size. Every holder of a piece
 * is itself a receiver of the message and stores it at its final place, so no
 * temporary buffer is needed.
 *
 * The transfers of a message on a node follow from its size, the wiring, and
 * its receivers on the node. Sender and receivers know all of these, so both
 * ends of each transfer derive the same rows independently. This includes the
 * threshold, since all know the size.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/neighbor/neighbor_read.h"
#include "probes/pattern/builders.h"
#include "probes/neighbor/neighbor.h"
#include "probes/neighbor/graph.h"

#define SECTION NEIGHBOR_SECTION

enum { STEP_SCATTER, STEP_EXCHANGE, STEP_PEER, STEPS };

/* What one source gives to all its receivers. */
struct message {
	const struct neighbor *nb;
	struct plan *p;
	uint64_t bytes;
	uint32_t src;
	uint16_t send, recv;
};

/* Receivers on one node, by device; 0 where a device receives nothing. */
struct receivers {
	uint32_t first; /* rank of device 0 */
	uint32_t times[LINKS_DEVICES_MAX];
};

/* Phased, all go through the steps of one channel together. */
static uint16_t
neighbor_channel(const struct message *m)
{
	return (uint16_t)(m->nb->dataflow ? 1 + m->src : 0);
}

/* Transfer bytes [lo, hi) of the message from one rank to their final place at
 * another; in later steps from a rank that has them at that place. */
static void
neighbor_transfer(const struct message *m, struct plan_transfer t, uint64_t lo,
    uint64_t hi)
{
	t.from = t.step == STEP_SCATTER ? m->send : m->recv;
	t.to = m->recv;
	t.from_off = t.to_off = lo;
	t.bytes = hi - lo;
	t.channel = neighbor_channel(m);
	t.via = m->nb->vias[t.step];
	plan_transfer_add(m->p, &t);
}

static void
neighbor_scatter(const struct message *m, uint32_t dst, uint64_t lo,
    uint64_t hi)
{
	neighbor_transfer(m,
	    (struct plan_transfer){ .step = STEP_SCATTER,
		.src = m->src,
		.dst = dst },
	    lo, hi);
}

static void
neighbor_exchange(const struct message *m, uint32_t src, uint32_t dst,
    uint64_t lo, uint64_t hi)
{
	neighbor_transfer(m,
	    (struct plan_transfer){ .step = STEP_EXCHANGE,
		.src = src,
		.dst = dst },
	    lo, hi);
}

/* Receive blocks of rank for this source, one for each edge: the first is
 * filled once step is over, the others are copies of it. */
static void
neighbor_blocks(const struct message *m, uint32_t rank, uint32_t times,
    uint32_t step)
{
	struct plan_transfer t = { .src = m->src,
		.dst = rank,
		.from = m->send,
		.to = m->recv,
		.bytes = m->bytes };
	struct plan_place from = { 0, m->recv };
	uint32_t own = rank == m->src;

	plan_buf_need(m->p, m->recv, rank, times * m->bytes);
	if (own)
		from.buf = m->send;
	for (uint32_t i = 0; i < times; i++) {
		t.to_off = i * m->bytes;
		if (m->bytes > 0)
			plan_promise_copy(m->p, &t);
		if (i == 0 && !own)
			continue;
		plan_local_add(m->p,
		    &(struct plan_local){ .rank = rank,
			.to = m->recv,
			.to_off = t.to_off,
			.bytes = m->bytes,
			.step = step,
			.channel = neighbor_channel(m),
			.op = PLAN_COPY,
			.type = PLAN_BYTE },
		    &from, 1);
	}
}

static void
neighbor_whole(const struct message *m, const struct receivers *r,
    uint32_t device)
{
	neighbor_scatter(m, r->first + device, 0, m->bytes);
	neighbor_blocks(m, r->first + device, r->times[device], STEP_SCATTER);
}

/* Both devices of a package on the sender's node: split by their links from
 * the sender or, where neither has one, against their distance. With two
 * devices that is (n_h - h) / n_h of the paper's equation 1. */
static void
neighbor_split(const struct message *m, const struct receivers *r, uint32_t a,
    uint32_t b)
{
	const struct links *l = &m->nb->links;
	uint32_t s = m->src - r->first;
	uint64_t wa = l->links[s][a], wb = l->links[s][b], at;

	if (wa + wb == 0) {
		wa = l->hops[s][b];
		wb = l->hops[s][a];
	}
	if (wa + wb == 0)
		wa = wb = 1;
	at = plan_cut_share(m->bytes, m->nb->unit, wa, wa + wb);
	neighbor_scatter(m, r->first + a, 0, at);
	neighbor_scatter(m, r->first + b, at, m->bytes);
	neighbor_exchange(m, r->first + a, r->first + b, 0, at);
	neighbor_exchange(m, r->first + b, r->first + a, at, m->bytes);
	neighbor_blocks(m, r->first + a, r->times[a],
	    at < m->bytes ? STEP_EXCHANGE : STEP_SCATTER);
	neighbor_blocks(m, r->first + b, r->times[b],
	    at > 0 ? STEP_EXCHANGE : STEP_SCATTER);
}

/* The first receiver of each package, its leader, gets a piece, passes it on to
 * the other leaders, and the whole to the other device of its package. */
static void
neighbor_other_node(const struct message *m, const struct receivers *r)
{
	uint32_t leaders[LINKS_DEVICES_MAX], count = 0;

	for (uint32_t a = 0; a < m->nb->per_node; a++) {
		uint32_t b = m->nb->links.mate[a];

		if (r->times[a] > 0 && (b >= a || r->times[b] == 0))
			leaders[count++] = a;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t a = leaders[i], b = m->nb->links.mate[a];
		uint64_t lo = plan_cut_share(m->bytes, m->nb->unit, i, count);
		uint64_t hi = plan_cut_share(m->bytes, m->nb->unit, i + 1,
		    count);

		neighbor_scatter(m, r->first + a, lo, hi);
		for (uint32_t k = 0; k < count; k++)
			if (k != i)
				neighbor_exchange(m, r->first + a,
				    r->first + leaders[k], lo, hi);
		neighbor_blocks(m, r->first + a, r->times[a],
		    hi - lo < m->bytes ? STEP_EXCHANGE : STEP_SCATTER);
		if (b == a || b >= m->nb->per_node || r->times[b] == 0)
			continue;
		neighbor_transfer(m,
		    (struct plan_transfer){ .step = STEP_PEER,
			.src = r->first + a,
			.dst = r->first + b },
		    0, m->bytes);
		neighbor_blocks(m, r->first + b, r->times[b], STEP_PEER);
	}
}

/* The edges of one source to one node, from at on; where the next begin. */
static size_t
neighbor_node_add(const struct message *m, size_t at)
{
	const struct graph *g = &m->nb->graph;
	uint32_t per_node = m->nb->per_node;
	uint32_t node = g->edges[at].dst / per_node, own = 0;
	struct receivers r = { .first = node * per_node };

	for (; at < g->count && g->edges[at].src == m->src &&
	     g->edges[at].dst / per_node == node;
	     at++) {
		if (g->edges[at].dst == m->src)
			own++;
		else
			r.times[g->edges[at].dst - r.first]++;
	}
	if (own > 0)
		neighbor_blocks(m, m->src, own, STEP_SCATTER);
	if (m->bytes < m->nb->threshold) {
		for (uint32_t a = 0; a < per_node; a++)
			if (r.times[a] > 0)
				neighbor_whole(m, &r, a);
	} else if (node == m->src / per_node) {
		for (uint32_t a = 0; a < per_node; a++) {
			uint32_t b = m->nb->links.mate[a];

			if (r.times[a] == 0)
				continue;
			if (b == a || b >= per_node || r.times[b] == 0)
				neighbor_whole(m, &r, a);
			else if (a < b)
				neighbor_split(m, &r, a, b);
		}
	} else {
		neighbor_other_node(m, &r);
	}
	return at;
}

/* Bytes between nodes. Direct: every edge separately, as MPI's own neighborhood
 * collectives send them; leader: one message for all receivers of a source on a
 * node. */
struct neighbor_load {
	uint64_t out_bytes, in_bytes;
};
struct neighbor_loads {
	uint32_t nodes;
	struct neighbor_load *direct, *leader; /* by node */
	uint64_t direct_bytes, leader_bytes;   /* of all nodes */
};

static void
neighbor_node_notes(struct plan *p, const char *what,
    const struct neighbor_load *loads, uint32_t nodes)
{
	char name[64];

	for (uint32_t i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "%s_node%u_out", what, i);
		plan_note_add(p, name, "bytes", loads[i].out_bytes);
		snprintf(name, sizeof(name), "%s_node%u_in", what, i);
		plan_note_add(p, name, "bytes", loads[i].in_bytes);
	}
}

/* A message between two nodes; its bytes. */
static uint64_t
neighbor_load_add(struct neighbor_load *loads, uint32_t from, uint32_t to,
    uint64_t bytes)
{
	if (from == to)
		return 0;
	loads[from].out_bytes += bytes;
	loads[to].in_bytes += bytes;
	return bytes;
}

static void
neighbor_loads_make(const struct neighbor *nb, struct neighbor_loads *ret)
{
	const struct graph_edge *e = nb->graph.edges;

	memset(ret, 0, sizeof(*ret));
	ret->nodes = (nb->ranks + nb->per_node - 1) / nb->per_node;
	ret->direct = xcalloc(ret->nodes, sizeof(*ret->direct));
	ret->leader = xcalloc(ret->nodes, sizeof(*ret->leader));
	for (size_t i = 0; i < nb->graph.count; i++) {
		uint32_t from = e[i].src / nb->per_node;
		uint32_t to = e[i].dst / nb->per_node;
		uint64_t bytes = nb->sizes[e[i].src];
		int again = i > 0 && e[i - 1].src == e[i].src;
		int copied = again && e[i - 1].dst == e[i].dst;
		int there = again && e[i - 1].dst / nb->per_node == to;

		ret->direct_bytes += neighbor_load_add(ret->direct, from, to,
		    bytes);
		/* below the threshold a copy still costs nothing */
		if (bytes < nb->threshold ? copied : there)
			continue;
		ret->leader_bytes += neighbor_load_add(ret->leader, from, to,
		    bytes);
	}
}

static uint64_t
neighbor_fullest(const struct neighbor_load *loads, uint32_t nodes)
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

/* direct over leader; 1 when nothing passes. */
static double
neighbor_gain(uint64_t direct_bytes, uint64_t leader_bytes)
{
	return leader_bytes == 0 ? 1
				 : (double)direct_bytes / (double)leader_bytes;
}

/* Return the expected gain over all bytes for random graphs: density * g / (1 -
 * (1 - density)^g), g ranks on a node. */
static double
neighbor_ratio_expected(double density, uint32_t per_node)
{
	if (density <= 0)
		return 1;
	return density * per_node / (1 - pow(1 - density, per_node));
}

struct plan *
neighbor_plan(const struct neighbor *nb, uint32_t ranks, const char *title)
{
	struct plan *p = plan_new(ranks > nb->ranks ? ranks : nb->ranks, title);
	const struct graph *g = &nb->graph;
	struct message m = { .nb = nb,
		.p = p,
		.send = plan_buf_add(p, "send", PLAN_IN) };
	struct neighbor_loads nl;
	uint64_t delivered = 0;
	size_t at = 0;
	char name[32];

	while (at < g->count) {
		m.src = g->edges[at].src;
		m.bytes = nb->sizes[m.src];
		snprintf(name, sizeof(name), "recv.%u", m.src);
		m.recv = plan_buf_add(p, name, PLAN_OUT);
		plan_buf_need(p, m.send, m.src, m.bytes);
		while (at < g->count && g->edges[at].src == m.src)
			at = neighbor_node_add(&m, at);
	}
	/* Bytes between nodes, and the bytes without leaders. */
	for (size_t i = 0; i < g->count; i++)
		delivered += nb->sizes[g->edges[i].src];
	neighbor_loads_make(nb, &nl);
	plan_note_add(p, "edges", "1", g->count);
	plan_note_add(p, "delivered", "bytes", delivered);
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_note_add(p, "wire", "bytes", nl.leader_bytes);
	plan_note_add(p, "wire_direct", "bytes", nl.direct_bytes);
	neighbor_node_notes(p, "wire", nl.leader, nl.nodes);
	neighbor_node_notes(p, "wire_direct", nl.direct, nl.nodes);
	plan_note_real(p, "byte_ratio", "1",
	    neighbor_gain(nl.direct_bytes, nl.leader_bytes));
	if (nb->density >= 0)
		plan_note_real(p, "byte_ratio_expected", "1",
		    neighbor_ratio_expected(nb->density, nb->per_node));
	/* The most that leaders can gain where the network alone costs time:
	 * of the fullest direction of a node. */
	plan_note_real(p, "load_bound", "1",
	    neighbor_gain(neighbor_fullest(nl.direct, nl.nodes),
		neighbor_fullest(nl.leader, nl.nodes)));
	free(nl.direct);
	free(nl.leader);
	plan_sort(p);
	return p;
}

static int
neighbor_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	uint32_t ranks = site->ranks;
	struct neighbor nb;
	char *title;
	int rc = neighbor_read(c, ranks, &nb, err);

	if (rc < 0)
		return rc;
	title = pattern_title(c, SECTION);
	*ret = neighbor_plan(&nb, ranks, title);
	neighbor_clear(&nb);
	free(title);
	return 0;
}

const struct pattern pattern_neighbor = {
	.name = SECTION,
	.text =
	    "Neighborhood allgather(v) on any graph, through leader ranks of "
	    "the nodes.",
	.build = neighbor_build,
};
