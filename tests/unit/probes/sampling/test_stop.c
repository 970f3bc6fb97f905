/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "probes/sampling/stop.h"

static const struct settings settings = { .precision = 0.1,
	.level = 0.95,
	.time_ns = 4 * CLK_NS_PER_S,
	.rounds_min = 3,
	.visits = 4 };

/* Rounds of 1000 samples whose tail is exact, or uncertain. */
static void
fill(struct tally *t, int rounds, int wild)
{
	struct hist h;

	tally_init(t, settings.visits);
	for (int i = 0; i < rounds; i++) {
		hist_clear(&h);
		hist_add_many(&h, 1.0, 900);
		hist_add_many(&h, wild ? 2.0 + i * i : 2.0, 100);
		tally_add(t, 0, &h, 0);
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
	/* A rate with a fixed number of rounds: exactly this many. */
	ask = ask_of(&t, 2, 10000);
	ask.rounds_exact = 3;
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.rounds = 3;
	assert_int_equal(stop_decide(&ask), STOP_COUNT);
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

/* The reference checks the clock only after whole measurements, and never its
 * result. */
static void
test_exact(void **state)
{
	struct stop_ask ask;
	struct tally t;

	(void)state;
	fill(&t, 8, 0);
	ask = ask_of(&t, 29, 60000);
	ask.exact = &names_tests[CANARY_LAT].gpcnet;
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.rounds = 30;
	assert_int_equal(stop_decide(&ask), STOP_TIME);
	ask.visit_ns = 0;
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.rounds = 30 * 10000;
	assert_int_equal(stop_decide(&ask), STOP_COUNT);
	tally_clear(&t);
}

/* With congestors a visit has its share of the time, whatever is known; the
 * test ends after an even number of pairs whose impacts are known. */
static void
test_pairs(void **state)
{
	struct settings loaded = settings;
	struct impact_ask impact;
	struct tally a, b;
	struct stop_ask ask;

	(void)state;
	loaded.kind_count = 1;
	loaded.visits = 8;
	fill(&a, 8, 0);
	ask = ask_of(&a, 8, 10);
	ask.settings = &loaded;
	assert_int_equal(stop_decide(&ask), STOP_GO_ON);
	ask.visit_ns = 500 * CLK_NS_PER_MS;
	assert_int_equal(stop_decide(&ask), STOP_TIME);
	tally_clear(&a);

	for (int wild = 0; wild < 2; wild++) {
		tally_init(&a, 8);
		tally_init(&b, 8);
		impact = (struct impact_ask){ &a, &b, 0, 0.95, 0, 0 };
		for (int v = 0; v < 8; v++) {
			struct hist h;

			hist_clear(&h);
			hist_add_many(&h, 1.0, 1000);
			tally_add(&a, v, &h, 0);
			hist_clear(&h);
			hist_add_many(&h, wild ? 1.0 + v * v : 2.0, 1000);
			tally_add(&b, v, &h, 0);
			assert_int_equal(stop_pairs(&impact, &loaded, v + 1),
			    !wild && (v + 1 == 6 || v + 1 == 8));
		}
		loaded.exact = 1;
		assert_int_equal(stop_pairs(&impact, &loaded, 8), 0);
		loaded.exact = 0;
		tally_clear(&a);
		tally_clear(&b);
	}
}

static void
test_counts(void **state)
{
	(void)state;
	for (int i = 0; i < CANARY_MAX; i++) {
		if (i == CANARY_COMMAND)
			continue; /* not of the paper */
		assert_true(names_tests[i].gpcnet.rings > 0);
		assert_true(names_tests[i].gpcnet.iterations > 0);
		assert_true(names_tests[i].gpcnet.measurements > 0);
	}
	assert_int_equal(names_tests[CANARY_LAT].gpcnet.warmup, 200);
	assert_int_equal(names_tests[CANARY_BW_SYNC].gpcnet.iterations, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
