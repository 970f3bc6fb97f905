/* SPDX-License-Identifier: Apache-2.0 */
/* No table of words has a hole, and the lists in options.c agree with them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/str.h"
#include "schema/names_agent.h"
#include "schema/names_event.h"
#include "schema/names_gpu.h"
#include "schema/names_link.h"
#include "schema/names_probe.h"
#include "schema/names_role.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"

#define CHECK_TABLE(table)                                                     \
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {                        \
		const char *const *row = (const void *)&(table)[i];            \
                                                                               \
		assert_non_null(*row);                                         \
		assert_int_equal(STR_FIND(table, *row), i);                    \
	}

static void
test_tables_are_full(void **state)
{
	(void)state;
	CHECK_TABLE(names_tests);
	CHECK_TABLE(names_congestors);
	CHECK_TABLE(names_run_states);
	CHECK_TABLE(names_causes);
	CHECK_TABLE(names_roles);
	CHECK_TABLE(names_collectives);
	CHECK_TABLE(names_impls);
	CHECK_TABLE(names_phases);
	CHECK_TABLE(names_agent_states);
	CHECK_TABLE(names_events);
	CHECK_TABLE(names_stops);
	CHECK_TABLE(names_whats);
	assert_int_equal(STR_FIND(names_tests, "nope"), -ENOENT);
	assert_int_equal(STR_FIND(names_tests, ""), -ENOENT);
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
	list[0] = '\0';
	for (int i = 0; i < NAMES_FABRICS_MAX; i++)
		sprintf(list + strlen(list), "%s%s", i == 0 ? "" : "|",
		    names_fabrics[i]);
	assert_string_equal(list, NAMES_FABRICS);
	list[0] = '\0';
	for (int i = 0; i < NAMES_EVENTS_MAX; i++)
		sprintf(list + strlen(list), "%s%s", i == 0 ? "" : "|",
		    names_events[i].name);
	assert_string_equal(list, NAMES_EVENTS);
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
