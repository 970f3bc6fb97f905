/* SPDX-License-Identifier: Apache-2.0 */
/* Who copies: many where each has a core, one where they would be woken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "probes/execute/ipc_side.h"

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
	uint8_t *gets = ipc_side_choose(p, cores_are_shared);

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
		uint8_t *gets = ipc_side_choose(p, shared);

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
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_one_for_many),
		cmocka_unit_test(test_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
