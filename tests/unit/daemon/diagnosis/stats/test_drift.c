/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift of one number: how often chance alone raises an alarm, how soon a
 * shift does, and when it is over. Seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "daemon/diagnosis/stats/drift.h"

#define SIGMA 0.03

static double
normal(struct rng *r)
{
	double p = rng_unit(r);

	return robust_normal_quantile(p > 0 ? p : 1e-17);
}

/* Alarms of that many numbers without any shift, each forgotten at once. */
static int
false_alarms(struct rng *r, int numbers, int rounds, double limit, double pin)
{
	int alarms = 0;

	for (int i = 0; i < numbers; i++) {
		struct drift d;

		drift_clear(&d);
		if (!isnan(pin))
			drift_pin(&d, 0, pin);
		for (int k = 0; k < DRIFT_LEARN + rounds; k++)
			if (drift_add(&d, SIGMA * normal(r), 0, limit, 0)) {
				alarms++;
				d.from = DRIFT_NONE;
				d.sums = d.pinned_sums = (struct cusum){ 0 };
			}
	}
	return alarms;
}

/* The limit for one alarm in 2000 rounds on either side is one in 4000 on the
 * reported side; learning mean and scatter meanwhile must not change it. */
static void
test_false_alarms(void **state)
{
	double limit = cusum_limit(2000, CUSUM_K);
	struct rng r;
	int got;

	(void)state;
	rng_seed(&r, 20261121);
	got = false_alarms(&r, 400, 4000, limit, NAN);
	print_message("%d alarms, 400 expected\n", got);
	assert_in_range(got, 250, 480);
	/* A pinned baseline of one round, or of a thousand, adds none. */
	got = false_alarms(&r, 100, 4000, limit, 1);
	assert_in_range(got, 50, 130);
	got = false_alarms(&r, 100, 4000, limit, 1000);
	assert_in_range(got, 50, 130);
}

static int
rounds_until(struct drift *d, struct rng *r, double shift, double limit,
    enum drift_from want)
{
	int k = 1;

	for (; k < 2000; k++) {
		drift_add(d, shift + SIGMA * normal(r), shift, limit, 0.05);
		if (d->from == want)
			return k;
	}
	return k;
}

static void
learn_rounds(struct drift *d, struct rng *r, int rounds, double limit)
{
	for (int k = 0; k < rounds; k++) {
		drift_add(d, SIGMA * normal(r), 0, limit, 0.05);
		assert_int_equal(d->from, DRIFT_NONE);
	}
}

static void
test_shift(void **state)
{
	double limit = cusum_limit(1e9, CUSUM_K);
	struct drift d;
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	drift_clear(&d);
	learn_rounds(&d, &r, 500, limit);
	assert_in_range(rounds_until(&d, &r, 0.10, limit, DRIFT_OWN), 4, 20);
	for (int k = 0; k < 20; k++)
		drift_add(&d, 0.10 + SIGMA * normal(&r), 0, limit, 0.05);
	assert_true(fabs(drift_shift(&d) - 0.10) < 0.03);
	assert_in_range(drift_rounds(&d), 24, 60);
	/* Back where it was: over, and not at once. */
	assert_in_range(rounds_until(&d, &r, 0, limit, DRIFT_NONE), 10, 120);
	/* A node that is faster, or slower by too little, is not reported. */
	assert_int_equal(rounds_until(&d, &r, -0.2, limit, DRIFT_OWN), 2000);
}

/* Two odd rounds move the newest mean. If odd rounds are common, two of them
 * are not reported as drift; rounds with a permanent deviation are. */
static void
test_odd(void **state)
{
	struct drift d, other;
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	drift_clear(&d);
	d.by_wander = 1;
	for (int k = 0; k < 100; k++)
		drift_add(&d, SIGMA * normal(&r), 0, 1, 0.05);
	drift_add(&d, 1, 0, 1, 0.05);
	drift_add(&d, 1, 0, 1, 0.05);
	other = d;
	assert_int_equal(drift_decide(&d, 0.01, 4, 0.05, 1), 0);
	assert_int_equal(drift_decide(&other, 0.01, 4, 0.05, 0), 1);
	for (int k = 0; k < 4; k++)
		drift_add(&d, 0.2 + SIGMA * normal(&r), 0, 1, 0.05);
	assert_int_equal(drift_decide(&d, 0.01, 4, 0.05, 1), 1);
	assert_int_equal(d.from, DRIFT_OWN);
}

static void
test_small(void **state)
{
	double limit = cusum_limit(1e6, CUSUM_K);
	struct drift d;
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	drift_clear(&d);
	learn_rounds(&d, &r, 4000, limit);
	assert_int_equal(rounds_until(&d, &r, 0.02, limit, DRIFT_OWN), 2000);
}

/* The drift is so slow that the node's own recent weeks follow it; the pinned
 * baseline does not. */
static void
test_pinned(void **state)
{
	double limit = cusum_limit(1e9, CUSUM_K);
	struct drift d;
	struct rng r;
	int k;

	(void)state;
	rng_seed(&r, 9);
	drift_clear(&d);
	learn_rounds(&d, &r, 1000, limit);
	drift_pin(&d, d.mean, d.n);
	for (k = 0; k < 20000 && d.from == DRIFT_NONE; k++)
		drift_add(&d, 1e-5 * k + SIGMA * normal(&r), 0, limit, 0.05);
	print_message("noticed after %d rounds, %.3f\n", k, 1e-5 * k);
	assert_int_equal(d.from, DRIFT_PINNED);
	assert_true(k < 20000);
	drift_pin(&d, NAN, 1);
	drift_add(&d, d.mean, 0, limit, 0.05);
	assert_int_equal(d.from, DRIFT_NONE);
}

/* The values of an open case never become normal, however long it lasts, and
 * the case closes when it is over. */
static void
test_never_accustomed(void **state)
{
	double limit = cusum_limit(1e9, CUSUM_K);
	struct drift d;
	struct rng r;
	int k;

	(void)state;
	rng_seed(&r, 10);
	drift_clear(&d);
	learn_rounds(&d, &r, 1000, limit);
	(void)rounds_until(&d, &r, 0.2, limit, DRIFT_OWN);
	for (k = 0; k < 3 * DRIFT_MEMORY; k++)
		drift_add(&d, 0.2 + SIGMA * normal(&r), 0.2, limit, 0.05);
	assert_int_equal(d.from, DRIFT_OWN);
	for (k = 0; k < 300 && d.from == DRIFT_OWN; k++)
		drift_add(&d, SIGMA * normal(&r), 0, limit, 0.05);
	assert_int_equal(d.from, DRIFT_NONE);
}

/* A shift is found relative to the values before it. */
static void
test_late(void **state)
{
	double limit = cusum_limit(1e6, CUSUM_K), mean;
	struct drift d;

	(void)state;
	drift_clear(&d);
	for (int i = 0; i < 2 * DRIFT_LEARN; i++)
		drift_add(&d, i % 2 == 0 ? 0.02 : -0.02, 0, limit, 0.01);
	mean = d.mean;
	for (int i = 0; i < DRIFT_LATE; i++) {
		assert_int_equal(d.from,
		    i * 3.5 > limit ? DRIFT_OWN : DRIFT_NONE);
		drift_add(&d, 0.2, 0, limit, 0.01);
		assert_true(fabs(d.mean - mean) < 0.002);
	}
	assert_int_equal(d.from, DRIFT_OWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_never_accustomed),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
