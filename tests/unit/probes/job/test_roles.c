/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/str.h"
#include "probes/job/roles.h"

static void
count_roles(const struct roles_ask *ask, const int *roles, int *ret)
{
	for (int i = 0; i <= ask->kinds; i++)
		ret[i] = 0;
	for (int i = 0; i < ask->nodes; i++) {
		assert_true(roles[i] >= ROLES_CANARY && roles[i] < ask->kinds);
		ret[roles[i] + 1]++;
	}
}

static void
test_shares(void **state)
{
	static const struct {
		int nodes, kinds;
		double share;
		int want[5]; /* canaries, then by kind */
	} cases[] = {
		{ 12, 4, 0.2, { 2, 3, 3, 2, 2 } },  /* 2.4 is 2 */
		{ 13, 4, 0.2, { 3, 3, 3, 2, 2 } },  /* 2.6 is 3 */
		{ 10, 4, 0.01, { 2, 2, 2, 2, 2 } }, /* at least two */
		{ 100, 4, 0.2, { 20, 20, 20, 20, 20 } },
		{ 9, 1, 0.5, { 5, 4 } },
		{ 5, 0, 0.2, { 5 } }, /* no congestors: all are canaries */
	};
	int roles[100], got[5];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct roles_ask ask = { cases[i].nodes, cases[i].kinds,
			cases[i].share, 7, NULL, ROLES_RANDOM, NULL };

		assert_int_equal(roles_assign(&ask, roles), 0);
		count_roles(&ask, roles, got);
		for (int k = 0; k <= ask.kinds; k++)
			assert_int_equal(got[k], cases[i].want[k]);
	}
}

static void
test_kind_shares(void **state)
{
	static const int three_one[] = { 3, 1 }, wide[] = { 1000, 1 };
	struct roles_ask ask = { 20, 2, 0.2, 7, three_one, ROLES_RANDOM, NULL };
	int roles[20], got[3];

	(void)state;
	assert_int_equal(roles_assign(&ask, roles), 0);
	count_roles(&ask, roles, got);
	assert_int_equal(got[0], 4);
	assert_int_equal(got[1], 12);
	assert_int_equal(got[2], 4);
	/* each kind has two nodes at least */
	ask.shares = wide;
	assert_int_equal(roles_assign(&ask, roles), 0);
	count_roles(&ask, roles, got);
	assert_int_equal(got[1], 14);
	assert_int_equal(got[2], 2);
	ask.nodes = 6;
	assert_int_equal(roles_assign(&ask, roles), 0);
	count_roles(&ask, roles, got);
	assert_int_equal(got[1], 2);
	assert_int_equal(got[2], 2);
}

/* Canaries are c, kinds are 0 and 1. */
static void
check_placement(const struct roles_ask *ask, const char *want)
{
	char got[32] = "";
	int roles[16];

	assert_int_equal(roles_assign(ask, roles), 0);
	for (int i = 0; i < ask->nodes; i++)
		got[i] = roles[i] == ROLES_CANARY ? 'c'
						  : (char)('0' + roles[i]);
	assert_string_equal(got, want);
}

static void
test_placement(void **state)
{
	static const int names[] = { 1, 0, 3, 2, 5, 4, 7, 6 };
	static const int two_one[] = { 2, 1 };
	struct roles_ask ask = { 8, 2, 0.5, 7, NULL, ROLES_BLOCKS, NULL };

	(void)state;
	check_placement(&ask, "cccc0011");
	ask.placement = ROLES_SPREAD;
	check_placement(&ask, "c01cc01c");
	/* In the order of the names, whatever the ranks are. */
	ask.order = names;
	check_placement(&ask, "0cc10cc1");
	ask.order = NULL;
	ask.nodes = 12;
	ask.shares = two_one;
	check_placement(&ask, "c0c10cc0c10c");
	/* No placement changes the numbers; a congestor never has one node. */
	ask = (struct roles_ask){ 9, 1, 0.2, 7, NULL, ROLES_SPREAD, NULL };
	check_placement(&ask, "00c000c00");
	ask.kinds = 0;
	check_placement(&ask, "ccccccccc");
}

/* Leaf by leaf, in the order of the lists; nodes of no list last. */
static void
test_order(void **state)
{
	static const char *const names[] = { "n1", "n2", "n3", "n4", "n10",
		"x" };
	static const struct {
		const char *leaves;
		int want[6];
	} rows[] = {
		{ "", { 0, 1, 2, 3, 4, 5 } },
		{ "n[2,10]  n[1,3,77]", { 1, 4, 0, 2, 3, 5 } },
		{ "n[ x n4", { 5, 3, 0, 1, 2, 4 } },
	};
	int got[6];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		roles_order(names, 6, rows[i].leaves, got);
		assert_memory_equal(got, rows[i].want, sizeof(got));
	}
}

static void
test_too_few(void **state)
{
	struct roles_ask ask = { 9, 4, 0.2, 7, NULL, ROLES_RANDOM, NULL };
	int roles[16];

	(void)state;
	assert_int_equal(roles_assign(&ask, roles), -ERANGE);
	assert_int_equal(roles_needed(&ask), 10);
	ask.share = 0.5; /* eight congestors need eight canaries */
	assert_int_equal(roles_needed(&ask), 16);
	ask.kinds = 0;
	assert_int_equal(roles_needed(&ask), 2);
	ask.nodes = 1;
	assert_int_equal(roles_assign(&ask, roles), -ERANGE);
}

static void
test_seed(void **state)
{
	struct roles_ask ask = { 64, 4, 0.2, 7, NULL, ROLES_RANDOM, NULL };
	int a[64], b[64], differ = 0;

	(void)state;
	roles_assign(&ask, a);
	roles_assign(&ask, b);
	assert_memory_equal(a, b, sizeof(a));
	ask.seed = 8;
	roles_assign(&ask, b);
	for (int i = 0; i < 64; i++)
		differ += a[i] != b[i];
	assert_true(differ > 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_kind_shares),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
