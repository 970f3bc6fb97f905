/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts: sent once at the begin and once at the end, again after hours, in
 * Alertmanager's format, as an event each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/clk.h"
#include "common/member.h"
#include "daemon/events/alerts.h"
#include "daemon/events/events.h"

#define T0      (1790000000 * CLK_NS_PER_S)
#define HOUR_NS (3600 * CLK_NS_PER_S)
#define YEAR_NS (365 * 24 * HOUR_NS)

static json_t *told; /* bodies of the events of a turn */

void
events_tell(struct events *e, const struct store_event *event)
{
	(void)e;
	assert_string_equal(event->kind, "alert");
	json_array_append(told, (json_t *)(uintptr_t)event->body);
}

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
	json_t *list = told = json_array();

	if (seen != NULL)
		alerts_see(a, seen, now_unix_ns);
	alerts_end(a, now_unix_ns);
	return list;
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
	struct alerts *a = alerts_new(NULL, "http://c:17701/", "east");
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
	alerts_free(a);
}

/* A clock that was a year ahead is corrected: active alerts are sent again. */
static void
test_told_by_a_clock_ahead(void **state)
{
	struct alerts *a = alerts_new(NULL, "", "");
	struct alert_seen s = node5("28 % slower");
	json_t *m;

	(void)state;
	json_decref(turn(a, &s, T0 + YEAR_NS));
	m = turn(a, &s, T0);
	assert_string_equal(alert_text(m, "status"), "firing");
	json_decref(m);
	assert_silent(turn(a, &s, T0 + HOUR_NS));
	alerts_free(a);
}

static void
test_no_more_than_can_be_told(void **state)
{
	struct alerts *a = alerts_new(NULL, "", "");
	struct alert_seen s = node5("slow");
	char name[32];
	json_t *m;

	(void)state;
	for (int i = 0; i < 2 * ALERTS_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		s.subject = name;
		alerts_see(a, &s, T0);
	}
	m = turn(a, NULL, T0);
	assert_int_equal(json_array_size(m), ALERTS_MAX);
	json_decref(m);
	alerts_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_when_it_changes),
		cmocka_unit_test(test_told_by_a_clock_ahead),
		cmocka_unit_test(test_no_more_than_can_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
