/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stuck.c - a node that is stuck with many, a pair that is stuck, and
 * which nodes are excluded until when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/diagnosis/stats/stuck.h"

#define NODES 8

static struct stuck_watch w;

static void
note(uint32_t a, uint32_t b, uint64_t at_ns)
{
	struct stuck_pair p = { { a, b }, .at_ns = at_ns, .waited_s = 5 };

	stuck_note(&w, &p);
}

static void
measured_without(int out)
{
	uint8_t measured[NODES];

	for (int i = 0; i < NODES; i++)
		measured[i] = i != out;
	stuck_measured(&w, measured);
}

static int
begin(void **state)
{
	(void)state;
	w.count = 0;
	return 0;
}

static void
test_node(void **state)
{
	(void)state;
	note(1, 5, 0);
	assert_false(stuck_is_named(&w, 5));
	note(5, 1, 1); /* the same two */
	assert_false(stuck_is_named(&w, 5));
	note(5, 2, 2);
	assert_true(stuck_is_named(&w, 5));
	assert_int_equal(stuck_partners(&w, 5), 2);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(stuck_is_named(&w, i), i == 5);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(stuck_out(&w, i, 3) != NULL, i == 5);
	/* Without the node all runs succeed, and it stays named; with it, it is
	 * cleared. */
	measured_without(5);
	assert_true(stuck_is_named(&w, 5));
	assert_null(stuck_out(&w, 5, 3 + STUCK_OUT_NS)); /* tried again */
	measured_without(-1);
	assert_int_equal(w.count, 0);
}

/* Three nodes stuck with each other: none of them is more likely the cause. */
static void
test_equal(void **state)
{
	(void)state;
	note(1, 2, 0);
	note(2, 3, 0);
	note(3, 1, 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_false(stuck_is_named(&w, i));
}

/* First one, then the other is excluded; then the cause is known. */
static void
test_path(void **state)
{
	(void)state;
	note(3, 6, 0);
	assert_null(stuck_out(&w, 3, 0));
	assert_ptr_equal(stuck_out(&w, 6, 0), &w.pairs[0]);
	measured_without(6);
	assert_ptr_equal(stuck_out(&w, 3, 0), &w.pairs[0]);
	assert_null(stuck_out(&w, 6, 0));
	measured_without(3);
	assert_true(w.pairs[0].fine[0] && w.pairs[0].fine[1]);
	assert_null(stuck_out(&w, 3, 0));
	assert_non_null(stuck_out(&w, 6, 0));
}

static void
test_many(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < STUCK_PAIRS_MAX + 3; i++)
		note(2 * i, 2 * i + 1, i);
	assert_int_equal(w.count, STUCK_PAIRS_MAX);
	assert_int_equal(stuck_partners(&w, 0), 0);
	assert_int_equal(stuck_partners(&w, 2 * STUCK_PAIRS_MAX), 1);
}

/* An epoch in which these nodes lose echoes, and one is not measured. */
static void
echoes(int from, int to, int unknown)
{
	double lost[NODES];

	for (int i = 0; i < NODES; i++)
		lost[i] = i == unknown ? -1 : i >= from && i <= to ? 2 : 0;
	for (int i = 0; i < 2; i++) /* within leaves, and between them */
		stuck_echoes(&w, lost);
}

/* Losses stop, and so does the reason; without losses it was another one. */
static void
test_losses(void **state)
{
	(void)state;
	note(1, 5, 0);
	for (int i = 0; i < 20; i++)
		echoes(2, 4, -1);
	assert_non_null(stuck_out(&w, 5, 3));
	echoes(5, 5, -1);
	for (int i = 0; i < 20; i++)
		echoes(0, -1, 1);
	echoes(0, -1, -1);
	echoes(0, -1, -1);
	assert_non_null(stuck_out(&w, 5, 3));
	echoes(0, -1, -1);
	assert_null(stuck_out(&w, 5, 3));
	assert_int_equal(w.count, 0);
	/* A named node is measured before it is resolved. */
	note(5, 1, 0);
	note(5, 2, 0);
	note(3, 4, 0);
	echoes(1, 5, -1);
	for (int i = 0; i < 20; i++)
		echoes(0, -1, -1);
	assert_true(stuck_is_named(&w, 5));
	assert_int_equal(w.count, 2);
	assert_null(stuck_out(&w, 4, 3));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_node, begin),
		cmocka_unit_test_setup(test_equal, begin),
		cmocka_unit_test_setup(test_path, begin),
		cmocka_unit_test_setup(test_many, begin),
		cmocka_unit_test_setup(test_losses, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
