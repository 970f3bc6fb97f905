/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejected enrolments of strangers: a client that reaches the port cannot fill
 * the log of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <event2/event.h>

#include "common/clk.h"
#include "common/err.h"
#include "daemon/cluster/roster.h"
#include "daemon/enrolment.h"
#include "daemon/store/store.h"

static uint64_t test_ns = 1000 * CLK_NS_PER_S;
static unsigned events, ends;

static uint64_t
test_clock(void)
{
	return test_ns;
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	assert_string_equal(kind, "alarm");
	assert_string_equal(subject, "enroll");
	events++;
	ends += strstr(text, "further refusals in this hour") != NULL;
}

/* Ten hours, a refusal a second, each of another address: some events an hour.
 * The last event of an hour announces that no more follow. */
static void
test_strangers(void **state)
{
	struct roster_limits limits = { 0 };
	struct roster *r = roster_new(&limits, NULL, NULL, NULL);
	struct event_base *base = event_base_new();
	struct enrolment_options o = { .store = (struct store *)1,
		.roster = r,
		.munge_users = "",
		.munge_socket = "" };
	struct enrolment *e = enrolment_new(base, &o);
	json_t *msg = json_pack("{s:s, s:s, s:s}", "node", "n1", "request", "",
	    "munge", "MUNGE:");
	struct err err;
	char addr[64];

	(void)state;
	clk_set_source(test_clock, NULL);
	for (unsigned i = 0; i < 36000; i++) {
		snprintf(addr, sizeof(addr), "10.%u.%u.%u", i >> 16,
		    i >> 8 & 255, i & 255);
		assert_int_not_equal(enrolment_ask(e, 1, addr, msg, &err), 0);
		test_ns += CLK_NS_PER_S;
	}
	assert_in_range(events, 10 * 50, 10 * 100);
	assert_int_equal(ends, 10);
	clk_set_source(NULL, NULL);
	enrolment_free(e);
	json_decref(msg);
	event_base_free(base);
	roster_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
