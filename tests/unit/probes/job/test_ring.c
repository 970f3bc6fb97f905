/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/job/roles.c"

/* Going right from any rank passes every rank once, and left undoes right. */
static void
test_is_a_ring(void **state)
{
	(void)state;
	for (int size = 1; size < 40; size++) {
		struct ring ring = { 5, 0, size, 0, size, 0 };
		int seen[40] = { 0 }, at = 0, left, right, back, unused;

		for (int i = 0; i < size; i++) {
			seen[at]++;
			roles_ring_neighbours(&ring, at, &left, &right);
			roles_ring_neighbours(&ring, right, &back, &unused);
			assert_int_equal(back, at);
			at = right;
		}
		assert_int_equal(at, 0);
		for (int i = 0; i < size; i++)
			assert_int_equal(seen[i], 1);
	}
}

/* Both partners agree; with an odd number one rank is idle. */
static void
test_match(void **state)
{
	(void)state;
	for (int size = 1; size < 20; size++) {
		struct ring ring = { 5, 0, size, 0, size, 0 };
		int aside = 0;

		for (int i = 0; i < size; i++) {
			int with = roles_ring_match(&ring, i);

			assert_int_equal(roles_ring_match(&ring, with), i);
			aside += with == i;
		}
		assert_int_equal(aside, size % 2);
	}
}

/* Every pair has exactly one turn, both of its members agree on it, and the
 * others are idle. */
static void
test_pairs_in_turn(void **state)
{
	(void)state;
	assert_int_equal(roles_ring_pair(3, 1, 0), 0);
	for (int size = 2; size < 12; size++) {
		int pairs = size * (size - 1) / 2, met[12][12] = { { 0 } };

		for (int round = 7; round < 7 + pairs; round++) {
			int moved = 0;

			assert_int_equal(roles_ring_turn(round, size),
			    round / pairs % 2);

			for (int i = 0; i < size; i++) {
				int with = roles_ring_pair(round, size, i);

				assert_int_equal(roles_ring_pair(round, size,
						     with),
				    i);
				moved += with != i;
				met[i][with] += with != i;
			}
			assert_int_equal(moved, 2);
		}
		for (int i = 0; i < size; i++)
			for (int k = 0; k < size; k++)
				assert_int_equal(met[i][k], i != k);
	}
}

static int
same(const struct ring *x, const struct ring *y)
{
	int a[32], b[32];

	roles_order_draw(x, a);
	roles_order_draw(y, b);
	for (int i = 0; i < x->size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

static void
test_drawn_from(void **state)
{
	const struct ring ring = { 5, 1, 3, 0, 32, 0 };
	struct ring other = ring;

	(void)state;
	assert_true(same(&ring, &other));
	other.seed++;
	assert_false(same(&ring, &other));
	other = ring;
	other.test++;
	assert_false(same(&ring, &other));
	other = ring;
	other.round++;
	assert_false(same(&ring, &other));
	other = ring;
	other.slice++;
	assert_false(same(&ring, &other));
}

static void
test_natural(void **state)
{
	struct ring ring = { 5, 5, 3, 0, 8, 1 };
	int left, right;

	(void)state;
	roles_ring_neighbours(&ring, 0, &left, &right);
	assert_int_equal(left, 7);
	assert_int_equal(right, 1);
}

/* Every neighbour is as likely as any other. */
static void
test_uniform(void **state)
{
	int met[8] = { 0 }, left, right;

	(void)state;
	for (int round = 0; round < 7000; round++) {
		struct ring ring = { 5, 0, round, 0, 8, 0 };

		roles_ring_neighbours(&ring, 0, &left, &right);
		met[right]++;
	}
	assert_int_equal(met[0], 0);
	for (int i = 1; i < 8; i++) /* 1000 -+ 5 sigma */
		assert_in_range(met[i], 854, 1146);
}

/* Each receiver knows all its senders, at least eight if there are enough
 * ranks, and after roles_ring_turns rounds each rank has received. */
static void
test_incast(void **state)
{
	(void)state;
	for (int size = 1; size <= 200; size++) {
		int received[200] = { 0 }, turns = roles_ring_turns(size);

		for (int k = 0; k < turns; k++) {
			struct ring ring = { 7, 2, 3 * turns + k, 0, size, 0 };
			int sent = 0, met = 0, peers[RING_SENDERS_MAX];

			for (int r = 0; r < size; r++) {
				int back[RING_SENDERS_MAX];
				int n = roles_ring_incast(&ring, r, peers);

				assert_in_range(n, 0, RING_SENDERS_MAX);
				received[r] += n > 0 || size == 1;
				sent += n == 0;
				met += n;
				if (n == 0)
					continue;
				if (size > RING_SENDERS)
					assert_true(n >= RING_SENDERS);
				for (int i = 0; i < n; i++) {
					assert_int_equal(
					    roles_ring_incast(&ring, peers[i],
						back),
					    0);
					assert_int_equal(back[0], r);
				}
			}
			assert_int_equal(size == 1 ? 0 : sent, met);
		}
		for (int r = 0; r < size; r++)
			assert_true(received[r] >= 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_a_ring),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_pairs_in_turn),
		cmocka_unit_test(test_drawn_from),
		cmocka_unit_test(test_natural),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_incast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
