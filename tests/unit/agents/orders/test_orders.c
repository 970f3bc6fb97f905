/* SPDX-License-Identifier: Apache-2.0 */
/* test_orders.c - a malformed order ends the session; another one is answered,
 * whether it can be followed or not. */
#include "agents/orders/orders.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
launch(const char *nodes, int ranks)
{
	struct agent ag = { .host = "host1" };
	json_t *list = json_loads(nodes, 0, NULL), *msg;
	int rc;

	assert_non_null(list);
	TAILQ_INIT(&ag.runs);
	msg = json_pack("{s:s, s:s, s:s, s:i, s:s, s:o}", "run", "r", "mpi",
	    "openmpi", "launcher", "agent", "ranks_per_node", ranks, "campaign",
	    "", "nodes", list);
	rc = orders_session_ops.message(WIRE_LAUNCH, msg, &ag);
	json_decref(msg);
	return rc;
}

static void
test_launch(void **state)
{
	static const struct {
		const char *nodes;
		int ranks, rc;
	} rows[] = {
		{ "[{\"node\":\"n1\",\"addr\":\"10.0.0.1\"}]", 1, 0 },
		{ "[{\"node\":\"n1\"}]", 1, -EPROTO },
		{ "[{\"node\":\"n1\",\"addr\":\"\"}]", 1, -EPROTO },
		{ "[{\"node\":\"n1\",\"addr\":7}]", 1, -EPROTO },
		{ "[{\"addr\":\"10.0.0.1\"}]", 1, -EPROTO },
		{ "[{\"node\":\"n 1\",\"addr\":\"10.0.0.1\"}]", 1, -EPROTO },
		{ "[\"n1\"]", 1, -EPROTO },
		{ "[]", 1, -EPROTO },
		{ "[{\"node\":\"n1\",\"addr\":\"10.0.0.1\"}]", 0, -EPROTO },
		{ "[{\"node\":\"n1\",\"addr\":\"10.0.0.1\"}]", 9999, -EPROTO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(launch(rows[i].nodes, rows[i].ranks),
		    rows[i].rc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_launch) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
