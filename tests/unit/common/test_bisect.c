/* SPDX-License-Identifier: Apache-2.0 */
/* Exactly the slow ones of 256 simulated nodes are found, within the number of
 * rounds that bisection needs; a slow path is not reported as a node. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/bisect.h"
#include "common/rng.h"
#include "common/robust.h"

#define NODES    256
#define HALVINGS 8
#define TRIALS   400
#define SLOW_MAX 8
#define GROUPS   32

static const struct bisect_options options = { 0.14, GROUPS };

/* A network: the slow nodes and paths. */
struct net {
	struct rng rng;
	size_t n;
	double effect[NODES]; /* of nodes */
	size_t cut, cut_to; /* a slow path between the nodes below cut and those
			       from there to cut_to; 0: none */
	double cut_effect;
	double scatter;   /* of a measurement */
	double disturbed; /* share of disturbed measurements, by 30 % */
	double later;     /* factor of all measurements after the first round */
	size_t failing;   /* a node with which all runs fail; NODES: none */
	double doubt;     /* of all that is measured */
	size_t rounds;    /* the time is over then; 0: never */
	int sure;         /* a hint counts as one slow measurement */
};

static double
normal(struct rng *r)
{
	return robust_normal_quantile(rng_unit(r) * 0.999998 + 0.000001);
}

static void
hear(struct net *w, struct bisect *b, size_t g, const struct bisect_group *in)
{
	double effect = 0, spread = w->scatter;
	int below = 0, above = 0, fails = 0;

	for (size_t i = 0; i < in->count; i++) {
		size_t m = in->members[i];

		effect = fmax(effect, w->effect[m]);
		below |= m < w->cut;
		above |= m >= w->cut && m < w->cut_to;
		fails |= m == w->failing;
	}
	if (below && above)
		effect = fmax(effect, w->cut_effect);
	effect += w->scatter * normal(&w->rng);
	if (w->later > 0 && bisect_rounds(b) > 1)
		effect += w->later * rng_unit(&w->rng);
	if (rng_unit(&w->rng) < w->disturbed)
		effect += 0.3;
	/* its deviation is only known from a few repetitions */
	spread *= exp(0.25 * normal(&w->rng));
	bisect_hear(b, g, fails ? INFINITY : effect, spread, w->doubt);
}

/* Run all rounds, or at most this many; groups have no common members. */
static struct bisect *
play(struct net *w, const size_t *hints, size_t hints_count)
{
	struct bisect *b = bisect_new(&options, w->n);
	const struct bisect_group *groups;
	size_t count, rounds = 0;

	while ((count = bisect_next(b, &groups)) > 0 &&
	    (w->rounds == 0 || rounds < w->rounds)) {
		unsigned char seen[NODES] = { 0 };

		assert_true(count <= GROUPS);
		assert_true(++rounds < 100);
		for (size_t g = 0; g < count; g++) {
			assert_true(groups[g].count >= 2 || w->n == 1);
			for (size_t i = 0; i < groups[g].count; i++) {
				assert_int_equal(seen[groups[g].members[i]]++,
				    0);
			}
			hear(w, b, g, &groups[g]);
		}
		for (size_t i = 0; rounds == 1 && i < hints_count; i++)
			bisect_hint(b, hints[i], w->sure);
	}
	return b;
}

static struct net
sound(uint64_t seed, size_t n)
{
	struct net w = { .n = n, .scatter = 0.03, .failing = NODES };

	rng_seed(&w.rng, seed);
	return w;
}

/* Between 30 % and 3 times slower. */
static size_t
spoil(struct net *w, size_t count, size_t *ret)
{
	for (size_t i = 0; i < count;) {
		size_t m = (size_t)rng_below(&w->rng, w->n);

		if (w->effect[m] > 0)
			continue;
		w->effect[m] = log(1.3) +
		    rng_unit(&w->rng) * (log(3) - log(1.3));
		ret[i++] = m;
	}
	return count;
}

static int
is_right(const struct net *w, const struct bisect *b)
{
	struct bisect_path path;
	double effect;

	for (size_t m = 0; m < w->n; m++) {
		int slow = w->effect[m] > 0 || m == w->failing;

		if (bisect_of(b, m, &effect) !=
		    (slow ? BISECT_SLOW : BISECT_FINE))
			return 0;
	}
	return !bisect_path(b, 0, &path);
}

struct tally {
	int right, within, in_three; /* rounds */
	size_t rounds_max;
};

/* Knowledge about the slow nodes before the search. */
enum hint { HINT_NONE, HINT_DOUBTFUL, HINT_SURE };

static struct tally
trials(size_t slow, double scatter, double disturbed, enum hint hint)
{
	struct tally t = { 0 };

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct net w = sound(seed, NODES);
		size_t list[SLOW_MAX];
		struct bisect *b;

		w.scatter = scatter;
		w.disturbed = disturbed;
		w.sure = hint == HINT_SURE;
		spoil(&w, slow, list);
		b = play(&w, list, hint != HINT_NONE ? slow : 0);
		t.right += is_right(&w, b);
		/* the whole, its halvings, and the last once more */
		t.within += bisect_rounds(b) <= HALVINGS + 1;
		t.in_three += bisect_rounds(b) <= 3;
		if (bisect_rounds(b) > t.rounds_max)
			t.rounds_max = bisect_rounds(b);
		bisect_free(b);
	}
	print_message("%zu slow, scatter %.2f, disturbed %.2f%s: right %d of "
		      "%d, within %d rounds %d, at most %zu\n",
	    slow, scatter, disturbed,
	    hint == HINT_SURE       ? ", surely hinted"
		: hint != HINT_NONE ? ", hinted"
				    : "",
	    t.right, TRIALS, HALVINGS + 1, t.within, t.rounds_max);
	return t;
}

static void
test_slow_nodes(void **state)
{
	static const size_t counts[] = { 1, 2, 5 };
	struct tally t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		t = trials(counts[i], 0.03, 0, HINT_NONE);
		assert_int_equal(t.right, TRIALS);
		assert_int_equal(t.within, TRIALS);
		t = trials(counts[i], 0.03, 0, HINT_DOUBTFUL);
		assert_int_equal(t.right, TRIALS);
		assert_true(t.rounds_max <= 6);
		t = trials(counts[i], 0.03, 0, HINT_SURE);
		assert_int_equal(t.right, TRIALS);
		assert_true(t.rounds_max <= 5);
		/* All but those that are hardly slow. */
		assert_true(i > 0 || t.in_three >= TRIALS * 3 / 4);
	}
	t = trials(0, 0.03, 0, HINT_NONE);
	assert_int_equal(t.right, TRIALS);
	assert_int_equal(t.rounds_max, 1);
}

/* Occasional disturbances by 30 % cost rounds, but no normal node is
 * reported. */
static void
test_noise(void **state)
{
	struct tally t = trials(0, 0.03, 0.02, HINT_NONE);

	(void)state;
	assert_int_equal(t.right, TRIALS);
	t = trials(1, 0.03, 0.02, HINT_NONE);
	assert_true(t.right >= TRIALS * 99 / 100);
	t = trials(5, 0.03, 0.02, HINT_NONE);
	assert_true(t.right >= TRIALS * 97 / 100);
	/* Effects within the scatter are not reported either. */
	t = trials(0, 0.15, 0.02, HINT_NONE);
	assert_true(t.right >= TRIALS * 99 / 100);
}

/* Other users start to use the machine after the first round, which has exposed
 * the slow node and some others: a slowdown of all nodes is not attributed to
 * any. */
static void
test_later(void **state)
{
	static const size_t hints[] = { 0, 1, 2, 3 };
	double effect;
	int named = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2 * TRIALS; seed++) {
		struct net w = sound(seed, 8);
		struct bisect *b;

		w.sure = seed > TRIALS;
		w.effect[1] = log(12);
		w.later = log(1.3);
		b = play(&w, hints, 4);
		assert_int_equal(bisect_of(b, 1, &effect), BISECT_SLOW);
		for (size_t m = 0; m < 8; m++)
			named += m != 1 &&
			    bisect_of(b, m, &effect) == BISECT_SLOW;
		bisect_free(b);
	}
	print_message("later: %d of %d named\n", named, 14 * TRIALS);
	assert_true(named <= 14 * TRIALS * 5 / 100);
}

/* Normal nodes whose pairs with a slow node were slow are reported only if they
 * are slow again by chance. */
static void
test_false_hints(void **state)
{
	static const size_t hints[] = { 0, 1, 2, 3 };
	double effect;
	int named = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct net w = sound(seed, 16);
		struct bisect *b;

		w.effect[1] = log(2);
		w.disturbed = 0.02;
		w.sure = 1;
		b = play(&w, hints, 4);
		assert_int_equal(bisect_of(b, 1, &effect), BISECT_SLOW);
		for (size_t m = 0; m < 16; m++)
			named += m != 1 &&
			    bisect_of(b, m, &effect) == BISECT_SLOW;
		bisect_free(b);
	}
	print_message("false hints: %d of %d named\n", named, 3 * TRIALS);
	assert_true(named <= 3 * TRIALS * 3 / 100);
}

/* Between halves, between a leaf and all others, and between two nodes. */
static void
test_way(void **state)
{
	static const struct {
		size_t from, cut, to;
		int ends;
	} paths[] = { { 0, 128, 256, 0 }, { 0, 64, 128, 0 },
		{ 0, 32, 256, 1 } };
	struct bisect_path path;
	double effect;

	(void)state;
	for (size_t k = 0; k < 3; k++)
		for (uint64_t seed = 1; seed <= 50; seed++) {
			struct net w = sound(seed, NODES);
			struct bisect *b;

			w.cut = paths[k].cut;
			w.cut_to = paths[k].to;
			w.cut_effect = log(2);
			b = play(&w, NULL, 0);
			for (size_t m = 0; m < NODES; m++)
				assert_int_equal(bisect_of(b, m, &effect),
				    BISECT_FINE);
			assert_int_equal(bisect_path(b, 0, &path), 1);
			assert_int_equal(path.left, paths[k].cut);
			assert_int_equal(path.members[0], 0);
			assert_int_equal(path.ends, paths[k].ends);
			assert_true(fabs(path.effect - log(2)) < 0.2);
			assert_int_equal(bisect_path(b, 1, &path), 0);
			assert_true(bisect_rounds(b) <= HALVINGS + 1);
			w.rounds = bisect_rounds(b) - 1;
			bisect_free(b);
			/* Until the path is confirmed, none of its nodes is
			 * cleared. */
			for (; k == 0 && w.rounds > 0; w.rounds--) {
				b = play(&w, NULL, 0);
				assert_int_equal(bisect_of(b, 0, &effect),
				    bisect_path(b, 0, &path) ? BISECT_FINE
							     : BISECT_OPEN);
				bisect_free(b);
			}
		}
}

/* The smallest jobs, where no node is cleared at first; and a node with which
 * no run starts. */
static void
test_few(void **state)
{
	size_t list[SLOW_MAX];
	double effect;

	(void)state;
	for (size_t n = 3; n <= 9; n++)
		for (uint64_t seed = 1; seed <= 100; seed++) {
			struct net w = sound(seed, n);
			struct bisect *b;

			spoil(&w, 1 + (n > 4), list);
			b = play(&w, list, seed % 2);
			assert_true(is_right(&w, b));
			bisect_free(b);
		}
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct net w = sound(seed, NODES);
		struct bisect *b;

		w.failing = (size_t)rng_below(&w.rng, NODES);
		b = play(&w, NULL, 0);
		assert_true(is_right(&w, b));
		assert_int_equal(bisect_of(b, w.failing, &effect), BISECT_SLOW);
		assert_true(isinf(effect));
		bisect_free(b);
	}
	/* Two nodes cannot be distinguished. */
	struct net w = sound(1, 2);
	struct bisect *b;

	w.effect[1] = 1;
	b = play(&w, NULL, 0);
	assert_int_equal(bisect_of(b, 0, &effect), BISECT_OPEN);
	assert_int_equal(bisect_of(b, 1, &effect), BISECT_OPEN);
	bisect_free(b);
}

/* Nodes without a measurement are neither fine nor slow. */
static void
test_unknown(void **state)
{
	struct bisect *b = bisect_new(&options, NODES);
	const struct bisect_group *groups;
	struct bisect_path path;
	double effect;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bisect_next(b, &groups), 1);
		assert_int_equal(groups[0].count, NODES);
	}
	assert_int_equal(bisect_next(b, &groups), 0);
	for (size_t m = 0; m < NODES; m++)
		assert_int_equal(bisect_of(b, m, &effect), BISECT_OPEN);
	assert_int_equal(bisect_path(b, 0, &path), 0);
	bisect_free(b);
}

/* An effect that may have another cause leads to neither a node nor a path, and
 * clears no node; an effect beyond it does. */
static void
test_doubt(void **state)
{
	struct bisect_path path;
	double effect;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct net w = sound(seed, NODES);
		struct bisect *b;

		w.doubt = log(2.2);
		w.effect[seed] = log(1.7);
		w.effect[seed + 100] = log(6);
		b = play(&w, NULL, 0);
		for (size_t m = 0; m < NODES; m++)
			assert_int_equal(bisect_of(b, m, &effect),
			    m == seed             ? BISECT_OPEN
				: m == seed + 100 ? BISECT_SLOW
						  : BISECT_FINE);
		bisect_free(b);
		w.effect[seed] = w.effect[seed + 100] = 0;
		w.cut = 128;
		w.cut_to = 256;
		w.cut_effect = log(1.7);
		b = play(&w, NULL, 0);
		assert_int_equal(bisect_path(b, 0, &path), 0);
		assert_int_equal(bisect_of(b, 0, &effect), BISECT_OPEN);
		bisect_free(b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_nodes),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_false_hints),
		cmocka_unit_test(test_way),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
