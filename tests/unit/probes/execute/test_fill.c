/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "probes/execute/fill.h"

#include <math.h>
#include <stdlib.h>

#include "probes/device/host_reduce.h"

#define N 3000

static const struct fill noise = { PLAN_COPY, PLAN_BYTE, 1, 1 };

/* Any range, cut anywhere, is a part of the same whole. */
static void
test_pieces(void **state)
{
	static const struct fill fills[] = { { PLAN_COPY, PLAN_BYTE, 1, 1 },
		{ PLAN_SUM, PLAN_INT32, 8, 1 }, { PLAN_MAX, PLAN_HALF, 3, 1 },
		{ PLAN_PROD, PLAN_DOUBLE, 40, 3 } };
	char whole[N], part[N];

	(void)state;
	for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		fill_make(&fills[i], 7, 3, 1, 0, whole, N);
		for (uint64_t lo = 0; lo < N; lo += 97)
			for (size_t n = 1; lo + n <= N; n = n * 3 + 1) {
				fill_make(&fills[i], 7, 3, 1, lo, part, n);
				assert_memory_equal(part, whole + lo, n);
			}
	}
}

/* Of two places, ranks, buffers or iterations no long stretch is equal. */
static void
test_tells_apart(void **state)
{
	char a[256], b[256];

	(void)state;
	fill_make(&noise, 1, 2, 3, 1024, a, sizeof(a));
	for (int what = 0; what < 5; what++) {
		int same = 0;

		fill_make(&noise, 1 + (what == 0), 2 + (what == 1),
		    (uint16_t)(3 + (what == 2)),
		    1024 + (what == 3) + 512 * (what == 4), b, sizeof(b));
		for (size_t i = 0; i < sizeof(a); i++)
			same += a[i] == b[i];
		assert_true(same < 16);
	}
}

static int
all_zero(const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (((const char *)data)[i] != 0)
			return 0;
	return 1;
}

/* Of a plan that reduces over every so manieth of ranks. */
static struct fill
fill_over(enum plan_op op, enum plan_type type, uint32_t ranks, uint32_t every)
{
	struct plan *p = plan_new(ranks, "");
	uint16_t buf = plan_buf_add(p, "a", PLAN_IN);
	struct plan_source *s = calloc(ranks, sizeof(*s));
	struct plan_promise m = { .bytes = plan_types[type].bytes,
		.to = buf,
		.op = (uint8_t)op,
		.type = (uint8_t)type };
	struct plan_span to = { 0, 1 };
	uint32_t count = 0;
	struct fill f;

	for (uint32_t i = 0; i < ranks; i += every)
		s[count++] = (struct plan_source){ 0, i, i + 1, buf };
	plan_promise_add(p, &m, &to, 1, s, count);
	assert_int_equal(fill_of_plan(p, &f), 0);
	free(s);
	plan_free(p);
	return f;
}

/* In whatever order ranks are reduced the bits are the same, and without one
 * of them they are not. */
static void
exact(enum plan_op op, enum plan_type type, uint32_t ranks)
{
	struct fill f = fill_over(op, type, ranks, 1);
	size_t bytes = N * plan_types[type].bytes;
	char *up = calloc(1, bytes), *down = calloc(1, bytes);
	char *less = calloc(1, bytes), *one = calloc(1, bytes);
	const void *in[2];

	fill_make(&f, 1, 0, 0, 0, up, bytes);
	fill_make(&f, 1, ranks - 1, 0, 0, down, bytes);
	fill_make(&f, 1, 0, 0, 0, less, bytes);
	in[1] = one;
	for (uint32_t i = 1; i < ranks; i++) {
		fill_make(&f, 1, i, 0, 0, one, bytes);
		in[0] = up;
		host_reduce(op, type, up, in, 2, N);
		in[0] = less;
		if (i != ranks / 2)
			host_reduce(op, type, less, in, 2, N);
		fill_make(&f, 1, ranks - 1 - i, 0, 0, one, bytes);
		in[0] = down;
		host_reduce(op, type, down, in, 2, N);
	}
	assert_false(all_zero(up, bytes));
	if (memcmp(up, down, bytes) != 0)
		fail_msg("%s of %s, %u ranks: order matters", plan_ops[op],
		    plan_types[type].name, ranks);
	if (memcmp(up, less, bytes) == 0)
		fail_msg("%s of %s, %u ranks: one more or less is the same",
		    plan_ops[op], plan_types[type].name, ranks);
	free(up);
	free(down);
	free(less);
	free(one);
}

static void
test_exact(void **state)
{
	static const uint32_t ranks[] = { 2, 3, 8, 48, 300 };

	(void)state;
	for (int op = PLAN_SUM; op < PLAN_OP_MAX; op++)
		for (int type = 0; type < PLAN_BYTE; type++)
			for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks);
			     i++)
				exact((enum plan_op)op, (enum plan_type)type,
				    ranks[i]);
}

/* Ranks apart from each other do not all add at the same places: a sum in
 * bfloat16 would not be exact. */
static void
test_apart(void **state)
{
	static const uint32_t everies[] = { 2, 3, 4, 7, 16 };

	(void)state;
	for (size_t k = 0; k < sizeof(everies) / sizeof(*everies); k++) {
		uint32_t every = everies[k], ranks = 64 * every;
		struct fill f = fill_over(PLAN_SUM, PLAN_FLOAT, ranks, every);
		float sum[N] = { 0 }, one[N];

		for (uint32_t i = 0; i < ranks; i += every) {
			fill_make(&f, 1, i, 0, 0, one, sizeof(one));
			for (size_t at = 0; at < N; at++)
				sum[at] += one[at];
		}
		for (size_t at = 0; at < N; at++)
			assert_true(sum[at] < 256);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_tells_apart),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
