/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor.c - neighborhood allgather(v) through leaders (Temucin and others,
 * "ROCm-Aware Leader-based Designs for MPI Neighbourhood Collectives",
 * sections V-B to V-D), as corrected in docs/algorithms-neighbor-multipath.md,
 * section 1.3.
 *
 * Of a message, step 0 scatters pieces, step 1 exchanges them among those who
 * got one, step 2 copies the whole to the other device of a package. On the
 * sender's node both devices of a package get a piece each, as their links
 * to the sender allow; on another node the first receiver on each package,
 * its acting leader, gets one, all alike. Every holder of a piece is itself a
 * receiver of the message and has it at its final place, so nothing is ever
 * stored for others.
 *
 * All that happens to a message on a node follows from its size, from the
 * wiring, and from who of the node receives it: sender and receivers know all
 * of that, and so both ends of each transfer come to the same rows by
 * themselves. The threshold is no exception, since all know the size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "probes/neighbor/neighbor.h"

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
channel(const struct message *m)
{
	return (uint16_t)(m->nb->dataflow ? 1 + m->src : 0);
}

/* Bytes [lo, hi) of the message from one rank to the place where they belong
 * at another; whoever is not the source has them at that place. */
static void
transfer(const struct message *m, uint32_t step, uint32_t src, uint32_t dst,
    uint64_t lo, uint64_t hi)
{
	plan_transfer_add(m->p,
	    &(struct plan_transfer){ .step = step,
		.src = src,
		.dst = dst,
		.from = step == STEP_SCATTER ? m->send : m->recv,
		.to = m->recv,
		.from_off = lo,
		.to_off = lo,
		.bytes = hi - lo,
		.channel = channel(m),
		.via = m->nb->vias[step] });
}

/* Receive blocks of rank for this source, one for each edge: the first is
 * filled once step is over, the others are copies of it. */
static void
blocks(const struct message *m, uint32_t rank, uint32_t times, uint32_t step)
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
			.channel = channel(m),
			.op = PLAN_COPY,
			.type = PLAN_BYTE },
		    &from, 1);
	}
}

static void
whole(const struct message *m, const struct receivers *r, uint32_t device)
{
	transfer(m, STEP_SCATTER, m->src, r->first + device, 0, m->bytes);
	blocks(m, r->first + device, r->times[device], STEP_SCATTER);
}

/* Both devices of a package on the sender's node: split by their links from
 * the sender or, where neither has one, against their distance. With two
 * devices that is (n_h - h) / n_h of the paper's equation 1. */
static void
split(const struct message *m, const struct receivers *r, uint32_t a,
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
	transfer(m, STEP_SCATTER, m->src, r->first + a, 0, at);
	transfer(m, STEP_SCATTER, m->src, r->first + b, at, m->bytes);
	transfer(m, STEP_EXCHANGE, r->first + a, r->first + b, 0, at);
	transfer(m, STEP_EXCHANGE, r->first + b, r->first + a, at, m->bytes);
	blocks(m, r->first + a, r->times[a],
	    at < m->bytes ? STEP_EXCHANGE : STEP_SCATTER);
	blocks(m, r->first + b, r->times[b],
	    at > 0 ? STEP_EXCHANGE : STEP_SCATTER);
}

static void
own_node(const struct message *m, const struct receivers *r)
{
	const struct links *l = &m->nb->links;

	for (uint32_t a = 0; a < m->nb->per_node; a++) {
		uint32_t b = l->mate[a];
		int both = b != a && b < m->nb->per_node && r->times[b] > 0;

		if (r->times[a] == 0)
			continue;
		if (!both)
			whole(m, r, a);
		else if (a < b)
			split(m, r, a, b);
	}
}

/* The first receiver of each package, in the order of devices. */
static uint32_t
leaders_find(const struct message *m, const struct receivers *r,
    uint32_t leaders[LINKS_DEVICES_MAX])
{
	uint32_t count = 0;

	for (uint32_t a = 0; a < m->nb->per_node; a++) {
		uint32_t b = m->nb->links.mate[a];

		if (r->times[a] > 0 && (b >= a || r->times[b] == 0))
			leaders[count++] = a;
	}
	return count;
}

/* Leader i of count gets piece i and passes it on to all others. */
static void
lead(const struct message *m, const struct receivers *r,
    const uint32_t *leaders, uint32_t count, uint32_t i)
{
	uint32_t a = leaders[i], b = m->nb->links.mate[a];
	uint64_t lo = plan_cut_share(m->bytes, m->nb->unit, i, count);
	uint64_t hi = plan_cut_share(m->bytes, m->nb->unit, i + 1, count);

	transfer(m, STEP_SCATTER, m->src, r->first + a, lo, hi);
	for (uint32_t k = 0; k < count; k++)
		if (k != i)
			transfer(m, STEP_EXCHANGE, r->first + a,
			    r->first + leaders[k], lo, hi);
	blocks(m, r->first + a, r->times[a],
	    hi - lo < m->bytes ? STEP_EXCHANGE : STEP_SCATTER);
	if (b == a || b >= m->nb->per_node || r->times[b] == 0)
		return;
	transfer(m, STEP_PEER, r->first + a, r->first + b, 0, m->bytes);
	blocks(m, r->first + b, r->times[b], STEP_PEER);
}

static void
other_node(const struct message *m, const struct receivers *r)
{
	uint32_t leaders[LINKS_DEVICES_MAX];
	uint32_t count = leaders_find(m, r, leaders);

	for (uint32_t i = 0; i < count; i++)
		lead(m, r, leaders, count, i);
}

static void
directly(const struct message *m, const struct receivers *r)
{
	for (uint32_t a = 0; a < m->nb->per_node; a++)
		if (r->times[a] > 0)
			whole(m, r, a);
}

/* The edges of one source to one node, from at on; where the next begin. */
static size_t
node_add(const struct message *m, size_t at)
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
		blocks(m, m->src, own, STEP_SCATTER);
	if (m->bytes < m->nb->threshold)
		directly(m, &r);
	else if (node == m->src / per_node)
		own_node(m, &r);
	else
		other_node(m, &r);
	return at;
}

static void
messages(const struct neighbor *nb, struct plan *p, uint16_t send)
{
	const struct graph *g = &nb->graph;
	size_t at = 0;
	char name[32];

	while (at < g->count) {
		struct message m = { .nb = nb,
			.p = p,
			.send = send,
			.src = g->edges[at].src };

		m.bytes = nb->sizes[m.src];
		snprintf(name, sizeof(name), "recv.%u", m.src);
		m.recv = plan_buf_add(p, name, PLAN_OUT);
		plan_buf_need(p, send, m.src, m.bytes);
		while (at < g->count && g->edges[at].src == m.src)
			at = node_add(&m, at);
	}
}

static void
node_notes(struct plan *p, const char *what, const struct neighbor_load *loads,
    uint32_t nodes)
{
	char name[64];

	for (uint32_t i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "%s_node%u_out", what, i);
		plan_note_add(p, name, "bytes", loads[i].out_bytes);
		snprintf(name, sizeof(name), "%s_node%u_in", what, i);
		plan_note_add(p, name, "bytes", loads[i].in_bytes);
	}
}

static uint64_t
delivered(const struct neighbor *nb)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < nb->graph.count; i++)
		bytes += nb->sizes[nb->graph.edges[i].src];
	return bytes;
}

/* What passes between nodes, and what it would without leaders. */
static void
notes(const struct neighbor *nb, struct plan *p)
{
	struct neighbor_loads nl;

	neighbor_loads_make(nb, &nl);
	plan_note_add(p, "edges", "1", nb->graph.count);
	plan_note_add(p, "delivered", "bytes", delivered(nb));
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_note_add(p, "wire", "bytes", nl.leader_bytes);
	plan_note_add(p, "wire_direct", "bytes", nl.direct_bytes);
	node_notes(p, "wire", nl.leader, nl.nodes);
	node_notes(p, "wire_direct", nl.direct, nl.nodes);
	plan_note_real(p, "byte_ratio", "1", neighbor_loads_ratio(&nl));
	if (nb->density >= 0)
		plan_note_real(p, "byte_ratio_expected", "1",
		    neighbor_ratio_expected(nb->density, nb->per_node));
	plan_note_real(p, "load_bound", "1", neighbor_loads_bound(&nl));
	neighbor_loads_clear(&nl);
}

struct plan *
neighbor_plan(const struct neighbor *nb, uint32_t ranks, const char *title)
{
	struct plan *p = plan_new(ranks > nb->ranks ? ranks : nb->ranks, title);

	messages(nb, p, plan_buf_add(p, "send", PLAN_IN));
	notes(nb, p);
	plan_sort(p);
	return p;
}

static int
build(const struct conf *c, uint32_t ranks, struct plan **ret, struct err *err)
{
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
	.text = "Neighborhood allgather(v) on any graph, through leaders.",
	.build = build,
};
