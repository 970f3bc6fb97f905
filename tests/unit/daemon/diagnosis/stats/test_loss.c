/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of lost echoes: the time until a node that loses one in a thousand is
 * raised, no false alarm by chance, by a bad partner or by a bad uplink, and
 * the end of a case. Seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/str.h"
#include "daemon/diagnosis/stats/loss.h"

#define NODES   256
#define IN_LEAF 32
#define PAIRS   16
#define ECHOES  120 /* of a pair; a node is in four */

struct cluster {
	struct loss_watch w;
	struct rng rng;
	double base;
	double node[NODES]; /* additional loss of each node */
	double uplink;      /* loss from leaf 0 to others, */
	int more;           /* number of bad ones after it */
	int busy;           /* nodes of leaf 0 */
};

/* The worst first; of those that lost as much the first. */
static int
pair_order(const void *a, const void *b)
{
	const struct loss_pair *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost > y->lost ? -1 : 1;
	return (x->a > y->a) - (x->a < y->a);
}

static uint32_t
lost(struct rng *r, double share)
{
	double at = 0;

	for (uint32_t n = 0;; n++) {
		at += 1 + floor(log(1 - rng_unit(r)) / log1p(-share));
		if (!(at <= ECHOES))
			return n;
	}
}

static void
epoch(struct cluster *c, int far)
{
	struct loss_node nodes[NODES];
	struct loss_pair pairs[2 * NODES];
	size_t count = 0;
	int order[NODES], is_cut;

	for (int i = 0; i < NODES; i++) {
		order[i] = i;
		nodes[i] = (struct loss_node){ (uint32_t)i,
			(uint32_t)(i / IN_LEAF), 4L * ECHOES, 0, i < c->busy,
			0 };
	}
	for (int ring = 0; ring < 2; ring++) {
		int size = far ? NODES : IN_LEAF;

		for (int from = 0; from < NODES; from += size)
			rng_shuffle(&c->rng, &order[from], (size_t)size);
		for (int i = 0; i < NODES; i++) {
			int first = i / size * size;
			int a = order[i];
			int b = order[first + (i + 1 - first) % size];
			int la = a / IN_LEAF, lb = b / IN_LEAF;
			int out = la == lb ? 0
					   : (la <= c->more) + (lb <= c->more);
			uint32_t n = lost(&c->rng,
			    c->base + c->node[a] + c->node[b] +
				out * c->uplink);

			nodes[a].lost += n;
			nodes[b].lost += n;
			if (n > 0)
				pairs[count++] = (struct loss_pair){
					(uint32_t)a, (uint32_t)b, n
				};
		}
	}
	qsort(pairs, count, sizeof(pairs[0]), pair_order);
	is_cut = count >= PAIRS;
	count = is_cut ? PAIRS : count;
	loss_round(&c->w, far,
	    &(struct loss_epoch){ nodes, NODES, pairs, count, is_cut });
}

/* Play this many epochs; return how many nodes other than 7 were raised.
 * *ret_at: the epoch of node 7's, or 0. */
static int
innocents(struct cluster *c, int epochs, int *ret_at)
{
	int others = 0;

	*ret_at = 0;
	for (int e = 1; e <= epochs; e++) {
		epoch(c, 0);
		epoch(c, 1);
		if (*ret_at == 0 && loss_sum_of(&c->w, 7)->raised)
			*ret_at = e;
	}
	for (uint32_t i = 0; i < NODES; i++)
		others += i != 7 && loss_sum_of(&c->w, i)->raised;
	for (uint32_t l = 1; l < NODES / IN_LEAF; l++)
		others += loss_leaf_raised(&c->w, l) != NULL;
	others += c->uplink == 0 && loss_leaf_raised(&c->w, 0) != NULL;
	return others;
}

static void
begin(struct cluster *c, uint64_t seed, double base)
{
	memset(c, 0, sizeof(*c));
	rng_seed(&c->rng, seed);
	c->base = base;
}

/* Thirty days. */
static void
test_clean(void **state)
{
	static const double bases[] = { 1e-6, 1e-5, 1e-4 };
	struct cluster c;
	int at;

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(bases); k++) {
		begin(&c, 1 + k, bases[k]);
		for (int day = 0; day < 30; day++)
			for (int hour = 0; hour < 24; hour++) {
				assert_int_equal(innocents(&c, 12, &at), 0);
				assert_int_equal(at, 0);
			}
		loss_clear(&c.w);
	}
}

/* All paths lose 0.1 %, and no record lists all of those that lose: a week
 * without a case. A node that loses 1 % besides is found all the same. */
static void
test_all_lose(void **state)
{
	struct cluster c;
	int others = 0, at = 0;

	(void)state;
	begin(&c, 3, 1e-3);
	for (int hour = 0; hour < 24 * 7; hour++)
		others += innocents(&c, 12, &at) + (at > 0);
	assert_int_equal(others, 0);
	c.node[7] = 0.01;
	others = innocents(&c, 12, &at);
	assert_in_range(at, 1, 12);
	assert_int_equal(others, 0);
	loss_clear(&c.w);
}

/* A loss of 0.1 % is found within an hour, and no other node is reported. When
 * the node is healthy again, its state is cleared. */
static void
test_little(void **state)
{
	struct cluster c;
	int in_time = 0, others = 0, at;

	(void)state;
	for (uint64_t trial = 0; trial < 200; trial++) {
		begin(&c, 10 + trial, 1e-5);
		others += innocents(&c, 24, &at);
		c.node[7] = 1e-3;
		others += innocents(&c, 24, &at);
		in_time += at > 0 && at <= 12;
		c.node[7] = 0;
		innocents(&c, 60, &at);
		assert_false(loss_sum_of(&c.w, 7)->raised);
		loss_clear(&c.w);
	}
	assert_true(in_time >= 190);
	assert_int_equal(others, 0);
}

/* One uplink of eight that loses 0.1 %: its leaf is found within two hours, no
 * other, and not with many of its nodes busy; after the fault it is
 * forgotten. */
static void
test_uplink(void **state)
{
	struct cluster c;
	int in_time = 0, others = 0, at;

	(void)state;
	for (uint64_t trial = 0; trial < 40; trial++) {
		begin(&c, 500 + trial, 1e-5);
		others += innocents(&c, 24, &at);
		c.uplink = 1e-3 / 8;
		others += innocents(&c, 24, &at);
		in_time += loss_leaf_raised(&c.w, 0) != NULL;
		assert_int_equal(loss_leaves_raised(&c.w),
		    loss_leaf_raised(&c.w, 0) != NULL);
		c.uplink = 1e-9; /* almost nothing */
		others += innocents(&c, 60, &at);
		assert_null(loss_leaf_raised(&c.w, 0));
		c.busy = 10;
		c.uplink = 1e-3 / 8;
		others += innocents(&c, 24, &at);
		assert_null(loss_leaf_raised(&c.w, 0));
		loss_clear(&c.w);
	}
	assert_true(in_time >= 38);
	assert_int_equal(others, 0);
}

/* All losing nodes and no others are found, although most reported pairs are of
 * two of them. If all nodes lose, none is found. */
static void
test_several(void **state)
{
	static const double shares[] = { 0.01, 0.05 };
	struct cluster c;

	(void)state;
	for (int trial = 0; trial < 20; trial++)
		for (int leaves = 2; leaves <= 8; leaves += 2) {
			begin(&c, 700 + (uint64_t)trial, 1e-4);
			for (int e = 0; e < 24; e++)
				epoch(&c, e % 2);
			c.more = leaves - 1;
			c.uplink = shares[trial % 2];
			for (int e = 0; e < 16; e++)
				epoch(&c, e % 2);
			for (int l = 0; l < 8; l++)
				assert_int_equal(loss_leaf_raised(&c.w,
						     (uint32_t)l) != NULL,
				    l < leaves && leaves < 8);
			loss_clear(&c.w);
		}
}

/* Three leaves of three nodes, an epoch within leaves (far 0) or between them.
 * by: the losing nodes, 0 to by - 1, lose 2 echoes to each partner. chance: an
 * echo is lost between two nodes. */
static void
small_epoch(struct loss_watch *w, int far, uint32_t by, int chance)
{
	struct loss_node nodes[9];
	struct loss_pair pairs[24];
	size_t count = 0;

	for (uint32_t i = 0; i < 9; i++)
		nodes[i] = (struct loss_node){ i, i / 3, 160, 0, 0, 0 };
	for (uint32_t a = 0; a < by; a++)
		for (uint32_t b = a + 1; b < 9; b++)
			if ((a / 3 != b / 3) == far)
				pairs[count++] = (struct loss_pair){ a, b, 2 };
	if (chance > 0 && far)
		pairs[count++] = (struct loss_pair){ (uint32_t)chance % 3,
			3 + (uint32_t)chance % 6, 1 };
	for (size_t i = 0; i < count; i++) {
		nodes[pairs[i].a].lost += pairs[i].lost;
		nodes[pairs[i].b].lost += pairs[i].lost;
	}
	loss_round(w, far, &(struct loss_epoch){ nodes, 9, pairs, count, 0 });
}

/* A leaf, or a node, loses echoes. After the repair one is lost by chance in
 * every other epoch, which is more than LOSS_CLEAN epochs allow: it recovers
 * all the same, and not before. */
static void
test_recovers(void **state)
{
	(void)state;
	for (int is_node = 0; is_node < 2; is_node++) {
		struct loss_watch w = { 0 };
		int over_at = 0, raised;

		for (int e = 0; e < 80; e++) {
			uint32_t by = e >= 40 ? 0 : is_node ? 1 : 3;
			int chance = e >= 40 && e % 2 == 0 ? e / 2 : 0;

			small_epoch(&w, 0, is_node ? by : 0, chance);
			small_epoch(&w, 1, by, chance);
			raised = is_node ? loss_sum_of(&w, 0)->raised
					 : loss_leaf_raised(&w, 0) != NULL;
			assert_true(e < 8 || e >= 40 || raised);
			if (over_at == 0 && e >= 40 && !raised)
				over_at = e;
			for (uint32_t i = 1; i < 9; i++)
				assert_false(loss_sum_of(&w, i)->raised);
			assert_null(loss_leaf_raised(&w, 1));
			assert_null(loss_leaf_raised(&w, 2));
		}
		assert_in_range(over_at, 41, 50);
		loss_clear(&w);
	}
}

/* Three leaves of three nodes: losses between two of them are neither's, and do
 * not make the wrong one guilty once one loses to all. */
static void
test_between(void **state)
{
	struct loss_watch w = { 0 };

	(void)state;
	for (int e = 0; e < 20; e++) {
		struct loss_node nodes[9];
		struct loss_pair pairs[8];
		size_t count = 0;

		for (uint32_t i = 0; i < 9; i++)
			nodes[i] = (struct loss_node){ i, i / 3, 480, 0, 0, 0 };
		for (uint32_t i = 0; i < 3; i++) {
			pairs[count++] = (struct loss_pair){ i, 3 + i, 2 };
			if (e >= 6) /* and then to the third one */
				pairs[count++] = (struct loss_pair){ 3 + i,
					6 + i, 2 };
		}
		for (size_t i = 0; i < count; i++) {
			nodes[pairs[i].a].lost += pairs[i].lost;
			nodes[pairs[i].b].lost += pairs[i].lost;
		}
		loss_round(&w, 1,
		    &(struct loss_epoch){ nodes, 9, pairs, count, 0 });
		assert_null(loss_leaf_raised(&w, 0));
		assert_null(loss_leaf_raised(&w, 2));
		assert_true(e > 5 || loss_leaf_raised(&w, 1) == NULL);
	}
	assert_non_null(loss_leaf_raised(&w, 1));
	loss_clear(&w);
}

/* A day with a partner that loses 5 %, and with a leaf whose uplink does. */
static void
test_innocent(void **state)
{
	struct cluster c;
	int others = 0, at;

	(void)state;
	for (uint64_t trial = 0; trial < 40; trial++) {
		begin(&c, 300 + trial, 1e-4);
		innocents(&c, 24, &at);
		c.node[7] = 0.05;
		others += innocents(&c, 288, &at);
		assert_in_range(at, 1, 3);
		loss_clear(&c.w);
	}
	assert_in_range(others, 0, 1);
	for (uint64_t trial = 0; trial < 40; trial++) {
		begin(&c, 400 + trial, 1e-4);
		innocents(&c, 24, &at);
		c.uplink = 0.05;
		others += innocents(&c, 24, &at) + (at > 0);
		loss_clear(&c.w);
	}
	assert_in_range(others, 0, 2);
}

/* Three leaves of three. Node 8 has been given too much to receive; who else
 * has lost, and node 6 has more than it. */
static void
test_a_case_explains(void **state)
{
	struct cluster c;

	(void)state;
	begin(&c, 1, 0);
	for (int e = 0; e < 40; e++) {
		struct loss_node nodes[9];
		struct loss_pair near[] = { { 6, 8, 2 } };
		struct loss_pair far[] = { { 0, 8, 1 }, { 1, 8, 1 },
			{ 2, 6, 1 }, { 3, 8, 1 } };

		for (uint32_t i = 0; i < 9; i++)
			nodes[i] = (struct loss_node){ i, i / 3, 4L * ECHOES, 0,
				0, i == 8 && e >= 2 };
		if (e >= 2) /* the losses of node 6 itself are over */
			far[2].a = 5, far[2].b = 8;
		loss_round(&c.w, 0,
		    &(struct loss_epoch){ nodes, 9, near, ARRAY_LEN(near), 0 });
		loss_round(&c.w, 1,
		    &(struct loss_epoch){ nodes, 9, far, ARRAY_LEN(far), 0 });
		if (e == 1)
			assert_true(c.w.sums[6].of[1] > 0);
		for (uint32_t i = 0; e >= 2 && i < 8; i++)
			assert_true(c.w.sums[i].of[0] + c.w.sums[i].of[1] == 0);
		assert_int_equal(loss_leaves_raised(&c.w), 0);
	}
	loss_clear(&c.w);
}

/* Three leaves of three: all is lost on the path from node 2 to node 6, or as
 * much to two nodes. Then node 6 loses within its leaf, too. */
static void
test_dead_path(void **state)
{
	(void)state;
	for (int paths = 1; paths <= 2; paths++) {
		struct loss_watch w = { 0 };

		for (int e = 0; e < 12; e++) {
			struct loss_node nodes[9];
			struct loss_pair near = { 6, 8, 1 };
			struct loss_pair far[] = {
				{ paths == 2 && e % 2 ? 1 : 2, 6, 12 }
			};

			for (uint32_t i = 0; i < 9; i++)
				nodes[i] = (struct loss_node){ i, i / 3, 36, 0,
					0, 0 };
			loss_round(&w, 0,
			    &(struct loss_epoch){ nodes, 9, &near, e >= 6, 0 });
			loss_round(&w, 1,
			    &(struct loss_epoch){ nodes, 9, far, e < 6, 0 });
			assert_false(loss_sum_of(&w, 8)->raised);
		}
		assert_int_equal(loss_sum_of(&w, 6)->raised, paths == 2);
		loss_clear(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_all_lose),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_uplink),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_recovers),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_innocent),
		cmocka_unit_test(test_a_case_explains),
		cmocka_unit_test(test_dead_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
