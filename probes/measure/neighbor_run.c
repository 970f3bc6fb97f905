/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbor_run.c - the bytes on the wire of a neighborhood allgather and of
 * MPI's own, compared with the expected bytes for the actual placement of
 * ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/measure/spmm.h"
#include "probes/pattern/builders.h"

#define WIRES_MAX 1000 /* nodes in a record */

/* What each node carried, at rank 0. */
static void
neighbor_run_gather(struct measurement *c)
{
	const struct world *w = c->subject.world;
	struct told {
		int node, speaks;
		struct nic_bytes wire[AB_TIMING_SIDES];
	} mine = { .node = w->node, .speaks = w->local == 0 };
	struct told *all = NULL;

	for (int i = 0; i < AB_TIMING_SIDES; i++)
		mine.wire[i] = c->besides[0].turns.side[i].wire;
	if (w->rank == 0)
		all = xcalloc((size_t)w->size, sizeof(*all));
	MPI_DO(MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine),
	    MPI_BYTE, 0, w->control));
	if (w->rank != 0)
		return;
	c->wires = xcalloc((size_t)w->nodes, sizeof(*c->wires));
	for (int i = 0; i < w->size; i++)
		for (int k = 0; k < AB_TIMING_SIDES; k++) {
			struct nic_bytes *of = &c->wires[all[i].node][k];

			/* The node's bytes by its first rank, and what all
			 * its ranks sent again. */
			of->resent_bytes += all[i].wire[k].resent_bytes;
			if (!all[i].speaks)
				continue;
			of->out_bytes = all[i].wire[k].out_bytes;
			of->in_bytes = all[i].wire[k].in_bytes;
		}
	free(all);
}

/* ---- expected bytes, for the actual placement of ranks ---- */

static void
neighbor_run_expect(struct nic_bytes *list, int from, int to, uint64_t bytes)
{
	if (from == to)
		return;
	list[from].out_bytes += bytes;
	list[to].in_bytes += bytes;
}

static json_t *
neighbor_run_ratio(double over, double under)
{
	return under > 0 ? json_real(over / under) : json_null();
}

/* A turn's bytes, or null where the kernel says nothing. */
static json_t *
neighbor_run_measured(const struct measurement *c, uint64_t bytes)
{
	const struct ab_timing *v = &c->besides[0].turns;
	double turns = (double)v->side[0].trial.count;

	if (v->wire_rc < 0 || turns == 0)
		return json_null();
	return json_real((double)bytes / turns);
}

/* The plan sends its transfers; MPI sends every promise, which is an edge, by
 * itself. */
static void
neighbor_run_put_wires(json_t *o, const struct measurement *c)
{
	static const char *const designs[AB_TIMING_SIDES] = { "leader",
		"direct" };
	const struct subject *r = &c->subject;
	const struct plan *p = r->plan;
	const int *node = r->team->nodes;
	int nodes = r->world->nodes;
	struct nic_bytes *want[AB_TIMING_SIDES];
	uint64_t sum[AB_TIMING_SIDES] = { 0 }, fullest[AB_TIMING_SIDES] = { 0 };
	json_t *array = json_array();

	for (int side = 0; side < AB_TIMING_SIDES; side++)
		want[side] = xcalloc((size_t)nodes, sizeof(*want[side]));
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		neighbor_run_expect(want[0], node[t->src], node[t->dst],
		    t->bytes);
	}
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		neighbor_run_expect(want[1], node[p->sources[m->source].lo],
		    node[p->spans[m->span].lo], m->bytes);
	}
	for (int side = 0; side < AB_TIMING_SIDES; side++) {
		/* All that leaves nodes, and the fullest direction of one. */
		for (int i = 0; i < nodes; i++) {
			uint64_t out = want[side][i].out_bytes;
			uint64_t in = want[side][i].in_bytes;
			uint64_t most = out > in ? out : in;

			sum[side] += out;
			if (most > fullest[side])
				fullest[side] = most;
		}
		for (int i = 0; i < nodes && i < WIRES_MAX; i++) {
			const struct nic_bytes *got = &c->wires[i][side];
			const struct nic_bytes *due = &want[side][i];

			json_array_append_new(array,
			    json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I}",
				"node", r->world->names[i], "design",
				designs[side], "out_bytes",
				neighbor_run_measured(c, got->out_bytes),
				"in_bytes",
				neighbor_run_measured(c, got->in_bytes),
				"resent_bytes",
				neighbor_run_measured(c, got->resent_bytes),
				"expected_out_bytes",
				(json_int_t)due->out_bytes, "expected_in_bytes",
				(json_int_t)due->in_bytes));
		}
		free(want[side]);
	}
	json_object_set_new(o, "wire", array);
	json_object_set_new(o, "byte_ratio",
	    neighbor_run_ratio((double)sum[1], (double)sum[0]));
	json_object_set_new(o, "load_bound",
	    neighbor_run_ratio((double)fullest[1], (double)fullest[0]));
}

static void
neighbor_run_report(const struct measurement *c)
{
	const struct plan *p = c->subject.plan;
	const struct beside *x = &c->besides[0];
	json_t *o = plan_report_speedup(&c->subject, x);
	double pairs = (double)p->ranks * (p->ranks - 1);
	uint64_t most = 0, distinct = 0;

	json_object_set_new(o, "order",
	    json_string(c->phased ? "phased" : "dataflow"));
	/* Edges, the largest message, and which share of all pairs have an
	 * edge. */
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		most = m->bytes > most ? m->bytes : most;
		distinct += m->to_off == 0 &&
		    p->sources[m->source].lo != p->spans[m->span].lo;
	}
	json_object_set_new(o, "bytes", json_integer((json_int_t)most));
	json_object_set_new(o, "edges",
	    json_integer((json_int_t)p->promises_count));
	json_object_set_new(o, "density",
	    neighbor_run_ratio((double)distinct, pairs));
	neighbor_run_put_wires(o, c);
	/* A random graph's builder says what bytes may be expected to be
	 * saved. */
	for (size_t i = 0; i < p->notes_count; i++)
		if (strcmp(p->notes[i].name, "byte_ratio_expected") == 0)
			json_object_set_new(o, p->notes[i].name,
			    json_real(p->notes[i].real));
	if (x->baseline != NULL)
		json_object_set_new(o, "baseline_setup_s",
		    json_real(x->baseline->setup_s));
	emit_put(c->report->emit, o);
	plan_report_speedup_text(x, &c->report->remarks);
}

const struct probe probe_neighbor = { .pattern = &pattern_neighbor,
	.baselines = { &baseline_neighbor },
	.in_phases = 1,
	.gather = neighbor_run_gather,
	.report = neighbor_run_report,
	.more = spmm_measure };
