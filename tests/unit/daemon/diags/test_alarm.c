/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications: once at the begin, once at the end, again after hours; in
 * Alertmanager's format, an event for each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/diags/alarm.c"

#include "tests/unit/daemon/http/fake_api.h"

#define T0 (1790000000 * CLK_NS_PER_S)

static struct alert_seen
node5(const char *text)
{
	return (struct alert_seen){ .name = "CoalmineNodeOutlier",
		.severity = "warning",
		.kind = "node",
		.subject = "node5",
		.summary = "node5 is slower than its peers",
		.text = text,
		.place = "node/node5" };
}

static json_t *
turn(struct alerts *a, const struct alert_seen *seen, uint64_t now_unix_ns)
{
	if (seen != NULL)
		alarm_alerts_see(a, seen, now_unix_ns);
	return alarm_alerts_end(a, now_unix_ns);
}

static void
assert_silent(json_t *list)
{
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

static const char *
alert_text(const json_t *message, const char *key)
{
	return member_text(json_array_get(message, 0), key);
}

static void
test_told_when_it_changes(void **state)
{
	char page[] = "http://c:17701/";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		4 * 3600 * CLK_NS_PER_S, "east" };
	struct alerts *a = &all;
	struct alert_seen s = node5("28 % slower");
	json_t *m = turn(a, &s, T0);

	(void)state;
	assert_string_equal(alert_text(m, "status"), "firing");
	assert_string_equal(alert_text(m, "startsAt"), "2026-09-21T14:13:20Z");
	assert_string_equal(alert_text(m, "endsAt"), "0001-01-01T00:00:00Z");
	assert_string_equal(alert_text(m, "generatorURL"),
	    "http://c:17701/#/node/node5");
	assert_string_equal(member_text(json_object_get(json_array_get(m, 0),
					    "labels"),
				"cluster"),
	    "east");
	json_decref(m);
	s = node5("29 % slower"); /* other words are the same alert */
	assert_silent(turn(a, &s, T0 + CLK_NS_PER_S));
	m = turn(a, &s, T0 + 4 * 3600 * CLK_NS_PER_S);
	assert_string_equal(alert_text(m, "status"), "firing");
	assert_string_equal(alert_text(m, "startsAt"), "2026-09-21T14:13:20Z");
	json_decref(m);
	m = turn(a, NULL, T0 + 5 * 3600 * CLK_NS_PER_S);
	assert_string_equal(alert_text(m, "status"), "resolved");
	assert_string_equal(alert_text(m, "endsAt"), "2026-09-21T19:13:20Z");
	json_decref(m);
	assert_silent(turn(a, NULL, T0 + 6 * 3600 * CLK_NS_PER_S));
	while (a->count > 0)
		alarm_alert_free(a, TAILQ_FIRST(&a->firing));
}

#define HOUR_NS (3600 * CLK_NS_PER_S)
#define YEAR_NS (365 * 24 * HOUR_NS)

/* A clock that was a year ahead is corrected: active alerts are sent again. */
static void
test_told_by_a_clock_ahead(void **state)
{
	char page[] = "";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		4 * HOUR_NS, "" };
	struct alert_seen s = node5("28 % slower");
	json_t *m;

	(void)state;
	json_decref(turn(&all, &s, T0 + YEAR_NS));
	m = turn(&all, &s, T0);
	assert_string_equal(alert_text(m, "status"), "firing");
	json_decref(m);
	assert_silent(turn(&all, &s, T0 + HOUR_NS));
	alarm_alert_free(&all, TAILQ_FIRST(&all.firing));
}

static void
test_no_more_than_can_be_told(void **state)
{
	char page[] = "";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		CLK_NS_PER_S, "" };
	struct alerts *a = &all;
	struct alert_seen s = node5("slow");
	char name[32];
	json_t *m;

	(void)state;
	for (int i = 0; i < 2 * FIRING_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		s.subject = name;
		alarm_alerts_see(a, &s, T0);
	}
	m = alarm_alerts_end(a, T0);
	assert_int_equal(json_array_size(m), FIRING_MAX);
	json_decref(m);
	while (a->count > 0)
		alarm_alert_free(a, TAILQ_FIRST(&a->firing));
}

/* A minute after its start the collector reports missing nodes. */
static uint64_t
later(void)
{
	clk_set_source(NULL, NULL);
	uint64_t ns = clk_ns() + LOST_NS;
	clk_set_source(later, NULL);
	return ns;
}

static uint64_t
t0(void)
{
	return T0;
}

/* Since when an agent is lost was noted by a clock that was a year ahead. */
static void
test_lost_since_ahead(void **state)
{
	static const struct {
		uint64_t since_unix_ns;
		size_t alerts;
	} rows[] = { { T0 + YEAR_NS, 1 }, { T0 + LOST_NS, 0 }, { T0, 0 },
		{ T0 - LOST_NS, 0 }, { T0 - HOUR_NS, 1 } };

	(void)state;
	clk_set_source(NULL, t0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct alarm a = { 0 };
		char page[] = "";

		TAILQ_INIT(&a.alerts.firing);
		a.alerts.page = page;
		a.alerts.cluster = "";
		fake.since_unix_ns = rows[i].since_unix_ns;
		alarm_see_lost(&a, clk_unix_ns());
		assert_int_equal(a.alerts.count, rows[i].alerts);
		if (a.alerts.count > 0)
			alarm_alert_free(&a.alerts,
			    TAILQ_FIRST(&a.alerts.firing));
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
	size_t count, found = 0, i;
	json_t *o;

	(void)state;
	assert_null(alarm_open(NULL, "", NULL));
	alarm_tick(NULL);
	a = alarm_open(api_events(NULL), "", NULL);
	alarm_see_lost(a, clk_unix_ns());
	assert_int_equal(a->alerts.count, 0);
	clk_set_source(later, NULL);
	alarm_tick(a);
	count = json_array_size(fake.told);
	json_array_foreach (fake.told, i, o) {
		const json_t *body = json_object_get(o, "body");

		assert_string_equal(member_text(o, "kind"), "alert");
		assert_string_equal(member_text(body, "status"), "firing");
		for (size_t w = 0; w < ARRAY_LEN(want); w++)
			found += strcmp(member_text(o, "subject"), want[w]) ==
			    0;
	}
	assert_int_equal(found, ARRAY_LEN(want));
	alarm_tick(a); /* no change: nothing is sent */
	assert_int_equal(json_array_size(fake.told), count);
	alarm_close(a);
	json_decref(fake.told);
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
		cmocka_unit_test(test_told_when_it_changes),
		cmocka_unit_test(test_told_by_a_clock_ahead),
		cmocka_unit_test(test_lost_since_ahead),
		cmocka_unit_test(test_no_more_than_can_be_told),
		cmocka_unit_test(test_told_as_events),
		cmocka_unit_test(test_objectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
