/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - the simulation: what starts when, and until when the bytes of all
 * flows have moved.
 */
#include "probes/predict/predict.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/predict/predict_work.h"
#include "probes/predict/maxmin.h"
#include "probes/topology/machine_path.h"

/* Events this close together are taken as one: rounding has separated what is
 * simultaneous by symmetry. */
#define TOGETHER_SHIFT 30 /* of the time, 1e-9 */

const char *const predict_paces[PREDICT_PACES] = {
	[PREDICT_CHANNELS] = "channels",
	[PREDICT_STEPS] = "steps",
	[PREDICT_DATA] = "data",
};

enum predict_pace
predict_pace_for(const struct plan *p)
{
	uint64_t rows = p->transfers_count + p->locals_count;

	return rows <= PREDICT_DATA_MAX / p->ranks ? PREDICT_DATA
						   : PREDICT_CHANNELS;
}

enum what { CELL_OPENS, FLOW_STARTS, TASK_ARRIVES };

struct timer {
	uint64_t at_ps;
	uint64_t number; /* in the order of setting */
	uint32_t of;     /* cell, queue or task */
	uint32_t what;
};

/* One rank's steps, for pace PREDICT_STEPS: the cells of a step together. */
struct pace {
	uint32_t *cells; /* by rank, step */
	uint32_t *at;    /* by rank: the first cell not let go */
	uint32_t *end;   /* by rank */
};

struct sim {
	struct work w;
	struct predict *r;
	uint64_t now_ps;
	uint64_t *free_ps; /* by rank: when its processor is */
	struct timer *timers;
	size_t timers_count, timers_cap;
	uint64_t timers_set;
	struct predict_span *spans; /* by task */
	struct pace pace;
	uint32_t cells_left, tasks_left;
};

static int
predict_timer_before(const struct timer *a, const struct timer *b)
{
	return a->at_ps < b->at_ps ||
	    (a->at_ps == b->at_ps && a->number < b->number);
}

static void
predict_timer_set(struct sim *s, uint64_t at_ps, enum what what, uint32_t of)
{
	struct timer t = { at_ps, s->timers_set++, of, what };
	size_t at = s->timers_count++;

	if (s->timers_count > s->timers_cap) {
		s->timers_cap = s->timers_cap * 2 + 256;
		s->timers = xreallocarray(s->timers, s->timers_cap,
		    sizeof(*s->timers));
	}
	while (at > 0 && predict_timer_before(&t, &s->timers[(at - 1) / 2])) {
		s->timers[at] = s->timers[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->timers[at] = t;
}

static struct timer
predict_timer_take(struct sim *s)
{
	struct timer first = s->timers[0];
	struct timer t = s->timers[--s->timers_count];
	size_t at = 0;

	for (;;) {
		size_t next = 2 * at + 1;

		if (next >= s->timers_count)
			break;
		if (next + 1 < s->timers_count &&
		    predict_timer_before(&s->timers[next + 1],
			&s->timers[next]))
			next++;
		if (!predict_timer_before(&s->timers[next], &t))
			break;
		s->timers[at] = s->timers[next];
		at = next;
	}
	s->timers[at] = t;
	return first;
}

/* The rank's processor starts the step when it is free. */
static void
predict_cell_ask(struct sim *s, uint32_t cell)
{
	struct cell *c = &s->w.cells[cell];
	uint64_t *free_ps = &s->free_ps[c->rank];

	if (c->asked)
		return;
	c->asked = 1;
	if (*free_ps < s->now_ps)
		*free_ps = s->now_ps;
	*free_ps += s->w.m->step_ps;
	predict_timer_set(s, *free_ps, CELL_OPENS, cell);
}

/* Lets go the cells of the rank's next step once no transfer of earlier ones
 * is left. */
static void
predict_pace_on(struct sim *s, uint32_t rank)
{
	struct pace *pc = &s->pace;

	while (pc->at[rank] < pc->end[rank]) {
		uint32_t first = pc->at[rank];
		uint32_t step = s->w.cells[pc->cells[first]].step, at = first;
		uint32_t left = 0;

		for (; at < pc->end[rank]; at++) {
			struct cell *c = &s->w.cells[pc->cells[at]];

			if (c->step != step)
				break;
			left += c->transfers_left;
			if (c->ready)
				predict_cell_ask(s, pc->cells[at]);
		}
		if (left > 0)
			return;
		pc->at[rank] = at;
	}
}

static void
predict_queue_start(struct sim *s, uint32_t queue)
{
	struct queue *q = &s->w.queues[queue];
	struct task *t = &s->w.tasks[q->head];
	uint64_t each = t->kind >= TASK_COPY ? 1 : t->rows;

	s->spans[q->head].start_ps = s->now_ps;
	if (q->overhead_ps > 0)
		predict_timer_set(s, s->now_ps + q->overhead_ps * each,
		    FLOW_STARTS, queue);
	else
		maxmin_start(s->w.fair, queue, t->bytes, s->now_ps);
}

static void
predict_task_start(struct sim *s, uint32_t task)
{
	uint32_t queue = s->w.tasks[task].queue;
	struct queue *q = &s->w.queues[queue];

	if (q->head == NONE)
		q->head = task;
	else
		s->w.tasks[q->tail].next = task;
	q->tail = task;
	if (q->head == task)
		predict_queue_start(s, queue);
}

/* Starts a task that waits for nothing more, once its step is open on its
 * rank. */
static void
predict_task_free(struct sim *s, uint32_t task)
{
	struct task *t = &s->w.tasks[task];
	struct cell *c = &s->w.cells[t->src_cell];

	if (c->open) {
		predict_task_start(s, task);
		return;
	}
	t->next = c->waiting;
	c->waiting = task;
	predict_cell_ask(s, t->src_cell);
}

/* An end of a task is complete on a rank. */
static void
predict_data_done(struct sim *s, uint32_t end, uint32_t rank)
{
	const struct work *w = &s->w;

	if (s->r->rank_ps[rank] < s->now_ps)
		s->r->rank_ps[rank] = s->now_ps;
	for (size_t i = w->first[end]; i < w->first[end + 1]; i++)
		if (--w->waits[w->after[i]] == 0)
			predict_task_free(s, w->after[i]);
}

/* Goes on with a cell when something in it has completed. */
static void
predict_cell_look(struct sim *s, uint32_t cell)
{
	struct cell *c = &s->w.cells[cell];

	if (!c->open || c->transfers_left > 0)
		return;
	if (c->locals_left > 0) {
		for (uint32_t i = 0; i < c->locals; i++)
			predict_task_start(s,
			    s->w.tasks_by_cell[c->first_local + i]);
		c->locals = 0;
		return;
	}
	s->cells_left--;
	if (s->r->rank_ps[c->rank] < s->now_ps)
		s->r->rank_ps[c->rank] = s->now_ps;
	if (c->last)
		return;
	/* its channel has come to the next cell */
	c++;
	c->ready = 1;
	if (s->pace.cells == NULL ||
	    s->pace.at[c->rank] == s->pace.end[c->rank] ||
	    s->w.cells[s->pace.cells[s->pace.at[c->rank]]].step >= c->step)
		predict_cell_ask(s, cell + 1);
}

static void
predict_cell_open(struct sim *s, uint32_t cell)
{
	struct cell *c = &s->w.cells[cell];
	uint32_t list = NONE, next;

	c->open = 1;
	if (s->w.waits == NULL) {
		for (uint32_t i = 0; i < c->sends; i++)
			predict_task_start(s,
			    s->w.tasks_by_cell[c->first_send + i]);
		predict_cell_look(s, cell);
		return;
	}
	/* the first that waited starts first */
	for (uint32_t task = c->waiting; task != NONE; task = next) {
		next = s->w.tasks[task].next;
		s->w.tasks[task].next = list;
		list = task;
	}
	c->waiting = NONE;
	for (uint32_t task = list; task != NONE; task = next) {
		next = s->w.tasks[task].next;
		s->w.tasks[task].next = NONE;
		predict_task_start(s, task);
	}
}

static void
predict_transfer_done(struct sim *s, uint32_t cell)
{
	struct cell *c = &s->w.cells[cell];

	if (--c->transfers_left > 0)
		return;
	predict_cell_look(s, cell);
	if (s->pace.cells != NULL)
		predict_pace_on(s, c->rank);
}

static void
predict_task_arrived(struct sim *s, uint32_t task)
{
	struct task *t = &s->w.tasks[task];

	s->spans[task].end_ps = s->now_ps;
	if (s->w.waits != NULL) {
		s->tasks_left--;
		predict_data_done(s, 2 * task + (t->src_cell != t->dst_cell),
		    t->dst);
		return;
	}
	if (t->kind < TASK_COPY) {
		predict_transfer_done(s, t->dst_cell);
		return;
	}
	s->w.cells[t->src_cell].locals_left--;
	predict_cell_look(s, t->src_cell);
}

/* The bytes of the first in a queue have moved. */
static void
predict_queue_moved(struct sim *s, uint32_t queue)
{
	struct queue *q = &s->w.queues[queue];
	uint32_t task = q->head;
	struct task *t = &s->w.tasks[task];

	q->head = t->next;
	if (q->head != NONE)
		predict_queue_start(s, queue);
	else
		q->tail = NONE;
	if (s->w.waits != NULL && t->src_cell != t->dst_cell)
		predict_data_done(s, 2 * task, t->src);
	else if (t->src_cell != t->dst_cell)
		predict_transfer_done(s, t->src_cell);
	if (q->latency_ps > 0)
		predict_timer_set(s, s->now_ps + q->latency_ps, TASK_ARRIVES,
		    task);
	else
		predict_task_arrived(s, task);
}

/* What happens at one time, timers first, then the rates after it. */
static void
predict_run(struct sim *s)
{
	struct maxmin *fair = s->w.fair;

	for (;;) {
		uint64_t until_ps;

		s->now_ps = maxmin_next_ps(fair);
		if (s->timers_count > 0 && s->timers[0].at_ps < s->now_ps)
			s->now_ps = s->timers[0].at_ps;
		if (s->now_ps == MAXMIN_NEVER)
			break;
		until_ps = s->now_ps + (s->now_ps >> TOGETHER_SHIFT);
		for (;;) {
			int64_t pipe;
			struct timer t;

			if (s->timers_count == 0 ||
			    s->timers[0].at_ps > until_ps) {
				pipe = maxmin_end(fair, until_ps);
				if (pipe < 0)
					break;
				predict_queue_moved(s, (uint32_t)pipe);
				continue;
			}
			t = predict_timer_take(s);
			if (t.what == CELL_OPENS)
				predict_cell_open(s, t.of);
			else if (t.what == FLOW_STARTS)
				maxmin_start(fair, t.of,
				    s->w.tasks[s->w.queues[t.of].head].bytes,
				    s->now_ps);
			else
				predict_task_arrived(s, t.of);
		}
		maxmin_settle(fair, s->now_ps);
	}
	assert(s->w.waits != NULL ? s->tasks_left == 0 : s->cells_left == 0);
}

static int
predict_pace_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct cell *cells = arg;
	const struct cell *a = &cells[*(const uint32_t *)va];
	const struct cell *b = &cells[*(const uint32_t *)vb];

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a > b) - (a < b);
}

/* All that waits for nothing starts. */
static void
predict_begin(struct sim *s)
{
	struct pace *pc = &s->pace;
	uint32_t ranks = s->w.p->ranks, count = s->w.cells_count;

	for (uint32_t i = 0; s->w.waits != NULL && i < s->w.tasks_count; i++)
		if (s->w.waits[i] == 0)
			predict_task_free(s, i);
	if (s->w.waits != NULL)
		return;
	if (s->w.o->pace != PREDICT_STEPS) {
		for (uint32_t i = 0; i < count; i++)
			if (s->w.cells[i].ready)
				predict_cell_ask(s, i);
		return;
	}
	pc->cells = xcalloc(count + (size_t)1, sizeof(*pc->cells));
	pc->at = xcalloc(ranks, sizeof(*pc->at));
	pc->end = xcalloc(ranks, sizeof(*pc->end));
	for (uint32_t i = 0; i < count; i++)
		pc->cells[i] = i;
	qsort_r(pc->cells, count, sizeof(*pc->cells), predict_pace_compare_cb,
	    s->w.cells);
	for (uint32_t i = count; i-- > 0;) {
		uint32_t rank = s->w.cells[pc->cells[i]].rank;

		pc->at[rank] = i;
		if (pc->end[rank] == 0)
			pc->end[rank] = i + 1;
	}
	for (uint32_t r = 0; r < ranks; r++)
		predict_pace_on(s, r);
}

static struct predict_span *
predict_rows_make(const struct sim *s, const uint32_t *task, size_t count)
{
	struct predict_span *rows = xcalloc(count + 1, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = s->spans[task[i]];
	return rows;
}

int
predict_plan(const struct plan *p, const struct machine *m,
    const struct predict_options *o, struct predict *ret, struct err *err)
{
	struct predict_options none = { .pace = predict_pace_for(p) };
	struct sim s = { .w = { .p = p,
			     .fit = machine_fit(m, p->ranks),
			     .o = o == NULL ? &none : o,
			     .err = err },
		.r = ret };
	struct work *w = &s.w;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = work_make(w);
	if (rc == 0) {
		ret->rank_ps = xcalloc(p->ranks, sizeof(*ret->rank_ps));
		s.free_ps = xcalloc(p->ranks, sizeof(*s.free_ps));
		s.spans = xcalloc(w->tasks_count + (size_t)1, sizeof(*s.spans));
		s.cells_left = w->cells_count;
		s.tasks_left = w->tasks_count;
		predict_begin(&s);
		predict_run(&s);
		for (uint32_t i = 0; i < p->ranks; i++)
			if (ret->rank_ps[i] > ret->total_ps)
				ret->total_ps = ret->rank_ps[i];
		ret->nodes = w->nodes;
		ret->resources = machine_resources(w->m, w->nodes);
		ret->capacity_per_s = machine_capacities(w->m, w->nodes);
		ret->bytes = xcalloc(ret->resources + (size_t)1,
		    sizeof(*ret->bytes));
		for (uint32_t i = 0; i < ret->resources; i++)
			ret->bytes[i] = maxmin_bytes(w->fair, i);
		ret->flows = w->tasks_count;
	}
	if (rc == 0 && w->o->times) {
		ret->transfers = predict_rows_make(&s, w->transfer_task,
		    p->transfers_count);
		ret->locals = predict_rows_make(&s, w->local_task,
		    p->locals_count);
	}
	work_clear(w);
	free(s.free_ps);
	free(s.timers);
	free(s.spans);
	free(s.pace.cells);
	free(s.pace.at);
	free(s.pace.end);
	return rc;
}

void
predict_clear(struct predict *r)
{
	free(r->rank_ps);
	free(r->capacity_per_s);
	free(r->bytes);
	free(r->transfers);
	free(r->locals);
	memset(r, 0, sizeof(*r));
}
