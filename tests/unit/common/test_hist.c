/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hist.h"
#include "common/rng.h"

#define HIST_VERSION 1 /* first byte of a histogram */

#define SAMPLES 20000

/* Long-tailed, as latencies are: 30 us times exp of a normal-like sum. */
static double
draw(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(r);
	return 30e-6 * exp(0.8 * sum);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
test_index(void **state)
{
	(void)state;
	for (int i = HIST_FIRST + 1; i < HIST_LAST; i++) {
		double bound = hist_bound(i);

		assert_int_equal(hist_index(bound), i); /* inclusive above */
		assert_int_equal(hist_index(nextafter(bound, HUGE_VAL)), i + 1);
		assert_true(fabs(bound / exp2(i / 16.0) - 1) < 1e-14);
	}
	assert_int_equal(hist_index(0), HIST_FIRST);
	assert_int_equal(hist_index(-1), HIST_FIRST);
	assert_int_equal(hist_index(NAN), HIST_FIRST);
	assert_int_equal(hist_index(5e-324), HIST_FIRST);
	assert_int_equal(hist_index(1e300), HIST_LAST);
	assert_int_equal(hist_index(HUGE_VAL), HIST_LAST);
}

/* Every quantile within a bucket of the sorted samples', and much closer where
 * buckets are full; mean, min and max exact. */
static void
test_accuracy(void **state)
{
	static const double qs[] = { 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99,
		0.999, 1 };
	static double x[SAMPLES];
	static struct hist h;
	double sum = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	hist_clear(&h);
	for (int i = 0; i < SAMPLES; i++) {
		x[i] = draw(&r);
		sum += x[i];
		hist_add(&h, x[i]);
	}
	qsort(x, SAMPLES, sizeof(x[0]), compare);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		double true_value = x[(int)ceil(qs[i] * SAMPLES - 1e-6) - 1];

		assert_true(fabs(hist_quantile(&h, qs[i]) / true_value - 1) <
		    (qs[i] >= 0.25 && qs[i] <= 0.99 ? 0.01 : 0.045));
	}
	assert_true(h.min == x[0] && h.max == x[SAMPLES - 1]);
	assert_true(fabs(hist_mean(&h) / (sum / SAMPLES) - 1) < 1e-12);
}

static void
test_small(void **state)
{
	static struct hist h;

	(void)state;
	hist_clear(&h);
	assert_true(isnan(hist_quantile(&h, 0.5)) && isnan(hist_mean(&h)));
	hist_add(&h, 3.7);
	assert_true(hist_quantile(&h, 0) == 3.7 && hist_quantile(&h, 1) == 3.7);
	hist_clear(&h);
	hist_add_many(&h, 1, 99); /* p99 of 99 ones and a thousand is one */
	hist_add_many(&h, 5, 0);
	hist_add(&h, 1000);
	assert_int_equal(h.count, 100);
	assert_true(hist_quantile(&h, 0.99) < 1.03);
	assert_true(hist_quantile(&h, 0.991) > 900);
	hist_clear(&h);
	hist_add(&h, 1e-20); /* outside: the edge buckets keep the order */
	hist_add(&h, 1e30);
	assert_true(hist_quantile(&h, 0.5) == 1e-20);
	assert_true(hist_quantile(&h, 1) == 1e30);
}

/* Samples that spread by 2 %, less than a bucket: quantiles are placed within
 * it, so a shift of 3 % shows as one. */
static void
test_interpolates(void **state)
{
	static struct hist h, shifted;
	double at;

	(void)state;
	hist_clear(&h);
	hist_clear(&shifted);
	for (int i = 0; i < 1000; i++) {
		at = 20e-6 * (0.98 + 0.04 * (i + 0.5) / 1000);
		hist_add(&h, at);
		hist_add(&shifted, at * 1.03);
	}
	assert_true(fabs(hist_quantile(&h, 0.5) / 20e-6 - 1) < 0.006);
	at = hist_quantile(&shifted, 0.5) / hist_quantile(&h, 0.5);
	assert_true(at > 1.02 && at < 1.04);
}

/* 10 ms once a second among operations of 20 us: no quantile by samples shows
 * it, but it is 1 % of the time. */
static void
test_by_time(void **state)
{
	static struct hist times, rates;

	(void)state;
	hist_clear(&times);
	hist_clear(&rates);
	assert_true(isnan(hist_quantile_by_time(&times, 0.99, 0)));
	hist_add_many(&times, 20e-6, 49000);
	hist_add_many(&times, 10e-3, 1);
	hist_add_many(&rates, 1 / 20e-6, 49000);
	hist_add_many(&rates, 1 / 10e-3, 1);
	assert_true(hist_quantile(&times, 0.999) < 21e-6);
	assert_true(hist_quantile_by_time(&times, 0.98, 0) < 21e-6);
	assert_true(hist_quantile_by_time(&times, 0.995, 0) > 9.5e-3);
	assert_true(hist_quantile_by_time(&rates, 0.98, 1) > 1 / 21e-6);
	assert_true(hist_quantile_by_time(&rates, 0.995, 1) < 1 / 9.5e-3);
	hist_clear(&times);
	hist_add_many(&times, 3.7, 5);
	assert_true(hist_quantile_by_time(&times, 0.99, 0) == 3.7);
}

static void
test_merge(void **state)
{
	static struct hist part[3], whole, merged;
	struct rng r;

	(void)state;
	rng_seed(&r, 12);
	hist_clear(&whole);
	hist_clear(&merged);
	for (int p = 0; p < 3; p++)
		hist_clear(&part[p]); /* the last one stays empty */
	for (int i = 0; i < 999; i++) {
		double value = ldexp(1 + (double)rng_below(&r, 8), -20);

		hist_add(&whole, value); /* exact sums in any order */
		hist_add(&part[i % 2], value);
	}
	for (int p = 2; p >= 0; p--)
		hist_merge(&merged, &part[p]);
	assert_memory_equal(&merged, &whole, sizeof(whole));
}

static void
random_hist(struct rng *r, struct hist *h)
{
	int samples = (int)rng_below(r, 300);

	hist_clear(h);
	for (int i = 0; i < samples; i++)
		hist_add_many(h, draw(r), 1 + rng_below(r, 1000));
}

static void
test_pack(void **state)
{
	static uint8_t blob[HIST_BLOB_MAX];
	static struct hist h, back;
	struct rng r;
	long len;

	(void)state;
	rng_seed(&r, 14);
	for (int trial = 0; trial < 200; trial++) {
		random_hist(&r, &h);
		len = hist_pack(&h, blob, sizeof(blob));
		assert_true(len > 0);
		memset(&back, 0xff, sizeof(back));
		assert_int_equal(hist_unpack(blob, (size_t)len, &back), 0);
		assert_memory_equal(&back, &h, sizeof(h));
		/* exactly enough room is enough, one byte less is not */
		assert_int_equal(hist_pack(&h, blob, (size_t)len), len);
		assert_int_equal(hist_pack(&h, blob, (size_t)len - 1), -ENOSPC);
	}
}

/* The largest possible histogram: every bucket used, counts of full width. */
static void
test_pack_largest(void **state)
{
	static uint8_t blob[HIST_BLOB_MAX];
	static struct hist h, back;
	long len;

	(void)state;
	hist_clear(&h);
	for (int i = HIST_FIRST; i <= HIST_LAST; i++)
		hist_add_many(&h, hist_bound(i), UINT64_C(1) << 53);
	len = hist_pack(&h, blob, sizeof(blob));
	assert_true(len > 0);
	assert_int_equal(hist_unpack(blob, (size_t)len, &back), 0);
	assert_memory_equal(&back, &h, sizeof(h));
}

/* If unpack accepts spoilt bytes, the histogram packs into the same bytes. */
static void
test_unpack_trusts_nothing(void **state)
{
	static uint8_t blob[HIST_BLOB_MAX], again[HIST_BLOB_MAX];
	static struct hist h, back;
	int refused = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 15);
	for (int trial = 0; trial < 3000; trial++) {
		long len;

		random_hist(&r, &h);
		len = hist_pack(&h, blob, sizeof(blob));
		blob[rng_below(&r, (uint64_t)len)] ^= (uint8_t)(1 +
		    rng_below(&r, 255));
		if (hist_unpack(blob, (size_t)len, &back) < 0) {
			refused++;
			continue;
		}
		assert_int_equal(hist_pack(&back, again, sizeof(again)), len);
		assert_memory_equal(again, blob, (size_t)len);
	}
	assert_true(refused > 2000); /* most spoilt bytes are detected */
}

static void
test_unpack_garbage(void **state)
{
	static uint8_t blob[HIST_BLOB_MAX];
	static struct hist h, back;
	struct rng r;
	long len;

	(void)state;
	rng_seed(&r, 16);
	random_hist(&r, &h);
	hist_add(&h, 1);
	len = hist_pack(&h, blob, sizeof(blob));
	back.count = 7;
	for (long cut = 0; cut < len; cut++)
		assert_int_equal(hist_unpack(blob, (size_t)cut, &back),
		    -EPROTO);
	assert_int_equal(hist_unpack(blob, (size_t)len + 1, &back), -EPROTO);
	assert_int_equal(back.count, 7); /* untouched on failure */
	for (int trial = 0; trial < 20000; trial++) {
		size_t n = (size_t)rng_below(&r, 64);

		for (size_t i = 0; i < n; i++)
			blob[i] = (uint8_t)rng_next(&r);
		blob[0] = HIST_VERSION;
		hist_unpack(blob, n, &back);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_accuracy),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_interpolates),
		cmocka_unit_test(test_by_time),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_pack_largest),
		cmocka_unit_test(test_unpack_trusts_nothing),
		cmocka_unit_test(test_unpack_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
