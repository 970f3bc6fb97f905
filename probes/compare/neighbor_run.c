/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/neighbor_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/compare/speedup.h"
#include "probes/job/world.h"

#define FIRST_DATA 1    /* of fill: any number */
#define WIRES_MAX  1000 /* nodes in a record */

void
neighbor_run_plan_cb(void *arg)
{
	struct neighbor_run *n = arg;

	if (!n->phased) {
		ab_timing_exec_cb(n->exec);
		return;
	}
	for (uint32_t i = 0; i < n->plan->steps; i++) {
		exec_start(n->exec, i, i + 1);
		exec_wait(n->exec);
	}
}

void
neighbor_run_rival_cb(void *arg)
{
	struct neighbor_run *n = arg;

	baseline_run(n->rival);
}

static int
one_channel(const struct plan *p)
{
	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].channel != 0)
			return 0;
	return 1;
}

void
neighbor_run_open(struct exec *e, const struct plan *p,
    struct neighbor_run *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->plan = p;
	ret->exec = e;
	ret->phased = one_channel(p);
	ret->rc = baseline_open(exec_team(e), p, &ret->rival, &ret->err);
	if (ret->rc < 0)
		return;
	ret->rc = baseline_prove(ret->rival, FIRST_DATA);
	if (ret->rc < 0) {
		err_say(&ret->err, "%s gave wrong data",
		    baseline_name(ret->rival));
		baseline_close(ret->rival);
		ret->rival = NULL;
	}
}

void
neighbor_run_close(struct neighbor_run *n)
{
	baseline_close(n->rival);
	ab_timing_clear(&n->versus);
	free(n->wires);
	memset(n, 0, sizeof(*n));
}

/* The node's bytes by its first rank, and what all its ranks sent again. */
static void
wires_add(struct nic_bytes *of_node, const struct nic_bytes *of_rank,
    int speaks)
{
	of_node->resent_bytes += of_rank->resent_bytes;
	if (!speaks)
		return;
	of_node->out_bytes = of_rank->out_bytes;
	of_node->in_bytes = of_rank->in_bytes;
}

/* What each node carried, at rank 0. */
static void
wires_gather(const struct world *w, struct neighbor_run *n)
{
	struct told {
		int node, speaks;
		struct nic_bytes wire[AB_TIMING_SIDES];
	} mine = { .node = w->node, .speaks = w->local == 0 };
	struct told *all = NULL;

	for (int i = 0; i < AB_TIMING_SIDES; i++)
		mine.wire[i] = n->versus.side[i].wire;
	if (w->rank == 0)
		all = xcalloc((size_t)w->size, sizeof(*all));
	MPI_DO(MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine),
	    MPI_BYTE, 0, w->control));
	if (w->rank != 0)
		return;
	n->wires = xcalloc((size_t)w->nodes, sizeof(*n->wires));
	for (int i = 0; i < w->size; i++)
		for (int k = 0; k < AB_TIMING_SIDES; k++)
			wires_add(&n->wires[all[i].node][k], &all[i].wire[k],
			    all[i].speaks);
	free(all);
}

void
neighbor_run_time(const struct world *w, struct neighbor_run *n,
    const struct trial_ask *ask, struct trial *ret)
{
	struct ab_timing *v = &n->versus;

	v->sides = n->rival != NULL ? AB_TIMING_SIDES : 1;
	v->side[0].run = neighbor_run_plan_cb;
	v->side[1].run = neighbor_run_rival_cb;
	v->side[0].arg = v->side[1].arg = n;
	ab_timing_time(exec_team(n->exec), ask, v);
	wires_gather(w, n);
	*ret = v->side[0].trial;
}

/* ---- what was to be expected, from where ranks really are ---- */

static void
expect(struct nic_bytes *list, int from, int to, uint64_t bytes)
{
	if (from == to)
		return;
	list[from].out_bytes += bytes;
	list[to].in_bytes += bytes;
}

static void
expect_plan(const struct plan_report *r, struct nic_bytes *list)
{
	for (size_t i = 0; i < r->plan->transfers_count; i++) {
		const struct plan_transfer *t = &r->plan->transfers[i];

		expect(list, r->team->nodes[t->src], r->team->nodes[t->dst],
		    t->bytes);
	}
}

/* Every promise is an edge, which MPI sends by itself. */
static void
expect_rival(const struct plan_report *r, struct nic_bytes *list)
{
	const struct plan *p = r->plan;

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		expect(list, r->team->nodes[p->sources[m->source].lo],
		    r->team->nodes[p->spans[m->span].lo], m->bytes);
	}
}

static uint64_t
fullest(const struct nic_bytes *list, int nodes)
{
	uint64_t most = 0;

	for (int i = 0; i < nodes; i++) {
		most = list[i].out_bytes > most ? list[i].out_bytes : most;
		most = list[i].in_bytes > most ? list[i].in_bytes : most;
	}
	return most;
}

static json_t *
ratio(double over, double under)
{
	return under > 0 ? json_real(over / under) : json_null();
}

static uint64_t
sum_out(const struct nic_bytes *list, int nodes)
{
	uint64_t sum = 0;

	for (int i = 0; i < nodes; i++)
		sum += list[i].out_bytes;
	return sum;
}

/* A turn's bytes, or null where the kernel says nothing. */
static json_t *
measured(const struct neighbor_run *n, uint64_t bytes)
{
	double turns = (double)n->versus.side[0].trial.count;

	if (n->versus.wire_rc < 0 || turns == 0)
		return json_null();
	return json_real((double)bytes / turns);
}

static void
wires_put(json_t *array, const struct plan_report *r,
    const struct neighbor_run *n, int side, const struct nic_bytes *want)
{
	static const char *const designs[AB_TIMING_SIDES] = { "leader",
		"direct" };

	for (int i = 0; i < r->world->nodes && i < WIRES_MAX; i++)
		json_array_append_new(array,
		    json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I}", "node",
			r->world->names[i], "design", designs[side],
			"out_bytes", measured(n, n->wires[i][side].out_bytes),
			"in_bytes", measured(n, n->wires[i][side].in_bytes),
			"resent_bytes",
			measured(n, n->wires[i][side].resent_bytes),
			"expected_out_bytes", (json_int_t)want[i].out_bytes,
			"expected_in_bytes", (json_int_t)want[i].in_bytes));
}

static void
put_wires(json_t *o, const struct plan_report *r, const struct neighbor_run *n)
{
	int nodes = r->world->nodes;
	struct nic_bytes *own = xcalloc((size_t)nodes, sizeof(*own));
	struct nic_bytes *other = xcalloc((size_t)nodes, sizeof(*other));
	json_t *array = json_array();

	expect_plan(r, own);
	expect_rival(r, other);
	wires_put(array, r, n, 0, own);
	wires_put(array, r, n, 1, other);
	json_object_set_new(o, "wire", array);
	json_object_set_new(o, "byte_ratio",
	    ratio((double)sum_out(other, nodes), (double)sum_out(own, nodes)));
	json_object_set_new(o, "load_bound",
	    ratio((double)fullest(other, nodes), (double)fullest(own, nodes)));
	free(own);
	free(other);
}

/* ---- the record ---- */

/* Edges, the largest message, and which share of all pairs have an edge. */
static void
put_graph(json_t *o, const struct plan *p)
{
	double pairs = (double)p->ranks * (p->ranks - 1);
	uint64_t most = 0, distinct = 0;

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		most = m->bytes > most ? m->bytes : most;
		distinct += m->to_off == 0 &&
		    p->sources[m->source].lo != p->spans[m->span].lo;
	}
	json_object_set_new(o, "bytes", json_integer((json_int_t)most));
	json_object_set_new(o, "edges",
	    json_integer((json_int_t)p->promises_count));
	json_object_set_new(o, "density", ratio((double)distinct, pairs));
}

/* A random graph's builder says what bytes may be expected to be saved. */
static void
put_expected(json_t *o, const struct plan *p)
{
	for (size_t i = 0; i < p->notes_count; i++)
		if (strcmp(p->notes[i].name, "byte_ratio_expected") == 0)
			json_object_set_new(o, p->notes[i].name,
			    json_real(p->notes[i].real));
}

static struct speedup
speedup_of(const struct neighbor_run *n)
{
	return (struct speedup){ &n->versus,
		n->rival != NULL ? baseline_name(n->rival) : NULL, n->rc,
		n->err.text };
}

json_t *
neighbor_run_report(const struct plan_report *r, const struct neighbor_run *n)
{
	struct speedup s = speedup_of(n);
	json_t *o = speedup_report(r, &s);

	json_object_set_new(o, "order",
	    json_string(n->phased ? "phased" : "dataflow"));
	put_graph(o, r->plan);
	put_wires(o, r, n);
	put_expected(o, r->plan);
	if (n->rival != NULL)
		json_object_set_new(o, "baseline_setup_s",
		    json_real(baseline_setup_s(n->rival)));
	return o;
}

void
neighbor_run_text(const struct neighbor_run *n, char *ret, size_t cap_bytes)
{
	struct speedup s = speedup_of(n);

	speedup_text(&s, ret, cap_bytes);
}
