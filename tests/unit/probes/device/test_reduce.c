/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/device/host_reduce.c"

#include <math.h>
#include <stdlib.h>

#define N 5000 /* more than a block of any type */

static const enum plan_op ops[] = { PLAN_SUM, PLAN_PROD, PLAN_MIN, PLAN_MAX,
	PLAN_LAND, PLAN_LOR };

/* Another way to the same: in double, which is exact for these values. */
static double
fold(enum plan_op op, double a, double b)
{
	switch (op) {
	case PLAN_SUM:
		return a + b;
	case PLAN_PROD:
		return a * b;
	case PLAN_MIN:
		return a < b ? a : b;
	case PLAN_MAX:
		return a > b ? a : b;
	case PLAN_LAND:
		return a != 0 && b != 0;
	default:
		return a != 0 || b != 0;
	}
}

static void
store(enum plan_type type, void *at, size_t i, double x)
{
	switch (type) {
	case PLAN_INT32:
		((int32_t *)at)[i] = (int32_t)x;
		break;
	case PLAN_INT64:
		((int64_t *)at)[i] = (int64_t)x;
		break;
	case PLAN_FLOAT:
		((float *)at)[i] = (float)x;
		break;
	case PLAN_DOUBLE:
		((double *)at)[i] = x;
		break;
	case PLAN_HALF:
		((uint16_t *)at)[i] = host_reduce_to_half((float)x);
		break;
	default:
		((uint16_t *)at)[i] = host_reduce_to_bfloat16((float)x);
	}
}

static double
load(enum plan_type type, const void *at, size_t i)
{
	switch (type) {
	case PLAN_INT32:
		return ((const int32_t *)at)[i];
	case PLAN_INT64:
		return (double)((const int64_t *)at)[i];
	case PLAN_FLOAT:
		return (double)((const float *)at)[i];
	case PLAN_DOUBLE:
		return ((const double *)at)[i];
	case PLAN_HALF:
		return (double)host_reduce_from_half(((const uint16_t *)at)[i]);
	default:
		return (double)host_reduce_from_bfloat16(
		    ((const uint16_t *)at)[i]);
	}
}

/* Values -2..2: their sums and products of five are exact in every type. */
static double
value(size_t input, size_t i)
{
	return (double)((input * 7 + i * 3) % 5) - 2;
}

static void
try(enum plan_op op, enum plan_type type, uint32_t inputs, int in_place)
{
	void *in[5], *to = calloc(N, 8);
	const void *from[5];

	for (uint32_t k = 0; k < inputs; k++) {
		from[k] = in[k] = calloc(N, 8);
		for (size_t i = 0; i < N; i++)
			store(type, in[k], i, value(k, i));
	}
	if (in_place >= 0) {
		free(to);
		to = in[in_place];
	}
	host_reduce(op, type, to, from, inputs, N);
	for (size_t i = 0; i < N; i++) {
		double want = value(0, i);

		for (uint32_t k = 1; k < inputs; k++)
			want = fold(op, want, value(k, i));
		if (load(type, to, i) != want)
			fail_msg("%s of %s, %u inputs, %zu: %g, not %g",
			    plan_ops[op], plan_types[type].name, inputs, i,
			    load(type, to, i), want);
	}
	if (in_place < 0)
		free(to);
	for (uint32_t k = 0; k < inputs; k++)
		free(in[k]);
}

static void
test_every_op_and_type(void **state)
{
	(void)state;
	for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
		for (int type = 0; type < PLAN_BYTE; type++)
			for (uint32_t inputs = 2; inputs <= 5; inputs++)
				for (int at = -1; at < (int)inputs; at++)
					try(ops[o], (enum plan_type)type,
					    inputs, at);
}

/* ((a op b) op c): other brackets give another number here. */
static void
test_brackets(void **state)
{
	float a = 1e8f, b = -1e8f, c = 1, z;
	const void *abc[] = { &a, &b, &c }, *cab[] = { &c, &a, &b };

	(void)state;
	host_reduce(PLAN_SUM, PLAN_FLOAT, &z, abc, 3, 1);
	assert_true(z == 1);
	host_reduce(PLAN_SUM, PLAN_FLOAT, &z, cab, 3, 1);
	assert_true(z == 0);
}

static void
test_integers_wrap(void **state)
{
	int32_t a = INT32_MAX, b = 2, z;
	const void *in[] = { &a, &b };

	(void)state;
	host_reduce(PLAN_SUM, PLAN_INT32, &z, in, 2, 1);
	assert_int_equal(z, INT32_MIN + 1);
	host_reduce(PLAN_PROD, PLAN_INT32, &z, in, 2, 1);
	assert_int_equal(z, -2);
}

/* Every half value is unchanged by conversion; a float between two is rounded
 * to the nearest, and in the middle to the even one. */
static void
test_half(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		float f = host_reduce_from_half((uint16_t)h);

		if (isnan(f))
			assert_true(isnan(
			    host_reduce_from_half(host_reduce_to_half(f))));
		else
			assert_int_equal(host_reduce_to_half(f), h);
	}
	for (uint32_t h = 0; h < 0x7bff; h++) {
		float lo = host_reduce_from_half((uint16_t)h), hi;
		float middle;

		hi = host_reduce_from_half((uint16_t)(h + 1));
		middle = (lo + hi) / 2; /* exact */
		assert_int_equal(host_reduce_to_half(middle), h + (h & 1));
		assert_int_equal(host_reduce_to_half(nextafterf(middle, 0)), h);
		assert_int_equal(host_reduce_to_half(nextafterf(middle, hi)),
		    h + 1);
	}
	assert_int_equal(host_reduce_to_half(65519.996f), 0x7bff);
	assert_int_equal(host_reduce_to_half(65520), 0x7c00);
	assert_int_equal(host_reduce_to_half(-1e30f), 0xfc00);
}

static void
test_bfloat16(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		float f = host_reduce_from_bfloat16((uint16_t)h);

		if (isnan(f))
			assert_true(isnan(host_reduce_from_bfloat16(
			    host_reduce_to_bfloat16(f))));
		else
			assert_int_equal(host_reduce_to_bfloat16(f), h);
	}
	assert_int_equal(host_reduce_to_bfloat16(
			     host_reduce_float_of_bits(0x3f808000)),
	    0x3f80);
	assert_int_equal(host_reduce_to_bfloat16(
			     host_reduce_float_of_bits(0x3f818000)),
	    0x3f82);
	assert_int_equal(host_reduce_to_bfloat16(
			     host_reduce_float_of_bits(0x3f808001)),
	    0x3f81);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_op_and_type),
		cmocka_unit_test(test_brackets),
		cmocka_unit_test(test_integers_wrap),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_bfloat16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
