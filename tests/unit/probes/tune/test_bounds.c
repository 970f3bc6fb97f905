/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of collectives from the measured exchange of two nodes: Table III of
 * HiCCL with measured rates.
 */
#include "probes/tune/bounds.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static void
test_words(void **state)
{
	struct bounds b = { .ranks = 24, .per_node = 2 };
	char *text;

	(void)state;
	text = bounds_words(&b, BOUNDS_ONE_WAY, 100, "rma");
	assert_string_equal(text,
	    "group pattern=rail direction=out n=2 g=2 k=2 count=100 type=byte "
	    "via=rma");
	free(text);
	text = bounds_words(&b, BOUNDS_SHIFTED, 100, "mpi");
	assert_string_equal(text, "pairs g=2 bytes=100 shift=1 via=mpi");
	free(text);
	/* a broadcast's message over the two ranks of a node */
	assert_int_equal(bounds_bytes(&b, 1000), 12000);
	assert_int_equal(bounds_bytes(&b, 1ULL << 40), 64 << 20);
	b.per_node = 24;
	assert_int_equal(bounds_bytes(&b, 1), 1);
}

static void
test_bounds(void **state)
{
	struct bounds b = { .ranks = 16, .per_node = 4 };

	(void)state;
	assert_true(bounds_per_s(&b, "broadcast") == 0);
	bounds_learn(&b, BOUNDS_ONE_WAY, 1000, 0.5);
	bounds_learn(&b, BOUNDS_BOTH_WAYS, 1000, 1);
	bounds_learn(&b, BOUNDS_SHIFTED, 1000, 2);
	bounds_learn(&b, BOUNDS_PAIRS, 1, 1);
	assert_float_equal(b.one_way_per_s, 8000, 1e-9);
	assert_float_equal(bounds_per_s(&b, "gather"), 8000 * 16 / 12., 1e-6);
	assert_float_equal(bounds_per_s(&b, "scatter"), 8000 * 16 / 12., 1e-6);
	assert_float_equal(bounds_per_s(&b, "broadcast"), 4000, 1e-6);
	assert_float_equal(bounds_per_s(&b, "allreduce"), 4000 * 16 / 24.,
	    1e-6);
	assert_true(bounds_per_s(&b, "no such") == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
