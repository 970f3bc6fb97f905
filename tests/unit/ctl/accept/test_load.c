/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load.c - parts of promised loads, the options of their runs, and values
 * worked out by hand.
 */
#include "ctl/accept/load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "schema/promise.h"

#define NEAR 1e-9

static struct conf *
promise(const char *loads)
{
	struct conf *c = NULL;
	struct err err;
	char text[4000];

	snprintf(text, sizeof(text),
	    "[nic]\nrate = 80\n[leaf]\noversubscription = 2\n%s", loads);
	assert_int_equal(conf_parse(options_promise, "p", text, &c, &err), 0);
	return c;
}

/* Repeated words are one part; what needs more nodes has a reason. */
static void
test_parts(void **state)
{
	struct conf *c = promise("[incast]\nsenders = 4,4,none,64,2\n"
				 "[congestion]\nimpact = 2\nloads = 50,50,25");
	struct load l[LOAD_PARTS_MAX];
	const char *why;

	(void)state;
	assert_int_equal(load_list(c, LOAD_INCAST, 12, 3, l, &why), 2);
	assert_string_equal(l[0].name, "4 senders");
	assert_non_null(why);
	assert_int_equal(load_list(c, LOAD_CONGESTION, 12, 3, l, &why), 6);
	assert_null(why);
	assert_string_equal(l[5].name, "allreduce at 25 % load");
	assert_int_equal(load_turns(l, 6), 2);
	assert_int_equal(load_list(c, LOAD_CONGESTION, 9, 3, l, &why), 0);
	assert_string_equal(why, "at least 10 nodes are needed");
	assert_int_equal(load_list(c, LOAD_SOAK, 12, 3, l, &why), 0);
	assert_string_equal(why, "the promise has none");
	conf_free(c);
	c = promise("[collective]\nnames = alltoall\n");
	assert_int_equal(load_list(c, LOAD_COLLECTIVE, 12, 3, l, &why), 1);
	conf_set(c, "leaf", "oversubscription", "0", "test", NULL);
	assert_int_equal(load_list(c, LOAD_COLLECTIVE, 12, 3, l, &why), 0);
	assert_non_null(why);
	conf_free(c);
}

static const char *
option(const json_t *run, const char *key)
{
	return json_string_value(
	    json_object_get(json_object_get(run, "options"), key));
}

static void
test_runs(void **state)
{
	struct conf *c = promise("[incast]\nsenders = 2,8\n"
				 "[congestion]\nimpact = 2\nloads = 50,25\n"
				 "[soak]\ntime = 1h");
	struct load_nodes n = { 12, 2, 44 };
	struct load l[LOAD_PARTS_MAX];
	json_t *run = json_object();
	const char *why;
	size_t count = load_list(c, LOAD_INCAST, 12, 3, l, &why);

	(void)state;
	assert_true(load_run_set(c, l, count, 0, &n, 1 << 20, run) > 0);
	assert_string_equal(option(run, "measure.vary"), "n 3 9");
	assert_string_equal(option(run, "group.g"), "2");
	n.nodes = 4; /* of these, 8 cannot send to one */
	load_run_set(c, l, count, 0, &n, 1 << 20, run);
	assert_string_equal(option(run, "measure.vary"), "n 3");
	n.nodes = 2;
	assert_true(load_run_set(c, l, count, 0, &n, 1 << 20, run) <= 0);
	n.nodes = 12;
	count = load_list(c, LOAD_CONGESTION, 12, 3, l, &why);
	load_run_set(c, l, count, 1, &n, 1 << 20, run);
	assert_string_equal(option(run, "congestor.strength"), "0.25");
	count = load_list(c, LOAD_SOAK, 12, 3, l, &why);
	/* A sixth of the soak, and a warmup. */
	assert_true(
	    fabs(load_run_set(c, l, count, 0, &n, 1 << 28, run) - 600) < 20);
	json_decref(run);
	conf_free(c);
}

/* At 10 GB/s, 8 GB from 2 to 10: 0.8 s; a share of 0.8 promises 1 s. */
static void
test_values(void **state)
{
	struct conf *c = promise("[incast]\nsenders = 2\n"
				 "[collective]\nnames = allreduce\n"
				 "[congestion]\nimpact = 3\nloads = 100");
	struct load_nodes n = { 12, 1, 3 };
	struct load l[LOAD_PARTS_MAX];
	json_t *run = json_pack("{s:i, s:[I, I]}", "shift", 0, "sizes",
	    (json_int_t)2000000000, (json_int_t)10000000000);
	json_t *records = json_pack(
	    "[{s:s, s:s, s:i, s:f, s:f}, {s:s, s:s, s:i, s:f, s:f}, "
	    "{s:s, s:s, s:f, s:f}, {s:s, s:s, s:f, s:f}, {s:s, s:s, s:s, s:f}]",
	    "probe", "group", "of", "whole", "groups", 3, "bytes", 10e9,
	    "median_middle", 2.5, "probe", "group", "of", "whole", "groups", 3,
	    "bytes", 2e9, "median_middle", 0.5, "probe", "speedup",
	    "collective", "allreduce", "bytes", 2e9, "seconds", 1.0, "probe",
	    "speedup", "collective", "allreduce", "bytes", 10e9, "seconds",
	    13.0, "probe", "impact", "of", "mean", "test", "lat", "value", 6.0);
	const char *why;

	(void)state;
	load_list(c, LOAD_INCAST, 12, 3, l, &why);
	assert_float_equal(load_value(c, &l[0], &n, run, records), log(0.5),
	    NEAR);
	/* Two passes of three blocks: 6 s of 12. */
	load_list(c, LOAD_COLLECTIVE, 12, 3, l, &why);
	assert_float_equal(load_value(c, &l[0], &n, run, records), log(0.5),
	    NEAR);
	load_list(c, LOAD_CONGESTION, 12, 3, l, &why);
	assert_float_equal(load_value(c, &l[0], &n, run, records), log(0.5),
	    NEAR);
	assert_true(isnan(load_value(c, &l[1], &n, run, records)));
	json_object_set_new(run, "shift", json_integer(1));
	assert_true(isnan(load_value(c, &l[0], &n, run, records)));
	json_decref(records);
	json_decref(run);
	conf_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
