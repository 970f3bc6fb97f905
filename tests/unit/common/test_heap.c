/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/heap.h"
#include "common/rng.h"

#define ROOM 64

static int
compare_cb(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
test_comes_out_sorted(void **state)
{
	uint32_t room[ROOM], all[ROOM];
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint32_t n = 1; n <= ROOM; n++) {
		struct heap h = { .items = room };

		for (uint32_t i = 0; i < n; i++) {
			all[i] = (uint32_t)rng_below(&r, n);
			heap_push(&h, all[i]);
		}
		qsort(all, n, sizeof(*all), compare_cb);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(heap_pop(&h), all[i]);
		assert_int_equal(h.count, 0);
	}
}

/* Against the lowest of a plain list. */
static void
test_pushes_between_pops(void **state)
{
	uint32_t room[ROOM], list[ROOM], n = 0;
	struct heap h = { .items = room };
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (int step = 0; step < 10000; step++) {
		if (n < ROOM && (n == 0 || rng_below(&r, 2) == 0)) {
			list[n] = (uint32_t)rng_below(&r, 1000);
			heap_push(&h, list[n++]);
			continue;
		}
		qsort(list, n, sizeof(*list), compare_cb);
		assert_int_equal(heap_pop(&h), list[0]);
		memmove(list, list + 1, --n * sizeof(*list));
		assert_int_equal(h.count, n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_out_sorted),
		cmocka_unit_test(test_pushes_between_pops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
