/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - the replay: an event that completes sets those free that wait for
 * it; what is free starts, receives before sends; then everything under way is
 * asked, and who has nothing to report is asked again after a pause. Where
 * nothing waits for anything all is started at once.
 *
 * What fails here, fails in the middle of a job whose other ranks wait: there
 * is nothing to go back to, and the job ends with the reason.
 */
#include "probes/execute/exec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "probes/execute/exec_part.h"
#include "probes/transport/backoff.h"

static void
queue_ready(struct exec *e, uint32_t event)
{
	if (e->events[event].lane == EXEC_NONE)
		heap_push(&e->locals.free, event);
	else if (exec_is_copy(e, event))
		heap_push(&e->copies, event);
	else if (e->view.events[event].kind == RANK_GRAPH_RECV)
		exec_push(&e->receives, event);
	else
		exec_push(&e->sends, event);
}

/* ---- transfers ---- */

static void
lane_check(const struct exec_lane *lane, int rc, const char *what)
{
	if (rc < 0)
		fatalx("%s: %s: %s", lane->ops->name, what,
		    lane->ops->error(lane->transport));
}

static void
start_batch(struct exec_lane *lane, uint32_t batch, uint32_t ends)
{
	lane->running += ends;
	lane_check(lane, lane->ops->start(lane->transport, batch), "start");
}

/* Batches of a step start in the order of steps, whole ones only. */
static void
start_whole(struct exec_lane *lane)
{
	while (
	    lane->batch < lane->batch_end && lane->waiting[lane->batch] == 0) {
		uint32_t at = lane->batch++;

		start_batch(lane, at, lane->first[at + 1] - lane->first[at]);
	}
}

/* Those of a window that may start. */
static void
start_turns(struct exec *e, struct exec_lane *lane)
{
	for (int i = 0; i < 2; i++) {
		struct exec_turns *t = &lane->turns[i];
		uint32_t turn;

		while ((turn = inflight_take(&t->window)) != INFLIGHT_NONE)
			start_batch(lane,
			    lane->ends[e->events[t->events[turn]].end].batch,
			    1);
	}
}

/* Transfers to oneself have no turn: they take nothing from any link. */
static struct inflight *
window_of(const struct exec *e, struct exec_lane *lane, uint32_t event)
{
	enum rank_graph_kind kind = e->view.events[event].kind;

	if (lane->ops->window_bytes == 0 || kind == RANK_GRAPH_SELF)
		return NULL;
	return &lane->turns[kind == RANK_GRAPH_RECV].window;
}

static void
start_transfer(struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];
	struct exec_lane *lane = &e->lanes[ev->lane];
	struct inflight *w;

	if (lane->ops->by_step) {
		lane->waiting[lane->ends[ev->end].batch]--;
		start_whole(lane);
		return;
	}
	w = window_of(e, lane, event);
	if (w != NULL) {
		inflight_hold(w, ev->turn);
		start_turns(e, lane);
		return;
	}
	for (uint32_t i = 0; i < ev->ends; i++)
		start_batch(lane, lane->ends[ev->end + i].batch, 1);
}

static void
poll_lane(struct exec *e, struct exec_lane *lane, int *ret_moved)
{
	int n;

	if (lane->running == 0)
		return;
	n = lane->ops->test(lane->transport, lane->done,
	    lane->share.ends_count);
	lane_check(lane, n, "transfer");
	for (int i = 0; i < n; i++) {
		uint32_t event = lane->events[lane->done[i]];
		struct inflight *w = window_of(e, lane, event);

		lane->running--;
		if (w != NULL)
			inflight_land(w, e->events[event].turn);
		if (--e->events[event].parts == 0)
			exec_complete(e, event);
	}
	if (n > 0)
		*ret_moved = 1;
	start_turns(e, lane);
}

/* ---- the whole ---- */

void
exec_complete(struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];

	e->done++;
	for (uint32_t i = 0; i < ev->nexts; i++) {
		uint32_t next = e->nexts[ev->next + i];

		if (next < e->hi && --e->events[next].waits == 0)
			queue_ready(e, next);
	}
}

/* Start the transfers that are free; a receive that is posted late costs a
 * copy. */
static void
drain(struct exec *e)
{
	for (;;) {
		struct exec_queue *q = &e->receives;

		if (q->head == q->tail)
			q = &e->sends;
		if (q->head == q->tail)
			break;
		start_transfer(e, q->items[q->head++]);
	}
	while (e->copies.count > 0 && exec_is_due(e, e->copies.items[0]))
		start_transfer(e, heap_pop(&e->copies));
}

/* Counters as at the start of events lo to hi - 1; what is before them counts
 * as done. */
static void
rewind_events(struct exec *e)
{
	for (uint32_t i = e->lo; i < e->hi; i++) {
		const struct rank_graph_event *ve = &e->view.events[i];
		struct exec_event *ev = &e->events[i];

		ev->parts = ev->ends;
		ev->waits = 0;
		for (uint32_t k = 0; k < ve->waits; k++)
			ev->waits += e->view.waits[ve->wait + k] >= e->lo;
	}
	e->receives.head = e->receives.tail = 0;
	e->sends.head = e->sends.tail = 0;
	exec_locals_rewind(&e->locals);
	e->copies.count = 0;
	e->awaited = e->lo;
	e->done = 0;
}

static void
rewind_lane(struct exec_lane *lane, uint32_t lo_step, uint32_t hi_step)
{
	uint32_t count = lane->share.batches_count;

	lane_check(lane, lane->ops->begin(lane->transport), "begin");
	if (!lane->ops->by_step)
		return;
	memcpy(lane->waiting, lane->members, count * sizeof(*lane->waiting));
	lane->batch = 0;
	while (lane->batch < count && lane->steps[lane->batch] < lo_step)
		lane->batch++;
	lane->batch_end = lane->batch;
	while (
	    lane->batch_end < count && lane->steps[lane->batch_end] < hi_step)
		lane->batch_end++;
}

/* ---- what needs none of this ---- */

static int
takes_turns(const struct exec_turns *t)
{
	return t->count > 0 && t->turns[t->count - 1].hi > 0;
}

static int
may_go_at_once(const struct exec *e, uint32_t lo, uint32_t hi)
{
	return e->simple && lo == 0 && hi > 0 &&
	    !takes_turns(&e->lanes[0].turns[0]) &&
	    !takes_turns(&e->lanes[0].turns[1]);
}

static void
start_at_once(struct exec *e)
{
	struct exec_lane *lane = &e->lanes[0];

	lane->running = lane->share.ends_count;
	lane_check(lane, lane->ops->begin(lane->transport), "begin");
	lane_check(lane, lane->ops->start_all(lane->transport), "start");
}

static int
poll_at_once(struct exec *e, int *ret_moved)
{
	struct exec_lane *lane = &e->lanes[0];
	int done;

	if (lane->running == 0)
		return 1;
	done = lane->ops->test_all(lane->transport);
	lane_check(lane, done, "transfer");
	if (done == 0)
		return 0;
	lane->running = 0;
	*ret_moved = 1;
	return 1;
}

/* ---- a replay ---- */

/* First event of a step. */
static uint32_t
first_event(const struct rank_graph *v, uint32_t step)
{
	uint32_t lo = 0, hi = v->events_count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->events[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct transport_team *
exec_team(const struct exec *e)
{
	return e->team;
}

void
exec_start(struct exec *e, uint32_t lo, uint32_t hi)
{
	e->at_once = may_go_at_once(e, lo, hi);
	if (e->at_once) {
		start_at_once(e);
		return;
	}
	e->lo = first_event(&e->view, lo);
	e->hi = first_event(&e->view, hi);
	rewind_events(e);
	for (uint32_t i = 0; i < e->lanes_count; i++)
		rewind_lane(&e->lanes[i], lo, hi);
	for (uint32_t i = e->lo; i < e->hi; i++)
		if (e->events[i].waits == 0)
			queue_ready(e, i);
	drain(e);
}

int
exec_poll(struct exec *e, int *ret_moved)
{
	if (e->at_once)
		return poll_at_once(e, ret_moved);
	for (uint32_t i = 0; i < e->lanes_count; i++)
		poll_lane(e, &e->lanes[i], ret_moved);
	exec_locals_poll(e, ret_moved);
	drain(e);
	return e->done == e->hi - e->lo;
}

/* All that was started at once, as far as its transport waits for that. */
static int
wait_at_once(struct exec *e)
{
	struct exec_lane *lane = &e->lanes[0];
	int rc;

	if (!e->at_once || lane->running == 0 || lane->ops->wait_all == NULL)
		return 0;
	rc = lane->ops->wait_all(lane->transport);
	lane_check(lane, rc, "transfer");
	if (rc > 0)
		lane->running = 0;
	return rc;
}

/* Some of the only lane that has anything under way, likewise. */
static int
wait_in_lane(struct exec *e)
{
	struct exec_lane *only = NULL;
	int rc;

	if (e->at_once || !exec_locals_idle(&e->locals))
		return 0;
	for (uint32_t i = 0; i < e->lanes_count; i++)
		if (e->lanes[i].running > 0) {
			if (only != NULL)
				return 0;
			only = &e->lanes[i];
		}
	if (only == NULL || only->ops->wait_some == NULL)
		return 0;
	rc = only->ops->wait_some(only->transport);
	lane_check(only, rc, "transfer");
	return rc;
}

static int
is_at_mpi(const struct exec *e)
{
	for (uint32_t i = 0; i < e->lanes_count; i++)
		if (e->lanes[i].running > 0 && e->lanes[i].ops->at_mpi)
			return 1;
	return 0;
}

void
exec_wait(struct exec *e)
{
	struct backoff p = { 0 };
	int moved = 0;

	if (wait_at_once(e))
		return;
	while (!exec_poll(e, &moved)) {
		p.at_mpi = is_at_mpi(e);
		if (moved)
			backoff_reset(&p);
		else if (!wait_in_lane(e))
			backoff_wait(&p);
		moved = 0;
	}
}

void
exec_run_all(struct exec *const *list, size_t count)
{
	struct backoff p = { 0 };
	size_t open = count;

	for (size_t i = 0; i < count; i++)
		exec_start(list[i], 0, UINT32_MAX);
	while (open > 0) {
		int moved = 0;

		open = 0;
		p.at_mpi = 0;
		for (size_t i = 0; i < count; i++) {
			open += !exec_poll(list[i], &moved);
			p.at_mpi |= is_at_mpi(list[i]);
		}
		if (moved)
			backoff_reset(&p);
		else if (open > 0)
			backoff_wait(&p);
	}
}

void *
exec_place(const struct exec *e, uint16_t buf, uint64_t off)
{
	return exec_at(e, buf, off);
}

const char *
exec_staging(const struct exec *e)
{
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		const struct exec_lane *lane = &e->lanes[i];
		const char *text = lane->ops->staging(lane->transport);

		if (text[0] != '\0')
			return text;
	}
	return "";
}

uint64_t
exec_memory_bytes(const struct exec *e)
{
	return e->memory_bytes;
}
