/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/err.h"
#include "probes/job/settings.h"
#include "schema/options.h"

#define MIX "[congestor]\nmix = alltoall,incast,put-incast,get-bcast\n"

static void
read_text(const char *text, struct settings *ret)
{
	struct err err;
	struct conf *c;

	if (conf_parse(options_campaign, "t", text, &c, &err) < 0)
		fail_msg("%s", err.text);
	settings_read(c, ret);
	conf_free(c);
}

static void
test_defaults(void **state)
{
	struct settings s;

	(void)state;
	read_text("", &s);
	assert_false(settings_congested(&s));
	read_text(MIX, &s);
	assert_int_equal(s.test_count, 3);
	assert_int_equal(s.tests[0], CANARY_LAT);
	assert_int_equal(s.tests[1], CANARY_BW_SYNC);
	assert_int_equal(s.tests[2], CANARY_ALLREDUCE);
	assert_int_equal(s.kind_count, 4);
	assert_int_equal(s.kinds[3], CONGESTOR_GET_BCAST);
	assert_int_equal(s.congestor_bytes, 4096);
	assert_int_equal(s.allreduce_bytes, 6553600); /* 6.25 MiB */
	assert_true(settings_congested(&s));
	assert_int_equal(s.kind_shares[0], 0);
	read_text("[congestor]\nmix = incast,bcast\nshares = 3,1\n", &s);
	assert_int_equal(s.kind_shares[0], 3);
	assert_int_equal(s.kind_shares[1], 1);
	assert_int_equal(s.placement, ROLES_RANDOM);
	assert_string_equal(s.leaves, "");
	read_text("[congestor]\nmix = incast\nplacement = spread\n"
		  "leaves = n1 n2\n",
	    &s);
	assert_int_equal(s.placement, ROLES_SPREAD);
	assert_string_equal(s.leaves, "n1 n2");
}

/* Each pair of visits has both phases, in an order that is drawn from the seed:
 * the second pair's is the first one's reversed, later ones differ. */
static void
test_order(void **state)
{
	int loaded_first = 0, changes = 0;
	struct settings s;
	int visit;

	(void)state;
	read_text(MIX "[campaign]\nseed = 11\n[phases]\nvisits = 64\n", &s);
	assert_int_equal(settings_stretches(&s), 128);
	for (int i = 0; i < 64; i++) {
		enum phase first = settings_phase(&s, 2 * i, &visit);

		assert_int_equal(visit, i);
		assert_int_not_equal(settings_phase(&s, 2 * i + 1, &visit),
		    first);
		assert_int_equal(visit, i);
		assert_int_equal(first == PHASE_CONGESTED,
		    settings_loaded_first(11, i));
		loaded_first += settings_loaded_first(11, i);
		changes += i > 0 &&
		    settings_loaded_first(11, i) !=
			settings_loaded_first(11, i - 1);
	}
	assert_int_not_equal(settings_loaded_first(11, 0),
	    settings_loaded_first(11, 1));
	assert_true(loaded_first > 16 && loaded_first < 48);
	assert_true(changes > 16 && changes < 48);
	read_text(MIX "[phases]\nvisits = 1\n", &s);
	assert_int_equal(settings_phase(&s, 0, &visit), PHASE_ISOLATED);
}

/* Rounds of rates are counted if the campaign sets their number. */
static void
test_large_rounds(void **state)
{
	struct settings s;

	(void)state;
	read_text("[canary]\nlarge_rounds = 3\n", &s);
	assert_int_equal(settings_rounds(&s, CANARY_BW), 3);
	assert_int_equal(settings_iterations(&s, CANARY_BW), 1);
	assert_int_equal(settings_rounds(&s, CANARY_LAT), 0);
	assert_int_equal(settings_iterations(&s, CANARY_LAT), 0);
	read_text("[canary]\nlarge_rounds = 3\nexact = gpcnet\n", &s);
	assert_int_equal(settings_rounds(&s, CANARY_BW), 0);
	read_text("[canary]\niterations = 5\n", &s);
	assert_int_equal(settings_rounds(&s, CANARY_BW), 0);
	assert_int_equal(settings_iterations(&s, CANARY_BW), 5);
}

static void
test_no_congestors(void **state)
{
	struct settings s;
	int visit;

	(void)state;
	read_text("[congestor]\nmix = none\n[phases]\nvisits = 2\n"
		  "quiet = wild\n",
	    &s);
	assert_int_equal(s.kind_count, 0);
	assert_int_equal(settings_stretches(&s), 2);
	assert_int_equal(settings_phase(&s, 1, &visit), PHASE_PRODUCTION);
	assert_int_equal(visit, 1);
}

/* The reference has each phase once, whatever the file contains. */
static void
test_exact(void **state)
{
	struct settings s;
	int visit;

	(void)state;
	read_text(MIX "[canary]\nexact = gpcnet\n[phases]\nvisits = 8\n", &s);
	assert_int_equal(settings_stretches(&s), 2);
	assert_int_equal(settings_phase(&s, 0, &visit), PHASE_ISOLATED);
	assert_int_equal(settings_phase(&s, 1, &visit), PHASE_CONGESTED);
	/* the times of the paper, or longer ones */
	assert_true(s.time_ns == 10 * CLK_NS_PER_S);
	assert_true(s.load_warmup_ns == 10 * CLK_NS_PER_S);
	read_text("[canary]\nexact = gpcnet\ntime = 20s\n", &s);
	assert_true(s.time_ns == 20 * CLK_NS_PER_S);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_large_rounds),
		cmocka_unit_test(test_no_congestors),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
