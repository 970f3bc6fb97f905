/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An option in several values, as text.
 */
#include "common/err.h"
#include "probes/catalog/sweep.c"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void
test_parse(void **state)
{
	struct vary v;
	struct err err;

	(void)state;
	assert_int_equal(sweep_vary_parse("", &v, &err), 0);
	assert_int_equal(v.count, 0);
	vary_clear(&v);
	assert_int_equal(sweep_vary_parse(" moore 2,1\t3,1 ", &v, &err), 0);
	assert_string_equal(v.key, "moore");
	assert_int_equal(v.count, 2);
	assert_string_equal(v.values[0], "2,1");
	assert_string_equal(v.values[1], "3,1");
	assert_null(v.section);
	assert_true(sweep_vary_is_of(&v, "neighbor"));
	vary_clear(&v);
	assert_false(sweep_vary_is_of(&v, "neighbor"));
}

static void
test_section(void **state)
{
	struct vary v;
	struct err err;

	(void)state;
	assert_int_equal(sweep_vary_parse("allreduce.form flat", &v, &err), 0);
	assert_string_equal(v.section, "allreduce");
	assert_string_equal(v.key, "form");
	assert_string_equal(v.values[0], "flat");
	assert_true(sweep_vary_is_of(&v, "allreduce"));
	assert_false(sweep_vary_is_of(&v, "collective"));
	vary_clear(&v);
}

static void
test_refused(void **state)
{
	char text[400] = "rsg";
	struct err err = { 0 };
	struct vary v;

	(void)state;
	assert_int_equal(sweep_vary_parse("rsg", &v, &err), -EINVAL);
	assert_non_null(strstr(err.text, "measure.vary = rsg: expected"));
	for (int i = 0; i < VARY_MAX; i++)
		strcat(text, " 1");
	assert_int_equal(sweep_vary_parse(text, &v, &err), 0);
	assert_int_equal(v.count, VARY_MAX);
	vary_clear(&v);
	strcat(text, " 1");
	assert_int_equal(sweep_vary_parse(text, &v, &err), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
