/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_locals.c - local operations of a replay.
 *
 * What the plan has first goes first, not what was free first: in a ring, the
 * rank that adds up all of its own pieces before it adds to the one that has
 * just come holds up everybody behind it. On a device that works by itself
 * all that is free starts. Where this thread does the work, it looks at its
 * transfers in between (patience.h).
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/execute/exec_part.h"
#include "probes/transport/backoff.h"

static int
run_row(struct exec *e, const struct plan_local *l)
{
	const struct device_ops *ops = e->team->ops;
	const void **inputs = e->locals.inputs;
	void *to = exec_at(e, l->to, l->to_off);

	for (uint32_t i = 0; i < l->inputs; i++) {
		const struct plan_place *in = &e->plan->inputs[l->input + i];

		inputs[i] = exec_at(e, in->buf, in->off);
	}
	if (l->op == PLAN_COPY || l->inputs == 1)
		return ops->copy(e->stream, to, inputs[0], l->bytes);
	return ops->reduce(e->stream, (enum plan_op)l->op,
	    (enum plan_type)l->type, to, inputs, l->inputs,
	    l->bytes / plan_types[l->type].bytes);
}

static int
run_self(struct exec *e, const struct plan_transfer *t)
{
	return e->team->ops->copy(e->stream, exec_at(e, t->to, t->to_off),
	    exec_at(e, t->from, t->from_off), t->bytes);
}

/* Bytes that it writes. */
static uint64_t
start(struct exec *e, uint32_t event)
{
	const struct rank_graph_event *ve = &e->view.events[event];
	struct device_event *mark = e->locals.marks[event];
	uint64_t bytes;

	if (ve->kind == RANK_GRAPH_SELF) {
		exec_device_check(e, run_self(e, &e->plan->transfers[ve->row]),
		    "copy");
		bytes = e->plan->transfers[ve->row].bytes;
	} else {
		exec_device_check(e, run_row(e, &e->plan->locals[ve->row]),
		    "local operation");
		bytes = e->plan->locals[ve->row].bytes;
	}
	exec_device_check(e, e->team->ops->event_record(mark, e->stream),
	    "event");
	exec_push(&e->locals.started, event);
	return bytes;
}

static int
poll_started(struct exec *e)
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

/* What is over as soon as it was started was done by this thread. */
void
exec_locals_poll(struct exec *e, int *ret_moved)
{
	struct exec_locals *l = &e->locals;
	uint64_t own_bytes = 0;

	*ret_moved |= poll_started(e) > 0;
	while (l->free.count > 0 && own_bytes < BACKOFF_WORK_BYTES &&
	    exec_is_due(e, l->free.items[0])) {
		uint64_t bytes = start(e, heap_pop(&l->free));

		if (poll_started(e) == 0)
			continue;
		*ret_moved = 1;
		own_bytes += bytes;
	}
	if (own_bytes > 0)
		backoff_give_way();
}

int
exec_locals_idle(const struct exec_locals *l)
{
	return l->free.count == 0 && l->started.head == l->started.tail;
}

void
exec_locals_rewind(struct exec_locals *l)
{
	l->free.count = 0;
	l->started.head = l->started.tail = 0;
}

int
exec_locals_make(struct exec *e)
{
	size_t n = e->view.events_count + (size_t)1;
	struct exec_locals *l = &e->locals;
	uint32_t inputs = 1;
	int rc = 0;

	l->free.items = xcalloc(n, sizeof(*l->free.items));
	l->started.items = xcalloc(n, sizeof(*l->started.items));
	l->marks = xcalloc(n, sizeof(struct device_event *));
	for (uint32_t i = 0; rc == 0 && i < e->view.events_count; i++) {
		const struct rank_graph_event *ve = &e->view.events[i];

		if (e->events[i].lane != EXEC_NONE)
			continue;
		if (ve->kind == RANK_GRAPH_LOCAL &&
		    e->plan->locals[ve->row].inputs > inputs)
			inputs = e->plan->locals[ve->row].inputs;
		rc = e->team->ops->event_new(e->team->device, &l->marks[i]);
	}
	l->inputs = xcalloc(inputs, sizeof(*l->inputs));
	return rc;
}

void
exec_locals_free(struct exec *e)
{
	struct exec_locals *l = &e->locals;

	for (uint32_t i = 0; l->marks != NULL && i < e->view.events_count; i++)
		e->team->ops->event_free(l->marks[i]);
	free(l->marks);
	free(l->inputs);
	free(l->free.items);
	free(l->started.items);
}
