/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of the shipped campaigns without failures: starts of MPI and bytes
 * in an hour; and no campaign starts while another runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/err.h"
#include "schema/options.h"

#define SHIPPED_MAX 32
#define HOUR_S      3600
/* From the start of one run to the start of the next, without jitter. */
#define APART_S 120

struct shipped {
	int every_s, offset_s;
	double bytes;
	int64_t nodes_max;
};

static size_t
shipped_load(struct shipped ret[SHIPPED_MAX])
{
	struct err err;
	struct conf *c;
	size_t n = 0;
	glob_t all;

	assert_int_equal(glob(CAMPAIGNS "/*.conf", 0, NULL, &all), 0);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		if (conf_load(options_campaign, all.gl_pathv[i], &c, &err) < 0)
			fail_msg("%s", err.text);
		if (conf_bool(c, "schedule", "enabled") &&
		    conf_span_ns(c, "schedule", "every") > 0) {
			assert_true(n < SHIPPED_MAX);
			ret[n++] = (struct shipped){
				(int)(conf_span_ns(c, "schedule", "every") /
				    CLK_NS_PER_S),
				(int)(conf_span_ns(c, "schedule", "offset") /
				    CLK_NS_PER_S),
				(double)conf_bytes(c, "campaign", "bytes"),
				conf_int(c, "campaign", "nodes_max")
			};
		}
		conf_free(c);
	}
	globfree(&all);
	return n;
}

static void
test_cost(void **state)
{
	struct shipped all[SHIPPED_MAX];
	size_t n = shipped_load(all);
	double starts = 0, bytes = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		starts += (double)HOUR_S / all[i].every_s;
		bytes += all[i].bytes * HOUR_S / all[i].every_s;
	}
	assert_true(starts > 0);
	assert_true(starts <= 12);
	assert_true(bytes <= 200.0 * 1024 * 1024);
}

/* On a cluster of any size scheduled jobs have at most 256 nodes. */
static void
test_nodes(void **state)
{
	struct shipped all[SHIPPED_MAX];
	size_t n = shipped_load(all);

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_true(all[i].nodes_max <= 256);
}

static void
test_apart(void **state)
{
	struct shipped all[SHIPPED_MAX];
	size_t n = shipped_load(all);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			for (int at = all[i].offset_s; at < 24 * HOUR_S;
			     at += all[i].every_s) {
				int off = abs(at - all[k].offset_s) %
				    all[k].every_s;

				assert_true(off >= APART_S &&
				    off <= all[k].every_s - APART_S);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
