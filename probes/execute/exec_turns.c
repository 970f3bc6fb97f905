/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_turns.c - in which order transfers go, where not all may go at once.
 *
 * Steps come first. Within a step ranks that are near to each other by number
 * meet first, all at the same distance, so that at any time each sends to one
 * and receives from one. Both ends of a transfer have the same place in this
 * order, which window.h asks for.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/execute/exec.h"
#include "probes/execute/exec_part.h"

static uint32_t
distance(const struct exec *e, const struct plan_transfer *t)
{
	uint32_t n = e->plan->ranks;

	return (t->dst + n - t->src) % n;
}

static int
compare_turns_cb(const void *va, const void *vb, void *arg)
{
	const struct exec *e = arg;
	const struct rank_graph_event *a =
	    &e->view.events[*(const uint32_t *)va];
	const struct rank_graph_event *b =
	    &e->view.events[*(const uint32_t *)vb];
	uint32_t x = distance(e, &e->plan->transfers[a->row]);
	uint32_t y = distance(e, &e->plan->transfers[b->row]);

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static void
collect(const struct exec *e, uint32_t lane, enum rank_graph_kind kind,
    struct exec_turns *t)
{
	t->events = xcalloc(e->view.events_count + (size_t)1,
	    sizeof(*t->events));
	for (uint32_t i = 0; i < e->view.events_count; i++)
		if (e->events[i].lane == lane && e->view.events[i].kind == kind)
			t->events[t->count++] = i;
}

/* Sends wait for those of earlier steps, receives for nobody, unless they take
 * turns within a step as well. */
static void
choose_limits(const struct exec *e, struct exec_turns *t, int receive,
    int in_turn)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		struct inflight_turn *turn = &t->turns[i];
		uint32_t step = e->view.events[t->events[i]].step;

		if (step != e->view.events[t->events[first]].step)
			first = i;
		turn->lo = receive ? first : 0;
		turn->hi = in_turn ? i : first;
	}
}

void
exec_turns_make(struct exec *e, uint32_t lane)
{
	struct exec_lane *l = &e->lanes[lane];

	for (int receive = 0; receive < 2; receive++) {
		struct exec_turns *t = &l->turns[receive];

		collect(e, lane, receive ? RANK_GRAPH_RECV : RANK_GRAPH_SEND,
		    t);
		qsort_r(t->events, t->count, sizeof(*t->events),
		    compare_turns_cb, e);
		t->turns = xcalloc(t->count + (size_t)1, sizeof(*t->turns));
		for (uint32_t i = 0; i < t->count; i++) {
			const struct exec_event *ev = &e->events[t->events[i]];

			e->events[t->events[i]].turn = i;
			t->turns[i].bytes = l->ends[ev->end].bytes;
		}
		choose_limits(e, t, receive, 0);
		inflight_init(&t->window, t->turns, t->count,
		    l->ops->window_bytes);
	}
}

void
exec_turns_free(struct exec_lane *lane)
{
	for (int i = 0; i < 2; i++) {
		inflight_clear(&lane->turns[i].window);
		free(lane->turns[i].turns);
		free(lane->turns[i].events);
	}
}

void
exec_take_turns(struct exec *e)
{
	for (uint32_t i = 0; i < e->lanes_count; i++)
		for (int receive = 0; receive < 2; receive++)
			choose_limits(e, &e->lanes[i].turns[receive], receive,
			    1);
}
