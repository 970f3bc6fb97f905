/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - each group is a part of the world with separate communicators,
 * in which the canaries of a campaign run; its first rank sends what they
 * measured to rank 0 as an array of doubles.
 */
#include "probes/scan/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/congestion/canary_loop.h"
#include "probes/job/collect.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"

#define TAG_RESULT 705
#define PAIRS_MOST 1000000

/* Layout of a result on its way: the head, nodes, pairs. */
enum { HEAD_GROUP, HEAD_TEST, HEAD_CAUSE, HEAD_NODES, HEAD_PAIRS, HEAD_COUNT };
enum { NODE_NODE, NODE_N, NODE_P50, NODE_SCORE, NODE_WAIT, NODE_COUNT };
enum { PAIR_A, PAIR_B, PAIR_P50, PAIR_COUNT };

/* Progress of a group's test is not shown. */
static void
groups_drop(void *arg, json_t *record)
{
	(void)arg;
	json_decref(record);
}

/* At a group's first rank: a test as doubles. The caller frees. */
static double *
groups_pack(const struct canary_loop *m, int test, int group,
    const struct collect_node *nodes, int count, int *ret_doubles)
{
	const struct canary_loop_cell *cell =
	    &m->tests[test].cells[m->settings->quiet];
	double most = fmin(PAIRS_MOST, (double)count * (count - 1) / 2);
	struct pair_medians_row *rows = xcalloc((size_t)most + 1,
	    sizeof(*rows));
	int pairs = cell->pairs == NULL
	    ? 0
	    : pair_medians_worst(cell->pairs, rows, (int)most);
	size_t doubles = HEAD_COUNT + (size_t)count * NODE_COUNT +
	    (size_t)pairs * PAIR_COUNT;
	double *ret = xcalloc(doubles, sizeof(*ret)), *at = ret + HEAD_COUNT;

	ret[HEAD_GROUP] = group;
	ret[HEAD_TEST] = test;
	ret[HEAD_CAUSE] = cell->cause;
	ret[HEAD_NODES] = count;
	ret[HEAD_PAIRS] = pairs;
	for (int i = 0; i < count; i++, at += NODE_COUNT) {
		at[NODE_NODE] = nodes[i].node;
		at[NODE_N] = nodes[i].n;
		at[NODE_P50] = nodes[i].n > 0 ? nodes[i].p50 : NAN;
		at[NODE_SCORE] = cell->pairs == NULL
		    ? NAN
		    : pair_medians_score(cell->pairs, (int)nodes[i].node);
		at[NODE_WAIT] = cores_wait_ratio(nodes[i].run_s,
		    nodes[i].wait_s);
	}
	for (int i = 0; i < pairs; i++, at += PAIR_COUNT) {
		at[PAIR_A] = rows[i].a;
		at[PAIR_B] = rows[i].b;
		at[PAIR_P50] = rows[i].p50;
	}
	free(rows);
	*ret_doubles = (int)doubles;
	return ret;
}

static void
groups_unpack(const double *from, const struct groups_ask *ask,
    struct scan_judge_result *all)
{
	int test = (int)from[HEAD_TEST];
	struct scan_judge_result *r =
	    &all[(int)from[HEAD_GROUP] * ask->test_count + test];
	const double *at = from + HEAD_COUNT;

	r->test = ask->tests[test];
	r->cause = (enum cause)from[HEAD_CAUSE];
	r->nodes_count = (size_t)from[HEAD_NODES];
	r->pairs_count = (size_t)from[HEAD_PAIRS];
	r->nodes = xcalloc(r->nodes_count + 1, sizeof(*r->nodes));
	r->pairs = xcalloc(r->pairs_count + 1, sizeof(*r->pairs));
	for (size_t i = 0; i < r->nodes_count; i++, at += NODE_COUNT)
		r->nodes[i] = (struct scan_judge_node){
			.node = (int)at[NODE_NODE],
			.n = at[NODE_N],
			.p50 = at[NODE_P50],
			.score = at[NODE_SCORE],
			.wait_ratio = at[NODE_WAIT]
		};
	for (size_t i = 0; i < r->pairs_count; i++, at += PAIR_COUNT)
		r->pairs[i] = (struct scan_judge_pair){ (int)at[PAIR_A],
			(int)at[PAIR_B], at[PAIR_P50] };
}

/* Take part in a group, in every test; results of this rank, if it is the
 * first of its group, go to rank 0. */
static void
groups_run(struct world *w, const struct settings *base,
    const struct groups_ask *ask, int group, struct scan_judge_result *all)
{
	struct settings s = *base;
	struct collect_node *nodes;
	struct canary_loop *m;
	struct world part;
	MPI_Request req;
	double *packed;
	int count, doubles;

	s.test_count = ask->test_count;
	s.rounds_min = ask->rounds_min;
	memcpy(s.tests, ask->tests, sizeof(ask->tests));
	s.time_ns = (uint64_t)(ask->time_s / ask->test_count *
	    (double)CLK_NS_PER_S);
	world_part_open(w, group, &s, &part);
	if (group >= 0) {
		relay_open(&part, groups_drop, NULL);
		m = canary_loop_new(&part, &s);
		canary_loop_visit(m, s.quiet, 0, 0);
		control_barrier(part.control);
		control_watch(&part, NULL);
		for (int i = 0; i < s.test_count; i++) {
			count = collect_nodes(&part,
			    &m->tests[i].cells[s.quiet].mine,
			    &m->tests[i].cells[s.quiet].cores, &nodes);
			if (part.group_rank != 0)
				continue;
			packed = groups_pack(m, i, group, nodes, count,
			    &doubles);
			free(nodes);
			if (w->rank == 0) {
				groups_unpack(packed, ask, all);
			} else {
				MPI_DO(MPI_Isend(packed, doubles, MPI_DOUBLE, 0,
				    TAG_RESULT, w->control, &req));
				control_wait(&req);
			}
			free(packed);
		}
		canary_loop_free(m);
		relay_close();
	}
	world_part_close(&part);
}

/* Rank 0: one result, once there is one. */
static void
groups_take(struct world *w, const struct groups_ask *ask,
    struct scan_judge_result *all)
{
	MPI_Message msg;
	MPI_Status st;
	int there = 0, doubles;
	double *packed;

	for (;;) {
		MPI_DO(MPI_Improbe(MPI_ANY_SOURCE, TAG_RESULT, w->control,
		    &there, &msg, &st));
		if (there)
			break;
		clk_sleep_ns(CLK_NS_PER_MS);
	}
	MPI_DO(MPI_Get_count(&st, MPI_DOUBLE, &doubles));
	packed = xcalloc((size_t)doubles, sizeof(*packed));
	MPI_DO(MPI_Mrecv(packed, doubles, MPI_DOUBLE, &msg, &st));
	groups_unpack(packed, ask, all);
	free(packed);
}

static void
groups_share(const struct world *w, void *data, int bytes)
{
	MPI_Request req;

	MPI_DO(MPI_Ibcast(data, bytes, MPI_BYTE, 0, w->control, &req));
	control_wait(&req);
}

void
groups_measure(struct world *w, const struct settings *base,
    const struct groups_ask *ask, const int *of_node,
    struct scan_judge_result *ret)
{
	int *of = xcalloc((size_t)w->nodes, sizeof(*of));
	struct groups_ask told = *ask;
	int results;

	memcpy(of, of_node, (size_t)w->nodes * sizeof(*of));
	groups_share(w, &told, sizeof(told));
	groups_share(w, of, w->nodes * (int)sizeof(*of));
	groups_run(w, base, ask, of[w->node], ret);
	results = (ask->groups - (of[w->node] >= 0)) * ask->test_count;
	for (int i = 0; i < results; i++)
		groups_take(w, ask, ret);
	control_barrier(w->control);
	free(of);
}

void
groups_end(struct world *w)
{
	struct groups_ask none = { 0 };

	groups_share(w, &none, sizeof(none));
}

void
groups_serve(struct world *w, const struct settings *base)
{
	int *of = xcalloc((size_t)w->nodes, sizeof(*of));
	struct groups_ask ask;

	for (;;) {
		groups_share(w, &ask, sizeof(ask));
		if (ask.groups == 0)
			break;
		groups_share(w, of, w->nodes * (int)sizeof(*of));
		groups_run(w, base, &ask, of[w->node], NULL);
		control_barrier(w->control);
	}
	free(of);
}
