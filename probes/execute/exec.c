/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - the order in which a replay starts ready operations, and its
 * waiting.
 *
 * A completed event releases the events that wait for it. Ready events start,
 * receives before sends of short messages and after those of long ones
 * (transport_is_offered); then all active ones are polled, and a poll without a
 * result backs off. If no event waits for another, all start at once.
 *
 * Copies between processes of a host, and reductions by this thread, take cores
 * from the ranks that serve the network, and could all start early: at the
 * start of a pipeline they would hold up its first pieces at every hop. So they
 * are delayed until they are near the step of the oldest open receive through
 * MPI. A GPU's own work never waits. This cannot deadlock: an incomplete event
 * of the lowest step over all ranks is never beyond an open receive.
 *
 * A failure here ends the job with the reason, since the other ranks wait.
 */
#include "probes/execute/exec.h"

#include <sched.h>
#include <string.h>

#include "common/log.h"
#include "probes/execute/exec_part.h"
#include "probes/execute/exec_data.h"
#include "probes/execute/exec_stuck.h"
#include "probes/execute/inflight.h"
#include "probes/transport/backoff.h"

/* Steps that local work may be ahead: they cover the time that another rank of
 * the node takes to wake up. */
#define AHEAD_STEPS 8
/* Polls without progress between two looks at how long they take. */
#define STUCK_LOOKS 256

static void
exec_queue_ready(struct exec *e, uint32_t event)
{
	uint32_t lane = e->events[event].lane;

	if (lane == EXEC_NONE)
		heap_push(&e->locals.free, event);
	else if (e->team->ops->host_access && e->lanes[lane].ops->copies_here)
		heap_push(&e->copies, event);
	else if (e->view.events[event].kind == RANK_GRAPH_RECV)
		exec_push(&e->receives, event);
	else
		exec_push(&e->sends, event);
}

static void
exec_complete(struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];

	e->done++;
	for (uint32_t i = 0; i < ev->nexts; i++) {
		uint32_t next = e->nexts[ev->next + i];

		if (next < e->hi && --e->events[next].waits == 0)
			exec_queue_ready(e, next);
	}
}

/* ---- how far ahead of the network ---- */

static int
exec_is_due(struct exec *e, uint32_t event)
{
	const struct rank_graph_event *v = e->view.events;

	if (!e->team->ops->host_access)
		return 1;
	for (; e->awaited < e->hi; e->awaited++) {
		const struct exec_event *ev = &e->events[e->awaited];

		if (v[e->awaited].kind == RANK_GRAPH_RECV && ev->parts > 0 &&
		    e->lanes[ev->lane].ops->at_mpi)
			return v[event].step <=
			    v[e->awaited].step + AHEAD_STEPS;
	}
	return 1;
}

/* ---- local operations ---- */

/* Bytes that it writes. */
static uint64_t
exec_local_start(struct exec *e, uint32_t event)
{
	const struct rank_graph_event *ve = &e->view.events[event];
	const struct device_ops *ops = e->team->ops;
	uint64_t bytes;

	if (ve->kind == RANK_GRAPH_SELF) {
		const struct plan_transfer *t = &e->plan->transfers[ve->row];

		bytes = t->bytes;
		exec_device_check(e,
		    ops->copy(e->stream, exec_at(e, t->to, t->to_off),
			exec_at(e, t->from, t->from_off), bytes),
		    "copy");
	} else {
		const struct plan_local *l = &e->plan->locals[ve->row];
		const struct plan_place *in = &e->plan->inputs[l->input];
		const void **inputs = e->locals.inputs;
		void *to = exec_at(e, l->to, l->to_off);
		int rc;

		bytes = l->bytes;
		for (uint32_t i = 0; i < l->inputs; i++)
			inputs[i] = exec_at(e, in[i].buf, in[i].off);
		if (l->op == PLAN_COPY || l->inputs == 1)
			rc = ops->copy(e->stream, to, inputs[0], bytes);
		else
			rc = ops->reduce(e->stream, (enum plan_op)l->op,
			    (enum plan_type)l->type, to, inputs, l->inputs,
			    bytes / plan_types[l->type].bytes);
		exec_device_check(e, rc, "local operation");
	}
	exec_device_check(e,
	    ops->event_record(e->locals.marks[event], e->stream), "event");
	exec_push(&e->locals.started, event);
	return bytes;
}

static int
exec_locals_poll_started(struct exec *e)
{
	struct exec_queue *q = &e->locals.started;
	int n = 0, rc;

	for (; q->head < q->tail; n++) {
		rc = e->team->ops->event_query(
		    e->locals.marks[q->items[q->head]]);
		exec_device_check(e, rc, "local operation");
		if (rc == 0)
			break;
		exec_complete(e, q->items[q->head++]);
	}
	return n;
}

/* Start operations in the order of the plan and not of readiness: in a ring, a
 * rank that first sums all its own pieces delays every rank behind it. On a
 * device that works asynchronously all ready operations start. An operation
 * that is complete when started was performed by this thread, which polls its
 * transfers in between. */
static void
exec_locals_poll(struct exec *e, int *ret_moved)
{
	struct exec_locals *l = &e->locals;
	uint64_t own_bytes = 0;

	*ret_moved |= exec_locals_poll_started(e) > 0;
	while (l->free.count > 0 && own_bytes < BACKOFF_WORK_BYTES &&
	    exec_is_due(e, l->free.items[0])) {
		uint64_t bytes = exec_local_start(e, heap_pop(&l->free));

		if (exec_locals_poll_started(e) == 0)
			continue;
		*ret_moved = 1;
		own_bytes += bytes;
	}
	if (own_bytes > 0)
		sched_yield();
}

/* ---- transfers ---- */

static void
exec_lane_check(const struct exec_lane *lane, int rc, const char *what)
{
	if (rc < 0)
		fatalx("%s: %s: %s", lane->ops->name, what, lane->err.text);
}

static void
exec_lane_start_batch(struct exec_lane *lane, uint32_t batch, uint32_t ends)
{
	lane->running += ends;
	exec_lane_check(lane, lane->ops->start(lane->transport, batch),
	    "start");
}

/* Those of a window that may start. */
static void
exec_lane_start_turns(struct exec *e, struct exec_lane *lane)
{
	for (int i = 0; i < 2; i++) {
		struct exec_turns *t = &lane->turns[i];
		uint32_t turn;

		while ((turn = inflight_take(&t->window)) != INFLIGHT_NONE)
			exec_lane_start_batch(lane,
			    lane->ends[e->events[t->events[turn]].end].batch,
			    1);
	}
}

/* Transfers to oneself have no turn, since they use no link. */
static struct inflight *
exec_lane_window(const struct exec *e, struct exec_lane *lane, uint32_t event)
{
	enum rank_graph_kind kind = e->view.events[event].kind;

	if (lane->ops->window_bytes == 0 || kind == RANK_GRAPH_SELF)
		return NULL;
	return &lane->turns[kind == RANK_GRAPH_RECV].window;
}

static void
exec_transfer_start(struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];
	struct exec_lane *lane = &e->lanes[ev->lane];
	struct inflight *w;

	if (lane->ops->by_step) {
		/* Batches of a step start in the order of steps, and only
		 * once all of their members are ready. */
		lane->waiting[lane->ends[ev->end].batch]--;
		while (lane->batch < lane->batch_end &&
		    lane->waiting[lane->batch] == 0) {
			uint32_t at = lane->batch++;

			exec_lane_start_batch(lane, at,
			    lane->first[at + 1] - lane->first[at]);
		}
		return;
	}
	w = exec_lane_window(e, lane, event);
	if (w != NULL) {
		inflight_hold(w, ev->turn);
		exec_lane_start_turns(e, lane);
		return;
	}
	for (uint32_t i = 0; i < ev->ends; i++)
		exec_lane_start_batch(lane, lane->ends[ev->end + i].batch, 1);
}

static int
exec_offers_next(const struct exec *e)
{
	const struct exec_queue *q = &e->sends;
	uint32_t row;

	if (q->head == q->tail)
		return 0;
	row = e->view.events[q->items[q->head]].row;
	return transport_is_offered(e->plan->transfers[row].bytes);
}

/* Start the transfers that are ready. A receive of a short message that is
 * posted late costs a copy. */
static void
exec_transfers_start_ready(struct exec *e)
{
	for (;;) {
		struct exec_queue *q = &e->receives;

		if (q->head == q->tail || exec_offers_next(e))
			q = &e->sends;
		if (q->head == q->tail)
			break;
		exec_transfer_start(e, q->items[q->head++]);
	}
	while (e->copies.count > 0 && exec_is_due(e, e->copies.items[0]))
		exec_transfer_start(e, heap_pop(&e->copies));
}

/* ---- a replay ---- */

/* First event of a step. */
static uint32_t
exec_first_event(const struct rank_graph *v, uint32_t step)
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

static int
exec_takes_turns(const struct exec_turns *t)
{
	return t->count > 0 && t->turns[t->count - 1].hi > 0;
}

const struct transport_team *
exec_team(const struct exec *e)
{
	return e->team;
}

void
exec_start(struct exec *e, uint32_t lo, uint32_t hi)
{
	struct exec_lane *first = &e->lanes[0];

	exec_stuck_start(e);
	for (uint32_t i = 0; i < e->lanes_count; i++)
		if (e->lanes[i].ops->begin != NULL)
			exec_lane_check(&e->lanes[i],
			    e->lanes[i].ops->begin(e->lanes[i].transport),
			    "begin");
	e->at_once = e->simple && lo == 0 && hi > 0 &&
	    !exec_takes_turns(&first->turns[0]) &&
	    !exec_takes_turns(&first->turns[1]);
	if (e->at_once) {
		first->running = first->share.ends_count;
		exec_lane_check(first, first->ops->start_all(first->transport),
		    "start");
		return;
	}
	e->lo = exec_first_event(&e->view, lo);
	e->hi = exec_first_event(&e->view, hi);
	e->receives.head = e->receives.tail = 0;
	e->sends.head = e->sends.tail = 0;
	e->locals.free.count = 0;
	e->locals.started.head = e->locals.started.tail = 0;
	e->copies.count = 0;
	e->awaited = e->lo;
	e->done = 0;
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		struct exec_lane *lane = &e->lanes[i];
		uint32_t count = lane->share.batches_count, at = 0;

		if (!lane->ops->by_step)
			continue;
		memcpy(lane->waiting, lane->members,
		    count * sizeof(*lane->waiting));
		while (at < count && lane->steps[at] < lo)
			at++;
		lane->batch = at;
		while (at < count && lane->steps[at] < hi)
			at++;
		lane->batch_end = at;
	}
	/* Events before the first step count as complete. */
	for (uint32_t i = e->lo; i < e->hi; i++) {
		const struct rank_graph_event *ve = &e->view.events[i];
		struct exec_event *ev = &e->events[i];

		ev->parts = ev->ends;
		ev->waits = 0;
		for (uint32_t k = 0; k < ve->waits; k++)
			ev->waits += e->view.waits[ve->wait + k] >= e->lo;
		if (ev->waits == 0)
			exec_queue_ready(e, i);
	}
	exec_transfers_start_ready(e);
}

/* Move on what can be: 1 once this rank's part is complete. *ret_moved is set
 * to 1 if anything was, else left. */
static int
exec_poll(struct exec *e, int *ret_moved)
{
	if (e->at_once) {
		struct exec_lane *lane = &e->lanes[0];
		int done;

		if (lane->running == 0)
			return 1;
		done = lane->ops->test_all(lane->transport);
		exec_lane_check(lane, done, "transfer");
		if (done == 0)
			return 0;
		lane->running = 0;
		*ret_moved = 1;
		return 1;
	}
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		struct exec_lane *lane = &e->lanes[i];
		int n;

		if (lane->running == 0)
			continue;
		n = lane->ops->test(lane->transport, lane->done,
		    lane->share.ends_count);
		exec_lane_check(lane, n, "transfer");
		for (int k = 0; k < n; k++) {
			uint32_t event = lane->events[lane->done[k]];
			struct inflight *w = exec_lane_window(e, lane, event);

			lane->running--;
			if (w != NULL)
				inflight_land(w, e->events[event].turn);
			if (--e->events[event].parts == 0)
				exec_complete(e, event);
		}
		*ret_moved |= n > 0;
		exec_lane_start_turns(e, lane);
	}
	exec_locals_poll(e, ret_moved);
	exec_transfers_start_ready(e);
	return e->done == e->hi - e->lo;
}

/* Wait in the transport for some of the only lane that has anything in flight:
 * 1 if it could. */
static int
exec_wait_in_lane(struct exec *e)
{
	const struct exec_locals *l = &e->locals;
	struct exec_lane *only = NULL;
	int rc;

	if (e->at_once || l->free.count > 0 ||
	    l->started.head < l->started.tail)
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
	exec_lane_check(only, rc, "transfer");
	return rc;
}

static int
exec_is_at_mpi(const struct exec *e)
{
	for (uint32_t i = 0; i < e->lanes_count; i++)
		if (e->lanes[i].running > 0 && e->lanes[i].ops->at_mpi)
			return 1;
	return 0;
}

/* Note whether a poll made progress. */
static void
exec_polled(struct exec *e, int moved, const struct backoff *p)
{
	if (moved)
		exec_stuck_moved(e);
	else if (p->since_ns != 0 && ++e->stuck.polls % STUCK_LOOKS == 0)
		exec_stuck_look(e, p->since_ns);
}

void
exec_wait(struct exec *e)
{
	struct exec_lane *first = &e->lanes[0];
	struct backoff p = { .awake = e->awake };
	int moved = 0;

	if (e->at_once && first->running > 0 && first->ops->wait_all != NULL) {
		int rc = first->ops->wait_all(first->transport);

		exec_lane_check(first, rc, "transfer");
		if (rc > 0) {
			first->running = 0;
			return;
		}
	}
	while (!exec_poll(e, &moved)) {
		p.at_mpi = exec_is_at_mpi(e);
		if (moved)
			backoff_reset(&p);
		else if (!exec_wait_in_lane(e))
			backoff_wait(&p);
		exec_polled(e, moved, &p);
		moved = 0;
	}
	exec_stuck_moved(e);
	e->stuck.is_replayed = 1;
}

void
exec_run(void *exec)
{
	exec_start(exec, 0, UINT32_MAX);
	exec_wait(exec);
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
			p.at_mpi |= exec_is_at_mpi(list[i]);
		}
		if (moved)
			backoff_reset(&p);
		else if (open > 0)
			backoff_wait(&p);
		for (size_t i = 0; i < count; i++)
			exec_polled(list[i], moved, &p);
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

		if (lane->ops->staging != NULL)
			return lane->ops->staging(lane->transport);
	}
	return "";
}
