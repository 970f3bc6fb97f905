/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "probes/sampling/stop.c"

static const struct settings settings = { .precision = 0.1,
	.level = 0.95,
	.time_ns = 4 * CLK_NS_PER_S,
	.rounds_min = 3,
	.visits = 4 };

/* Rounds of 1000 samples whose tail is known exactly, or hardly. */
static void
fill(struct tally *t, int rounds, int wild)
{
	struct hist h;

	tally_init(t, settings.visits);
	for (int i = 0; i < rounds; i++) {
		hist_clear(&h);
		hist_add_many(&h, 1.0, 900);
		hist_add_many(&h, wild ? 2.0 + i * i : 2.0, 100);
		tally_add(t, 0, &h);
	}
}

static struct stop_ask
ask_of(const struct tally *t, int rounds, uint64_t visit_ms)
{
	struct stop_ask ask = { .settings = &settings,
		.tally = t,
		.q = 0.99,
		.rounds = rounds,
		.visit_ns = visit_ms * CLK_NS_PER_MS };

	return ask;
}

static void
test_rule(void **state)
{
	struct stop_ask ask;
	struct tally t;

	(void)state;
	fill(&t, 8, 0);
	ask = ask_of(&t, 2, 10); /* known, but too few rounds */
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask = ask_of(&t, 3, 10);
	assert_int_equal(stop_decide(&ask), STOP_PRECISION);
	ask.timed_out = 1;
	assert_int_equal(stop_decide(&ask), STOP_TIMEOUT);
	tally_clear(&t);
	fill(&t, 8, 1);
	ask = ask_of(&t, 3, 999);
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask = ask_of(&t, 3, 1000); /* a quarter of four seconds */
	assert_int_equal(stop_decide(&ask), STOP_TIME);
	ask = ask_of(&t, 2, 5000); /* the minimum comes first */
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	tally_clear(&t);
}

/* The reference looks at the clock after whole measurements only, and never at
 * its result. */
static void
test_exact(void **state)
{
	struct stop_ask ask;
	struct tally t;

	(void)state;
	fill(&t, 8, 0);
	ask = ask_of(&t, 29, 60000);
	ask.exact = &stop_exact[CANARY_LAT];
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.rounds = 30;
	assert_int_equal(stop_decide(&ask), STOP_TIME);
	ask.visit_ns = 0;
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.rounds = 30 * 10000;
	assert_int_equal(stop_decide(&ask), STOP_COUNT);
	tally_clear(&t);
}

static void
test_counts(void **state)
{
	(void)state;
	for (int i = 0; i < CANARY_MAX; i++) {
		if (i == CANARY_COMMAND)
			continue; /* not of the paper */
		assert_true(stop_exact[i].rings > 0);
		assert_true(stop_exact[i].iterations > 0);
		assert_true(stop_exact[i].measurements > 0);
	}
	assert_int_equal(stop_exact[CANARY_LAT].warmup, 200);
	assert_int_equal(stop_exact[CANARY_BW_SYNC].iterations, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
