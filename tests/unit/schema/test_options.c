/* SPDX-License-Identifier: Apache-2.0 */
/* All rows are valid; every rule over several values rejects its violations,
 * with the place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/str.h"
#include "schema/options.h"

static void
test_rows_are_sound(void **state)
{
	static const char *const kinds[] = { "campaign", "coalmined",
		"coalmine-agent", "plan", "machine" };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		const struct conf_row *rows = options_find(kinds[k]);
		struct conf *c;
		struct err err;

		assert_non_null(rows);
		/* asserts on a default that its own row refuses */
		assert_int_equal(conf_parse(rows, "f", "", &c, &err), 0);
		conf_free(c);
		for (; rows->key != NULL; rows++) {
			assert_true(strlen(rows->text) > 5);
			assert_int_equal(rows->text[strlen(rows->text) - 1],
			    '.');
		}
	}
	assert_null(options_find("nope"));
}

/* The options of srun, for any caller. */
static void
test_slurm(void **state)
{
	static const char *const keys[] = { "partition", "account", "qos",
		"reservation" };
	const struct conf_row *row = options_slurm(NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		assert_non_null(row);
		assert_string_equal(row->section, "slurm");
		assert_string_equal(row->key, keys[i]);
		row = options_slurm(row);
	}
	assert_null(row);
}

/* A single table, which ends with the options of the probes. */
static void
test_parts(void **state)
{
	const struct conf_row *row = options_campaign;

	(void)state;
	assert_string_equal(options_patterns[-1].section, "phases");
	assert_string_equal(options_patterns->section, "group");
	while (row->key != NULL)
		row++;
	assert_string_equal(row[-1].section, "measure");
}

static void
test_what_runs(void **state)
{
	static const struct {
		const char *text;
		int canaries, plans;
	} rows[] = {
		{ "", 1, 0 },
		{ "[campaign]\nseed = 1\n[measure]\ntime = 1s\n", 1, 0 },
		{ "[stripe]\ng = 2\n", 0, 1 },
		{ "[self]\n[canary]\ntime = 1s\n", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conf *c = NULL, *again = NULL;
		char *text;
		struct err err;

		assert_int_equal(conf_parse(options_campaign, "f", rows[i].text,
				     &c, &err),
		    0);
		text = conf_render_given(c);
		assert_int_equal(conf_parse(options_campaign, "f", text, &again,
				     &err),
		    0);
		assert_int_equal(options_runs_canaries(c), rows[i].canaries);
		assert_int_equal(options_runs_plans(c), rows[i].plans);
		assert_int_equal(options_runs_canaries(again),
		    rows[i].canaries);
		assert_int_equal(options_runs_plans(again), rows[i].plans);
		free(text);
		conf_free(c);
		conf_free(again);
	}
}

static int
check(const char *text, struct err *err)
{
	struct conf *c = NULL;
	int rc = conf_parse(options_campaign, "f", text, &c, err);

	assert_int_equal(rc, 0);
	rc = options_campaign_check(c, err);
	conf_free(c);
	return rc;
}

static void
test_good(void **state)
{
	static const char *const good[] = { "[campaign]\n", "[canary]\n",
		"[campaign]\nclass = background\n",
		"[campaign]\nclass = background\n[congestor]\nmix = none\n",
		"[schedule]\nevery = 5m\noffset = 1m\njitter = 30s\n"
		"window = 22:00-06:00,12:00-13:00\n",
		"[schedule]\nat = 02:00, 14:30\n",
		"[campaign]\ndeadline = 5s\n",
		"[campaign]\nnodes = n[1-4]\nnodes_min = 4\n",
		"[canary]\nshare = 1\n[congestor]\nmix = none\n",
		"[campaign]\nclass = background\n[self]\nbytes = 1M\n",
		"[canary]\npartners = pair\ntests = lat,put-bw\n",
		"[canary]\npartners = one-way\ntests = bw\n",
		"[canary]\ntests = bw\nbytes = 12\n",
		"[slurm]\nqos = a-Z_0.,:+@\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct err err = { 0 };

		if (check(good[i], &err) < 0)
			fail_msg("%s", err.text);
	}
}

static void
test_rules(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "[canary]\ntests = lat,bw,lat\n",
		    "f:2: canary.tests = lat,bw,lat: a test is listed "
		    "twice" },
		{ "[canary]\npartners = pair\ntests = lat,bw-sync\n",
		    "f:2: canary.partners = pair: match and pair are valid "
		    "with the tests lat, get-lat, bw, put-bw, incast only, "
		    "and " },
		{ "[canary]\npartners = one-way\ntests = bw,lat\n",
		    "f:2: canary.partners = one-way: one-way is valid with "
		    "test bw, incast only, and " },
		{ "[canary]\npartners = match\ntests = lat\nexact = gpcnet\n",
		    "f:2: canary.partners = match: match and pair are valid" },
		{ "[canary]\ntests = lat,allreduce\nbytes = 12\n",
		    "f:3: canary.bytes = 12: allreduce adds numbers of 8 "
		    "bytes: expected a multiple of 8" },
		{ "[canary]\nbytes = 1K\nexact = gpcnet\n",
		    "f:2: canary.bytes = 1K: canary.exact = gpcnet uses" },
		{ "[congestor]\nmix = incast\nleaves = n1 n[2\n",
		    "f:3: congestor.leaves = n1 n[2: expected a list of "
		    "hosts" },
		{ "[congestor]\nmix = incast,bcast\nshares = 3\n",
		    "f:3: congestor.shares = 3: expected a number from 1" },
		{ "[congestor]\nmix = incast,bcast\nshares = 3,0\n",
		    "f:3: congestor.shares = 3,0: expected a number from 1" },
		{ "[congestor]\nmix = none,incast\n",
		    "f:2: congestor.mix = none,incast: none cannot be" },
		{ "[congestor]\nmix = bcast,bcast\n",
		    "f:2: congestor.mix = bcast,bcast: a kind is listed" },
		{ "", "f: the campaign is empty: expected a section" },
		{ "[canary]\ntests = lat\n[congestor]\nbytes = 4K\n",
		    "f:3: [congestor] has no mix: expected kinds of "
		    "congestors, for example mix = alltoall,incast,put-incast,"
		    "get-bcast, or mix = none" },
		{ "[congestor]\n", "f:1: [congestor] has no mix: " },
		{ "[campaign]\nclass = background\n[congestor]\nmix = incast\n",
		    "f:4: congestor.mix = incast: a background campaign may "
		    "not congest" },
		{ "[canary]\nshare = 100%\n[congestor]\nmix = incast\n",
		    "f:2: canary.share = 100%: leaves no node" },
		{ "[campaign]\nnodes_min = 5\nnodes_max = 4\n",
		    "f:2: campaign.nodes_min = 5: is more than "
		    "campaign.nodes_max" },
		{ "[campaign]\nnodes = all, n1\n",
		    "f:2: campaign.nodes = all, n1: all cannot be combined" },
		{ "[campaign]\nnodes = n[1-4]\nnodes_min = 5\n",
		    "f:3: campaign.nodes_min = 5: is more than the hosts" },
		{ "[schedule]\nat = 24:00\n", "f:2: schedule.at = 24:00: " },
		{ "[schedule]\nat = 2:00\n", "f:2: schedule.at = 2:00: " },
		{ "[schedule]\nat = 02:00,\n", "f:2: schedule.at = 02:00,: " },
		{ "[schedule]\nat = 02:000\n", "f:2: schedule.at = 02:000: " },
		{ "[schedule]\nevery = 1h\nwindow = 22:00\n",
		    "f:3: schedule.window = 22:00: expected" },
		{ "[schedule]\nevery = 1h\nwindow = 22:00-06:0\n",
		    "f:3: schedule.window = 22:00-06:0: expected" },
		{ "[schedule]\nevery = 5\n",
		    "f:2: schedule.every = 5: has no unit" },
		{ "[schedule]\nevery = 1h\nat = 02:00\n",
		    "f:3: schedule.at = 02:00: cannot be combined" },
		{ "[schedule]\nwindow = 22:00-06:00\n",
		    "f:2: schedule.window = 22:00-06:00: requires a schedule" },
		{ "[schedule]\nevery = 1m\njitter = 1m\n",
		    "f:3: schedule.jitter = 1m: must be shorter" },
		{ "[schedule]\nevery = 1m\noffset = 2m\n",
		    "f:3: schedule.offset = 2m: must be shorter" },
		{ "[campaign]\ndeadline = 20s\nstart_limit = 30s\n",
		    "f:3: campaign.start_limit = 30s: is longer" },
		{ "[campaign]\ndeadline = 40s\n[canary]\ntimeout = 1m\n",
		    "f:4: canary.timeout = 1m: is longer" },
		{ "[slurm]\npartition = a b\n",
		    "f:2: slurm.partition = a b: expected letters" },
		{ "[slurm]\naccount = a\nreservation = -x=y\n",
		    "f:3: slurm.reservation = -x=y: expected letters" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(check(bad[i].text, &err), -EINVAL);
		err.text[strlen(bad[i].want)] = '\0';
		assert_string_equal(err.text, bad[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sound),
		cmocka_unit_test(test_slurm),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_what_runs),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
