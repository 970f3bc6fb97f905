/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The problems of a simulated cluster that are alerts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "daemon/diags/alarm.h"

#include "tests/unit/daemon/http/fake_api.h"

#define T0      (1790000000 * CLK_NS_PER_S)
#define LOST_NS (60 * CLK_NS_PER_S)
#define HOUR_NS (3600 * CLK_NS_PER_S)
#define YEAR_NS (365 * 24 * HOUR_NS)

static uint64_t now_ns;

static uint64_t
now(void)
{
	return now_ns;
}

static uint64_t
t0(void)
{
	return T0;
}

/* Return how many events have this subject. */
static size_t
told_about(const char *subject)
{
	size_t count = 0, i;
	json_t *o;

	json_array_foreach (fake.told, i, o) {
		const json_t *body = json_object_get(o, "body");

		assert_string_equal(member_text(o, "kind"), "alert");
		assert_string_equal(member_text(body, "status"), "firing");
		count += strcmp(member_text(o, "subject"), subject) == 0;
	}
	return count;
}

static void
told_clear(void)
{
	json_decref(fake.told);
	fake.told = NULL;
}

/* A minute after its start the collector reports lost agents. Since when an
 * agent is lost was noted by a clock that was a year ahead. */
static void
test_lost_since_ahead(void **state)
{
	static const struct {
		uint64_t since_unix_ns;
		size_t alerts;
	} rows[] = { { T0 + YEAR_NS, 1 }, { T0 + LOST_NS, 0 }, { T0, 0 },
		{ T0 - LOST_NS, 0 }, { T0 - HOUR_NS, 1 } };

	(void)state;
	clk_set_source(now, t0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct alarm *a;

		now_ns = HOUR_NS;
		a = alarm_open(api_events(NULL), "", NULL);
		now_ns += LOST_NS;
		fake.since_unix_ns = rows[i].since_unix_ns;
		alarm_tick(a);
		assert_int_equal(told_about("CoalmineAgentsMissing"),
		    rows[i].alerts);
		alarm_close(a);
		told_clear();
	}
	fake.since_unix_ns = 0;
	clk_set_source(NULL, NULL);
}

/* A simulated cluster with outliers and a lost agent: an event for each. */
static void
test_told_as_events(void **state)
{
	static const char *const want[] = { "node3", "leaf2",
		"CoalmineAgentsMissing" };
	struct alarm *a;
	size_t count;

	(void)state;
	assert_null(alarm_open(NULL, "", NULL));
	alarm_tick(NULL);
	clk_set_source(now, NULL);
	now_ns = HOUR_NS;
	a = alarm_open(api_events(NULL), "", NULL);
	alarm_tick(a);
	assert_int_equal(told_about("CoalmineAgentsMissing"), 0);
	now_ns += LOST_NS;
	alarm_tick(a);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_int_equal(told_about(want[i]), 1);
	count = json_array_size(fake.told);
	alarm_tick(a); /* no change: nothing is sent */
	assert_int_equal(json_array_size(fake.told), count);
	alarm_close(a);
	told_clear();
	clk_set_source(NULL, NULL);
}

/* A budget that is spent too fast is an alert until it no longer is. */
static void
test_objectives(void **state)
{
	struct alarm *a = alarm_open(api_events(NULL), "", NULL);
	const json_t *o;
	size_t count;

	(void)state;
	fake.told = NULL;
	alarm_tick(a); /* the outliers */
	count = json_array_size(fake.told);
	fake.objective_count = 1;
	fake.objectives[0] = (struct objectives_view){ .name = "links",
		.text = "node n1 spent 70 % of it" };
	alarm_tick(a);
	assert_int_equal(json_array_size(fake.told), count);
	fake.objectives[0].state.burn[OBJECTIVE_SLOW].fires = 1;
	alarm_tick(a);
	alarm_tick(a);
	assert_int_equal(json_array_size(fake.told), count + 1);
	o = json_array_get(fake.told, count);
	assert_string_equal(member_text(o, "subject"), "links");
	o = json_object_get(o, "body");
	assert_string_equal(member_text(o, "status"), "firing");
	assert_string_equal(member_text(json_object_get(o, "labels"),
				"severity"),
	    "warning");
	assert_string_equal(member_text(json_object_get(o, "annotations"),
				"description"),
	    "node n1 spent 70 % of it");
	fake.objectives[0].state.burn[OBJECTIVE_SLOW].fires = 0;
	alarm_tick(a);
	assert_int_equal(json_array_size(fake.told), count + 2);
	o = json_object_get(json_array_get(fake.told, count + 1), "body");
	assert_string_equal(member_text(o, "status"), "resolved");
	fake.objective_count = 0;
	alarm_close(a);
	json_decref(fake.told);
	fake.told = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_since_ahead),
		cmocka_unit_test(test_told_as_events),
		cmocka_unit_test(test_objectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
