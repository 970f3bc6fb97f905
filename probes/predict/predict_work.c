/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_work.c - a plan as the simulation has it: rows that go together are
 * tasks, these stand in cells and queues, and wait for each other.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/plan/rank_graph.h"
#include "probes/predict/predict_work.h"
#include "probes/predict/maxmin.h"
#include "probes/topology/machine_path.h"

static uint32_t
predict_work_vertex(const struct work *w, uint32_t rank, uint16_t buf)
{
	uint32_t v = MACHINE_NONE;

	if (w->o->place != NULL)
		v = w->o->place(w->o->arg, rank, buf);
	else if (w->p->bufs[buf].on_host)
		v = machine_host(w->m, machine_rank_vertex(w->m, rank));
	return v == MACHINE_NONE ? machine_rank_vertex(w->m, rank) : v;
}

/* To a task since first, or as a new one; its number. Rows of one step and
 * pair of ranks stand together, so the search is short. */
static uint32_t
predict_work_task_add(struct work *w, const struct task *t, uint32_t first)
{
	for (uint32_t i = w->tasks_count; i-- > first;) {
		struct task *a = &w->tasks[i];

		if (a->src != t->src || a->dst != t->dst ||
		    a->step != t->step || a->channel != t->channel ||
		    a->kind != t->kind || a->from != t->from || a->to != t->to)
			continue;
		a->bytes += t->bytes;
		a->rows++;
		return i;
	}
	w->tasks = xmore(w->tasks, w->tasks_count, sizeof(*w->tasks));
	w->tasks[w->tasks_count] = *t;
	return w->tasks_count++;
}

/* Memory counts reads and writes, so copies count twice. */
static void
predict_work_tasks_make(struct work *w)
{
	const struct plan *p = w->p;
	uint32_t first = 0;

	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		uint16_t from = (uint16_t)predict_work_vertex(w, t->src,
		    t->from);
		uint16_t to = (uint16_t)predict_work_vertex(w, t->dst, t->to);
		int own = t->src == t->dst && from == to;
		uint32_t at;

		if (i == 0 || t[-1].step != t->step || t[-1].src != t->src ||
		    t[-1].dst != t->dst)
			first = w->tasks_count;
		at = predict_work_task_add(w,
		    &(struct task){ .bytes = (double)t->bytes * (own ? 2 : 1),
			.src = t->src,
			.dst = t->dst,
			.step = t->step,
			.rows = 1,
			.channel = t->channel,
			.from = from,
			.to = to,
			.kind = t->via,
			.next = NONE },
		    first);
		if (w->transfer_task != NULL)
			w->transfer_task[i] = at;
	}
	first = w->tasks_count;
	for (size_t i = 0; i < p->locals_count; i++) {
		const struct plan_local *l = &p->locals[i];
		uint32_t at;

		if (i == 0 || l[-1].step != l->step || l[-1].rank != l->rank)
			first = w->tasks_count;
		at = predict_work_task_add(w,
		    &(struct task){ .bytes = (double)l->bytes *
			    (l->inputs + 1.0),
			.src = l->rank,
			.dst = l->rank,
			.step = l->step,
			.rows = 1,
			.channel = l->channel,
			.kind = l->op == PLAN_COPY ? TASK_COPY : TASK_REDUCE,
			.next = NONE },
		    first);
		if (w->local_task != NULL)
			w->local_task[i] = at;
	}
}

static uint64_t
predict_work_cell_key(uint32_t rank, uint16_t channel, uint32_t step)
{
	return (uint64_t)rank << 47 | (uint64_t)channel << 31 | step;
}

static int
predict_work_key_compare_cb(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static uint32_t
predict_work_key_find(const uint64_t *keys, uint32_t count, uint64_t key)
{
	uint32_t lo = 0, hi = count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (keys[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The cells of all tasks, once each and by their keys, and which tasks are in
 * which. */
static void
predict_work_cells_make(struct work *w)
{
	uint64_t *keys = xcalloc(2 * (size_t)w->tasks_count + 1, sizeof(*keys));
	uint32_t count = 0, at = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < w->tasks_count; i++) {
		const struct task *t = &w->tasks[i];

		keys[n++] = predict_work_cell_key(t->src, t->channel, t->step);
		if (t->dst != t->src)
			keys[n++] = predict_work_cell_key(t->dst, t->channel,
			    t->step);
	}
	qsort(keys, n, sizeof(*keys), predict_work_key_compare_cb);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || keys[i] != keys[i - 1])
			keys[count++] = keys[i];
	w->cells_count = count;
	w->cells = xcalloc(count + (size_t)1, sizeof(*w->cells));
	for (uint32_t i = 0; i < count; i++) {
		struct cell *c = &w->cells[i];

		c->rank = (uint32_t)(keys[i] >> 47);
		c->channel = (uint16_t)(keys[i] >> 31);
		c->step = (uint32_t)keys[i] & 0x7fffffff;
		c->last = i + 1 == count || keys[i + 1] >> 31 != keys[i] >> 31;
		c->waiting = NONE;
		c->ready = i == 0 || keys[i - 1] >> 31 != keys[i] >> 31;
	}
	for (uint32_t i = 0; i < w->tasks_count; i++) {
		struct task *t = &w->tasks[i];

		t->src_cell = predict_work_key_find(keys, count,
		    predict_work_cell_key(t->src, t->channel, t->step));
		t->dst_cell = t->dst == t->src
		    ? t->src_cell
		    : predict_work_key_find(keys, count,
			  predict_work_cell_key(t->dst, t->channel, t->step));
	}
	free(keys);
	/* each cell's sends, then its local operations, in the order of tasks
	 */
	for (uint32_t i = 0; i < w->tasks_count; i++) {
		const struct task *t = &w->tasks[i];
		struct cell *c = &w->cells[t->src_cell];

		if (t->kind >= TASK_COPY) {
			c->locals++;
			c->locals_left++;
			continue;
		}
		c->sends++;
		c->transfers_left++;
		if (t->dst_cell != t->src_cell)
			w->cells[t->dst_cell].transfers_left++;
	}
	for (uint32_t i = 0; i < w->cells_count; i++) {
		struct cell *c = &w->cells[i];

		c->first_send = at;
		c->first_local = at + c->sends;
		at += c->sends + c->locals;
		c->sends = c->locals = 0;
	}
	w->tasks_by_cell = xcalloc(at + (size_t)1, sizeof(uint32_t));
	for (uint32_t i = 0; i < w->tasks_count; i++) {
		const struct task *t = &w->tasks[i];
		struct cell *c = &w->cells[t->src_cell];

		if (t->kind >= TASK_COPY)
			w->tasks_by_cell[c->first_local + c->locals++] = i;
		else
			w->tasks_by_cell[c->first_send + c->sends++] = i;
	}
}

static const enum machines_via vias[PLAN_VIA_MAX] = {
	[PLAN_VIA_MPI] = MACHINES_MPI,
	[PLAN_VIA_RMA] = MACHINES_RMA,
	[PLAN_VIA_IPC] = MACHINES_IPC,
	[PLAN_VIA_IPC_PUT] = MACHINES_IPC,
	[PLAN_VIA_IPC_GET] = MACHINES_IPC,
	[PLAN_VIA_XCCL] = MACHINES_XCCL,
	[PLAN_VIA_AUTO] = MACHINES_MPI,
};

static uint32_t
predict_work_queue_slot(const struct task *t)
{
	uint64_t x = (uint64_t)t->src << 32 | t->dst;

	x ^= ((uint64_t)t->from << 40) + ((uint64_t)t->to << 20) + t->kind;
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return (uint32_t)(x >> 32);
}

static void
predict_work_hash_grow(struct work *w)
{
	w->hash_size = w->hash_size == 0 ? 1024 : 2 * w->hash_size;
	free(w->hash);
	w->hash = xcalloc(w->hash_size, sizeof(*w->hash));
	for (uint32_t i = 0; i < w->queues_count; i++) {
		const struct queue *q = &w->queues[i];
		uint32_t at = predict_work_queue_slot(
		    &(struct task){ .src = q->src,
			.dst = q->dst,
			.from = q->from,
			.to = q->to,
			.kind = q->kind });

		while (w->hash[at & (w->hash_size - 1)] != 0)
			at++;
		w->hash[at & (w->hash_size - 1)] = i + 1;
	}
}

/* Find or create the queue of a task's places and transport. */
static int
predict_work_queue_find(struct work *w, const struct task *t, uint32_t *ret)
{
	struct machine_path path;
	uint32_t *slot, at = predict_work_queue_slot(t);
	struct machine_ends ends = { w->nodes, t->src, t->dst, t->from, t->to };

	if (2 * w->queues_count >= w->hash_size)
		predict_work_hash_grow(w);
	for (;; at++) {
		const struct queue *q;

		slot = &w->hash[at & (w->hash_size - 1)];
		if (*slot == 0)
			break;
		q = &w->queues[*slot - 1];
		if (q->src == t->src && q->dst == t->dst &&
		    q->kind == t->kind && q->from == t->from &&
		    q->to == t->to) {
			*ret = *slot - 1;
			return 0;
		}
	}
	if (t->kind >= TASK_COPY)
		machine_local(w->m, t->src, t->kind == TASK_REDUCE, &path);
	else if (machine_path(w->m, &ends, vias[t->kind], &path) < 0)
		return err_set(w->err, -EINVAL,
		    "step %u, rank %u to %u: transport %s does not connect "
		    "them on %.80s",
		    t->step, t->src, t->dst, plan_vias[t->kind], w->m->name);
	w->queues = xmore(w->queues, w->queues_count, sizeof(*w->queues));
	*ret = maxmin_pipe_add(w->fair, path.resources, path.count,
	    path.rate_max_per_s);
	assert(*ret == w->queues_count);
	w->queues[w->queues_count++] = (struct queue){
		.latency_ps = path.latency_ps,
		.overhead_ps = path.overhead_ps,
		.head = NONE,
		.tail = NONE,
		.src = t->src,
		.dst = t->dst,
		.from = t->from,
		.to = t->to,
		.kind = t->kind
	};
	*slot = *ret + 1;
	return 0;
}

/* Task waits for an end. */
struct edge {
	uint32_t end, task;
};

static uint32_t
predict_work_task_of(const struct work *w, const struct rank_graph_event *e)
{
	return e->kind == RANK_GRAPH_LOCAL ? w->local_task[e->row]
					   : w->transfer_task[e->row];
}

/* Which tasks wait for which ends of others, from the bytes that they touch:
 * fills after, first and waits. */
static void
predict_work_waits_make(struct work *w)
{
	size_t ends = 2 * (size_t)w->tasks_count, count = 0, *at;
	struct edge *es = NULL;

	for (uint32_t r = 0; r < w->p->ranks; r++) {
		struct rank_graph v;

		rank_graph_make(w->p, r, &v);
		for (uint32_t i = 0; i < v.events_count; i++) {
			const struct rank_graph_event *e = &v.events[i];

			for (uint32_t k = 0; k < e->waits; k++) {
				const struct rank_graph_event *on =
				    &v.events[v.waits[e->wait + k]];
				struct edge edge = { 2 *
						predict_work_task_of(w, on) +
					    (on->kind == RANK_GRAPH_RECV),
					predict_work_task_of(w, e) };

				if (count > 0 &&
				    es[count - 1].end == edge.end &&
				    es[count - 1].task == edge.task)
					continue;
				es = xmore(es, count, sizeof(*es));
				es[count++] = edge;
			}
		}
		rank_graph_clear(&v);
	}
	w->first = xcalloc(ends + 2, sizeof(*w->first));
	w->after = xcalloc(count + 1, sizeof(*w->after));
	w->waits = xcalloc(w->tasks_count + (size_t)1, sizeof(*w->waits));
	at = w->first + 1; /* moves to first while it is filled */
	for (size_t i = 0; i < count; i++) {
		at[es[i].end + 1]++;
		w->waits[es[i].task]++;
	}
	for (size_t i = 1; i <= ends; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < count; i++)
		w->after[at[es[i].end]++] = es[i].task;
	free(es);
}

int
work_make(struct work *w)
{
	const struct machine *m = &w->fit;
	double *capacities;

	w->m = m;
	w->nodes = machine_nodes(m, w->p->ranks);
	if (m->nodes_max != 0 && w->nodes > m->nodes_max)
		return err_set(w->err, -EINVAL,
		    "%u ranks: %.80s has %u nodes of %u ranks: expected up "
		    "to %" PRIu64 " ranks",
		    w->p->ranks, m->name, m->nodes_max, m->ranks,
		    (uint64_t)m->nodes_max * m->ranks);
	if (w->o->times || w->o->pace == PREDICT_DATA) {
		w->transfer_task = xcalloc(w->p->transfers_count + 1,
		    sizeof(uint32_t));
		w->local_task = xcalloc(w->p->locals_count + 1,
		    sizeof(uint32_t));
	}
	predict_work_tasks_make(w);
	predict_work_cells_make(w);
	capacities = machine_capacities(w->m, w->nodes);
	w->fair = maxmin_new(capacities, machine_resources(w->m, w->nodes));
	free(capacities);
	for (uint32_t i = 0; i < w->tasks_count; i++)
		if (predict_work_queue_find(w, &w->tasks[i],
			&w->tasks[i].queue) < 0)
			return -EINVAL;
	if (w->o->pace == PREDICT_DATA)
		predict_work_waits_make(w);
	return 0;
}

void
work_clear(struct work *w)
{
	maxmin_free(w->fair);
	free(w->tasks);
	free(w->cells);
	free(w->tasks_by_cell);
	free(w->queues);
	free(w->hash);
	free(w->after);
	free(w->first);
	free(w->waits);
	free(w->transfer_task);
	free(w->local_task);
}
