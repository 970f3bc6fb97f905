/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in closed form, compared with the simulation of plans that move
 * the same bytes, on machines with some slow nodes and leaves. */
#include <errno.h>
#include <math.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "tests/unit/probes/plan/cases.h"

#include "probes/predict/model.h"
#include "probes/predict/closed_form.h"
#include "probes/predict/predict.h"

#define NODES 8

/* Leaves of three nodes, the last of two. */
static const struct machine_leaf leaves[] = { { "sw1", 1 }, { "sw2", 1 },
	{ "sw3", 1 } };
static struct machine_node nodes[NODES];
static struct machine_leaf changed[3];
static const struct machine_place place = { nodes, changed, NODES, 3 };

static struct machine *
machine(const char *name, char *ranks)
{
	struct err err = { 0 };
	struct machine *m;

	if (machine_load(name, &ranks, 1, &m, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = (struct machine_node){ "n", i / 3, 1 };
	nodes[4].name = "five";
	memcpy(changed, leaves, sizeof(leaves));
	m->place = &place;
	return m;
}

static double
simulated_s(const struct machine *m, const char *words)
{
	struct err err = { 0 };
	struct plan *p = case_proven(words, 0);
	struct predict r;
	double s;

	if (predict_plan(p, m, NULL, &r, &err) < 0)
		fail_msg("%s", err.text);
	s = (double)r.total_ps / 1e12;
	predict_clear(&r);
	plan_free(p);
	return s;
}

static double
closed_s(const struct machine *m, const char *name, double bytes,
    uint32_t ranks, const char *limit)
{
	struct closed_form f;

	assert_int_equal(closed_form(m, name, bytes, ranks, &f, NULL), 0);
	if (limit != NULL)
		assert_string_equal(f.limit, limit);
	assert_true(f.limit_s <= f.time_s);
	return f.time_s;
}

static const char *const names[] = { "allreduce", "allgather",
	"reduce-scatter" };

/* HiCCL's rings move the bytes of the closed form. */
static void
expect_simulated(const struct machine *m, const char *limit)
{
	char words[120];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		double s;

		snprintf(words, sizeof(words),
		    "collective name=%s hierarchy=%d ring=%d count=65536",
		    names[i], NODES, NODES);
		s = closed_s(m, names[i], 4.0 * 65536 * NODES, NODES, limit);
		if (fabs(s / simulated_s(m, words) - 1) > 0.05)
			fail_msg("%s: %g s, simulated %g s", names[i], s,
			    simulated_s(m, words));
	}
}

static void
test_as_simulated(void **state)
{
	struct machine *m = machine("lab", (char *)"node.ranks=1");

	(void)state;
	expect_simulated(m, NULL);
	nodes[4].share = 0.5;
	expect_simulated(m, "five n0 out");
	nodes[4].share = 1;
	changed[1].share = 0.25;
	expect_simulated(m, "sw2 up");
	machine_free(m);
}

/* Half the rate of a link doubles the time; a leaf without traffic has no
 * effect. */
static void
test_shares(void **state)
{
	struct machine *m = machine("lab", (char *)"node.ranks=1");
	double bytes = 1e9, s;

	(void)state;
	s = closed_s(m, "allreduce", bytes, 3, NULL);
	changed[0].share = 0.01;
	assert_true(closed_s(m, "allreduce", bytes, 3, NULL) == s);
	nodes[1].share = 0.5;
	assert_true(
	    fabs(closed_s(m, "allreduce", bytes, 3, NULL) / s - 2) < 0.02);
	/* An open chain: node 1 receives, and forwards nothing. */
	assert_true(closed_s(m, "broadcast", bytes, 2, NULL) >
	    1.9 * bytes / m->out_per_s);
	machine_free(m);
}

/* How much longer a collective takes after a node, a leaf's uplinks or those of
 * all leaves become slow, as coalctl whatif predicts it: within 5 % of the
 * simulation in at least 95 of 100 random cases. */
static void
test_changes(void **state)
{
	static const char *const ops[] = { "allreduce", "allgather",
		"reduce-scatter", "alltoall" };
	struct machine *m = machine("lab", (char *)"node.ranks=1");
	double now_s[ARRAY_LEN(ops)], now_simulated_s[ARRAY_LEN(ops)];
	char words[ARRAY_LEN(ops)][120];
	int within = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 38);
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		int n = snprintf(words[i], sizeof(words[i]),
		    "collective name=%s count=65536 ", ops[i]);

		snprintf(words[i] + n, sizeof(words[i]) - (size_t)n,
		    i == 3 ? "ranks=%d" : "hierarchy=%d ring=8", NODES);
		now_s[i] = closed_s(m, ops[i], 4.0 * 65536 * NODES, NODES,
		    NULL);
		now_simulated_s[i] = simulated_s(m, words[i]);
	}
	for (int k = 0; k < 100; k++) {
		size_t i = (size_t)rng_below(&r, ARRAY_LEN(ops));
		double share = 0.1 + 0.9 * rng_unit(&r), times, simulated;
		uint32_t at = (uint32_t)rng_below(&r, NODES);

		for (uint32_t n = 0; n < NODES; n++)
			nodes[n].share = k % 3 == 0 && n == at ? share : 1;
		for (uint32_t n = 0; n < 3; n++)
			changed[n].share = k % 3 == 2 ||
				(k % 3 == 1 && n == at % 3)
			    ? share
			    : 1;
		times = closed_s(m, ops[i], 4.0 * 65536 * NODES, NODES, NULL) /
		    now_s[i];
		simulated = simulated_s(m, words[i]) / now_simulated_s[i];
		within += fabs(times / simulated - 1) <= 0.05;
	}
	assert_true(within >= 95);
	machine_free(m);
}

/* All NICs of nodes with several are used, and all pairs of an all-to-all
 * counted. */
static void
test_many_ranks_a_node(void **state)
{
	struct machine *m = machine("perlmutter", (char *)"node.ranks=4");
	double bytes = 4e9, bound, s;

	(void)state;
	m->place = NULL;
	bound = model_bound_per_s("allreduce", 64, 4, m->nics * m->out_per_s);
	s = closed_s(m, "allreduce", bytes, 64, NULL);
	assert_true(bytes / s <= bound);
	assert_true(bytes / s > 0.5 * bound);
	bound = model_bound_per_s("alltoall", 64, 4, m->nics * m->out_per_s);
	s = closed_s(m, "alltoall", bytes, 64, NULL);
	assert_true(bytes / s <= 1.01 * bound);
	assert_true(bytes / s > 0.5 * bound);
	machine_free(m);
}

static void
test_what_is_refused(void **state)
{
	struct machine *m = machine("lab", (char *)"node.ranks=2");
	struct closed_form f;
	struct err err;

	(void)state;
	assert_int_equal(closed_form(m, "gather", 1e6, 4, &f, NULL), -EINVAL);
	assert_int_equal(closed_form(m, "allreduce", 1e6, 5, &f, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "allreduce of 5 ranks"));
	machine_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_simulated),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_many_ranks_a_node),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
