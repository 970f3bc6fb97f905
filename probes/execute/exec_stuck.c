/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_stuck.c - limits of waits, and the ranks that are waited for.
 */
#include "probes/execute/exec_stuck.h"

#include <stdlib.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/job/world.h"

/* Bytes per second, 10 Mbit/s. A slow network is not a dead one. */
#define STUCK_RATE  1250000.0
#define STUCK_TIMES 50
#define MARGIN_NS   (5 * CLK_NS_PER_S)
#define PEERS_MAX   2 /* as many as the agent reports */
/* Reports of one replay: two for each step. */
#define AT_BITS 24
#define AT_LAST ((1ULL << AT_BITS) - 1)

/* Bytes between nodes that the busiest rank sends or receives in each step,
 * summed over the steps: a step can start when the one before it is over. */
static double
exec_stuck_bytes(const struct plan *p, const int *nodes, int ranks)
{
	double *bytes = xcalloc(2 * (size_t)ranks, sizeof(*bytes));
	double sum = 0, most = 0;

	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		double *of[2] = { &bytes[t->src],
			&bytes[(size_t)ranks + t->dst] };

		if (i > 0 && t->step != t[-1].step) {
			sum += most;
			most = 0;
			for (size_t k = i;
			     k-- > 0 && p->transfers[k].step == t[-1].step;) {
				bytes[p->transfers[k].src] = 0;
				bytes[(size_t)ranks + p->transfers[k].dst] = 0;
			}
		}
		for (int k = 0; k < 2 && nodes[t->src] != nodes[t->dst]; k++) {
			*of[k] += (double)t->bytes;
			if (*of[k] > most)
				most = *of[k];
		}
	}
	free(bytes);
	return sum + most;
}

void
exec_stuck_make(struct exec *e)
{
	const struct transport_team *team = e->team;

	if (team->world != NULL && team->world->stuck_ns > 0)
		e->stuck.slow_ns = (uint64_t)(exec_stuck_bytes(e->plan,
						  team->nodes, team->ranks) /
		    STUCK_RATE * CLK_NS_PER_S);
}

/* Ranks that wait for a message come first: they can name its sender. */
uint64_t
exec_limit_ns(const struct exec *e)
{
	const struct world *w = e->team->world;

	return w == NULL || w->stuck_ns == 0
	    ? 0
	    : 2 * (w->stuck_ns + e->stuck.slow_ns) + MARGIN_NS;
}

void
exec_stuck_start(struct exec *e)
{
	if (e->team->world != NULL)
		e->stuck.start = ++e->team->world->at;
}

void
exec_stuck_moved(struct exec *e)
{
	if (e->stuck.waited_ns > e->stuck.longest_ns)
		e->stuck.longest_ns = e->stuck.waited_ns;
	e->stuck.waited_ns = 0;
}

static int
exec_stuck_is_pending(const struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];
	const struct exec_lane *lane;

	if (ev->lane == EXEC_NONE)
		return 0;
	lane = &e->lanes[ev->lane];
	return lane->ops->is_pending != NULL &&
	    lane->ops->is_pending(lane->transport, ev->end);
}

/* The ranks of other nodes with pending messages of the first step that has
 * any, one of each node; *ret_at: the number of the report. */
static int
exec_stuck_peers(const struct exec *e, enum rank_graph_kind kind,
    int ret[PEERS_MAX], uint64_t *ret_at)
{
	const int *nodes = e->team->nodes;
	uint32_t step = 0;
	int count = 0;

	for (uint32_t i = 0; i < e->view.events_count; i++) {
		const struct rank_graph_event *v = &e->view.events[i];
		const struct plan_transfer *t;
		int peer, is_listed = 0;

		if (v->kind != kind || (count > 0 && v->step != step))
			continue;
		t = &e->plan->transfers[v->row];
		peer = (int)(kind == RANK_GRAPH_SEND ? t->dst : t->src);
		for (int k = 0; k < count; k++)
			is_listed |= nodes[ret[k]] == nodes[peer];
		if (is_listed || nodes[peer] == nodes[e->team->rank] ||
		    count == PEERS_MAX || !exec_stuck_is_pending(e, i))
			continue;
		step = v->step;
		ret[count++] = peer;
	}
	*ret_at = 2ULL * step + (kind == RANK_GRAPH_RECV);
	*ret_at = (e->stuck.start << AT_BITS) +
	    (*ret_at < AT_LAST ? *ret_at : AT_LAST);
	return count;
}

void
exec_stuck_look(struct exec *e, uint64_t since_ns)
{
	static const enum rank_graph_kind kinds[] = { RANK_GRAPH_SEND,
		RANK_GRAPH_RECV };
	const struct world *w = e->team->world;
	struct exec_stuck *s = &e->stuck;
	uint64_t slow_ns = s->slow_ns, at;
	int peers[PEERS_MAX];

	s->waited_ns = clk_ns() - since_ns;
	if (w == NULL || w->stuck_ns == 0)
		return;
	if (s->is_replayed && STUCK_TIMES * s->longest_ns < slow_ns)
		slow_ns = STUCK_TIMES * s->longest_ns;
	if (s->waited_ns < w->stuck_ns + slow_ns)
		return;
	for (int i = 0; i < 2; i++) {
		int count = exec_stuck_peers(e, kinds[i], peers, &at);

		if (count > 0)
			control_stuck(w, NAMES_PLAN, peers, e->team->nodes,
			    count, at, s->waited_ns);
	}
}
