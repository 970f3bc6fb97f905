/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_path.c - ways inside a node, and the resources that they use.
 */
#include "probes/topology/machine_path.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/topology/machine.h"

/* The resources of one node, in this order; then those of leaves. */
struct layout {
	uint32_t links, nics, memory, reduce, hosts, node;
};

static struct layout
machine_path_layout_of(const struct machine *m)
{
	struct layout lay = { .links = 0 };

	lay.nics = 2 * m->links_count;
	lay.memory = lay.nics + 3 * m->nics;
	lay.reduce = lay.memory + m->devices;
	lay.hosts = lay.reduce + m->devices;
	lay.node = lay.hosts + m->hosts;
	return lay;
}

static double
machine_path_node_share(const struct machine *m, uint32_t node)
{
	return m->place == NULL ? 1 : m->place->nodes[node].share;
}

static uint32_t
machine_path_leaf_of(const struct machine *m, uint32_t node)
{
	return m->place == NULL ? node / m->leaf_nodes
				: m->place->nodes[node].leaf;
}

static double
machine_path_uplink_per_s(const struct machine *m, uint32_t leaf)
{
	return m->place == NULL
	    ? m->uplink_per_s
	    : m->uplink_per_s * m->place->leaves[leaf].share;
}

/* Ways to one vertex: fewest links, of those the widest, of those the first.
 */
struct search {
	uint32_t *hops;
	double *width;
	int changed;
};

static void
machine_path_relax(struct machine *m, uint32_t link, int back, uint32_t to,
    struct search *s)
{
	const struct machine_link *l = &m->links[link];
	uint32_t from = back ? l->b : l->a, at = back ? l->a : l->b;
	uint32_t *next = &m->next[(size_t)from * m->vertices + to];
	double width = back ? l->back_per_s : l->rate_per_s;

	if (s->hops[at] == MACHINE_NONE || from == to)
		return;
	/* bytes pass through devices, sockets and switches, not NICs */
	if (at != to && at >= m->vertices - m->nics)
		return;
	if (s->width[at] < width)
		width = s->width[at];
	if (s->hops[from] != MACHINE_NONE &&
	    (s->hops[from] < s->hops[at] + 1 ||
		(s->hops[from] == s->hops[at] + 1 && s->width[from] >= width)))
		return;
	s->hops[from] = s->hops[at] + 1;
	s->width[from] = width;
	*next = 2 * link + (uint32_t)back;
	s->changed = 1;
}

void
machine_route(struct machine *m)
{
	size_t count = (size_t)m->vertices * m->vertices;
	struct search s = {
		.hops = xcalloc(m->vertices, sizeof(*s.hops)),
		.width = xcalloc(m->vertices, sizeof(*s.width)),
	};

	m->next = xcalloc(count, sizeof(*m->next));
	for (size_t i = 0; i < count; i++)
		m->next[i] = MACHINE_NONE;
	for (uint32_t to = 0; m->links_count > 0 && to < m->vertices; to++) {
		for (uint32_t v = 0; v < m->vertices; v++) {
			s.hops[v] = v == to ? 0 : MACHINE_NONE;
			s.width[v] = v == to ? 1e30 : 0;
		}
		do {
			s.changed = 0;
			for (uint32_t i = 0; i < m->links_count; i++) {
				machine_path_relax(m, i, 0, to, &s);
				machine_path_relax(m, i, 1, to, &s);
			}
		} while (s.changed);
	}
	free(s.hops);
	free(s.width);
}

struct machine
machine_fit(const struct machine *m, uint32_t ranks)
{
	struct machine fit = *m;

	if (m->ranks_fit && m->nodes_max > 0 && ranks > m->nodes_max)
		fit.ranks = (ranks - 1) / m->nodes_max + 1;
	return fit;
}

uint32_t
machine_rank_vertex(const struct machine *m, uint32_t rank)
{
	return rank % m->ranks % m->devices;
}

int
machine_joined(const struct machine *m, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < m->links_count; i++) {
		const struct machine_link *l = &m->links[i];

		if ((l->a == a && l->b == b) || (l->a == b && l->b == a))
			return 1;
	}
	return 0;
}

/* Return the number of links on the path, MACHINE_NONE without a path. */
static uint32_t
machine_path_hops(const struct machine *m, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t v = from; v != to; n++) {
		uint32_t next = m->next[(size_t)v * m->vertices + to];
		const struct machine_link *l;

		if (next == MACHINE_NONE || n == m->vertices)
			return MACHINE_NONE;
		l = &m->links[next / 2];
		v = next % 2 == 0 ? l->b : l->a;
	}
	return n;
}

uint32_t
machine_host(const struct machine *m, uint32_t device)
{
	uint32_t best = MACHINE_NONE, least = MACHINE_NONE;

	for (uint32_t h = m->devices; h < m->devices + m->hosts; h++) {
		uint32_t n = machine_path_hops(m, device, h);

		if (n < least) {
			least = n;
			best = h;
		}
	}
	return best;
}

uint32_t
machine_nodes(const struct machine *m, uint32_t ranks)
{
	return ranks / m->ranks + (ranks % m->ranks != 0);
}

uint32_t
machine_nic(const struct machine *m, uint32_t vertex)
{
	uint32_t first = m->devices + m->hosts + m->switches;

	if (vertex >= first)
		return vertex - first;
	if (vertex >= m->devices) /* a socket's first */
		return (uint32_t)((uint64_t)(vertex - m->devices) * m->nics /
		    m->hosts % m->nics);
	if (m->binding == BINDING_PACKED)
		return vertex / ((m->devices + m->nics - 1) / m->nics);
	return vertex % m->nics;
}

double
machine_nearness(const struct machine *m, uint32_t a, uint32_t b)
{
	double width = 1e30;
	uint32_t hops = 0;

	while (a != b) {
		uint32_t next = m->next[(size_t)a * m->vertices + b];
		const struct machine_link *l = &m->links[next / 2];
		double rate = 0;

		if (next == MACHINE_NONE)
			return 0;
		rate = next % 2 == 0 ? l->rate_per_s : l->back_per_s;
		width = rate < width ? rate : width;
		a = next % 2 == 0 ? l->b : l->a;
		hops++;
	}
	/* rates are below 1e15: a link less always counts for more */
	return width * pow(1e-16, hops);
}

uint32_t
machine_resources(const struct machine *m, uint32_t nodes)
{
	uint32_t leaves = m->leaf_nodes == 0 ? 0
	    : m->place != NULL               ? m->place->leaves_count
			       : (nodes + m->leaf_nodes - 1) / m->leaf_nodes;

	return machine_path_layout_of(m).node * nodes + 2 * leaves;
}

double *
machine_capacities(const struct machine *m, uint32_t nodes)
{
	struct layout lay = machine_path_layout_of(m);
	uint32_t count = machine_resources(m, nodes);
	double *all = xcalloc(count + (size_t)1, sizeof(*all));

	for (uint32_t n = 0; n < nodes; n++) {
		double *c = all + (size_t)n * lay.node;
		double share = machine_path_node_share(m, n);

		for (uint32_t i = 0; i < m->links_count; i++) {
			c[2 * i] = m->links[i].rate_per_s;
			c[2 * i + 1] = m->links[i].back_per_s;
		}
		for (uint32_t i = 0; i < m->nics; i++) {
			c[lay.nics + 3 * i] = share * m->out_per_s;
			c[lay.nics + 3 * i + 1] = share * m->in_per_s;
			c[lay.nics + 3 * i + 2] = share * m->both_per_s;
		}
		for (uint32_t i = 0; i < m->devices; i++) {
			c[lay.memory + i] = m->memory_per_s;
			c[lay.reduce + i] = m->reduce_per_s;
		}
		for (uint32_t i = 0; i < m->hosts; i++)
			c[lay.hosts + i] = m->host_per_s;
	}
	for (uint32_t i = lay.node * nodes; i < count; i++)
		all[i] = machine_path_uplink_per_s(m,
		    (i - lay.node * nodes) / 2);
	return all;
}

static void
machine_path_vertex_name(const struct machine *m, uint32_t v, char *ret,
    size_t ret_bytes)
{
	const uint32_t counts[] = { m->devices, m->hosts, m->switches,
		m->nics };

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (v < counts[i]) {
			snprintf(ret, ret_bytes, "%c%u", "dhsn"[i], v);
			return;
		}
		v -= counts[i];
	}
}

void
machine_resource_name(const struct machine *m, uint32_t nodes,
    uint32_t resource, char *ret, size_t ret_bytes)
{
	static const char *const sides[] = { "out", "in", "both" };
	struct layout lay = machine_path_layout_of(m);
	uint32_t i = resource % lay.node;
	char part[64], a[16], b[16], place[24];

	if (resource >= lay.node * nodes) {
		i = resource - lay.node * nodes;
		snprintf(place, sizeof(place), "leaf%u", i / 2);
		snprintf(ret, ret_bytes, "%s %s",
		    m->place == NULL ? place : m->place->leaves[i / 2].name,
		    i % 2 == 0 ? "up" : "down");
		return;
	}
	if (i < lay.nics) {
		const struct machine_link *l = &m->links[i / 2];

		machine_path_vertex_name(m, i % 2 == 0 ? l->a : l->b, a,
		    sizeof(a));
		machine_path_vertex_name(m, i % 2 == 0 ? l->b : l->a, b,
		    sizeof(b));
		snprintf(part, sizeof(part), "%s>%s %s", a, b,
		    machines_kinds[l->kind]);
	} else if (i < lay.memory) {
		snprintf(part, sizeof(part), "n%u %s", (i - lay.nics) / 3,
		    sides[(i - lay.nics) % 3]);
	} else if (i < lay.hosts) {
		snprintf(part, sizeof(part), "d%u %s",
		    (i - lay.memory) % m->devices,
		    i < lay.reduce ? "memory" : "reduce");
	} else {
		snprintf(part, sizeof(part), "h%u memory", i - lay.hosts);
	}
	snprintf(place, sizeof(place), "node%u", resource / lay.node);
	snprintf(ret, ret_bytes, "%s %s",
	    m->place == NULL ? place
			     : m->place->nodes[resource / lay.node].name,
	    part);
}

/* A path under construction. */
struct way {
	const struct machine *m;
	struct machine_path *path;
	double narrowest_per_s; /* 0: nothing limits yet */
};

static void
machine_path_pass(struct way *w, uint32_t resource, double capacity)
{
	if (capacity <= 0)
		return;
	assert(w->path->count < MACHINE_PATH_MAX);
	w->path->resources[w->path->count++] = resource;
	if (w->narrowest_per_s <= 0 || capacity < w->narrowest_per_s)
		w->narrowest_per_s = capacity;
}

/* Along links from one vertex of a node to another. 0 when none lead there.
 */
static int
machine_path_along(struct way *w, uint32_t node, uint32_t from, uint32_t to)
{
	const struct machine *m = w->m;
	uint32_t base = node * machine_path_layout_of(m).node;

	while (from != to) {
		uint32_t next = m->next[(size_t)from * m->vertices + to];
		const struct machine_link *l = &m->links[next / 2];

		if (next == MACHINE_NONE)
			return 0;
		machine_path_pass(w, base + next,
		    next % 2 == 0 ? l->rate_per_s : l->back_per_s);
		w->path->latency_ps += l->latency_ps;
		from = next % 2 == 0 ? l->b : l->a;
	}
	return 1;
}

/* A socket's memory where it is one end; nothing for other vertices. */
static void
machine_path_host_end(struct way *w, uint32_t node, uint32_t vertex)
{
	const struct machine *m = w->m;
	struct layout lay = machine_path_layout_of(m);

	if (vertex >= m->devices && vertex < m->devices + m->hosts)
		machine_path_pass(w,
		    node * lay.node + lay.hosts + vertex - m->devices,
		    m->host_per_s);
}

static void
machine_path_nic_side(struct way *w, uint32_t node, uint32_t nic, int in)
{
	const struct machine *m = w->m;
	struct layout lay = machine_path_layout_of(m);
	uint32_t first = node * lay.node + lay.nics + 3 * nic;

	double share = machine_path_node_share(m, node);

	machine_path_pass(w, first + (uint32_t)in,
	    share * (in ? m->in_per_s : m->out_per_s));
	machine_path_pass(w, first + 2, share * m->both_per_s);
}

/* From a vertex to the network, or from it. */
static void
machine_path_door(struct way *w, uint32_t node, uint32_t vertex, int in)
{
	const struct machine *m = w->m;
	uint32_t nic = machine_nic(m, vertex);
	uint32_t at = m->vertices - m->nics + nic;

	if (in)
		machine_path_nic_side(w, node, nic, 1);
	(void)machine_path_along(w, node, in ? at : vertex, in ? vertex : at);
	if (!in)
		machine_path_nic_side(w, node, nic, 0);
}

int
machine_path(const struct machine *m, const struct machine_ends *ends,
    enum machines_via via, struct machine_path *ret)
{
	const struct machine_via *v = &m->vias[via];
	uint32_t a = ends->src / m->ranks, b = ends->dst / m->ranks;
	uint32_t from = ends->from, to = ends->to;
	struct layout lay = machine_path_layout_of(m);
	uint32_t base = a * lay.node, leaves = lay.node * ends->nodes;
	struct way w = { m, ret, 0 };
	double share = a != b ? v->across : from == to ? v->self : v->within;

	*ret = (struct machine_path){ .latency_ps = v->latency_ps,
		.overhead_ps = v->overhead_ps };
	if (!v->usable || (a != b && (via == MACHINES_IPC || m->nics == 0)))
		return -EOPNOTSUPP;
	if (a != b) {
		machine_path_door(&w, a, from, 0);
		ret->latency_ps += m->network_ps;
		if (m->leaf_nodes != 0 &&
		    machine_path_leaf_of(m, a) != machine_path_leaf_of(m, b)) {
			ret->latency_ps += m->hop_ps;
			machine_path_pass(&w,
			    leaves + 2 * machine_path_leaf_of(m, a),
			    machine_path_uplink_per_s(m,
				machine_path_leaf_of(m, a)));
			machine_path_pass(&w,
			    leaves + 2 * machine_path_leaf_of(m, b) + 1,
			    machine_path_uplink_per_s(m,
				machine_path_leaf_of(m, b)));
		}
		machine_path_door(&w, b, to, 1);
	} else if (from == to && from < m->devices) {
		machine_path_pass(&w, base + lay.memory + from,
		    m->memory_per_s);
	} else if (from == to) {
		machine_path_pass(&w, base + lay.hosts + from - m->devices,
		    m->host_per_s);
	} else if (machine_path_along(&w, a, from, to)) {
		machine_path_host_end(&w, a, from);
		machine_path_host_end(&w, a, to);
	} else { /* what no link joins exchanges through a socket's memory */
		machine_path_pass(&w, base + lay.hosts, m->host_per_s);
	}
	if (share < 1)
		ret->rate_max_per_s = share * w.narrowest_per_s;
	return 0;
}

void
machine_local(const struct machine *m, uint32_t rank, int reduces,
    struct machine_path *ret)
{
	struct layout lay = machine_path_layout_of(m);
	uint32_t base = rank / m->ranks * lay.node;
	uint32_t device = machine_rank_vertex(m, rank);
	struct way w = { m, ret, 0 };

	*ret = (struct machine_path){ .overhead_ps = m->launch_ps };
	machine_path_pass(&w, base + lay.memory + device, m->memory_per_s);
	if (reduces)
		machine_path_pass(&w, base + lay.reduce + device,
		    m->reduce_per_s);
}
