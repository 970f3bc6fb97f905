/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compositions: the worked cases of Figure 6, the places where the public code
 * gives wrong data, a sample of all collectives in all shapes, and random
 * sparse primitives. COALMINE_SEED repeats a sample.
 */
#include "probes/collective/compose.h"

#include "common/rng.h"
#include "tests/unit/probes/plan/sweep.h"

#define SAMPLE        600
#define SPARSE_SAMPLE 2000

static uint64_t
seed_get(void)
{
	const char *text = getenv("COALMINE_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : rng_entropy();

	printf("COALMINE_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

#define LAST                                                                   \
	"0>0 0>1 0>2 1>0 1>2 2>0 2>1 3>4 3>5 4>3 4>5 5>3 5>4 6>7 6>8 7>6 "     \
	"7>8 8>6 8>7 9>10 9>11 10>9 10>11 11>9 11>10"
#define FIRST                                                                  \
	"0>1 0>2 1>0 1>2 2>0 2>1 3>4 3>5 4>3 4>5 5>3 5>4 6>7 6>8 7>6 7>8 "     \
	"8>6 8>7 9>10 9>11 10>9 10>11 11>9 11>10"

static void
expect_stages(const char *text, const char *const *stages)
{
	struct plan *p = case_proven(text, 12);
	uint32_t n = 0;

	for (; stages[n] != NULL; n++)
		assert_string_equal(case_pairs(p, n), stages[n]);
	assert_int_equal(p->steps, n);
	plan_free(p);
}

static size_t
count_locals(const struct plan *p, uint32_t step, uint32_t inputs)
{
	size_t n = 0;

	for (size_t i = 0; i < p->locals_count; i++)
		n += p->locals[i].step == step && p->locals[i].inputs == inputs;
	return n;
}

/* Figure 6(a): 2,2,3 with three stripes. */
static void
test_figure_6a(void **state)
{
	static const char *const striped[] = { "0>1 0>2", "0>6 1>7 2>8",
		"0>3 1>4 2>5 6>9 7>10 8>11", LAST, NULL };
	static const char *const plain[] = { "0>6", "0>3 6>9",
		"0>0 0>1 0>2 3>4 3>5 6>7 6>8 9>10 9>11", NULL };
	static const char *const reduce[] = { FIRST,
		"3>0 4>1 5>2 9>6 10>7 11>8", "6>0 7>1 8>2", "1>0 2>0", NULL };
	struct plan *p;

	(void)state;
	expect_stages("collective name=broadcast hierarchy=2,2,3 stripe=3 "
		      "lean=no count=3",
	    striped);
	expect_stages("collective name=broadcast hierarchy=2,2,3 lean=no",
	    plain);
	expect_stages("collective name=reduce hierarchy=2,2,3 stripe=3 "
		      "lean=no count=3",
	    reduce);
	p = case_proven("collective name=reduce hierarchy=2,2,3 stripe=3", 0);
	assert_int_equal(count_locals(p, 0, 3), 12);
	assert_int_equal(count_locals(p, 1, 2), 6);
	assert_int_equal(count_locals(p, 2, 2), 3);
	plan_free(p);
}

/* Figure 6(b): a ring of four nodes, whatever the tree over them was. */
static void
test_figure_6b(void **state)
{
	static const char *const cast[] = { "0>1 0>2", "0>3 1>4 2>5",
		"3>6 4>7 5>8", "6>9 7>10 8>11", LAST, NULL };
	static const char *const reduce[] = { FIRST, "9>6 10>7 11>8",
		"6>3 7>4 8>5", "3>0 4>1 5>2", "1>0 2>0", NULL };
	static const char *const plain[] = { "0>3", "3>6", "6>9",
		"0>0 0>1 0>2 3>4 3>5 6>7 6>8 9>10 9>11", NULL };

	(void)state;
	expect_stages("collective name=broadcast hierarchy=4,3 stripe=3 "
		      "ring=4 lean=no count=3",
	    cast);
	expect_stages("collective name=broadcast hierarchy=2,2,3 stripe=3 "
		      "ring=4 lean=no count=3",
	    cast);
	expect_stages("collective name=reduce hierarchy=4,3 stripe=3 ring=4 "
		      "lean=no count=3",
	    reduce);
	expect_stages("collective name=broadcast hierarchy=4,3 ring=4 lean=no",
	    plain);
}

/* Groups of two that do not divide nodes of three ranks: the block of a rank
 * alone in its group goes to its own temporary first, as in any tree; a relay
 * alone in its node adds its block in place. */
static void
test_ring_beside_tree(void **state)
{
	static const char *const cut[] = { "1>0 2>2 3>3 4>5 7>6 8>8 9>9 10>11",
		"2>0 5>3 8>6 11>9", "9>6", "6>3", "3>0", NULL };
	static const char *const alone[] = { "0>0", "11>10", "10>9", "9>8",
		"8>7", "7>6", "6>5", "5>4", "4>3", "3>2", "2>1", "1>0", NULL };

	(void)state;
	expect_stages("collective name=reduce hierarchy=6,2 ring=4 lean=no",
	    cut);
	expect_stages("collective name=reduce hierarchy=6,2 ring=12 lean=no",
	    alone);
}

/* The lean form moves 11 d between ranks and d within one, in the same stages.
 */
static void
test_lean(void **state)
{
	struct plan *p = case_proven(
	    "collective name=broadcast hierarchy=2,2,3 stripe=3 count=3", 0);

	(void)state;
	assert_int_equal(p->transfers_count, 33);
	assert_int_equal(p->locals_count, 1);
	assert_int_equal(plan_volume(p), 11 * 3 * 12 * 4);
	assert_string_equal(case_pairs(p, 1), "0>6 1>7 2>8");
	plan_free(p);
}

/* Transfers between the four nodes of three ranks that go towards higher ones.
 */
static size_t
count_upwards(const char *form, const char *lean)
{
	char *text = xasprintf("collective %s hierarchy=4,3 ring=4 stripe=3 "
			       "depth=2 count=6 lean=%s",
	    form, lean);
	struct plan *p = case_proven(text, 12);
	size_t n = 0;

	for (size_t i = 0; i < p->transfers_count; i++) {
		uint32_t src = p->transfers[i].src / 3;
		uint32_t dst = p->transfers[i].dst / 3;

		n += src != dst && (src + 1) % 4 == dst;
		assert_true(
		    src == dst || (src + 1) % 4 == dst || (dst + 1) % 4 == src);
	}
	plan_free(p);
	free(text);
	return n;
}

/* Where there are reductions, lean multicasts go round the ring with them. */
static void
test_one_way_round(void **state)
{
	static const char *const forms[] = { "name=allreduce",
		"name=allreduce form=broadcast.reduce" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		assert_int_equal(count_upwards(forms[i], "yes"), 0);
		assert_int_not_equal(count_upwards(forms[i], "no"), 0);
	}
	assert_int_not_equal(count_upwards("name=allgather", "yes"), 0);
}

/* Bug 1 of the public code: the second epoch has other pieces than the first,
 * so pieces of one channel do not follow each other. */
static void
test_fence_between_shapes(void **state)
{
	static const char *const texts[] = {
		"collective name=allgather form=broadcast.gather "
		"hierarchy=2,4 count=96 depth=4",
		"collective name=allgather form=broadcast.gather "
		"hierarchy=2,4 count=96 depth=16 lean=no",
		"collective name=reduce-scatter form=scatter.reduce "
		"hierarchy=2,4 count=96 depth=4",
		"collective name=reduce-scatter form=scatter.reduce "
		"hierarchy=4,2 count=1003 depth=16 stripe=2 ring=4",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		plan_free(case_proven(texts[i], 8));
}

struct sparse_case {
	struct plan *p;
	struct compose *c;
	uint16_t send, recv;
};

static struct sparse_case
sparse_new(uint32_t ranks, const uint32_t *factors, uint32_t levels,
    uint32_t stripe, uint32_t ring, uint32_t depth, int lean)
{
	struct compose_shape shape = { .levels = levels,
		.stripe = stripe,
		.ring = ring,
		.depth = depth,
		.lean = lean,
		.type = PLAN_INT32,
		.op = PLAN_SUM };
	struct sparse_case sc;

	memcpy(shape.factors, factors, levels * sizeof(*factors));
	sc.p = plan_new(ranks, "sparse composition");
	sc.send = plan_buf_add(sc.p, "send", PLAN_IN);
	sc.recv = plan_buf_add(sc.p, "recv", PLAN_OUT);
	sc.c = compose_new(sc.p, &shape);
	return sc;
}

/* Register a primitive on fresh ranges, and its promise. */
static void
sparse_add(struct sparse_case *sc, int reduces, uint32_t root,
    const uint32_t *leaves, uint32_t n, uint64_t count)
{
	struct plan_place from = { 0, sc->send }, to = { 0, sc->recv };
	uint64_t bytes = count * 4;
	struct plan_source sources[64];
	struct plan_span spans[64];

	for (uint32_t r = 0; r < sc->p->ranks; r++) {
		if (sc->p->bufs[sc->send].bytes[r] > from.off)
			from.off = sc->p->bufs[sc->send].bytes[r];
		if (sc->p->bufs[sc->recv].bytes[r] > to.off)
			to.off = sc->p->bufs[sc->recv].bytes[r];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = reduces ? leaves[i] : root;
		uint32_t d = reduces ? root : leaves[i];

		plan_buf_need(sc->p, sc->send, s, from.off + bytes);
		plan_buf_need(sc->p, sc->recv, d, to.off + bytes);
		sources[i] = (struct plan_source){ from.off, s, s + 1,
			sc->send };
		spans[i] = (struct plan_span){ d, d + 1 };
	}
	compose_add(sc->c,
	    &(struct compose_prim){ reduces ? COMPOSE_REDUCTION
					    : COMPOSE_MULTICAST,
		root, leaves, n, from, to, count });
	plan_promise_add(sc->p,
	    &(struct plan_promise){ .to = sc->recv,
		.to_off = to.off,
		.bytes = bytes,
		.op = reduces ? PLAN_SUM : PLAN_COPY,
		.type = PLAN_INT32 },
	    spans, reduces ? 1 : n, sources, reduces ? n : 1);
}

static void
sparse_prove(struct sparse_case *sc, const char *what)
{
	struct check_fault fault;

	compose_build(sc->c);
	if (check_plan(sc->p, &fault) < 0)
		fail_msg("%s: %s", what, fault.text);
	compose_free(sc->c);
	plan_free(sc->p);
}

/* Bug 2: rank 2 is alone in its node and in the middle of the ring; the public
 * code loses its part and spoils its send buffer. */
static void
test_trap_lone_relay(void **state)
{
	static const uint32_t leaves[] = { 0, 2, 4 };
	struct sparse_case sc = sparse_new(8, (const uint32_t[]){ 4, 2 }, 2, 1,
	    4, 1, 1);

	(void)state;
	sparse_add(&sc, 1, 0, leaves, 3, 5);
	sparse_prove(&sc, "lone relay");
	sc = sparse_new(8, (const uint32_t[]){ 4, 2 }, 2, 1, 4, 1, 0);
	sparse_add(&sc, 1, 0, leaves, 3, 5);
	sparse_prove(&sc, "lone relay, documented stages");
}

/* Bug 3: a small and a large reduction share temporary places. */
static void
test_trap_unequal_counts(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct sparse_case sc = sparse_new(8, (const uint32_t[]){ 2, 4 }, 2, 1,
	    1, 1, 1);

	(void)state;
	sparse_add(&sc, 1, 0, all, 8, 10);
	sparse_add(&sc, 1, 4, all, 8, 100000);
	sparse_prove(&sc, "unequal counts");
}

static uint32_t
random_leaves(struct rng *r, uint32_t ranks, uint32_t *leaves)
{
	uint64_t share = 1 + rng_below(r, 8);
	uint32_t n = 0;

	for (uint32_t i = 0; i < ranks; i++)
		if (rng_below(r, 8) < share)
			leaves[n++] = i;
	if (n == 0)
		leaves[n++] = (uint32_t)rng_below(r, ranks);
	return n;
}

static void
random_sparse(struct rng *r, uint64_t number)
{
	static const struct {
		uint32_t levels, factors[4];
	} shapes[] = { { 1, { 8 } }, { 2, { 2, 4 } }, { 2, { 4, 2 } },
		{ 3, { 2, 2, 2 } }, { 2, { 8, 1 } }, { 3, { 2, 2, 3 } },
		{ 2, { 4, 3 } }, { 4, { 2, 2, 2, 3 } }, { 2, { 3, 8 } } };
	size_t at = rng_below(r, ARRAY_LEN(shapes));
	uint32_t ranks = 1, stripe, ring, leaves[64];
	struct sparse_case sc;
	char what[80];

	for (uint32_t i = 0; i < shapes[at].levels; i++)
		ranks *= shapes[at].factors[i];
	do {
		stripe = 1 + (uint32_t)rng_below(r, ranks);
		ring = 1 + (uint32_t)rng_below(r, ranks);
	} while (ranks % stripe != 0 || ranks % ring != 0);
	sc = sparse_new(ranks, shapes[at].factors, shapes[at].levels, stripe,
	    ring, 1 + (uint32_t)rng_below(r, 16), rng_below(r, 2) == 0);
	for (uint64_t k = 1 + rng_below(r, 6); k > 0; k--) {
		uint32_t n = random_leaves(r, ranks, leaves);

		sparse_add(&sc, rng_below(r, 2) == 0,
		    (uint32_t)rng_below(r, ranks), leaves, n,
		    1 + rng_below(r, 200));
	}
	snprintf(what, sizeof(what), "sparse composition %llu",
	    (unsigned long long)number);
	sparse_prove(&sc, what);
}

static void
test_random_sparse(void **state)
{
	uint64_t seed = seed_get();

	(void)state;
	for (uint64_t i = 0; i < SPARSE_SAMPLE; i++) {
		struct rng r;

		rng_seed3(&r, seed, 1, i);
		random_sparse(&r, i);
	}
}

static void
test_sample(void **state)
{
	uint64_t count = sweep_count(), seed = seed_get();

	(void)state;
	for (uint64_t i = 0; i < SAMPLE; i++) {
		char text[300];
		struct rng r;

		rng_seed3(&r, seed, 2, i);
		sweep_case(rng_below(&r, count), text, sizeof(text));
		plan_free(case_proven(text, 0));
	}
}

static void
test_refused(void **state)
{
	(void)state;
	case_refused("collective hierarchy=3,3", 8,
	    "collective.hierarchy = 3,3: expected");
	case_refused("collective hierarchy=2,2", 8, "collective.hierarchy");
	case_refused("collective hierarchy=4,4", 8, "collective.hierarchy");
	case_refused("collective hierarchy=2,x", 0, "collective.hierarchy");
	case_refused("collective hierarchy=0", 0, "collective.hierarchy");
	case_refused("collective hierarchy=65536,65536,65536,65536,65536", 0,
	    "collective.hierarchy");
	case_refused("collective depth=0", 8, "collective.depth = 0: expected");
	case_refused("collective stripe=0", 8,
	    "collective.stripe = 0: expected");
	case_refused("collective ring=0", 8, "collective.ring = 0: expected");
	case_refused("collective ring=3", 8,
	    "collective.ring = 3: expected a divisor of 8, the ranks: 1 2 4 "
	    "8");
	case_refused("collective stripe=3", 8,
	    "collective.stripe = 3: expected");
	case_refused("collective ring=16", 8, "collective.ring = 16: expected");
	case_refused("collective root=8", 8,
	    "collective.root = 8: expected "
	    "0 to 7");
	case_refused("collective ranks=9", 8, "collective.ranks = 9: expected");
	case_refused("collective form=scatter", 8,
	    "collective.form = scatter: expected default, single, "
	    "allgather.scatter");
	case_refused("collective type=byte", 8, "collective.type = byte");
	case_refused("collective hierarchy=2,4 via=mpi,ipc,mpi", 8,
	    "collective.via");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_6a),
		cmocka_unit_test(test_figure_6b),
		cmocka_unit_test(test_ring_beside_tree),
		cmocka_unit_test(test_lean),
		cmocka_unit_test(test_one_way_round),
		cmocka_unit_test(test_fence_between_shapes),
		cmocka_unit_test(test_trap_lone_relay),
		cmocka_unit_test(test_trap_unequal_counts),
		cmocka_unit_test(test_random_sparse),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
