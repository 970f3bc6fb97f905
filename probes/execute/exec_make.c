/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_make.c - prepare a plan for replay: lanes with their ends, the turns of
 * transfers, events, memory, tags.
 *
 * Collective agreements dominate the time if there are more ranks than cores,
 * so there are only two: before the transports prepare, and after. All ranks
 * return the reason of the first rank that failed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/execute/exec.h"
#include "probes/execute/exec_part.h"
#include "probes/execute/exec_stuck.h"
#include "probes/execute/exec_data.h"
#include "probes/execute/inflight.h"
#include "probes/transport/backoff.h"

/* Tags of MPI in use by plans that are alive. Plans are made and ended by all
 * ranks in the same order, so all see the same numbers. */
static uint64_t tags_next;

/* ---- lanes ---- */

/* Copies within the device do not use ipc, as only one process is involved.
 * Every other transport carries them itself. */
static int
exec_make_by_device(const struct plan_transfer *t)
{
	return t->src == t->dst &&
	    (t->via == PLAN_VIA_IPC || t->via == PLAN_VIA_IPC_PUT ||
		t->via == PLAN_VIA_IPC_GET);
}

static uint32_t
exec_make_lane_of(struct exec *e, enum plan_via via)
{
	const struct transport_ops *ops = transport_find(via), *other;

	other = ops->instead != NULL ? ops->instead(e->team) : NULL;
	if (other != NULL)
		ops = other;
	for (uint32_t i = 0; i < e->lanes_count; i++)
		if (e->lanes[i].ops == ops)
			return i;
	e->lanes[e->lanes_count].ops = ops;
	return e->lanes_count++;
}

static void
exec_make_add_end(struct exec *e, uint32_t event, int receive)
{
	const struct rank_graph_event *ve = &e->view.events[event];
	const struct plan_transfer *t = &e->plan->transfers[ve->row];
	struct exec_event *ev = &e->events[event];
	struct exec_lane *lane = &e->lanes[ev->lane];
	uint32_t at = lane->share.ends_count++;
	uint8_t via = t->via;

	if (via == PLAN_VIA_IPC)
		via = e->gets[ve->row] ? PLAN_VIA_IPC_GET : PLAN_VIA_IPC_PUT;
	lane->ends[at] = (struct transport_end){
		.off = e->places[receive ? t->to : t->from] +
		    (receive ? t->to_off : t->from_off),
		.bytes = t->bytes,
		.peer = receive ? t->src : t->dst,
		.tag = ve->tag,
		.step = t->step,
		.batch = lane->share.batches_count++,
		.receive = receive != 0,
		.via = via,
		.on_host = exec_is_on_host(e, receive ? t->to : t->from) != 0,
	};
	lane->events[at] = event;
	if (ev->ends++ == 0)
		ev->end = at;
}

static int
exec_make_compare_ends_cb(const void *va, const void *vb, void *arg)
{
	const struct exec_lane *lane = arg;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct transport_end *x = &lane->ends[a], *y = &lane->ends[b];

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->receive != y->receive)
		return x->receive ? -1 : 1;
	return (a > b) - (a < b);
}

/* Group the ends of a step, receives first, one batch per step. The two ends of
 * a self transfer are then apart, which is fine as long as its event has
 * both. */
static void
exec_make_batch_by_step(struct exec *e, struct exec_lane *lane)
{
	uint32_t n = lane->share.ends_count, batch = 0;
	struct transport_end *ends = xcalloc(n + (size_t)1, sizeof(*ends));
	uint32_t *order = xcalloc(n + (size_t)1, sizeof(*order));
	uint32_t *events = xcalloc(n + (size_t)1, sizeof(*events));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), exec_make_compare_ends_cb, lane);
	for (uint32_t i = 0; i < n; i++) {
		ends[i] = lane->ends[order[i]];
		events[i] = lane->events[order[i]];
		e->events[events[i]].end = i;
		batch += i > 0 && ends[i].step != ends[i - 1].step;
		ends[i].batch = batch;
	}
	memcpy(lane->ends, ends, n * sizeof(*ends));
	memcpy(lane->events, events, n * sizeof(*events));
	lane->share.batches_count = n > 0 ? batch + 1 : 0;
	free(ends);
	free(order);
	free(events);
}

/* ---- turns ----
 *
 * In which order transfers go where not all may go at once. Steps come first.
 * Within a step ranks that are near to each other by number meet first, all at
 * the same distance, so that at any time each sends to one and receives from
 * one. Both ends of a transfer have the same place in this order, which
 * inflight.h asks for. */

static int
exec_make_compare_turns_cb(const void *va, const void *vb, void *arg)
{
	const struct exec *e = arg;
	const struct rank_graph_event *a =
	    &e->view.events[*(const uint32_t *)va];
	const struct rank_graph_event *b =
	    &e->view.events[*(const uint32_t *)vb];
	const struct plan_transfer *s = &e->plan->transfers[a->row];
	const struct plan_transfer *t = &e->plan->transfers[b->row];
	uint32_t n = e->plan->ranks;
	uint32_t x = (s->dst + n - s->src) % n, y = (t->dst + n - t->src) % n;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Sends wait for those of earlier steps and receives for none, unless they take
 * turns within a step as well. */
static void
exec_make_choose_limits(const struct exec *e, struct exec_turns *t, int receive,
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

static void
exec_make_turns(struct exec *e, uint32_t lane)
{
	static const enum rank_graph_kind kinds[] = { RANK_GRAPH_SEND,
		RANK_GRAPH_RECV };
	size_t n = e->view.events_count + (size_t)1;

	for (int receive = 0; receive < 2; receive++) {
		struct exec_turns *t = &e->lanes[lane].turns[receive];

		t->events = xcalloc(n, sizeof(*t->events));
		for (uint32_t i = 0; i < e->view.events_count; i++)
			if (e->events[i].lane == lane &&
			    e->view.events[i].kind == kinds[receive])
				t->events[t->count++] = i;
		qsort_r(t->events, t->count, sizeof(*t->events),
		    exec_make_compare_turns_cb, e);
		t->turns = xcalloc(t->count + (size_t)1, sizeof(*t->turns));
		for (uint32_t i = 0; i < t->count; i++) {
			struct exec_event *ev = &e->events[t->events[i]];

			ev->turn = i;
			t->turns[i].bytes = e->lanes[lane].ends[ev->end].bytes;
		}
		exec_make_choose_limits(e, t, receive, 0);
		inflight_init(&t->window, t->turns, t->count,
		    transport_window_bytes(e->team, e->lanes[lane].ops));
	}
}

void
exec_take_turns(struct exec *e)
{
	for (uint32_t i = 0; i < e->lanes_count; i++)
		for (int receive = 0; receive < 2; receive++)
			exec_make_choose_limits(e, &e->lanes[i].turns[receive],
			    receive, 1);
}

/* ---- all lanes ---- */

static void
exec_make_lanes(struct exec *e)
{
	size_t cap = 2 * (size_t)e->view.events_count + 1;
	int used[PLAN_VIA_MAX] = { 0 };

	/* From all rows: a rank without a transfer has the lane too. */
	for (size_t i = 0; i < e->plan->transfers_count; i++)
		used[e->plan->transfers[i].via] |= !exec_make_by_device(
		    &e->plan->transfers[i]);
	for (int via = 0; via < PLAN_VIA_MAX; via++)
		if (used[via])
			exec_make_lane_of(e, (enum plan_via)via);
	e->gets = inflight_gets(e->plan,
	    backoff_cores_are_shared(e->team->node_comm));
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		e->lanes[i].ends = xcalloc(cap, sizeof(*e->lanes[i].ends));
		e->lanes[i].events = xcalloc(cap, sizeof(*e->lanes[i].events));
		e->lanes[i].done = xcalloc(cap, sizeof(*e->lanes[i].done));
	}
	for (uint32_t i = 0; i < e->view.events_count; i++) {
		const struct rank_graph_event *ve = &e->view.events[i];
		const struct plan_transfer *t = &e->plan->transfers[ve->row];

		e->events[i].lane = EXEC_NONE;
		if (ve->kind == RANK_GRAPH_LOCAL || exec_make_by_device(t))
			continue;
		e->events[i].lane = exec_make_lane_of(e, (enum plan_via)t->via);
		if (ve->kind != RANK_GRAPH_SEND)
			exec_make_add_end(e, i, 1);
		if (ve->kind != RANK_GRAPH_RECV)
			exec_make_add_end(e, i, 0);
	}
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		struct exec_lane *lane = &e->lanes[i];
		size_t n;

		if (lane->ops->by_step)
			exec_make_batch_by_step(e, lane);
		n = lane->share.batches_count + (size_t)1;
		lane->waiting = xcalloc(n, sizeof(*lane->waiting));
		lane->members = xcalloc(n, sizeof(*lane->members));
		lane->first = xcalloc(n, sizeof(*lane->first));
		lane->steps = xcalloc(n, sizeof(*lane->steps));
		for (uint32_t k = 0; k < lane->share.ends_count; k++) {
			lane->steps[lane->ends[k].batch] = lane->ends[k].step;
			lane->first[lane->ends[k].batch + 1] = k + 1;
		}
		if (lane->ops->window_bytes > 0)
			exec_make_turns(e, i);
		lane->share.ends = lane->ends;
		lane->share.piece_bytes = e->plan->piece_bytes;
		lane->share.err = &lane->err;
	}
	for (uint32_t i = 0; i < e->view.events_count; i++) {
		const struct exec_event *ev = &e->events[i];
		struct exec_lane *lane;

		if (ev->lane == EXEC_NONE)
			continue;
		lane = &e->lanes[ev->lane];
		lane->members[lane->ends[ev->end].batch]++;
	}
}

/* ---- events ---- */

/* Which events wait for one: the other direction of the graph's lists. */
static void
exec_make_events(struct exec *e)
{
	const struct rank_graph *v = &e->view;
	size_t n = v->events_count + (size_t)1;
	uint32_t at = 0;

	e->receives.items = xcalloc(n, sizeof(uint32_t));
	e->sends.items = xcalloc(n, sizeof(uint32_t));
	e->copies.items = xcalloc(n, sizeof(uint32_t));
	e->nexts = xcalloc(v->waits_count + 1, sizeof(*e->nexts));
	for (size_t i = 0; i < v->waits_count; i++)
		e->events[v->waits[i]].nexts++;
	for (uint32_t i = 0; i < v->events_count; i++) {
		e->events[i].next = at;
		at += e->events[i].nexts;
		e->events[i].nexts = 0;
	}
	for (uint32_t i = 0; i < v->events_count; i++)
		for (uint32_t k = 0; k < v->events[i].waits; k++) {
			uint32_t of = v->waits[v->events[i].wait + k];
			struct exec_event *ev = &e->events[of];

			e->nexts[ev->next + ev->nexts++] = i;
		}
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		struct exec_lane *lane = &e->lanes[i];

		for (uint32_t k = 0; k < lane->share.ends_count; k++)
			lane->ends[k].terminal =
			    e->events[lane->events[k]].nexts == 0;
	}
}

/* ---- memory ---- */

/* Check that this much memory is free. A test of one huge size must not push
 * the machine into swapping, or worse. */
static int
exec_make_memory_fits(const struct exec *e, double need,
    const struct device_ops *ops, struct device *d, struct err *err)
{
	struct device_facts facts;
	int rc = ops->facts(d, &facts);

	if (rc < 0)
		return err_set(err, rc, "%s: %s", ops->name, ops->error(d));
	if (need > 0.9 * (double)facts.free_bytes)
		return err_set(err, -ENOMEM,
		    "%.200s: needs %.3g GiB on the node of rank %d, but %s has "
		    "%.3g GiB free: expected at most 90 %% of that",
		    e->plan->title, need / (1 << 30), e->team->rank, ops->name,
		    (double)facts.free_bytes / (1 << 30));
	return 0;
}

/* Of the host's memory, what all ranks of this node have in it. */
static double
exec_make_host_need(const struct exec *e)
{
	const struct transport_team *tm = e->team;
	const struct plan *p = e->plan;
	double need = 0;

	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint32_t i = 0; i < p->bufs_count; i++)
			if (tm->nodes[rank] == tm->nodes[tm->rank] &&
			    (tm->ops->host_access || p->bufs[i].on_host))
				need += (double)p->bufs[i].bytes[rank];
	return need;
}

/* Allocate the host buffers of a plan in shared memory, so that devices of
 * other ranks of the node can copy from them. */
static int
exec_make_host_memory(struct exec *e, struct err *err)
{
	const struct transport_team *tm = e->team;
	struct exec_area *a = &e->areas[1];
	void *base = NULL;
	int rc;

	if (a->bytes <= EXEC_GUARD_BYTES)
		return 0;
	rc = device_host.open(0, &e->host, err);
	if (rc == 0)
		rc = exec_make_memory_fits(e, exec_make_host_need(e),
		    &device_host, e->host, err);
	if (rc < 0)
		return rc;
	rc = device_host.alloc(e->host, a->bytes, &base);
	if (rc < 0)
		return err_set(err, rc, "host: %s", device_host.error(e->host));
	rc = tm->ops->host_pin(tm->device, base, a->bytes);
	if (rc < 0) {
		device_host.free(e->host, base);
		return err_set(err, rc, "%s: %s", tm->ops->name,
		    tm->ops->error(tm->device));
	}
	a->memory = base;
	return 0;
}

static int
exec_make_memory(struct exec *e, struct err *err)
{
	const struct transport_team *tm = e->team;
	const struct device_ops *ops = tm->ops;
	const struct plan *p = e->plan;
	size_t n = e->view.events_count + (size_t)1;
	struct exec_locals *l = &e->locals;
	struct device *d = tm->device;
	uint32_t inputs = 1;
	void *base = NULL;
	int rc;

	/* A GPU's ranks have it together. */
	rc = exec_make_memory_fits(e,
	    ops->host_access ? exec_make_host_need(e)
			     : (double)e->areas[0].bytes * tm->gpu_ranks,
	    ops, d, err);
	if (rc == 0)
		rc = exec_make_host_memory(e, err);
	if (rc < 0)
		return rc;
	rc = ops->alloc(d, e->areas[0].bytes, &base);
	e->areas[0].memory = base;
	if (rc == 0)
		rc = ops->stream_new(d, &e->stream);
	l->free.items = xcalloc(n, sizeof(*l->free.items));
	l->started.items = xcalloc(n, sizeof(*l->started.items));
	l->marks = xcalloc(n, sizeof(struct device_event *));
	for (uint32_t i = 0; rc == 0 && i < e->view.events_count; i++) {
		const struct rank_graph_event *ve = &e->view.events[i];

		if (e->events[i].lane != EXEC_NONE)
			continue;
		if (ve->kind == RANK_GRAPH_LOCAL &&
		    p->locals[ve->row].inputs > inputs)
			inputs = p->locals[ve->row].inputs;
		rc = ops->event_new(d, &l->marks[i]);
	}
	l->inputs = xcalloc(inputs, sizeof(*l->inputs));
	if (rc < 0)
		return err_set(err, rc, "%s: %s", ops->name, ops->error(d));
	return exec_data_open(e, err);
}

/* ---- all of it ---- */

void
exec_free(struct exec *e)
{
	const struct device_ops *ops;
	struct exec_locals *l;

	if (e == NULL)
		return;
	ops = e->team->ops;
	l = &e->locals;
	for (uint32_t i = e->lanes_count; i-- > 0;) {
		struct exec_lane *lane = &e->lanes[i];

		if (lane->transport != NULL)
			lane->ops->release(lane->transport);
		free(lane->ends);
		free(lane->events);
		free(lane->waiting);
		free(lane->members);
		free(lane->first);
		free(lane->steps);
		free(lane->done);
		for (int k = 0; k < 2; k++) {
			inflight_clear(&lane->turns[k].window);
			free(lane->turns[k].turns);
			free(lane->turns[k].events);
		}
	}
	exec_data_close(e);
	for (uint32_t i = 0; l->marks != NULL && i < e->view.events_count; i++)
		ops->event_free(l->marks[i]);
	free(l->marks);
	free(l->inputs);
	free(l->free.items);
	free(l->started.items);
	ops->stream_free(e->stream);
	ops->free(e->team->device, e->areas[0].memory);
	if (e->areas[1].memory != NULL) {
		ops->host_unpin(e->team->device, e->areas[1].memory);
		device_host.free(e->host, e->areas[1].memory);
	}
	device_host.close(e->host);
	if (tags_next > (uint64_t)e->tag_base)
		tags_next = (uint64_t)e->tag_base;
	rank_graph_clear(&e->view);
	free(e->events);
	free(e->nexts);
	free(e->gets);
	free(e->places);
	free(e->receives.items);
	free(e->sends.items);
	free(e->copies.items);
	free(e);
}

/* All ranks have agreed, also on the number of tags: from here on these are
 * given out without asking. */
static int
exec_make_lanes_prepare(struct exec *e, uint32_t tags, struct err *err)
{
	int rc = 0;

	if (tags_next + tags > INT_MAX)
		tags_next = 0; /* refused by the transport if it matters */
	e->tag_base = (int)tags_next;
	tags_next += tags;
	for (uint32_t i = 0; rc == 0 && i < e->lanes_count; i++) {
		struct exec_lane *lane = &e->lanes[i];

		err->text[0] = '\0';
		lane->share.tags = tags;
		lane->share.tag_base = e->tag_base;
		lane->share.memory = e->areas[0].memory;
		lane->share.memory_bytes = e->areas[0].bytes;
		lane->share.host = e->host;
		lane->share.host_memory = e->areas[1].memory;
		lane->share.host_bytes = e->areas[1].memory != NULL
		    ? e->areas[1].bytes
		    : 0;
		rc = lane->ops->prepare(e->team, &lane->share, &lane->transport,
		    err);
		/* Failure is common, so is this second meeting. */
		if (rc < 0)
			transport_agree_why(e->team, rc, NULL, err);
	}
	return rc;
}

int
exec_new(const struct transport_team *team, const struct plan *p,
    struct exec **ret, struct err *err)
{
	struct exec *e = xcalloc(1, sizeof(*e));
	uint32_t tags = 0;
	int rc = 0;

	e->team = team;
	e->plan = p;
	e->tag_base = (int)tags_next;
	err->text[0] = '\0';
	rank_graph_make(p, (uint32_t)team->rank, &e->view);
	e->events = xcalloc(e->view.events_count + (size_t)1,
	    sizeof(*e->events));
	/* Where each buffer lies, and between them guards. */
	e->places = xcalloc(p->bufs_count + (size_t)1, sizeof(*e->places));
	e->areas[0].bytes = e->areas[1].bytes = EXEC_GUARD_BYTES;
	for (uint32_t i = 0; i < p->bufs_count; i++) {
		uint64_t bytes = p->bufs[i].bytes[e->view.rank];
		struct exec_area *a = &e->areas[exec_is_on_host(e, i)];

		e->places[i] = a->bytes;
		a->bytes += (bytes + EXEC_GUARD_BYTES - 1) &
		    ~(EXEC_GUARD_BYTES - 1);
		a->bytes += EXEC_GUARD_BYTES;
	}
	exec_stuck_make(e);
	e->awake = !team->ops->host_access &&
	    !backoff_cores_are_shared(team->node_comm);
	exec_make_lanes(e);
	exec_make_events(e);
	/* May the transport be left alone with all of it at once? */
	e->simple = e->lanes_count == 1 && e->lanes[0].ops->start_all != NULL &&
	    p->steps == 1 && e->view.waits_count == 0;
	for (uint32_t i = 0; i < e->view.events_count; i++)
		e->simple &= e->events[i].lane != EXEC_NONE;
	/* All transports are asked, even after one refused: some agree
	 * collectively. */
	for (uint32_t i = 0; i < e->lanes_count; i++) {
		struct err why;
		int one = e->lanes[i].ops->usable(team, &e->lanes[i].share,
		    &why);

		if (rc == 0 && one < 0)
			rc = err_set(err, one, "%s", why.text);
	}
	if (rc == 0)
		rc = exec_make_memory(e, err);
	for (uint32_t i = 0; i < e->view.events_count; i++)
		if (e->view.events[i].kind != RANK_GRAPH_LOCAL &&
		    e->view.events[i].tag >= tags)
			tags = e->view.events[i].tag + 1;
	rc = transport_agree_why(team, rc, &tags, err);
	if (rc == 0)
		rc = exec_make_lanes_prepare(e, tags, err);
	if (rc < 0) {
		exec_free(e);
		return rc;
	}
	*ret = e; /* handed over */
	return 0;
}
