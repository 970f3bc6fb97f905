/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a binding plan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "probes/catalog/patterns.h"
#include "probes/pattern/builders.h"
#include "probes/plan/check.h"
#include "probes/plan/plan.h"

static void
test_numbers(void **state)
{
	(void)state;
	for (uint32_t g = 2; g < 10; g++)
		for (uint32_t step = 0; step < 3 * g; step++) {
			uint32_t k;
			enum binding_part part = binding_step(g, step, &k);

			assert_in_range(k, 1, g);
			assert_int_equal(binding_step_of(g, part, k), step);
		}
	assert_int_equal(binding_step_of(4, BINDING_RAIL, 1), 0);
}

static size_t
messages(const struct plan *p, uint32_t step, uint64_t *ret_bytes)
{
	size_t n = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].step == step) {
			*ret_bytes += p->transfers[i].bytes;
			n++;
		}
	return n;
}

static void
step_is(const struct plan *p, uint32_t step, size_t count, uint64_t bytes)
{
	uint64_t found;

	assert_int_equal(messages(p, step, &found), count);
	assert_int_equal(found, bytes);
}

/* g = 3, 100 bytes, which three do not divide. */
static void
test_plan(void **state)
{
	char g[] = "g=3", bytes[] = "bytes=100", *words[] = { g, bytes };
	struct err err = { 0 };
	struct check_fault fault;
	struct plan *p;

	(void)state;
	assert_int_equal(patterns_plan("binding", words, 2, 0, &p, &err), 0);
	assert_int_equal(p->ranks, 6);
	assert_int_equal(p->steps, 9);
	for (uint32_t i = 0; i < 3; i++)
		step_is(p, i, 1, 100);
	step_is(p, 3, 2, 200);
	step_is(p, 4, 3, 300);
	for (uint32_t k = 1; k <= 3; k++)
		step_is(p, 4 + k, 3 * k, 100 * k);
	step_is(p, 8, 18, 600);
	assert_int_equal(check_plan(p, &fault), 0);
	plan_free(p);
}

static void
test_refused(void **state)
{
	char three[] = "g=3", few[] = "g=1";
	char *words[] = { three }, *one[] = { few };
	struct err err = { 0 };
	struct plan *p;

	(void)state;
	assert_true(patterns_plan("binding", words, 1, 5, &p, &err) < 0);
	assert_non_null(strstr(err.text, "binding.g = 3: expected"));
	assert_true(patterns_plan("binding", one, 1, 0, &p, &err) < 0);
	assert_non_null(strstr(err.text, "binding.g"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
