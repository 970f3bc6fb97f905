/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes, compared with an array of bytes: after each write every byte
 * must be right, and equal neighbours must be one range.
 */
#include "probes/plan/spanmap.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/rng.h"

#define BYTES 200

static void
compare(const struct spanmap *m, const uint32_t *tags)
{
	uint32_t ranges = 1;

	for (uint64_t x = 0; x < BYTES; x++) {
		uint32_t i = spanmap_find(m, x);

		assert_int_equal(spanmap_get(m, i)->item.tag, tags[x]);
		assert_true(spanmap_get(m, i)->lo <= x);
		assert_true(x < spanmap_end(m, i));
		ranges += x > 0 && tags[x] != tags[x - 1];
	}
	assert_int_equal(spanmap_count(m), ranges);
}

static void
test_random(void **state)
{
	uint32_t tags[BYTES] = { 0 };
	struct spanmap m;
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	spanmap_init(&m, BYTES, (struct spanmap_item){ 0 });
	compare(&m, tags);
	for (int turn = 0; turn < 5000; turn++) {
		uint64_t lo = rng_below(&r, BYTES);
		uint64_t hi = lo + 1 + rng_below(&r, BYTES - lo);
		uint32_t tag = (uint32_t)rng_below(&r, 4);

		if (turn % 3 == 0 && hi > lo + 5)
			hi = lo + 5;
		for (uint64_t x = lo; x < hi; x++)
			tags[x] = tag;
		spanmap_set(&m, lo, hi, (struct spanmap_item){ .tag = tag });
		compare(&m, tags);
	}
	spanmap_clear(&m);
}

static void
test_base_differs(void **state)
{
	struct spanmap m;

	(void)state;
	spanmap_init(&m, 10, (struct spanmap_item){ .tag = 1 });
	spanmap_set(&m, 2, 4, (struct spanmap_item){ .base = 5, .tag = 1 });
	assert_int_equal(spanmap_count(&m), 3);
	spanmap_set(&m, 2, 4, (struct spanmap_item){ .tag = 1 });
	assert_int_equal(spanmap_count(&m), 1);
	spanmap_clear(&m);
	spanmap_init(&m, 0, (struct spanmap_item){ .tag = 1 });
	assert_int_equal(spanmap_count(&m), 0);
	spanmap_clear(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_base_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
