/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_data.c - which tasks wait for which ends of others, from the bytes
 * that they touch.
 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/predict/predict_part.h"
#include "probes/plan/rank_graph.h"

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

/* Task waits for an end. */
struct edge {
	uint32_t end, task;
};

struct edges {
	struct edge *at;
	size_t count, cap;
};

static void
edge_add(struct edges *es, uint32_t end, uint32_t task)
{
	if (es->count == es->cap) {
		es->cap = es->cap * 2 + 1024;
		es->at = xreallocarray(es->at, es->cap, sizeof(*es->at));
	}
	es->at[es->count++] = (struct edge){ end, task };
}

static uint32_t
task_of(const struct work *w, const struct rank_graph_event *e)
{
	return e->kind == RANK_GRAPH_LOCAL ? w->local_task[e->row]
					   : w->transfer_task[e->row];
}

static void
edges_of_rank(const struct work *w, uint32_t rank, struct edges *es)
{
	struct rank_graph v;

	rank_graph_make(w->p, rank, &v);
	for (uint32_t i = 0; i < v.events_count; i++) {
		const struct rank_graph_event *e = &v.events[i];

		for (uint32_t k = 0; k < e->waits; k++) {
			const struct rank_graph_event *on =
			    &v.events[v.waits[e->wait + k]];
			uint32_t end = 2 * task_of(w, on) +
			    (on->kind == RANK_GRAPH_RECV);

			if (es->count > 0 && es->at[es->count - 1].end == end &&
			    es->at[es->count - 1].task == task_of(w, e))
				continue;
			edge_add(es, end, task_of(w, e));
		}
	}
	rank_graph_clear(&v);
}

void
work_data(struct work *w)
{
	size_t ends = 2 * (size_t)w->tasks_count, *at;
	struct edges es = { 0 };

	for (uint32_t r = 0; r < w->p->ranks; r++)
		edges_of_rank(w, r, &es);
	w->first = xcalloc(ends + 2, sizeof(*w->first));
	w->after = xcalloc(es.count + 1, sizeof(*w->after));
	w->waits = xcalloc(w->tasks_count + (size_t)1, sizeof(*w->waits));
	at = w->first + 1; /* moves to first while it is filled */
	for (size_t i = 0; i < es.count; i++) {
		at[es.at[i].end + 1]++;
		w->waits[es.at[i].task]++;
	}
	for (size_t i = 1; i <= ends; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < es.count; i++)
		w->after[at[es.at[i].end]++] = es.at[i].task;
	free(es.at);
}
