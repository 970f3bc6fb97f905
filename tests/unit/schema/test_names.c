/* SPDX-License-Identifier: Apache-2.0 */
/* No table of words has a hole, and the lists in options.c agree with them. */
#include "schema/names.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define STRIDE(t) ((const char *)(t) + i * sizeof((t)[0]))

/* name i of a table whose rows start with their name */
#define NAME(t, i) (*(const char *const *)(const void *)STRIDE(t))

#define CHECK_TABLE(table, max, find_one)                                      \
	for (size_t i = 0; i < (max); i++) {                                   \
		assert_non_null(NAME(table, i));                               \
		if ((find_one) != NULL)                                        \
			assert_int_equal((find_one)(NAME(table, i)), i);       \
	}

static void
test_tables_are_full(void **state)
{
	int (*none)(const char *) = NULL;

	(void)state;
	CHECK_TABLE(names_tests, CANARY_MAX, names_test_find);
	CHECK_TABLE(names_congestors, CONGESTOR_MAX, names_congestor_find);
	CHECK_TABLE(names_run_states, RUN_STATE_MAX, names_run_state_find);
	CHECK_TABLE(names_causes, CAUSE_MAX, names_cause_find);
	CHECK_TABLE(names_roles, ROLE_MAX, names_role_find);
	CHECK_TABLE(names_collectives, NAMES_COLLECTIVES_MAX,
	    names_collective_find);
	CHECK_TABLE(names_impls, NAMES_IMPLS_MAX, names_impl_find);
	CHECK_TABLE(names_phases, PHASE_MAX, none);
	CHECK_TABLE(names_agent_states, AGENT_STATE_MAX, none);
	CHECK_TABLE(names_stops, STOP_MAX, none);
	assert_int_equal(names_test_find("nope"), -ENOENT);
	assert_int_equal(names_test_find(""), -ENOENT);
}

static void
test_lists_agree(void **state)
{
	char list[512] = "";

	(void)state;
	for (int i = 0; i < CANARY_MAX; i++)
		sprintf(list + strlen(list), "%s%s", i == 0 ? "" : "|",
		    names_tests[i].name);
	assert_string_equal(list, NAMES_TESTS);
	list[0] = '\0';
	for (int i = 0; i < CONGESTOR_MAX; i++)
		sprintf(list + strlen(list), "%s%s", i == 0 ? "" : "|",
		    names_congestors[i].name);
	assert_string_equal(list, NAMES_CONGESTORS);
	list[0] = '\0';
	for (int i = 0; i < NAMES_COLLECTIVES_MAX; i++)
		sprintf(list + strlen(list), "%s%s", i == 0 ? "" : "|",
		    names_collectives[i]);
	assert_string_equal(list, NAMES_COLLECTIVES);
	strcpy(list, "host");
	for (int i = 0; i < NAMES_GPUS; i++)
		if (names_gpus[i].device != NULL)
			sprintf(list + strlen(list), "|%s",
			    names_gpus[i].device);
	assert_string_equal(list, NAMES_DEVICES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_are_full),
		cmocka_unit_test(test_lists_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
