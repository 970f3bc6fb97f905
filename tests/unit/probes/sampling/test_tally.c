/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/rng.h"
#include "probes/sampling/tally.h"
#include "common/xalloc.h"

static struct hist round_of;

static const struct hist *
round_with(double value, int count)
{
	hist_clear(&round_of);
	hist_add_many(&round_of, value, (uint64_t)count);
	return &round_of;
}

/* For any merges: no sample is lost, and no visit is merged with another. */
static void
test_bounded(void **state)
{
	const int visits = 16, rounds = 100;
	uint64_t n[16] = { 0 };
	double sum = 0;
	struct tally t;

	(void)state;
	tally_init(&t, visits);
	for (int v = 0; v < visits; v++)
		for (int i = 0; i < rounds; i++)
			tally_add(&t, v, round_with(1 + v + i % 5, 10), 0);
	assert_true(t.count <= TALLY_ROUNDS_MAX);
	assert_int_equal(t.measured, visits * rounds);
	for (int i = 0; i < t.count; i++) {
		uint64_t buckets = 0;

		for (int k = 0; k < t.rounds[i].len; k++)
			buckets += t.rounds[i].bucket[k];
		assert_int_equal(buckets, t.rounds[i].n);
		assert_true(
		    i == 0 || t.rounds[i].visit >= t.rounds[i - 1].visit);
		n[t.rounds[i].visit] += t.rounds[i].n;
		sum += t.rounds[i].sum;
	}
	for (int v = 0; v < visits; v++)
		assert_int_equal(n[v], rounds * 10);
	assert_int_equal(t.total.count, visits * rounds * 10);
	assert_true(fabs(sum - t.total.sum) < 1e-6 * sum);
	tally_clear(&t);
}

/* Merged rounds represent equally many rounds, except the last. */
static void
test_even_weight(void **state)
{
	struct tally t;

	(void)state;
	tally_init(&t, 32); /* room for 8 in a visit */
	for (int i = 0; i < 45; i++)
		tally_add(&t, 0, round_with(1, 10), 0);
	assert_int_equal(t.count, 6);
	for (int i = 0; i < 5; i++)
		assert_int_equal(t.rounds[i].merged, 8);
	assert_int_equal(t.rounds[5].merged, 5);
	tally_clear(&t);
}

static void
test_quantile(void **state)
{
	struct rng r;
	struct tally t;
	struct hist *h = xcalloc(1, sizeof(*h));

	(void)state;
	rng_seed(&r, 3);
	tally_init(&t, 1);
	hist_clear(h);
	for (int i = 0; i < 200000; i++)
		hist_add(h, 1 + 9 * rng_unit(&r));
	tally_add(&t, 0, h, 0);
	/* Within the bucket it is placed by rank: far better than 2.2 %. */
	for (double q = 0.05; q < 1; q += 0.05)
		assert_true(
		    fabs(hist_quantile(&t.total, q) / (1 + 9 * q) - 1) < 0.015);
	tally_clear(&t);
	free(h);
}

/* Empty rounds, of a test that timed out, do not count. */
static void
test_empty(void **state)
{
	struct tally t;
	double lo = 7, hi = 7;

	(void)state;
	tally_init(&t, 1);
	hist_clear(&round_of);
	tally_add(&t, 0, &round_of, 0);
	assert_int_equal(t.count, 0);
	assert_int_equal(tally_interval(&t, 0.5, 0.95, &lo, &hi), -ENODATA);
	tally_add(&t, 0, round_with(1, 10), 0);
	assert_int_equal(tally_interval(&t, 0.5, 0.95, &lo, &hi), -ENODATA);
	tally_add(&t, 0, round_with(1, 10), 0);
	/* 20 samples have no 99th percentile. */
	assert_int_equal(tally_interval(&t, 0.99, 0.95, &lo, &hi), -ENODATA);
	assert_true(lo == 7 && hi == 7);
	tally_clear(&t);
}

static double
normal(struct rng *r)
{
	return sqrt(-2 * log(1 - rng_unit(r))) *
	    cos(2 * acos(-1) * rng_unit(r));
}

/* How often the interval of the 99th percentile holds the true one, when the
 * samples of a round share a level, and the rounds of a visit. */
static int
held(int visits, double shared, double wander)
{
	const double truth = exp(
	    2.3263479 * sqrt(shared * shared + wander * wander + 0.09));
	double visit = 0;
	struct hist *h = xcalloc(1, sizeof(*h));
	struct rng r;
	int count = 0;

	rng_seed(&r, 11);
	for (int run = 0; run < 300; run++) {
		struct tally t;
		double lo, hi;

		tally_init(&t, visits);
		for (int i = 0; i < 40; i++) {
			double level = shared * normal(&r);

			if (i * visits % 40 == 0)
				visit = wander * normal(&r);

			hist_clear(h);
			for (int k = 0; k < 250; k++)
				hist_add(h,
				    exp(visit + level + 0.3 * normal(&r)));
			tally_add(&t, i * visits / 40, h, 0);
		}
		assert_int_equal(tally_interval(&t, 0.99, 0.95, &lo, &hi), 0);
		count += lo <= truth && truth <= hi;
		tally_clear(&t);
	}
	free(h);
	return count;
}

/* 95 % of 300 is 285; the tail of a few clusters is a little short of it, an
 * interval that took samples as independent would hold in fewer than half. */
static void
test_interval_holds(void **state)
{
	(void)state;
	/* Visits that differ are the clusters; rounds alone would hold in 120.
	 */
	assert_in_range(held(8, 0.1, 0), 270, 300);
	assert_in_range(held(8, 0, 0.15), 252, 294);
	assert_in_range(held(4, 0.1, 0.15), 260, 296);
	assert_in_range(held(1, 0, 0), 276, 300);
	assert_in_range(held(1, 0.1, 0), 270, 300);
	assert_in_range(held(1, 0.3, 0), 255, 300);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_even_weight),
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_interval_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
