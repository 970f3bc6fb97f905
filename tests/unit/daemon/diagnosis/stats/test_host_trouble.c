/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts with contention, and values that are normal for the cluster.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/diagnosis/stats/host_trouble.h"

#define ALL 5

static const struct row {
	enum host_trouble_sign sign;
	double value, typical;
	int trouble;
} rows[] = {
	{ HOST_TROUBLE_PRESSURE, 0.26, 0, 1 },
	{ HOST_TROUBLE_PRESSURE, 0.24, 0, 0 },    /* too little to matter */
	{ HOST_TROUBLE_PRESSURE, 0.60, 0.50, 0 }, /* all are busy */
	{ HOST_TROUBLE_PRESSURE, 0.76, 0.50,
	    1 }, /* 3.2 per time with, others 1 */
	{ HOST_TROUBLE_PRESSURE, 1, 0.95, 1 },
	{ HOST_TROUBLE_PRESSURE, 1, 1, 0 },
	{ HOST_TROUBLE_STEAL, 0.11, 0.01, 2 },
	{ HOST_TROUBLE_STEAL, 0.11, 0.05, 0 },
	{ HOST_TROUBLE_DELAY, 0.011, 0.001, 1 },
	{ HOST_TROUBLE_DELAY, 0.011, 0.004, 0 },
	{ HOST_TROUBLE_DELAY, 3, 0.9, 1 },  /* seconds have no upper bound */
	{ HOST_TROUBLE_QUOTA, 0.30, 0, 2 }, /* taken by other processes */
	{ HOST_TROUBLE_QUOTA, 0.09, 0, 0 },
	{ HOST_TROUBLE_HEAT, 0.12, 0.01, 2 },
	{ HOST_TROUBLE_RANKS, 0.98, 0.90, 1 },
	{ HOST_TROUBLE_RANKS, 0.95, 0.90, 0 },
};

static void
test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct host_trouble_signs h = { { 0 } }, typical = { { 0 } };
		char text[HOST_TROUBLE_TEXT_MAX];

		h.of[rows[i].sign] = rows[i].value;
		typical.of[rows[i].sign] = rows[i].typical;
		assert_int_equal(host_trouble_trouble(&h, &typical, text),
		    rows[i].trouble);
		assert_int_equal(text[0] != '\0', rows[i].trouble > 0);
	}
}

static void
test_typical(void **state)
{
	struct host_trouble_signs all[ALL] = { { { 0 } } }, typical;

	(void)state;
	for (int i = 0; i < ALL; i++)
		all[i].of[HOST_TROUBLE_RANKS] = 0.1 * i;
	all[0].of[HOST_TROUBLE_STEAL] = 1;
	host_trouble_typical(all, ALL, &typical);
	assert_float_equal(typical.of[HOST_TROUBLE_RANKS], 0.2, 1e-12);
	assert_true(typical.of[HOST_TROUBLE_STEAL] == 0);
	host_trouble_typical(all, 0, &typical);
	assert_true(isnan(typical.of[HOST_TROUBLE_RANKS]));
}

/* A node without reports is not idle: only two of many report, and they are
 * equal. */
static void
test_unknown(void **state)
{
	struct host_trouble_signs all[ALL] = { { { 0 } } }, typical;
	char text[HOST_TROUBLE_TEXT_MAX];

	(void)state;
	for (int i = 0; i < ALL; i++)
		all[i].of[HOST_TROUBLE_RANKS] = i < 2 ? 0.9 : NAN;
	host_trouble_typical(all, ALL, &typical);
	assert_float_equal(typical.of[HOST_TROUBLE_RANKS], 0.9, 1e-12);
	for (int i = 0; i < ALL; i++)
		assert_false(host_trouble_trouble(&all[i], &typical, text));
}

/* All signs together fit, and are reported. */
static void
test_words(void **state)
{
	struct host_trouble_signs h = { { 1, 1, 999.9, 1 } },
				  typical = { { 0 } };
	char text[HOST_TROUBLE_TEXT_MAX];

	(void)state;
	assert_true(host_trouble_trouble(&h, &typical, text));
	assert_string_equal(text,
	    "CPU pressure 100 % (others 0), steal 100 % (others 0), "
	    "scheduling delay of its agent 999900 ms (others 0), its ranks' "
	    "wait for a core 100 % (others 0)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_typical),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
