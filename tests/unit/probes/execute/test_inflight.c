/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "common/rng.h"
#include "probes/execute/inflight.h"

#define TURNS 64

/* Pieces of one pipeline, ready in the wrong order. */
static void
test_pipeline(void **state)
{
	struct inflight_turn turns[4];
	struct inflight w;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		turns[i] = (struct inflight_turn){ 100, 0, i };
	inflight_init(&w, turns, 4, 150);
	inflight_hold(&w, 3);
	assert_int_equal(inflight_take(&w), 3); /* the first */
	inflight_hold(&w, 2);
	inflight_hold(&w, 1);
	inflight_hold(&w, 0);
	assert_int_equal(inflight_take(&w), 0); /* later turns do not matter */
	assert_int_equal(inflight_take(&w), 1); /* the second of two */
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_land(&w, 3);
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_land(&w, 0);
	assert_int_equal(inflight_take(&w), 2);
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_clear(&w);
}

/* Small transfers start until the limit is reached. */
static void
test_bytes(void **state)
{
	struct inflight_turn turns[8];
	struct inflight w;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		turns[i] = (struct inflight_turn){ 10, 0, i };
	inflight_init(&w, turns, 8, 40);
	for (uint32_t i = 0; i < 8; i++)
		inflight_hold(&w, 7 - i);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(inflight_take(&w), i);
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_land(&w, 2);
	assert_int_equal(inflight_take(&w), 4);
	inflight_clear(&w);
}

/* Turns of a group without counting start together. */
static void
test_together(void **state)
{
	static const struct inflight_turn turns[] = { { 100, 0, 0 },
		{ 100, 0, 0 }, { 100, 0, 0 }, { 100, 0, 3 }, { 1, 3, 3 } };
	struct inflight w;

	(void)state;
	inflight_init(&w, turns, 5, 1);
	for (uint32_t i = 0; i < 5; i++)
		inflight_hold(&w, i);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(inflight_take(&w), i);
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_land(&w, 0);
	assert_int_equal(inflight_take(&w), INFLIGHT_NONE);
	inflight_land(&w, 2);
	assert_int_equal(inflight_take(&w), 3);
	assert_int_equal(inflight_take(&w), 4);
	inflight_clear(&w);
}

/* A simple count of active turns. */
static int
plainly(const struct inflight_turn *turns, const int *flies, uint32_t turn)
{
	uint64_t bytes = 0;
	int count = 0;

	for (uint32_t i = turns[turn].lo; i < turns[turn].hi; i++) {
		count += flies[i];
		bytes += flies[i] ? turns[i].bytes : 0;
	}
	return count < 2 || bytes < 500;
}

static void
test_random(void **state)
{
	struct inflight_turn turns[TURNS];
	int flies[TURNS] = { 0 }, held[TURNS] = { 0 }, over = 0;
	struct inflight w;
	struct rng rng;
	uint32_t turn;

	(void)state;
	rng_seed(&rng, 7);
	for (uint32_t i = 0; i < TURNS; i++) {
		turns[i].bytes = 1 + rng_below(&rng, 400);
		turns[i].hi = (uint32_t)rng_below(&rng, i + 1);
		turns[i].lo = (uint32_t)rng_below(&rng, turns[i].hi + 1ULL);
	}
	inflight_init(&w, turns, TURNS, 500);
	for (int n = 0; over < TURNS; n++) {
		uint32_t x = (uint32_t)rng_below(&rng, TURNS);
		uint32_t first = 0;

		assert_true(n < 1000000);
		if (flies[x] == 1 && held[x] == 2) {
			inflight_land(&w, x);
			flies[x] = 0;
			held[x] = 3;
			over++;
		} else if (held[x] == 0) {
			inflight_hold(&w, x);
			held[x] = 1;
		}
		while (first < TURNS && held[first] != 1)
			first++;
		turn = inflight_take(&w);
		if (first == TURNS || !plainly(turns, flies, first)) {
			assert_int_equal(turn, INFLIGHT_NONE);
			continue;
		}
		assert_int_equal(turn, first);
		flies[turn] = 1;
		held[turn] = 2;
	}
	inflight_clear(&w);
}

/* ---- copying ranks: many if each has a core, one if they had to be woken
 * ---- */

#define RANKS 4
#define SHORT (64U << 10)

static struct plan *
plan_of_transfers(void)
{
	struct plan *p = plan_new(RANKS, "who copies");

	plan_buf_add(p, "send", PLAN_IN);
	plan_buf_add(p, "recv", PLAN_OUT);
	return p;
}

static void
add(struct plan *p, uint32_t step, uint32_t src, uint32_t dst, uint64_t bytes)
{
	plan_transfer_add(p,
	    &(struct plan_transfer){ .step = step,
		.src = src,
		.dst = dst,
		.from = 0,
		.to = 1,
		.bytes = bytes,
		.via = PLAN_VIA_IPC });
}

/* Step 0: rank 0 to all others; step 1: all others to rank 0. */
static struct plan *
star(uint64_t bytes)
{
	struct plan *p = plan_of_transfers();

	for (uint32_t step = 0; step < 2; step++)
		for (uint32_t r = 1; r < RANKS; r++)
			add(p, step, step == 0 ? 0 : r, step == 0 ? r : 0,
			    bytes);
	return p;
}

static void
expect_star(uint64_t bytes, int cores_are_shared, int get_of_one)
{
	struct plan *p = star(bytes);
	uint8_t *gets = inflight_gets(p, cores_are_shared);

	for (size_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(gets[i],
		    p->transfers[i].step == 0 ? get_of_one : !get_of_one);
	free(gets);
	plan_free(p);
}

static void
test_spread(void **state)
{
	(void)state;
	expect_star(8, 0, 1);
	expect_star(SHORT, 0, 1);
	expect_star(SHORT + 1, 1, 1);
}

static void
test_one_for_many(void **state)
{
	(void)state;
	expect_star(8, 1, 0);
	expect_star(SHORT, 1, 0);
}

/* Each sends one and receives one, and steps do not add up: senders put. */
static void
test_even(void **state)
{
	struct plan *p = plan_of_transfers();

	(void)state;
	for (uint32_t r = 0; r < RANKS; r++)
		add(p, 0, r, (r + 1) % RANKS, 8);
	for (uint32_t step = 1; step < RANKS; step++)
		add(p, step, 0, step, 8);
	for (int shared = 0; shared < 2; shared++) {
		uint8_t *gets = inflight_gets(p, shared);

		for (size_t i = 0; i < p->transfers_count; i++)
			assert_int_equal(gets[i], 0);
		free(gets);
	}
	plan_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_one_for_many),
		cmocka_unit_test(test_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
