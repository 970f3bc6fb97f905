/* SPDX-License-Identifier: Apache-2.0 */
/* Options of -o reach their users, and a value that conflicts with others is
 * rejected with its place. */
#include <errno.h>
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/str.h"
#include "daemon/agents/session_int.h"
#include "daemon/cluster/topo.h"
#include "daemon/collector.h"
#include "daemon/settings.h"

static int
load_set(char *const *sets, size_t count, struct settings *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	return settings_load("/dev/null", sets, count, ret, err);
}

static void
settings_end(struct settings *s)
{
	topo_free(s->topo);
	conf_free(s->conf);
}

/* Limits on the memory that one agent can make the collector use. */
static void
test_quotas(void **state)
{
	char *sets[] = { (char[]){ "quota.run_records=77" },
		(char[]){ "quota.run_bytes=5M" }, (char[]){ "quota.queue=3M" },
		(char[]){ "collector.agents_max=9" },
		(char[]){ "collector.silence=11s" } };
	struct event_base *base = event_base_new();
	const struct session_limits *limits;
	struct settings s;
	struct collector *h;
	struct err err;

	(void)state;
	assert_int_equal(load_set(sets, ARRAY_LEN(sets), &s, &err), 0);
	s.collector.topo = s.topo;
	h = collector_new(base, NULL, NULL, &s.collector);
	assert_non_null(h);
	assert_int_equal(s.collector.quota.records, 77);
	assert_int_equal(s.collector.quota.bytes, 5 << 20);
	limits = &collector_sessions(h)->limits;
	assert_int_equal(limits->queue_bytes_max, 3 << 20);
	assert_int_equal(limits->agents_max, 9);
	assert_int_equal(limits->silence_ns, 11 * CLK_NS_PER_S);
	collector_free(h);
	event_base_free(base);
	settings_end(&s);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *sets[2], *why;
	} rows[] = {
		{ { "collector.heartbeat=10s", "collector.silence=19s" },
		    "shorter than two heartbeats" },
		{ { "verdict.window=3", "verdict.votes=4" },
		    "more than verdict.window" },
		{ { "mesh.net=10.0.0.0", "" }, "mesh.net" },
		{ { "reaction.action=command", "" }, "reaction.command" },
		{ { "budget.blackout=noon", "" }, "budget.blackout" },
		{ { "quota.queue=1M", "" }, "quota.queue" },
		{ { "cluster.name=East", "" }, "cluster.name is East" },
		{ { "cluster.name=1st", "" }, "a letter first" },
		{ { "cluster.name=a-b", "" }, "expected" },
		{ { "cluster.name=pg_a", "" }, "pg_" },
		{ { "cluster.name=coalmine_all", "" }, "coalmine_all" },
		{ { "cluster.name=east", "store.schema=west" },
		    "RENAME TO east" },
		{ { "cluster.url=https://a:1,https://b:1", "" },
		    "one address" },
		{ { "collector.copy_of=https://a:1", "" }, "store.lease" },
		{ { "store.copy_wait=1h", "" }, "store.lease" },
	};
	char first[64], second[64], *sets[] = { first, second };
	struct settings s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str_format(first, sizeof(first), "%s", rows[i].sets[0]);
		str_format(second, sizeof(second), "%s", rows[i].sets[1]);
		assert_int_equal(load_set(sets, second[0] != '\0' ? 2 : 1, &s,
				     &err),
		    -EINVAL);
		if (strstr(err.text, rows[i].why) == NULL ||
		    strncmp(err.text, "-o", 2) != 0)
			fail_msg("%s", err.text);
		settings_end(&s);
	}
}

/* Its schema and address, where they are not given. */
static void
test_cluster(void **state)
{
	static const struct {
		const char *set, *url, *schema;
	} rows[] = {
		{ "http.tls_listen=10.1.2.3:77", "https://10.1.2.3:77",
		    "coalmine" },
		{ "http.tls_listen=[fd00::1]:77", "https://[fd00::1]:77",
		    "coalmine" },
		{ "http.tls_listen=0.0.0.0:77", ":77", "coalmine" },
		{ "http.tls_listen=[::]:77", ":77", "coalmine" },
		{ "cluster.url=https://c:1", "https://c:1", "coalmine" },
		{ "cluster.name=east_2", "", "east_2" },
	};
	char set[64], any[300], *sets[] = { set };
	struct settings s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str_format(set, sizeof(set), "%s", rows[i].set);
		assert_int_equal(load_set(sets, 1, &s, &err), 0);
		str_format(any, sizeof(any), "https://%.*s%s",
		    (int)strcspn(s.who, ":"), s.who, rows[i].url);
		assert_string_equal(s.url,
		    rows[i].url[0] == ':' ? any : rows[i].url);
		assert_string_equal(s.store.schema, rows[i].schema);
		settings_end(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotas),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
