/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/diagnosis/stats/confirm.h"
#include "daemon/diagnosis/stats/drift.h"
#include "daemon/diagnosis/stats/judge.c"
#include "daemon/diagnosis/stats/loss.h"
#include "daemon/diagnosis/stats/score.c"
#include "daemon/diagnosis/stats/usual.h"
#include "tests/sim/verdict/defaults.h"

static void
near(double got, double want, double off)
{
	if (!(fabs(got - want) <= off))
		fail_msg("got %.9g, want %.9g", got, want);
}

static void
test_median(void **state)
{
	double x[] = { 5, 1, 4, 2, 3, 9 }, one[] = { 7 }, same[] = { 2, 2, 2 };
	double y[101];

	(void)state;
	near(score_median_of(x, 6), 3.5, 0);
	near(score_median_of(x, 5), score_median_of(x, 5), 0);
	near(score_median_of(one, 1), 7, 0);
	near(score_median_of(same, 3), 2, 0);
	assert_true(isnan(score_median_of(one, 0)));
	for (int i = 0; i < 101; i++)
		y[i] = (i * 37) % 101;
	for (size_t k = 0; k < 101; k++)
		near(score_kth(y, 101, k), (double)k, 0);
}

static void
test_tails(void **state)
{
	(void)state;
	near(score_tail(0), 0.5, 1e-12);
	near(score_tail(4.5), 3.3976731247e-6, 1e-12);
	/* t of 4 degrees has 2.5 % beyond 2.776, a normal beyond 1.960. */
	near(score_normal(2.776, 12), 1.96, 0.05);
	near(score_normal(-2.776, 12), -1.96, 0.05);
	near(score_normal(3, 100000), 3, 0);
	near(score_student(score_normal(4, 12), 12), 4, 1e-9);
}

/* The example of Benjamini and Hochberg's paper: 15 p, q = 0.05, 4 rejected. */
static void
test_fdr(void **state)
{
	double p[] = { 0.3240, 0.0001, 0.0298, 0.0019, 0.0004, 0.0201, 0.0095,
		0.0278, 0.0344, 0.0459, 0.4262, 0.5719, 0.6528, 0.7590, 1 };
	double one[] = { 0.02 };

	(void)state;
	near(score_fdr(p, 15, 15, 0.05), 0.0095, 0);
	near(score_fdr(one, 1, 1, 0.05), 0.02, 0);
	near(score_fdr(one, 1, 100, 0.05), -1, 0);
	near(score_fdr(one, 0, 100, 0.05), -1, 0);
}

#define NODES 32

/* Node i is at i % 7 - 3 percent, leaves of 8; other nodes as the test sets
 * them. */
static void
fill(struct score_obs *obs)
{
	for (uint32_t i = 0; i < NODES; i++) {
		obs[i].place = i;
		obs[i].peers = 0;
		obs[i].leaf = i / 8;
		obs[i].aside = 0;
		obs[i].x = -9 + 0.01 * ((i * 5) % 7 - 3.0);
		obs[i].mean = 0.01 * ((i * 5) % 7 - 3.0);
		obs[i].var = 0.0001;
		obs[i].mean_n = 100;
		obs[i].is_mixed = 0;
		obs[i].usual = 0;
	}
}

static void
test_round_node(void **state)
{
	struct score *s = score_new();
	const struct score_leaf *leaves;
	struct score_obs obs[NODES];

	(void)state;
	fill(obs);
	obs[5].x += 0.3;
	assert_int_equal(score_round(s, obs, NODES, 0.05, &leaves), 4);
	near(obs[5].effect, 0.3, 0.04);
	assert_true(obs[5].z > 4);
	for (int i = 0; i < NODES; i++)
		assert_true(i == 5 || fabs(obs[i].z) < 2);
	for (int i = 0; i < 4; i++)
		assert_false(leaves[i].apart);
	/* Too few nodes for a typical value. */
	score_round(s, obs, SCORE_PEERS_MIN - 1, 0.05, &leaves);
	assert_true(isnan(obs[0].z));
	score_free(s);
}

/* The leaf is apart; its nodes are compared with each other, and the one that
 * is slower than the rest of them still shows. */
static void
test_round_leaf(void **state)
{
	struct score *s = score_new();
	const struct score_leaf *leaves;
	struct score_obs obs[NODES];

	(void)state;
	fill(obs);
	for (int i = 8; i < 16; i++)
		obs[i].x += 0.4;
	obs[9].x += 0.4;
	assert_int_equal(score_round(s, obs, NODES, 0.05, &leaves), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(leaves[i].apart, leaves[i].leaf == 1);
	near(leaves[1].effect, 0.4, 0.04);
	assert_true(obs[9].z > 4);
	assert_true(fabs(obs[10].z) < 2.5);
	score_free(s);
}

static const struct judge_options options = { 0.05, 0.01, 3, 5, 4 };

static enum judge_state
state_of(const struct judge *j, enum judge_kind kind, uint32_t index)
{
	uint32_t outliers = 0;

	for (uint32_t i = 0; i < judge_count(j, kind); i++)
		outliers += judge_track(j, kind, i)->state >= JUDGE_OUTLIER;
	assert_int_equal(judge_outliers(j, kind), outliers);
	return (enum judge_state)judge_track(j, kind, index)->state;
}

static void
hear(struct judge *j, double extra, size_t want_changes)
{
	const struct judge_change *changes;
	struct score_obs obs[NODES];

	fill(obs);
	obs[5].x += extra;
	assert_int_equal(judge_round(j, obs, NODES, NULL, &changes),
	    want_changes);
}

/* Return the slowdown with which node 299 of 300 is an outlier after three
 * rounds; the first nodes, this many, are busy, and as fast as the others. */
static double
least_named(int busy)
{
	enum { MANY = 300 };
	const struct judge_change *changes;
	struct score_obs obs[MANY];
	double extra = 0;
	int named = 0;

	while (!named && extra < 1) {
		struct judge *j = judge_new(&options);

		extra += 0.002;
		for (int r = 0; r < 3; r++) {
			for (uint32_t i = 0; i < MANY; i++)
				obs[i] = (struct score_obs){ .place = i,
					.leaf = SCORE_NO_LEAF,
					.aside = (int)i < busy,
					.x = 0.002 * ((i * 37) % 101) };
			obs[MANY - 1].x = 0.1 + extra;
			judge_round(j, obs, MANY, NULL, &changes);
		}
		named = state_of(j, JUDGE_NODE, MANY - 1) == JUDGE_OUTLIER;
		judge_free(j);
	}
	return extra;
}

/* If more than a quarter of the nodes is busy, the limit of the others is
 * higher than their number alone requires. */
static void
test_many_busy(void **state)
{
	(void)state;
	assert_true(least_named(0) < 0.8);
	assert_true(least_named(70) <= least_named(0));
	assert_true(least_named(100) > 1.04 * least_named(0));
}

/* A known property of a node is not a fault, as far as it is known: a new node
 * is compared with its peers. A node that becomes slower than it was is found,
 * even if its peers are permanently as slow. */
static void
test_usual(void **state)
{
	struct judge *j = judge_new(&options);
	const struct judge_change *changes;
	struct score_obs obs[NODES];

	(void)state;
	for (int r = 0; r < 20; r++) {
		fill(obs);
		for (int i = 0; i < NODES; i += 4) {
			obs[i].x += 0.15;
			obs[i].mean += 0.15;
		}
		obs[1].x += r >= 12 ? 0.15 : 0;
		judge_round(j, obs, NODES, NULL, &changes);
	}
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(state_of(j, JUDGE_NODE, i),
		    i == 1 ? JUDGE_OUTLIER : JUDGE_OK);
	near(judge_node_usual(j, 4), 0.15 + 0.03, 0.03);
	judge_free(j);
}

/* Means of rounds wander: a node that deviates for an hour is not an outlier if
 * all do at times, but is one if no other does. */
static void
test_wander(void **state)
{
	for (int all = 0; all < 2; all++) {
		struct judge *j = judge_new(&options);
		const struct judge_change *changes;
		struct score_obs obs[NODES];
		int named = 0;

		(void)state;
		for (int r = 0; r < 400; r++) {
			fill(obs);
			for (int i = 0; i < NODES; i++)
				obs[i].x += all ? 0.1 * sin(r / 30.0 + i) : 0;
			obs[5].x += !all && r >= 390 ? 0.1 : 0;
			judge_round(j, obs, NODES, NULL, &changes);
			named |= state_of(j, JUDGE_NODE, 5) == JUDGE_OUTLIER;
		}
		assert_int_equal(named, !all);
		judge_free(j);
	}
}

/* Nodes with equal deviations, independent from round to round or lasting
 * hours: the wandering ones must be found slower by more in a run. */
static void
test_lasting(void **state)
{
	double slow_min[2];

	(void)state;
	for (int lasts = 0; lasts < 2; lasts++) {
		struct judge *j = judge_new(&options);
		const struct judge_change *changes;
		struct score_obs obs[NODES];

		for (int r = 0; r < 400; r++) {
			fill(obs);
			for (int i = 0; i < NODES; i++)
				obs[i].x += 0.05 *
				    sin((lasts ? r / 30.0 : 2.1 * r) + i);
			judge_round(j, obs, NODES, NULL, &changes);
		}
		assert_true(lasts ==
		    (judge_lasting_wander(j) > 0.5 * sqrt(j->one.var)));
		slow_min[lasts] = judge_slow_min(j,
		    judge_track(j, JUDGE_NODE, 5));
		judge_free(j);
	}
	assert_true(slow_min[1] > 2 * slow_min[0]);
}

/* Among many nodes few rounds are counted, and these are enough. */
static void
test_lasting_many(void **state)
{
	enum { MANY_NODES = 10000 };
	double *x = xcalloc(MANY_NODES, sizeof(*x));
	struct wander w = { 0 };

	(void)state;
	for (int r = 0; r < 40; r++) {
		for (int i = 0; i < MANY_NODES; i++)
			x[i] = sin(i + r);
		wander_hear(&w, x, MANY_NODES, 0);
	}
	assert_true(w.rounds >= NOISE_ROUNDS);
	free(x);
}

/* Return the wander of thousands of nodes with a normal distribution of
 * deviation 0.02; the slowest ones, `more`, are slower by the factor `times`.
 */
static double
wander_of_many(int more, double times)
{
	enum { MANY_NODES = 10000 };
	double *x = xcalloc(MANY_NODES, sizeof(*x));
	struct wander w = { 0 };

	for (int r = 0; r < 40; r++) {
		for (int i = 0; i < MANY_NODES; i++)
			x[i] = 0.02 *
			    robust_normal_quantile((i + 0.5) / MANY_NODES) *
			    (i >= MANY_NODES - more ? times : 1);
		wander_hear(&w, x, MANY_NODES, 0);
	}
	free(x);
	return wander_sd(&w, 0);
}

/* Among thousands of nodes the tail is measured, if it is more than a few
 * nodes. A group of slow nodes does not widen it by much. */
static void
test_far_tail(void **state)
{
	(void)state;
	near(wander_of_many(0, 1), 0.02, 0.0002);
	near(wander_of_many(6, 1.2), 0.02, 0.0002);
	near(wander_of_many(30, 1.2), 0.024, 0.0005);
	near(wander_of_many(30, 5), 0.025, 0.0005);
}

/* Wander that a few nodes overestimate does not excuse a node at a distance
 * that is never usual. */
static void
test_wander_limit(void **state)
{
	struct judge *j = judge_new(&options);
	const struct judge_change *changes;
	struct score_obs obs[NODES];
	const struct track *t;

	(void)state;
	fill(obs);
	judge_round(j, obs, NODES, NULL, &changes);
	t = judge_track(j, JUDGE_NODE, 5);
	j->mean[LONG] = (struct wander){ 0.02 * 0.02, 100, NODES };
	assert_true(judge_slow_min(j, t) < JUDGE_USUAL_MOST);
	j->mean[LONG].var = 0.1 * 0.1;
	assert_float_equal(judge_slow_min(j, t), JUDGE_USUAL_MOST, 1e-9);
	judge_free(j);
}

/* The mean of a run and the rounds before it must exceed chance: a node that
 * was little slower in these rounds must be slower by more in the run. */
static void
test_wander_mean(void **state)
{
	struct judge *j = judge_new(&options);
	const struct judge_change *changes;
	struct score_obs obs[NODES];
	struct track *t;
	double chance;

	(void)state;
	fill(obs);
	judge_round(j, obs, NODES, NULL, &changes);
	t = judge_find(j, JUDGE_NODE, 5);
	j->mean[LONG] = (struct wander){ 0.02 * 0.02, 100, NODES };
	chance = judge_slow_min(j, t);
	t->votes = 1;
	t->raw[0] = (float)(chance - 0.03) + t->usual;
	near(judge_slow_min(j, t), chance + 0.03, 1e-6);
	t->raw[0] = (float)(chance + 0.03) + t->usual;
	near(judge_slow_min(j, t), chance, 1e-6);
	judge_free(j);
}

/* Return the state of node 5 after this many rounds. */
static enum judge_state
after(struct judge *j, double extra, int rounds)
{
	const struct judge_change *changes;
	struct score_obs obs[NODES];

	for (int r = 0; r < rounds; r++) {
		fill(obs);
		obs[5].x += extra;
		judge_round(j, obs, NODES, NULL, &changes);
	}
	return state_of(j, JUDGE_NODE, 5);
}

/* One that was dismissed is left alone for two hours, unless it is slower by
 * far. */
static void
test_hold(void **state)
{
	struct judge *j = judge_new(&options);

	(void)state;
	assert_int_equal(after(j, 0, 20), JUDGE_OK);
	assert_int_equal(after(j, 0.1, 5), JUDGE_OUTLIER);
	judge_confirm(j, JUDGE_NODE, 5, 0);
	assert_int_equal(after(j, 0.1, DISMISSED_ROUNDS - 1), JUDGE_OK);
	assert_int_equal(after(j, 0.1, 3), JUDGE_OUTLIER);
	judge_confirm(j, JUDGE_NODE, 5, 0);
	assert_int_equal(after(j, 0.2, 3), JUDGE_OUTLIER);
	judge_free(j);
}

/* Most nodes of two of four leaves are outliers, and so are these leaves,
 * although no leaf differs from the rest. The same number of nodes spread over
 * all leaves belongs to no leaf. */
static void
test_leaf_crowd(void **state)
{
	(void)state;
	for (int anywhere = 0; anywhere < 2; anywhere++) {
		struct judge *j = judge_new(&options);
		const struct judge_change *changes;
		struct score_obs obs[NODES];

		for (uint32_t i = 0; i < NODES; i++)
			if (anywhere ? i % 2 == 0 : i < NODES / 2)
				judge_restore(j, JUDGE_NODE, i, JUDGE_OUTLIER);
		fill(obs);
		judge_round(j, obs, NODES, NULL, &changes);
		for (uint32_t l = 0; l < 4; l++)
			assert_int_equal(state_of(j, JUDGE_LEAF, l) >=
				JUDGE_OUTLIER,
			    !anywhere && l < 2);
		judge_free(j);
	}
}

static void
test_ridge(void **state)
{
	struct usual_prior p = { 0.02, 0.04, 0 };
	double x[200];

	(void)state;
	near(usual_offset(&p, 0.1, 0.5, 0), 0.1, 0);
	near(usual_offset(&p, 0.1, 0.5, 4), 0.3, 1e-12);
	near(usual_offset(&p, 0.1, 0.5, 40000), 0.5, 1e-3);
	near(usual_variance(&p, 0), 0.0004, 1e-12);
	near(usual_variance(&p, 4), 0.0002, 1e-12);
	/* one node in eight of another kind widens it, a few faults do not */
	for (int i = 0; i < 200; i++)
		x[i] = 0.02 * sin(i) + (i % 6 == 0 ? 0.2 : 0);
	assert_true(usual_between(x, 200) > 0.1);
	for (int i = 0; i < 200; i++)
		x[i] = 0.02 * sin(i) + (i % 40 == 0 ? 0.2 : 0);
	assert_true(usual_between(x, 200) < 0.03);
}

/* Many nodes that fail at the same time are not a wander. */
static void
test_crowd(void **state)
{
	struct wander w = { 0 };
	double x[100];

	(void)state;
	for (int r = 0; r < 40; r++) {
		for (int i = 0; i < 100; i++)
			x[i] = 0.02 * sqrt(2) * sin(i * 7 + r) +
			    (r >= 34 && i % 4 == 0 ? 1 : 0);
		wander_hear(&w, x, 100, 0);
	}
	near(wander_sd(&w, 0), 0.03, 0.01);
	near(wander_sd(&w, 0.1), 0.1, 0);
	assert_true(wander_size(&w) > 300);
}

static void
test_hysteresis(void **state)
{
	struct judge *j = judge_new(&options);

	(void)state;
	hear(j, 0, NODES + 4); /* unknown, now ok: nodes and leaves */
	hear(j, 0.2, 0);
	hear(j, 0.2, 0);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OK);
	hear(j, 0.2, 1);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OUTLIER);
	near(track_effect(judge_track(j, JUDGE_NODE, 5)), 0.2, 0.04);
	judge_confirm(j, JUDGE_NODE, 5, 1);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_BAD);
	for (int i = 0; i < 3; i++)
		hear(j, 0, 0);
	hear(j, 0.2, 0); /* not clean: counting restarts */
	for (int i = 0; i < 3; i++)
		hear(j, 0, 0);
	hear(j, 0, 1);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OK);
	judge_free(j);
}

/* Rounds in which all nodes scatter do not end an outlier that is as slow as
 * before, and do not keep one that is not. */
static void
test_scattered(void **state)
{
	struct judge *j = judge_new(&options);
	const struct judge_change *changes;
	struct score_obs obs[NODES];

	(void)state;
	for (int i = 0; i < 12; i++)
		hear(j, 0, i == 0 ? NODES + 4 : 0);
	for (int i = 0; i < 3; i++)
		hear(j, 0.2, i == 2);
	for (int i = 0; i < 12; i++) {
		fill(obs);
		for (int k = 0; k < NODES; k++)
			obs[k].x += k == 5 ? 0.2
			    : i % 2 == 0   ? 9 * (obs[k].x + 9)
					   : -11 * (obs[k].x + 9);
		judge_round(j, obs, NODES, NULL, &changes);
		assert_true(obs[5].z < DIRTY_Z);
		assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OUTLIER);
		assert_int_equal(judge_track(j, JUDGE_NODE, 5)->clean, 0);
	}
	for (int i = 0; i < 4; i++)
		hear(j, 0, i == 3);
	judge_free(j);
}

/* Two of four leaves are slow; then all nodes are, since nodes of the other
 * leaves meet slow ones. This does not make the two leaves normal; the repair
 * does. A single node does not make all others slow, so it is normal if they
 * are as slow. */
static void
test_most_slow(void **state)
{
	(void)state;
	for (uint32_t leaves = 0; leaves <= 2; leaves += 2) {
		struct judge *j = judge_new(&options);
		enum judge_kind kind = leaves > 0 ? JUDGE_LEAF : JUDGE_NODE;
		uint32_t one = leaves > 0 ? 1 : 5;
		const struct judge_change *changes;
		struct score_obs obs[NODES];

		for (int r = 0; r < 60; r++) {
			fill(obs);
			for (uint32_t i = 0; i < NODES; i++)
				obs[i].x += r < 20 || r >= 50 ? 0
				    : r >= 30 || obs[i].leaf < leaves || i == 5
				    ? 0.4
				    : 0;
			judge_round(j, obs, NODES, NULL, &changes);
			if (r == 29)
				assert_int_equal(state_of(j, kind, one),
				    JUDGE_OUTLIER);
			if (r == 49)
				assert_int_equal(state_of(j, kind, one),
				    leaves > 0 ? JUDGE_OUTLIER : JUDGE_OK);
		}
		assert_int_equal(state_of(j, kind, one), JUDGE_OK);
		judge_free(j);
	}
}

/* 3 % is never an outlier, however significant, and neither are two noisy
 * rounds of five. */
static void
test_not_guilty(void **state)
{
	struct judge *j = judge_new(&options);

	(void)state;
	hear(j, 0, NODES + 4);
	for (int i = 0; i < 20; i++)
		hear(j, 0.035, 0);
	for (int i = 0; i < options.window; i++)
		hear(j, 0, 0);
	for (int i = 0; i < 20; i++)
		hear(j, i % 5 < 2 ? 3.0 : 0, 0);
	judge_free(j);
}

static void
test_dismissed(void **state)
{
	struct judge *j = judge_new(&options);

	(void)state;
	hear(j, 0.2, NODES + 4);
	hear(j, 0.2, 0);
	hear(j, 0.2, 1);
	judge_confirm(j, JUDGE_NODE, 5, 0);
	hear(j, 0.2, 0);
	hear(j, 0.2, 0);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OK);
	hear(j, 0.2, 1);
	judge_forget(j, JUDGE_NODE, 5);
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_UNKNOWN);
	assert_null(judge_track(j, JUDGE_NODE, NODES));
	judge_free(j);
}

static void
test_host(void **state)
{
	struct judge *j = judge_new(&options);
	const struct judge_change *changes;
	struct score_obs obs[NODES];
	uint8_t busy[NODES] = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(obs);
		obs[5].x += 0.3;
		busy[5] = i > 0;
		judge_round(j, obs, NODES, busy, &changes);
	}
	assert_int_equal(state_of(j, JUDGE_NODE, 5), JUDGE_OUTLIER);
	assert_true(judge_is_host(j, judge_track(j, JUDGE_NODE, 5)));
	judge_free(j);
}

/* ---- the second pass ---- */

/* Suspect and two mates on leaf 0, two on leaf 1, one on leaf 2. */
static const uint32_t six[] = { 0, 0, 0, 1, 1, 2 };

struct slow {
	double node, leaf, uplink;
	int path;   /* only from leaf 0 to leaf 1 */
	size_t bad; /* one of those thought good, slower by 0.2 */
};

static double
pair_of(const uint32_t *leaves, size_t a, size_t b, struct slow s)
{
	int home_a = leaves[a] == 0, home_b = leaves[b] == 0;
	double x = leaves[a] == leaves[b] ? -12 : -11.9;

	x += 0.001 * (double)((a * 7 + b * 3) % 5);
	x += a == 0 ? s.node : 0;
	x += s.bad != 0 && (a == s.bad || b == s.bad) ? 0.2 : 0;
	x += home_a || home_b ? s.leaf : 0;
	if (home_a != home_b && (!s.path || leaves[b] == 1))
		x += s.uplink;
	return x;
}

static enum confirm_finding
finding(const uint32_t *leaves, size_t n, struct slow s)
{
	struct confirm_pair pairs[15];
	struct confirm_report r;
	size_t m = 0;

	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++) {
			pairs[m].a = a;
			pairs[m].b = b;
			pairs[m].ways[0] = pairs[m].ways[1] = NAN;
			pairs[m++].x = pair_of(leaves, a, b, s);
		}
	confirm_judge(leaves, n, pairs, m, 0.1, &r);
	return r.finding;
}

/* The direction: traffic that the leaf, or its first node, sends or
 * receives. */
static enum confirm_way
way_found(int node, double send, double receive)
{
	struct confirm_pair pairs[15];
	struct confirm_report r;
	size_t m = 0;

	for (size_t a = 0; a < 6; a++)
		for (size_t b = a + 1; b < 6; b++) {
			int a_in = node ? a == 0 : six[a] == 0;
			int b_in = node ? b == 0 : six[b] == 0;
			double x = 0.001 * (double)(a * b % 3);

			pairs[m] = (struct confirm_pair){ a, b, 0, { x, x } };
			if (a_in && !b_in) {
				pairs[m].ways[0] += send;
				pairs[m].ways[1] += receive;
			} else if (b_in && !a_in) {
				pairs[m].ways[0] += receive;
				pairs[m].ways[1] += send;
			}
			pairs[m].x = fmax(pairs[m].ways[0], pairs[m].ways[1]);
			m++;
		}
	confirm_judge(six, 6, pairs, m, 0.1, &r);
	assert_int_equal(r.finding, node ? CONFIRM_NODE : CONFIRM_LINK);
	return r.way;
}

static void
test_ways(void **state)
{
	(void)state;
	for (int node = 0; node < 2; node++) {
		assert_int_equal(way_found(node, 0.7, 0), CONFIRM_WAY_SEND);
		assert_int_equal(way_found(node, 0.1, 0.7),
		    CONFIRM_WAY_RECEIVE);
		assert_int_equal(way_found(node, 0.7, 0.5), CONFIRM_WAY_BOTH);
		assert_int_equal(way_found(node, NAN, 0.7),
		    CONFIRM_WAY_UNKNOWN);
	}
}

/* Of an incast everyone has a number: the outlier's, its leaf's, the others'.
 */
static void
test_receivers(void **state)
{
	static const uint32_t leaves[] = { 0, 0, 0, 1, 1, 2 };
	static const struct {
		double x[6];
		enum confirm_finding finding;
		enum confirm_way way;
	} rows[] = {
		{ { 0.7, 0, 0.01, 0, 0, 0.02 }, CONFIRM_NODE,
		    CONFIRM_WAY_RECEIVE },
		{ { 0.05, 0, 0.01, 0, 0, 0.02 }, CONFIRM_CLEARED,
		    CONFIRM_WAY_UNKNOWN },
		{ { 0.7, 0.7, 0.7, 0, 0, 0.02 }, CONFIRM_UNCLEAR,
		    CONFIRM_WAY_UNKNOWN },
		{ { NAN, 0, 0, 0, 0, 0 }, CONFIRM_UNCLEAR,
		    CONFIRM_WAY_UNKNOWN },
		{ { 0.7, NAN, 0.7, NAN, NAN, 0 }, CONFIRM_UNCLEAR,
		    CONFIRM_WAY_UNKNOWN },
		{ { 0.7, 0, 0, NAN, NAN, NAN }, CONFIRM_NODE,
		    CONFIRM_WAY_RECEIVE },
		{ { 0.7, NAN, NAN, NAN, NAN, NAN }, CONFIRM_UNCLEAR,
		    CONFIRM_WAY_UNKNOWN },
	};
	struct confirm_report r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		confirm_judge_nodes(leaves, rows[i].x, 6, 0.1, &r);
		assert_int_equal(r.finding, rows[i].finding);
		assert_int_equal(r.way, rows[i].way);
	}
}

static void
test_findings(void **state)
{
	static const uint32_t alone[] = { 0, 1, 1, 2, 3, 4 };
	static const uint32_t unknown[] = { SCORE_NO_LEAF, SCORE_NO_LEAF,
		SCORE_NO_LEAF, SCORE_NO_LEAF };
	static const uint32_t two[] = { 0, 0, 0, 1, 1, 1 };
	static const uint32_t some[] = { 0, 0, 0, SCORE_NO_LEAF, SCORE_NO_LEAF,
		SCORE_NO_LEAF };

	(void)state;
	assert_int_equal(finding(six, 6, (struct slow){ 0 }), CONFIRM_CLEARED);
	assert_int_equal(finding(six, 6, (struct slow){ .node = 0.2 }),
	    CONFIRM_NODE);
	assert_int_equal(finding(six, 6, (struct slow){ .leaf = 0.2 }),
	    CONFIRM_LEAF);
	assert_int_equal(finding(six, 6, (struct slow){ .uplink = 0.2 }),
	    CONFIRM_LINK);
	assert_int_equal(finding(six, 6,
			     (struct slow){ .uplink = 0.2, .path = 1 }),
	    CONFIRM_UNCLEAR);
	assert_int_equal(finding(two, 6, (struct slow){ .node = 0.2 }),
	    CONFIRM_NODE);
	assert_int_equal(finding(two, 6, (struct slow){ .uplink = 0.2 }),
	    CONFIRM_BETWEEN);
	/* A node of an unknown leaf may be on a third one. */
	assert_int_equal(finding(some, 6, (struct slow){ .uplink = 0.2 }),
	    CONFIRM_LINK);
	assert_int_equal(finding(alone, 6, (struct slow){ .node = 0.2 }),
	    CONFIRM_UNCLEAR);
	assert_int_equal(finding(unknown, 4, (struct slow){ .node = 0.2 }),
	    CONFIRM_NODE);
	assert_int_equal(finding(unknown, 4, (struct slow){ 0 }),
	    CONFIRM_CLEARED);
}

/* Another slow node neither hides the outlier nor blames their leaf. */
static void
test_bad_reference(void **state)
{
	(void)state;
	for (size_t bad = 1; bad < 6; bad++) {
		assert_int_equal(finding(six, 6,
				     (struct slow){ .node = 0.2, .bad = bad }),
		    CONFIRM_NODE);
		assert_int_equal(finding(six, 6, (struct slow){ .bad = bad }),
		    CONFIRM_CLEARED);
	}
}

static void
test_choose(void **state)
{
	struct confirm_node nodes[NODES];
	size_t got[CONFIRM_NODES];
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = (struct confirm_node){ i, i / 8, i % 8 < 6, 0 };
	for (int k = 0; k < 50; k++) {
		assert_int_equal(confirm_choose(nodes, NODES, 7, &rng, got), 6);
		assert_int_equal(got[0], 7);
		assert_true(got[1] / 8 == 0 && got[2] / 8 == 0);
		assert_true(got[3] / 8 == got[4] / 8 && got[3] / 8 != 0);
		assert_true(got[5] / 8 != got[3] / 8 && got[5] / 8 != 0);
		for (int i = 1; i < 6; i++)
			assert_true(nodes[got[i]].good);
	}
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i].leaf = SCORE_NO_LEAF;
	assert_int_equal(confirm_choose(nodes, NODES, 7, &rng, got), 6);
	assert_int_equal(confirm_choose(nodes, 1, 0, &rng, got), 1);
}

static void
test_cusum(void **state)
{
	struct cusum c = { 0 };
	int round = 0;

	(void)state;
	/* k = 0.5, h = 5: an alarm in 930 rounds on one side. */
	near(cusum_limit(930 / 2.0, CUSUM_K), 5, 0.05);
	assert_true(cusum_limit(1e8, CUSUM_K) > cusum_limit(1e6, CUSUM_K));
	for (; cusum_add(&c, 1.5, CUSUM_K, 5) == 0; round++)
		continue;
	assert_int_equal(round, 5);
	assert_int_equal(c.up_rounds, 6);
	c = (struct cusum){ 0 };
	assert_int_equal(cusum_add(&c, -100, CUSUM_K, 3), -1);
	assert_int_equal(cusum_add(&(struct cusum){ 0 }, 100, CUSUM_K, 5), 0);
}

static void
test_loss(void **state)
{
	double s;

	(void)state;
	near(loss_share(0, 100), 0, 0);
	near(loss_share(0, 0), 0, 0);
	/* Were the share s, 5 of 100 would lie 1.645 sigma above it. */
	s = loss_share(5, 100);
	near((0.05 - s) / sqrt(s * (1 - s) / 100), 1.644854, 1e-5);
	near(loss_share(500, 10000), 0.0465, 1e-4);
	assert_true(loss_share(100, 100) > 0.97 && loss_share(1, 1) < 0.5);
	near(loss_number(0), 0, 0);
	near(loss_of_number(loss_number(0.03)), 0.03, 1e-12);
	/* 1 % is slow, one datagram of 240 is not. */
	assert_true(loss_number(0.01) > judge_defaults()->effect_min);
	assert_true(
	    loss_number(loss_share(1, 240)) < judge_defaults()->effect_min);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_fdr),
		cmocka_unit_test(test_round_node),
		cmocka_unit_test(test_round_leaf),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_wander),
		cmocka_unit_test(test_lasting),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_leaf_crowd),
		cmocka_unit_test(test_ridge),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_most_slow),
		cmocka_unit_test(test_not_guilty),
		cmocka_unit_test(test_dismissed),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_bad_reference),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_receivers),
		cmocka_unit_test(test_many_busy),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_cusum),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_lasting_many),
		cmocka_unit_test(test_far_tail),
		cmocka_unit_test(test_wander_limit),
		cmocka_unit_test(test_wander_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
