/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated pairs of nodes: a slow node has an interval above the normal nodes,
 * sets are distinguished from slow nodes, and waiting for cores is doubt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "probes/scan/scan_judge.h"

#define NODES  12
#define TRIALS 200
#define RATE   1e9

struct net {
	struct rng rng;
	int n;
	double slow[NODES]; /* effect */
	int cut;            /* pairs across are slow; 0: none */
	double scatter;
};

static void
play(struct net *net, struct scan_judge_result *ret)
{
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	ret->test = CANARY_BW;
	ret->pairs = calloc(NODES * NODES, sizeof(*ret->pairs));
	ret->nodes = calloc(NODES, sizeof(*ret->nodes));
	ret->nodes_count = (size_t)net->n;
	for (int i = 0; i < net->n; i++) {
		double x[NODES];
		size_t k = 0;

		for (int j = 0; j < net->n; j++) {
			double effect = fmax(net->slow[i], net->slow[j]);

			if (i == j)
				continue;
			if ((i < net->cut) != (j < net->cut))
				effect = fmax(effect, log(4));
			effect += net->scatter *
			    robust_normal_quantile(
				rng_unit(&net->rng) * 0.999 + 0.0005);
			x[k++] = RATE * exp(-effect);
			if (i < j)
				ret->pairs[n++] = (struct scan_judge_pair){ i,
					j, x[k - 1] };
		}
		ret->nodes[i] = (struct scan_judge_node){ i, 100,
			robust_median(x, k), robust_quantile_outer(x, k, 0.75),
			0 };
	}
	ret->pairs_count = n;
}

/* The interval of a slow node contains its effect in about 95 % of trials, and
 * is above the threshold; intervals of healthy nodes contain 0. */
static void
test_intervals(void **state)
{
	int held = 0, above = 0, good_above = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct net net = { .n = 8, .scatter = 0.05 };
		unsigned char is_good[NODES];
		struct scan_judge_typical t = { 1, -log(RATE), 0.02, 1 };
		struct scan_judge_interval iv;
		struct scan_judge_result r;

		rng_seed(&net.rng, seed);
		net.slow[3] = log(2);
		memset(is_good, 1, sizeof(is_good));
		is_good[3] = 0;
		play(&net, &r);
		iv = scan_judge_node_interval(&r, &t, 3, is_good);
		assert_int_equal(iv.n, 7);
		held += iv.lo <= log(2) && log(2) <= iv.hi;
		above += iv.lo > JUDGE_EFFECT_MIN;
		for (int i = 0; i < net.n; i++)
			good_above += i != 3 &&
			    scan_judge_node_interval(&r, &t, i, is_good).lo >
				JUDGE_EFFECT_MIN;
		scan_judge_result_clear(&r);
	}
	assert_in_range(held, TRIALS * 90 / 100, TRIALS * 99 / 100);
	assert_int_equal(above, TRIALS);
	assert_int_equal(good_above, 0);
}

/* One value has no interval, none has no mean; two have a wide one. */
static void
test_few(void **state)
{
	const double x[] = { 0.5, 0.6 };
	struct scan_judge_result r = { 0 };
	struct net net = { .n = 2, .scatter = 0.01 };
	struct scan_judge_typical t;

	(void)state;
	assert_true(isnan(scan_judge_interval_of(x, 0).mean));
	assert_true(isinf(scan_judge_interval_of(x, 1).lo));
	assert_true(scan_judge_interval_of(x, 2).lo < 0);
	/* Two nodes have no typical value. */
	rng_seed(&net.rng, 1);
	play(&net, &r);
	scan_judge_typical(&r, &t);
	assert_false(t.known);
	scan_judge_result_clear(&r);
	net.n = 3;
	net.slow[2] = 1;
	play(&net, &r);
	scan_judge_typical(&r, &t);
	assert_true(t.known);
	assert_true(fabs(scan_judge_effect(&r, &r.nodes[2], &t) - 1) < 0.1);
	scan_judge_result_clear(&r);
}

static void
test_group(void **state)
{
	static const struct bisect_options o = { JUDGE_EFFECT_MIN, 8 };
	struct net net = { .n = 8, .scatter = 0.02 };
	double effect = NAN, spread = 0, doubt = 0;
	struct scan_judge_result r;
	struct scan_judge_typical t;

	(void)state;
	rng_seed(&net.rng, 1);
	net.slow[5] = log(3);
	play(&net, &r);
	scan_judge_typical(&r, &t);
	scan_judge_group(&r, &t, &o, &effect, &spread, &doubt);
	assert_true(fabs(effect - log(3)) < 0.1);
	assert_true(doubt == 0);
	/* It had a core for a third of the time, which may explain all of its
	 * effect. */
	r.nodes[5].wait_ratio = 2.0 / 3;
	scan_judge_group(&r, &t, &o, &effect, &spread, &doubt);
	assert_true(fabs(doubt - log(3)) < 1e-9);
	/* Where all wait as much, the typical node does too. */
	for (size_t i = 0; i < r.nodes_count; i++)
		r.nodes[i].wait_ratio = 2.0 / 3;
	scan_judge_typical(&r, &t);
	doubt = 0;
	scan_judge_group(&r, &t, &o, &effect, &spread, &doubt);
	assert_true(doubt < 1e-9);
	r.cause = CAUSE_TIMEOUT;
	scan_judge_group(&r, &t, &o, &effect, &spread, &doubt);
	assert_true(isinf(effect));
	scan_judge_result_clear(&r);
}

static void
test_sets(void **state)
{
	static const unsigned char skip_none[NODES];
	unsigned char skip[NODES] = { 0 };
	int set_of[NODES];
	struct scan_judge_typical t = { 1, -log(RATE), 0.02, 1 };
	struct scan_judge_result r;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct net net = { .n = NODES, .scatter = 0.03 };

		rng_seed(&net.rng, seed);
		play(&net, &r);
		assert_int_equal(scan_judge_sets(&r, &t, JUDGE_EFFECT_MIN,
				     NODES, skip_none, set_of),
		    1);
		scan_judge_result_clear(&r);
		/* A slow node is in no set. */
		net.slow[7] = log(5);
		net.cut = 4;
		play(&net, &r);
		assert_int_equal(scan_judge_sets(&r, &t, JUDGE_EFFECT_MIN,
				     NODES, skip_none, set_of),
		    2);
		for (int i = 0; i < NODES; i++)
			assert_int_equal(set_of[i], i == 7 ? -1 : i >= 4);
		skip[0] = 1;
		scan_judge_sets(&r, &t, JUDGE_EFFECT_MIN, NODES, skip, set_of);
		assert_int_equal(set_of[0], -1);
		scan_judge_result_clear(&r);
	}
}

/* Effects have one sign for times and rates. */
static void
test_scale(void **state)
{
	(void)state;
	assert_true(
	    scan_judge_log(CANARY_LAT, 2) > scan_judge_log(CANARY_LAT, 1));
	assert_true(
	    scan_judge_log(CANARY_BW, 2) < scan_judge_log(CANARY_BW, 1));
	assert_true(
	    fabs(scan_judge_value(CANARY_BW, scan_judge_log(CANARY_BW, 3)) -
		3) < 1e-9);
	assert_true(
	    fabs(scan_judge_value(CANARY_LAT, scan_judge_log(CANARY_LAT, 3)) -
		3) < 1e-9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_scale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
