/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One fault at a time, in plans of every builder: check must reject the plan
 * and name the place. Each row of each plan is misrouted, dropped, doubled,
 * shifted by a byte, and moved across a dependency.
 */
#include "probes/plan/check.h"

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "probes/plan/rank_graph.h"
#include "tests/unit/probes/plan/cases.h"

#define ROWS_MAX 60 /* of a plan; larger ones are sampled */

/* A row of a plan; locals count on from the transfers. */
typedef int (*mutate_cb)(struct plan *p, size_t row, struct rng *r);

static struct plan_transfer *
transfer_of(struct plan *p, size_t row)
{
	return row < p->transfers_count ? &p->transfers[row] : NULL;
}

static struct plan_local *
local_of(struct plan *p, size_t row)
{
	return row >= p->transfers_count ? &p->locals[row - p->transfers_count]
					 : NULL;
}

/* Each returns 0 where it does not apply. */
static int
misroute_dst(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);

	if (t == NULL || p->ranks == 1)
		return 0;
	t->dst = (t->dst + 1 + (uint32_t)rng_below(r, p->ranks - 1)) % p->ranks;
	return 1;
}

/* Results replace the data there. */
static int
in_place(const struct plan *p, uint16_t buf)
{
	for (size_t i = 0; i < p->promises_count; i++)
		if (p->promises[i].to == buf)
			return 1;
	return 0;
}

/* Another rank may hold the same bytes by now, but not its own data. */
static int
misroute_src(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);

	if (t == NULL || p->ranks == 1 || p->bufs[t->from].role != PLAN_IN ||
	    in_place(p, t->from))
		return 0;
	t->src = (t->src + 1 + (uint32_t)rng_below(r, p->ranks - 1)) % p->ranks;
	return 1;
}

static int
misroute_local(struct plan *p, size_t row, struct rng *r)
{
	struct plan_local *l = local_of(p, row);

	if (l == NULL || p->ranks == 1)
		return 0;
	l->rank = (l->rank + 1 + (uint32_t)rng_below(r, p->ranks - 1)) %
	    p->ranks;
	return 1;
}

static int
drop(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);
	struct plan_local *l = local_of(p, row);

	(void)r;
	if (t != NULL)
		*t = p->transfers[--p->transfers_count];
	else
		*l = p->locals[--p->locals_count];
	return 1;
}

static int
twice(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);
	struct plan_local l;

	(void)r;
	if (t != NULL) {
		struct plan_transfer copy = *t;

		plan_transfer_add(p, &copy);
	} else {
		struct plan_place in[64];

		l = *local_of(p, row);
		assert_true(l.inputs <= 64);
		memcpy(in, p->inputs + l.input, l.inputs * sizeof(*in));
		plan_local_add(p, &l, in, l.inputs);
	}
	return 1;
}

static int
twice_later(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer copy;

	(void)r;
	if (transfer_of(p, row) == NULL)
		return 0;
	copy = *transfer_of(p, row);
	copy.step++;
	plan_transfer_add(p, &copy);
	return 1;
}

static int
shift_from(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);
	struct plan_local *l = local_of(p, row);
	uint64_t *off;

	if (t != NULL)
		off = &t->from_off;
	else
		off = &p->inputs[l->input + rng_below(r, l->inputs)].off;
	*off += rng_below(r, 2) == 0 || *off == 0 ? 1 : (uint64_t)-1;
	return 1;
}

static int
shift_to(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);
	struct plan_local *l = local_of(p, row);
	uint64_t *off = t != NULL ? &t->to_off : &l->to_off;

	*off += rng_below(r, 2) == 0 || *off == 0 ? 1 : (uint64_t)-1;
	return 1;
}

static int
shorten(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);

	(void)r;
	if (t == NULL)
		p->locals[row - p->transfers_count].bytes--;
	else
		t->bytes--;
	return 1;
}

static int
lengthen(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);

	(void)r;
	if (t == NULL)
		p->locals[row - p->transfers_count].bytes++;
	else
		t->bytes++;
	return 1;
}

/* Put a row where something it waits for has not happened yet. */
static int
reorder_at(struct plan *p, uint32_t rank, size_t row, struct rng *r)
{
	struct rank_graph v;
	int done = 0;

	rank_graph_make(p, rank, &v);
	for (uint32_t i = 0; i < v.events_count && !done; i++) {
		const struct rank_graph_event *e = &v.events[i], *on;
		int local = e->kind == RANK_GRAPH_LOCAL;

		if (e->waits == 0 ||
		    row != e->row + (local ? p->transfers_count : 0))
			continue;
		on = &v.events[v.waits[e->wait + rng_below(r, e->waits)]];
		if (local && on->kind != RANK_GRAPH_LOCAL && on->step == 0)
			continue; /* no earlier step exists */
		if (local)
			p->locals[e->row].step = on->step -
			    (on->kind != RANK_GRAPH_LOCAL);
		else
			p->transfers[e->row].step = on->step;
		done = 1;
	}
	rank_graph_clear(&v);
	return done;
}

static int
reorder(struct plan *p, size_t row, struct rng *r)
{
	struct plan_transfer *t = transfer_of(p, row);
	struct plan_local *l = local_of(p, row);

	if (l != NULL)
		return reorder_at(p, l->rank, row, r);
	return reorder_at(p, t->src, row, r) || reorder_at(p, t->dst, row, r);
}

/* Only of reductions. */
static int
lose_input(struct plan *p, size_t row, struct rng *r)
{
	struct plan_local *l = local_of(p, row);

	(void)r;
	if (l == NULL || l->op == PLAN_COPY || l->inputs < 3)
		return 0;
	l->inputs--;
	return 1;
}

static int
other_op(struct plan *p, size_t row, struct rng *r)
{
	struct plan_local *l = local_of(p, row);

	(void)r;
	if (l == NULL || l->op == PLAN_COPY)
		return 0;
	l->op = l->op == PLAN_MAX ? PLAN_MIN : PLAN_MAX;
	return 1;
}

static const struct mutation_row {
	const char *name;
	mutate_cb mutate;
} mutations[] = {
	{ "receiver misrouted", misroute_dst },
	{ "sender misrouted", misroute_src },
	{ "local operation misrouted", misroute_local },
	{ "dropped", drop },
	{ "doubled", twice },
	{ "doubled a step later", twice_later },
	{ "source shifted", shift_from },
	{ "target shifted", shift_to },
	{ "shortened", shorten },
	{ "lengthened", lengthen },
	{ "reordered", reorder },
	{ "input lost", lose_input },
	{ "other operation", other_op },
};

static unsigned applied[ARRAY_LEN(mutations)];

static void
mutate_row(const char *text, size_t row, size_t m, struct rng *r)
{
	struct err err;
	struct plan *p = case_plan(text, 0, &err);
	struct check_fault fault;

	if (mutations[m].mutate(p, row, r)) {
		applied[m]++;
		if (check_plan(p, &fault) == 0)
			fail_msg("%s: row %zu %s: not detected", text, row,
			    mutations[m].name);
		assert_int_not_equal(fault.kind, CHECK_OK);
		assert_true(fault.rank < p->ranks);
		assert_true(fault.text[0] != '\0');
	}
	plan_free(p);
}

static void
mutate_plan(const char *text, struct rng *r)
{
	struct plan *p = case_proven(text, 0);
	size_t rows = p->transfers_count + p->locals_count;

	plan_free(p);
	for (size_t i = 0; i < rows && i < ROWS_MAX; i++) {
		size_t row = rows <= ROWS_MAX ? i : rng_below(r, rows);

		for (size_t m = 0; m < ARRAY_LEN(mutations); m++)
			mutate_row(text, row, m, r);
	}
}

static void
test_builders(void **state)
{
	static const char *const texts[] = {
		"group pattern=rail n=3 g=2 k=2 count=50 direction=bi",
		"group pattern=asymmetric n=2 g=3 k=2 count=10",
		"group pattern=symmetric n=3 g=2 k=2 direction=omni count=7",
		"stripe g=3 count=10",
		"stripe g=4 bytes=64K",
		"self bytes=100",
		"allreduce form=flat count=41 chunks=2 type=int32",
		"allreduce form=flat ranks=3 count=40 multipath=socket "
		"in_place=yes",
		"allreduce form=hierarchical count=41 chunks=2 op=max",
		"allreduce form=hierarchical ranks=7 per_socket=3 count=40 "
		"chunks=2 in_place=yes",
		"allreduce ranks=9 per_node=4 count=40 chunks=2 "
		"multipath=none",
		"multipath bytes=1000 share=0.4 chunks=5 streams=2",
		"multipath bytes=999 share=0.3,0.2,0.1 relays=2 chunks=3 "
		"streams=1",
		"collective name=broadcast hierarchy=2,2,3 stripe=3 count=3",
		"collective name=broadcast hierarchy=4,2 ring=4 lean=no "
		"depth=2",
		"collective name=broadcast form=allgather.scatter "
		"hierarchy=2,4 depth=3",
		"collective name=reduce hierarchy=2,2,2 stripe=2 root=5",
		"collective name=reduce form=gather.reduce-scatter "
		"hierarchy=4,2 ring=4 depth=2",
		"collective name=gather hierarchy=2,3 stripe=3 depth=2",
		"collective name=scatter hierarchy=3,2 lean=no root=5",
		"collective name=allgather hierarchy=2,3 lean=no",
		"collective name=allgather form=broadcast.gather "
		"hierarchy=2,4 depth=4 count=96",
		"collective name=reduce-scatter hierarchy=2,3 ring=2",
		"collective name=reduce-scatter form=scatter.reduce "
		"hierarchy=2,4 depth=4 count=96",
		"collective name=allreduce hierarchy=2,3 op=max depth=2 "
		"type=double",
		"collective name=allreduce form=broadcast.reduce "
		"hierarchy=2,4 stripe=4 depth=3",
		"collective name=allreduce form=single hierarchy=2,2",
		"collective name=alltoall hierarchy=2,3 stripe=3",
		"collective name=broadcast exchange=bine ranks=10 root=3",
		"collective name=broadcast form=allgather.scatter "
		"exchange=recursive ranks=6",
		"collective name=reduce exchange=recursive ranks=7 root=6",
		"collective name=reduce form=gather.reduce-scatter "
		"exchange=bine ranks=9 root=4",
		"collective name=gather exchange=bine ranks=8",
		"collective name=scatter exchange=recursive ranks=7 root=2",
		"collective name=allgather exchange=swing ranks=6",
		"collective name=allgather form=broadcast.gather "
		"exchange=bine ranks=5",
		"collective name=reduce-scatter exchange=swing ranks=7",
		"collective name=reduce-scatter exchange=recursive ranks=6",
		"collective name=allreduce exchange=bine ranks=6 op=max",
		"collective name=allreduce exchange=swing ranks=4",
		"collective name=allreduce form=single exchange=recursive "
		"ranks=6",
		"neighbor rsg=.5 ranks=10 bytes=1003 seed=7",
		"neighbor rsg=.3 ranks=9 per_node=5 topology=mi250x "
		"bytes=4K unit=64 order=dataflow",
		"neighbor moore=2,1 ranks=8 per_node=4 bytes=77",
		"neighbor cart=3 ranks=6 per_node=3 topology=none bytes=50",
		"neighbor rsg=.4 ranks=10 bytes=99 threshold=100",
		"neighbor matrix=" MATRICES
		"/ccc.mtx columns=3 ranks=6 per_node=2",
	};
	const char *text = getenv("COALMINE_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : rng_entropy();
	struct rng r;

	(void)state;
	printf("COALMINE_SEED=%llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		rng_seed3(&r, seed, 3, i);
		mutate_plan(texts[i], &r);
	}
	for (size_t m = 0; m < ARRAY_LEN(mutations); m++)
		assert_true(applied[m] > 0);
}

static void
test_sparse(void **state)
{
	char path[] = "/tmp/coalmine-mutate-XXXXXX", text[200];
	int fd = mkstemp(path);
	FILE *fp = fdopen(fd, "w");
	struct rng r;

	(void)state;
	assert_non_null(fp);
	for (int i = 0; i < 36; i++)
		fprintf(fp, "%d%c", i * 5 % 13, i % 6 == 5 ? '\n' : ' ');
	assert_int_equal(fclose(fp), 0);
	rng_seed(&r, 1);
	snprintf(text, sizeof(text), "sparse file=%s g=3 stripes=3", path);
	mutate_plan(text, &r);
	snprintf(text, sizeof(text), "sparse file=%s g=3", path);
	mutate_plan(text, &r);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builders),
		cmocka_unit_test(test_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
