/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What webhooks are told: once when it begins, once when it ends, again after
 * hours; in Alertmanager's words; to a service that refuses first, from a
 * thread, so that the caller never waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "daemon/export/alarm.c"

#include "tests/unit/daemon/http/fake_view.h"

#define T0     (1790000000 * CLK_NS_PER_S)
#define WAIT_S 20

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
		alerts_see(a, seen, now_unix_ns);
	return alerts_end(a, now_unix_ns);
}

static const char *
alert_text(const json_t *message, const char *key)
{
	return json_string_value(
	    json_object_get(json_array_get(json_object_get(message, "alerts"),
				0),
		key));
}

static void
test_told_when_it_changes(void **state)
{
	char page[] = "http://c:17701/";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		4 * 3600 * CLK_NS_PER_S };
	struct alerts *a = &all;
	struct alert_seen s = node5("28 % slower");
	json_t *m = turn(a, &s, T0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(m, "version")),
	    "4");
	assert_string_equal(json_string_value(json_object_get(m, "status")),
	    "firing");
	assert_string_equal(alert_text(m, "startsAt"), "2026-09-21T14:13:20Z");
	assert_string_equal(alert_text(m, "endsAt"), "0001-01-01T00:00:00Z");
	assert_string_equal(alert_text(m, "generatorURL"),
	    "http://c:17701/#/node/node5");
	json_decref(m);
	s = node5("29 % slower"); /* other words are the same alert */
	assert_null(turn(a, &s, T0 + CLK_NS_PER_S));
	m = turn(a, &s, T0 + 4 * 3600 * CLK_NS_PER_S);
	assert_string_equal(alert_text(m, "status"), "firing");
	assert_string_equal(alert_text(m, "startsAt"), "2026-09-21T14:13:20Z");
	json_decref(m);
	m = turn(a, NULL, T0 + 5 * 3600 * CLK_NS_PER_S);
	assert_string_equal(alert_text(m, "status"), "resolved");
	assert_string_equal(alert_text(m, "endsAt"), "2026-09-21T19:13:20Z");
	json_decref(m);
	assert_null(turn(a, NULL, T0 + 6 * 3600 * CLK_NS_PER_S));
	while (a->count > 0)
		alert_free(a, TAILQ_FIRST(&a->firing));
}

#define HOUR_NS (3600 * CLK_NS_PER_S)
#define YEAR_NS (365 * 24 * HOUR_NS)

/* A clock that was a year ahead is set right: what fires is told again. */
static void
test_told_by_a_clock_ahead(void **state)
{
	char page[] = "";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		4 * HOUR_NS };
	struct alert_seen s = node5("28 % slower");
	json_t *m;

	(void)state;
	json_decref(turn(&all, &s, T0 + YEAR_NS));
	m = turn(&all, &s, T0);
	assert_non_null(m);
	assert_string_equal(alert_text(m, "status"), "firing");
	json_decref(m);
	assert_null(turn(&all, &s, T0 + HOUR_NS));
	alert_free(&all, TAILQ_FIRST(&all.firing));
}

static void
test_no_more_than_can_be_told(void **state)
{
	char page[] = "";
	struct alerts all = { TAILQ_HEAD_INITIALIZER(all.firing), 0, page,
		CLK_NS_PER_S };
	struct alerts *a = &all;
	struct alert_seen s = node5("slow");
	char name[32];
	json_t *m;

	(void)state;
	for (int i = 0; i < 2 * FIRING_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		s.subject = name;
		alerts_see(a, &s, T0);
	}
	m = alerts_end(a, T0);
	assert_int_equal(json_array_size(json_object_get(m, "alerts")),
	    FIRING_MAX);
	json_decref(m);
	while (a->count > 0)
		alert_free(a, TAILQ_FIRST(&a->firing));
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
		fake.since_unix_ns = rows[i].since_unix_ns;
		see_lost(&a, clk_unix_ns());
		assert_int_equal(a.alerts.count, rows[i].alerts);
		if (a.alerts.count > 0)
			alert_free(&a.alerts, TAILQ_FIRST(&a.alerts.firing));
	}
	fake.since_unix_ns = 0;
	clk_set_source(NULL, NULL);
}

static int
listen_any(int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	getsockname(fd, (struct sockaddr *)&at, &len);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* One request, answered with status; its body goes to ret. */
static void
take(int fd, int status, char *ret, size_t cap)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	char *body, *length;
	int peer;

	assert_int_equal(poll(&p, 1, WAIT_S * 1000), 1);
	peer = accept(fd, NULL, NULL);
	for (;;) {
		ssize_t n = read(peer, ret + len, cap - 1 - len);

		assert_true(n > 0);
		len += (size_t)n;
		ret[len] = '\0';
		body = strstr(ret, "\r\n\r\n");
		length = strstr(ret, "Content-Length: ");
		if (body != NULL && length != NULL &&
		    strlen(body + 4) >= strtoul(length + 16, NULL, 10))
			break;
	}
	dprintf(peer, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status);
	close(peer);
	memmove(ret, body + 4, strlen(body + 4) + 1);
}

/* The whole way, over a made-up cluster with suspects and a lost agent; the
 * first answer is a refusal, and it comes again. */
static void
test_posted(void **state)
{
	char url[64], text[16384];
	int port, fd = listen_any(&port);
	struct alarm *a;
	uint64_t at_ns;
	json_t *m;

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/hook", port);
	assert_null(alarm_open("", "", NULL));
	alarm_tick(NULL);
	a = alarm_open(url, "", NULL);
	at_ns = clk_ns();
	alarm_tick(a);
	assert_true(clk_ns() - at_ns < CLK_NS_PER_S); /* nobody answers yet */
	take(fd, 503, text, sizeof(text));
	take(fd, 200, text, sizeof(text));
	m = json_loads(text, 0, NULL);
	assert_non_null(m);
	assert_non_null(strstr(text, "\"node\":\"node3\""));
	assert_non_null(strstr(text, "\"leaf\":\"leaf2\""));
	assert_non_null(strstr(text, "1 of 12 agents are lost"));
	json_decref(m);
	alarm_tick(a); /* nothing new: nothing is sent */
	alarm_close(a);
	assert_int_equal(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1,
			     0),
	    0);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_when_it_changes),
		cmocka_unit_test(test_told_by_a_clock_ahead),
		cmocka_unit_test(test_lost_since_ahead),
		cmocka_unit_test(test_no_more_than_can_be_told),
		cmocka_unit_test(test_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
