/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduces for devices of nodes: the documented rows, every number of ranks
 * in every placement, in place or not, results that are the same on all ranks
 * whatever arrives first, where several ways are used, and how the form is
 * chosen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/collective/allreduce.h"
#include "probes/plan/rank_graph.h"
#include "tests/unit/probes/plan/cases.h"

#define CHANNELS_A_CHUNK 3 /* two of them are staged */

/* Both of section 1.6, as pairs by step. */
static void
test_rows(void **state)
{
	struct plan *p;

	(void)state;
	p = case_proven("allreduce form=flat count=10 chunks=1 multipath=none",
	    0);
	assert_string_equal(case_pairs(p, 0),
	    "0>1 0>2 0>3 1>0 1>2 1>3 2>0 2>1 2>3 3>0 3>1 3>2");
	assert_string_equal(case_pairs(p, 1),
	    "0>1 0>2 0>3 1>0 1>2 1>3 2>0 2>1 2>3 3>0 3>1 3>2");
	for (size_t i = 0; i < p->transfers_count; i++) {
		static const uint64_t cuts[] = { 0, 8, 20, 28, 40 };
		const struct plan_transfer *t = &p->transfers[i];
		uint32_t part = t->step == 0 ? t->dst : t->src;

		assert_int_equal(t->from_off, cuts[part]);
		assert_int_equal(t->bytes, cuts[part + 1] - cuts[part]);
	}
	plan_free(p);
	p = case_proven("allreduce form=hierarchical count=10 chunks=2 "
			"multipath=none",
	    0);
	assert_string_equal(case_pairs(p, 0), "0>1 3>2");
	assert_string_equal(case_pairs(p, 1), "0>1 1>2 2>1 3>2");
	assert_string_equal(case_pairs(p, 2), "1>0 1>2 2>1 2>3");
	assert_string_equal(case_pairs(p, 3), "1>0 2>3");
	assert_int_equal(p->transfers_count, 12);
	for (size_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(p->transfers[i].bytes, 20);
	plan_free(p);
}

/* ---- every shape ---- */

static void
shape_text(struct rng *r, uint32_t ranks, char *ret, size_t cap_bytes)
{
	static const char *const forms[] = { "flat", "hierarchical", "auto" };
	static const char *const ways[] = { "none", "idle", "socket" };
	static const unsigned counts[] = { 1, 2, 7, 41, 1003 };

	snprintf(ret, cap_bytes,
	    "allreduce form=%s ranks=%u per_socket=%u per_node=%u count=%u "
	    "chunks=%u in_place=%s multipath=%s share=%.2f type=float",
	    forms[rng_below(r, 3)], ranks, (unsigned)rng_below(r, 5),
	    (unsigned)rng_below(r, 6), counts[rng_below(r, 5)],
	    (unsigned)rng_below(r, 9), rng_below(r, 2) == 0 ? "no" : "yes",
	    ways[rng_below(r, 3)], (double)rng_below(r, 101) / 100);
}

static void
test_shapes(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (uint32_t ranks = 1; ranks <= 9; ranks++)
		for (int i = 0; i < 250; i++) {
			char text[300];

			shape_text(&r, ranks, text, sizeof(text));
			plan_free(case_proven(text, 0));
		}
	/* ranks that the probe does not need stay idle */
	plan_free(case_proven("allreduce ranks=3 count=5", 8));
	plan_free(case_proven("allreduce count=5", 8));
}

/* ---- with numbers, in any order that the plan allows ---- */

struct machine_run {
	const struct plan *p;
	struct rank_graph *views;
	uint8_t **done; /* by rank and event */
	char ***bufs;   /* by rank and buffer */
	char **flying;  /* by row of transfers: the sent data */
	uint64_t left;
};

static int
ready(const struct machine_run *mr, uint32_t rank, uint32_t e)
{
	const struct rank_graph *v = &mr->views[rank];
	const struct rank_graph_event *ev = &v->events[e];

	if (mr->done[rank][e])
		return 0;
	for (uint32_t i = 0; i < ev->waits; i++)
		if (!mr->done[rank][v->waits[ev->wait + i]])
			return 0;
	return ev->kind != RANK_GRAPH_RECV || mr->flying[ev->row] != NULL;
}

static void
reduce(struct machine_run *mr, const struct plan_local *l)
{
	const struct plan *p = mr->p;
	char **bufs = mr->bufs[l->rank];
	float *to = (float *)(void *)(bufs[l->to] + l->to_off);

	for (uint64_t i = 0; i < l->bytes / sizeof(float); i++) {
		float sum = 0;

		for (uint32_t k = 0; k < l->inputs; k++) {
			const struct plan_place *in = &p->inputs[l->input + k];
			const float *x = (float *)(void *)(bufs[in->buf] +
			    in->off);

			sum = k == 0 ? x[i] : sum + x[i];
		}
		to[i] = sum;
	}
}

static void
happen(struct machine_run *mr, uint32_t rank, uint32_t e)
{
	const struct rank_graph_event *ev = &mr->views[rank].events[e];
	const struct plan_transfer *t;

	mr->done[rank][e] = 1;
	mr->left--;
	if (ev->kind == RANK_GRAPH_LOCAL) {
		reduce(mr, &mr->p->locals[ev->row]);
		return;
	}
	t = &mr->p->transfers[ev->row];
	if (ev->kind == RANK_GRAPH_SELF)
		memcpy(mr->bufs[rank][t->to] + t->to_off,
		    mr->bufs[rank][t->from] + t->from_off, t->bytes);
	if (ev->kind == RANK_GRAPH_SEND) {
		mr->flying[ev->row] = xcalloc(t->bytes, 1);
		memcpy(mr->flying[ev->row],
		    mr->bufs[rank][t->from] + t->from_off, t->bytes);
	}
	if (ev->kind == RANK_GRAPH_RECV)
		memcpy(mr->bufs[rank][t->to] + t->to_off, mr->flying[ev->row],
		    t->bytes);
}

static void
run_make(struct machine_run *mr, const struct plan *p)
{
	*mr = (struct machine_run){ .p = p,
		.views = xcalloc(p->ranks, sizeof(*mr->views)),
		.done = xcalloc(p->ranks, sizeof(*mr->done)),
		.bufs = xcalloc(p->ranks, sizeof(*mr->bufs)),
		.flying = xcalloc(p->transfers_count + 1, sizeof(char *)) };
	for (uint32_t r = 0; r < p->ranks; r++) {
		rank_graph_make(p, r, &mr->views[r]);
		mr->left += mr->views[r].events_count;
		mr->done[r] = xcalloc(mr->views[r].events_count + 1, 1);
		mr->bufs[r] = xcalloc(p->bufs_count, sizeof(char *));
		for (uint32_t b = 0; b < p->bufs_count; b++) {
			uint64_t n = p->bufs[b].bytes[r] / sizeof(float);
			float *x = xcalloc(n + 1, sizeof(*x));

			/* sums that depend on their order */
			for (uint64_t i = 0;
			     p->bufs[b].role == PLAN_IN && i < n; i++)
				x[i] = 1.0f / (float)(3 + r * 7 + i);
			mr->bufs[r][b] = (char *)x;
		}
	}
}

static void
run_clear(struct machine_run *mr)
{
	for (uint32_t r = 0; r < mr->p->ranks; r++) {
		for (uint32_t b = 0; b < mr->p->bufs_count; b++)
			free(mr->bufs[r][b]);
		free(mr->bufs[r]);
		free(mr->done[r]);
		rank_graph_clear(&mr->views[r]);
	}
	for (size_t i = 0; i < mr->p->transfers_count; i++)
		free(mr->flying[i]);
	free(mr->flying);
	free(mr->views);
	free(mr->done);
	free(mr->bufs);
}

static void
run_all(struct machine_run *mr, struct rng *r)
{
	while (mr->left > 0) {
		uint32_t rank = (uint32_t)rng_below(r, mr->p->ranks);
		uint32_t n = mr->views[rank].events_count;

		if (n > 0) {
			uint32_t e = (uint32_t)rng_below(r, n);

			if (ready(mr, rank, e))
				happen(mr, rank, e);
		}
	}
}

/* Twice, in different orders: the same bits, near the true sum, on all ranks.
 */
static void
test_numbers(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 12);
	for (int i = 0; i < 250; i++) {
		uint32_t ranks = 1 + (uint32_t)rng_below(&r, 9);
		struct machine_run a, b;
		uint16_t to;
		char text[300];
		struct plan *p;
		uint64_t bytes;

		do
			shape_text(&r, ranks, text, sizeof(text));
		while (strstr(text, "count=1003") != NULL);
		p = case_proven(text, 0);
		to = p->promises[0].to;
		bytes = p->bufs[to].bytes[0];
		run_make(&a, p);
		run_make(&b, p);
		run_all(&a, &r);
		run_all(&b, &r);
		for (uint32_t k = 0; k < ranks; k++) {
			assert_memory_equal(a.bufs[k][to], a.bufs[0][to],
			    bytes);
			assert_memory_equal(b.bufs[k][to], a.bufs[0][to],
			    bytes);
		}
		for (uint64_t x = 0; x < bytes / sizeof(float); x++) {
			double sum = 0;
			float got = ((float *)(void *)a.bufs[0][to])[x];

			for (uint32_t k = 0; k < ranks; k++)
				sum += 1.0 / (double)(3 + k * 7 + x);
			assert_true(got > sum * 0.99999 && got < sum * 1.00001);
		}
		run_clear(&a);
		run_clear(&b);
		plan_free(p);
	}
}

/* ---- destinations ---- */

static uint64_t
out_of(const struct plan *p, uint32_t rank)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].src == rank && p->transfers[i].dst != rank)
			sum += p->transfers[i].bytes;
	return sum;
}

/* Leaf m, leader 2m; flat 2m(p-1)/p. */
static void
test_volumes(void **state)
{
	struct plan *p = case_proven("allreduce form=hierarchical count=1000",
	    0);

	(void)state;
	assert_int_equal(out_of(p, 0), 4000);
	assert_int_equal(out_of(p, 1), 8000);
	assert_int_equal(out_of(p, 2), 8000);
	assert_int_equal(out_of(p, 3), 4000);
	plan_free(p);
	p = case_proven("allreduce form=flat count=1000", 0);
	for (uint32_t r = 0; r < 4; r++)
		assert_int_equal(out_of(p, r), 6000);
	plan_free(p);
	/* four sockets of two nodes: a share crosses, once each way */
	p = case_proven("allreduce ranks=8 per_node=4 count=1000", 0);
	assert_int_equal(out_of(p, 0), 4000);
	assert_int_equal(out_of(p, 1), 4000 + 2000 + 2000 + 2000);
	plan_free(p);
}

/* Chunks whose transfers within a socket are staged, as bits, for the first
 * and the last stage; nothing is ever staged between sockets. */
static void
staged(const char *text, unsigned *ret_up, unsigned *ret_down)
{
	struct plan *p = case_proven(text, 0);

	*ret_up = *ret_down = 0;
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];
		unsigned bit = 1u << t->channel / CHANNELS_A_CHUNK;

		if (!p->bufs[t->from].on_host)
			continue;
		assert_int_equal(t->src / 2, t->dst / 2);
		if (t->src == 0 || t->src == 3)
			*ret_up |= bit;
		else
			*ret_down |= bit;
	}
	plan_free(p);
}

static void
test_ways(void **state)
{
	unsigned up, down;

	(void)state;
	staged("allreduce form=hierarchical count=400 chunks=4", &up, &down);
	assert_int_equal(up, 1);
	assert_int_equal(down, 8);
	staged("allreduce form=hierarchical count=400 chunks=4 "
	       "multipath=socket",
	    &up, &down);
	assert_int_equal(up, 15);
	assert_int_equal(down, 15);
	staged("allreduce form=flat count=400 chunks=4", &up, &down);
	assert_int_equal(up & down, 15);
	staged("allreduce form=flat count=400 multipath=none", &up, &down);
	assert_int_equal(up | down, 0);
	staged("allreduce form=hierarchical count=400 share=0", &up, &down);
	assert_int_equal(up | down, 0);
}

static void
reason(const char *text, const char *words)
{
	struct plan *p = case_proven(text, 0);

	assert_non_null(p->remark);
	if (strncmp(p->remark, words, strlen(words)) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", text, p->remark, words);
	plan_free(p);
}

static void
test_choice(void **state)
{
	(void)state;
	setenv("COALMINE_MACHINES", MACHINES, 1);
	reason("allreduce machine=mist",
	    "hierarchical: d0 and d2 of mist have no direct link");
	reason("allreduce machine=cedar",
	    "flat: each pair of devices of cedar");
	reason("allreduce", "flat: allreduce.machine is not set");
	reason("allreduce ranks=8 per_node=4", "hierarchical: 2 nodes");
	reason("allreduce machine=cedar ranks=8", "hierarchical: 2 nodes");
	reason("allreduce machine=mist form=flat",
	    "flat: set by allreduce.form");
	reason("allreduce machine=mist ranks=2", "flat: each pair of devices");
}

static void
test_refused(void **state)
{
	(void)state;
	case_refused("allreduce ranks=9", 8, "0 to 8, the number of ranks");
	case_refused("allreduce ranks=1025", 0, "allreduce.ranks = 1025");
	case_refused("allreduce", 2000, "at most 1024; there are 2000");
	case_refused("allreduce count=0", 0, "allreduce.count = 0: expected");
	case_refused("allreduce type=byte", 0, "allreduce.type = byte");
	case_refused("allreduce op=xor", 0, "allreduce.op = xor");
	case_refused("allreduce form=ring", 0, "allreduce.form = ring");
	case_refused("allreduce share=1.1", 0, "allreduce.share = 1.1");
	case_refused("allreduce machine=nowhere", 0,
	    "allreduce.machine = nowhere: expected a machine file");
	case_refused("allreduce ranks=1024 chunks=4096", 0,
	    "allreduce.chunks = 4096: expected a smaller number");
	case_refused("allreduce via=mpi,mpi,ipc", 0, "allreduce.via");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
