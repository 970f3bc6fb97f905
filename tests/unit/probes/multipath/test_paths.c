/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed form of a message over several paths: the worked table, a search
 * over all chunks and shares that must not find a better result, and no result
 * better than 1/(1 - f).
 */
#include "probes/multipath/paths.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "common/rng.h"
#include "common/str.h"

#define MIB 1048576.0
#define US  1e-6

/* Rates as published or assumed in the document that derives the model. */
static const struct setting {
	const char *name;
	struct paths_direct d;
	struct paths_staged h;
	double limit_share, limit_ratio; /* of endless messages */
	struct {
		double share;
		uint32_t chunks;
		double ratio;
	} at[4]; /* 4, 16, 64, 256 MiB; the last with at most 8 chunks */
} settings[] = {
	{ "mist", { 10 * US, 72e9 }, { 15 * US, 10 * US, 61e9, 61e9 }, .459,
	    1.85,
	    { { .17, 1, 1.17 }, { .31, 3, 1.43 }, { .39, 7, 1.62 },
		{ .42, 8, 1.72 } } },
	{ "cedar", { 10 * US, 49e9 }, { 15 * US, 10 * US, 11.2e9, 11.2e9 },
	    .186, 1.23,
	    { { .08, 2, 1.08 }, { .13, 4, 1.14 }, { .16, 10, 1.19 },
		{ .17, 8, 1.20 } } },
	{ "within an H200", { 6 * US, 2000e9 }, { 10 * US, 6 * US, 55e9, 55e9 },
	    .027, 1.03,
	    { { 0, 0, 1 }, { 0, 0, 1 }, { .007, 1, 1.006 },
		{ .016, 4, 1.016 } } },
	{ "an H200, throttled", { 6 * US, 75e9 },
	    { 10 * US, 6 * US, 55e9, 55e9 }, .423, 1.73,
	    { { .20, 2, 1.22 }, { .31, 4, 1.44 }, { .37, 9, 1.58 },
		{ .39, 8, 1.63 } } },
	{ "emulated", { 0, 400e6 }, { 0, 200 * US, 200e6, 150e6 }, .273, 1.38,
	    { { .22, 5, 1.28 }, { .25, 10, 1.32 }, { .26, 21, 1.35 },
		{ .25, 8, 1.34 } } },
};

/* As printed: two digits, three where the figure is small. */
static void
near(double got, double want, double within, const char *what)
{
	if (fabs(got - want) > within)
		fail_msg("%s: %.4f, not %.4f", what, got, want);
}

static struct paths_links
links_of(const struct setting *s)
{
	return (struct paths_links){ s->d, { s->h }, 1, 1 };
}

/* One staged path by the formula alone: (1 - f) n / B_D + a_D = T(f n, c*) is
 * quadratic in u = sqrt(f n). */
static void
split_one(const struct setting *s, double bytes, uint32_t chunks_max,
    struct paths_split *ret)
{
	const struct paths_direct *d = &s->d;
	const struct paths_staged *h = &s->h;
	double a = 1 / d->bytes_per_s + paths_slow_s(h);
	double k = bytes / d->bytes_per_s + d->setup_s - h->setup_s -
	    h->chunk_s;
	double b = sqrt(h->chunk_s * paths_fast_s(h)), u, ahead;

	memset(ret, 0, sizeof(*ret));
	ret->direct_s = ret->time_s = paths_direct_s(d, bytes);
	if (bytes <= 0 || k <= 0)
		return;
	u = (-b + sqrt(b * b + a * k)) / a;
	ret->chunks[0] = paths_chunks(h, fmin(u * u, bytes), chunks_max);
	ahead = k - ret->chunks[0] * h->chunk_s;
	ret->share = ret->staged[0] = fmax(0,
	    fmin(1,
		ahead /
		    (bytes *
			(1 / d->bytes_per_s + paths_slow_s(h) +
			    paths_fast_s(h) / ret->chunks[0]))));
	ret->time_s = paths_staged_s(h, ret->share * bytes, ret->chunks[0]);
	if (ret->share > 0 && ret->time_s < ret->direct_s)
		return;
	memset(ret, 0, sizeof(*ret));
	ret->direct_s = ret->time_s = paths_direct_s(d, bytes);
}

static void
test_worked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		for (int k = 0; k < 4; k++) {
			const struct setting *s = &settings[i];
			double n = (4 << 2 * k) * MIB;
			double fine = s->limit_share < .1 ? .1 : 1;
			struct paths_split got;

			split_one(s, n, k == 3 ? 8 : PATHS_CHUNKS_MAX, &got);
			near(got.share, s->at[k].share, .0051 * fine, s->name);
			near(got.direct_s / got.time_s, s->at[k].ratio,
			    .0051 * fine, s->name);
			assert_int_equal(got.chunks[0], s->at[k].chunks);
		}
}

static void
test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const struct setting *s = &settings[i];
		struct paths_split got;

		split_one(s, 1e18, 1 << 30, &got);
		near(got.share, s->limit_share, .0006, s->name);
		near(got.direct_s / got.time_s, s->limit_ratio, .0051, s->name);
	}
}

/* The staged path has a gain from the documented size on: n > B_D (a_H + 2a -
 * a_D). */
static void
test_threshold(void **state)
{
	struct paths_split got;
	struct paths_links l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const struct setting *s = &settings[i];
		double n = s->d.bytes_per_s *
		    (s->h.setup_s + 2 * s->h.chunk_s - s->d.setup_s);

		l = links_of(s);
		paths_split(&l, n * 0.999, 64, &got);
		assert_true(got.share == 0 && got.chunks[0] == 0);
		assert_true(got.time_s == got.direct_s);
		paths_split(&l, n * 1.001, 64, &got);
		assert_true(got.share > 0 && got.time_s < got.direct_s);
	}
	l = links_of(&settings[0]);
	paths_split(&l, 0, 64, &got);
	assert_true(got.share == 0 && got.time_s == 0);
}

static double
uniform(struct rng *r, double lo, double hi)
{
	return lo * pow(hi / lo, (double)rng_below(r, 1000001) / 1e6);
}

static void
setting_random(struct rng *r, struct setting *s)
{
	s->d.setup_s = uniform(r, 1e-7, 1e-4);
	s->d.bytes_per_s = uniform(r, 1e8, 1e12);
	s->h.setup_s = uniform(r, 1e-7, 1e-3);
	s->h.chunk_s = uniform(r, 1e-7, 1e-3);
	s->h.in_per_s = uniform(r, 1e8, 1e12);
	s->h.out_per_s = uniform(r, 1e8, 1e12);
}

/* For 64 chunk counts and 2,048 shares, computed without the closed form. */
static double
search(const struct setting *s, double n)
{
	double best = 1e300;

	for (uint32_t c = 1; c <= 64; c++)
		for (int k = 0; k <= 2048; k++) {
			double x = n * k / 2048, t = 0;

			if (k > 0)
				t = s->h.setup_s + (c + 1) * s->h.chunk_s +
				    x / fmin(s->h.in_per_s, s->h.out_per_s) +
				    x / fmax(s->h.in_per_s, s->h.out_per_s) / c;
			if (k < 2048)
				t = fmax(t,
				    s->d.setup_s + (n - x) / s->d.bytes_per_s);
			best = fmin(best, t);
		}
	return best;
}

static void
test_best(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (int i = 0; i < 60; i++) {
		struct setting s = { .name = "random" };
		struct paths_split one, many;
		struct paths_links l;
		double n = uniform(&r, 1e4, 1e10), best;

		setting_random(&r, &s);
		l = links_of(&s);
		split_one(&s, n, 64, &one);
		paths_split(&l, n, 64, &many);
		best = search(&s, n);
		/* rounding chunks costs little where they are few */
		if (one.time_s > best * 1.005)
			fail_msg("%g B: %g s, searched %g", n, one.time_s,
			    best);
		near(many.time_s, one.time_s, one.time_s * 1e-9, "many");
		assert_true(
		    one.direct_s / one.time_s * (1 - one.share) <= 1 + 1e-12);
	}
}

/* Paths in order of their setup, as many as are worth it. */
static void
test_fill(void **state)
{
	static const struct paths_direct lines[] = { { 3, 10 }, { 1, 20 },
		{ 9, 100 } };
	double x[3], t;

	(void)state;
	t = paths_fill(lines, 3, 30, x); /* second alone: 1 + 30/20 = 2.5 */
	near(t, 2.5, 1e-12, "one way");
	assert_true(x[0] == 0 && x[1] == 30 && x[2] == 0);
	t = paths_fill(lines, 3, 100, x); /* (100 + 20 + 30) / 30 */
	near(t, 5, 1e-12, "two ways");
	near(x[0], 20, 1e-12, "first");
	near(x[1], 80, 1e-12, "second");
	t = paths_fill(lines, 3, 1000, x); /* (1000 + 20 + 30 + 900) / 130 */
	near(t, 15, 1e-12, "three ways");
	near(x[0] + x[1] + x[2], 1000, 1e-9, "sum");
	near(x[2], 600, 1e-12, "third");
}

static void
test_many(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 6);
	for (int i = 0; i < 2000; i++) {
		struct setting s[8] = { { .name = "" } };
		struct paths_links l = { .count = 0 };
		struct paths_split got, less;
		uint32_t count = 1 + (uint32_t)rng_below(&r, 8);
		double n = uniform(&r, 1e3, 1e11);

		for (uint32_t k = 0; k < count; k++) {
			setting_random(&r, &s[k]);
			l.staged[k] = s[k].h;
		}
		l.direct = s[0].d;
		l.count = count;
		paths_split(&l, n, 4096, &got);
		l.count = count - 1;
		paths_split(&l, n, 4096, &less);
		assert_true(got.share >= 0 && got.share < 1 + 1e-12);
		assert_true(got.time_s <= got.direct_s);
		/* another way never harms, but for the rounding of chunks */
		assert_true(got.time_s <= less.time_s * 1.02);
		assert_true(
		    got.direct_s / got.time_s * (1 - got.share) <= 1 + 1e-9);
		/* all that carry end together */
		for (uint32_t k = 0; k < count; k++)
			if (got.chunks[k] > 0)
				near(paths_staged_s(&l.staged[k],
					 got.staged[k] * n, got.chunks[k]),
				    got.time_s, got.time_s * 1e-6, "together");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
