/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of tests/bench/run verdict: the same trials, fewer of them, with
 * bounds that a sample of this size keeps unless something broke. Seeds are
 * fixed, so it cannot fail by chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "tests/sim/verdict/echoes.h"
#include "tests/sim/verdict/trial.h"
#include "tests/sim/verdict/defaults.h"

#define SEED 1

struct sums {
	int trials, within, named, confirmed, guilty, host;
	int suspects, alarms, cleared;
};

static const struct trial_fault *
fault_of(const char *name)
{
	for (const struct trial_fault *f = trial_faults; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	fail_msg("no fault %s", name);
	return NULL;
}

static struct sums
run(const char *name, int trials)
{
	const struct trial_fault *f = fault_of(name);
	struct sums s = { .trials = trials };
	struct trial_result r;

	for (int i = 0; i < trials; i++) {
		trial_run(f, SEED + (uint64_t)i, &r);
		s.within += r.named_round > 0 && r.named_round <= 3;
		s.named += r.named_round > 0;
		s.confirmed += r.confirmed;
		s.host += r.host;
		s.guilty += (int)f->guilty;
		s.suspects += r.wrong_suspects;
		s.alarms += r.wrong_alarms;
		s.cleared += r.cleared_round > 0 &&
		    r.cleared_round <= 4 * judge_defaults()->clean;
	}
	print_message("%s: %d of %d within 3 rounds, %d at last; second pass "
		      "right on %d of %d; %d innocent suspects, %d alarms\n",
	    name, s.within, trials, s.named, s.confirmed, s.guilty, s.suspects,
	    s.alarms);
	return s;
}

static void
at_least(int got, double share, int of)
{
	if (got < share * of)
		fail_msg("%d of %d, expected %g of them", got, of, share);
}

static void
test_one_node(void **state)
{
	struct sums s = run("1 node of 256, 20 %", 300);

	(void)state;
	at_least(s.within, 0.99, s.trials);
	at_least(s.confirmed, 0.97, s.guilty);
	at_least(s.cleared, 0.97, s.trials);
	assert_true(s.alarms <= 3);
}

static void
test_eight_nodes(void **state)
{
	struct sums s = run("8 nodes of 256, 20 %", 200);

	(void)state;
	at_least(s.within, 0.98, s.trials);
	at_least(s.confirmed, 0.94, s.guilty);
	assert_true(s.alarms <= 5);
}

/* It is the leaf or its uplink that is named, and not a rack of nodes. */
static void
test_leaf_and_link(void **state)
{
	static const char *const names[] = { "1 leaf of 8, 20 %",
		"1 uplink of 8, 20 %" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct sums s = run(names[i], 60);

		at_least(s.within, 0.97, s.trials);
		at_least(s.confirmed, 0.97, s.guilty);
		assert_true(s.suspects <= 6 * s.trials);
		assert_true(s.alarms <= 4);
	}
}

static void
test_rail(void **state)
{
	struct sums s = run("1 rail of 8 x 256, 20 %", 20);

	(void)state;
	at_least(s.named, 1, s.trials);
	at_least(s.confirmed, 0.9, s.guilty);
}

static void
test_host(void **state)
{
	struct sums s = run("1 busy host of 256, 30 %", 100);

	(void)state;
	at_least(s.within, 0.97, s.trials);
	at_least(s.host, 0.95, s.guilty);
}

/* A path that some pairs share is nobody's fault among nodes and leaves. */
static void
test_spine(void **state)
{
	struct sums s = run("1 spine of 4, 20 %", 60);

	(void)state;
	assert_true(s.alarms <= 1);
}

static void
test_large(void **state)
{
	struct sums s = run("1 node of 10,000, 20 %", 10);

	(void)state;
	at_least(s.named, 1, s.trials);
	at_least(s.within, 0.8, s.trials);
}

/* Too little for peers to tell, in a node that was always like that. */
static void
test_drift_small(void **state)
{
	static const struct trial_slow how = { 256, 0.001, 0.07, 300 };
	struct trial_drift d;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		trial_drift(&how, seed, &d);
		assert_in_range(d.cusum_round, 40, 200);
		assert_int_equal(d.wrong_cusum, 0);
	}
}

/* Nothing is wrong: no alarm, and little work for the second pass. A month of
 * this is in tests/bench/RESULTS.md. */
static void
test_quiet(void **state)
{
	struct world_options o = world_defaults;
	struct trial_quiet q;

	(void)state;
	o.nodes = 10000;
	trial_quiet(&o, 200, SEED, &q);
	print_message("quiet: %d suspects, %d alarms, %d drifts in %d rounds\n",
	    (int)q.suspects, (int)q.alarms, (int)q.drifts, (int)q.rounds);
	assert_true(q.suspects <= 80);
	assert_int_equal(q.alarms, 0);
	assert_int_equal(q.drifts, 0);
}

static void
test_drift(void **state)
{
	static const struct trial_slow how = { 256, 0.003, 1, 120 };
	struct trial_drift d;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		trial_drift(&how, seed, &d);
		assert_in_range(d.cusum_round, 5, 80);
		assert_in_range(d.peers_round, 5, 120);
		assert_int_equal(d.wrong_cusum, 0);
	}
}

/* Lost echoes: the node that loses 5 % is bad as a node, the uplink as a link,
 * and where one in 10,000 is lost anyway nobody is. */
static void
test_echoes(void **state)
{
	static const struct echoes_fault faults[] = {
		{ "node", 256, 1e-4, 0.05, 0 },
		{ "uplink", 256, 1e-4, 0.05, 1 },
		{ "none", 10000, 1e-4, 0, -1 },
	};
	struct echoes_result r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			echoes_run(&faults[i], 12, seed, &r);
			assert_int_equal(r.wrong_alarms, 0);
			if (faults[i].uplink < 0)
				continue;
			assert_in_range(r.named_epoch, 3, 4);
			assert_in_range(r.bad_epoch, 3, 6);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_node),
		cmocka_unit_test(test_eight_nodes),
		cmocka_unit_test(test_leaf_and_link),
		cmocka_unit_test(test_rail),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_spine),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_small),
		cmocka_unit_test(test_echoes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
