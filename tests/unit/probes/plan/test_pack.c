/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that went to another rank is the plan, and was short on its way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probes/plan/plan.h"
#include "probes/plan/pack.h"

#define RANKS 24

/* Every rank sends to every other one, adds the received data, and promises the
 * result. */
static struct plan *
plan_of_all(uint32_t steps)
{
	struct plan *p = plan_new(RANKS, "packed \"and\" sent");

	plan_buf_add(p, "send", PLAN_IN);
	plan_buf_add(p, "recv", PLAN_OUT);
	p->steps = steps;
	p->piece_bytes = 60 << 10;
	for (uint32_t r = 0; r < RANKS; r++)
		for (uint16_t b = 0; b < 2; b++)
			plan_buf_need(p, b, r, 8ULL * RANKS * steps + r);
	for (uint32_t i = 0; i < RANKS * RANKS * steps; i++) {
		struct plan_transfer t = { .step = i / (RANKS * RANKS),
			.src = i % RANKS,
			.dst = i / RANKS % RANKS,
			.from = 0,
			.to = 1,
			.from_off = 8ULL * (i % RANKS),
			.to_off = 8ULL * (i / RANKS),
			.bytes = 8,
			.via = (uint8_t)(i % 3) };
		struct plan_place in[] = { { 8, 1 }, { i % 64, 0 } };

		plan_transfer_add(p, &t);
		plan_promise_copy(p, &t);
		plan_local_add(p,
		    &(struct plan_local){ .step = t.step,
			.rank = t.src,
			.to = 1,
			.bytes = 8,
			.op = PLAN_SUM,
			.type = PLAN_INT64 },
		    in, 2);
	}
	return p;
}

static void
expect_list(const void *a, size_t a_count, const void *b, size_t b_count,
    size_t item_bytes)
{
	assert_int_equal(a_count, b_count);
	assert_memory_equal(a, b, a_count * item_bytes);
}

static void
expect_same(const struct plan *a, const struct plan *b)
{
	assert_string_equal(a->title, b->title);
	assert_int_equal(a->ranks, b->ranks);
	assert_int_equal(a->steps, b->steps);
	assert_int_equal(a->piece_bytes, b->piece_bytes);
	assert_int_equal(a->bufs_count, b->bufs_count);
	for (uint32_t i = 0; i < a->bufs_count; i++) {
		assert_string_equal(a->bufs[i].name, b->bufs[i].name);
		assert_int_equal(a->bufs[i].role, b->bufs[i].role);
		assert_int_equal(a->bufs[i].on_host, b->bufs[i].on_host);
		assert_memory_equal(a->bufs[i].bytes, b->bufs[i].bytes,
		    a->ranks * sizeof(*a->bufs[i].bytes));
	}
	expect_list(a->transfers, a->transfers_count, b->transfers,
	    b->transfers_count, sizeof(*a->transfers));
	expect_list(a->locals, a->locals_count, b->locals, b->locals_count,
	    sizeof(*a->locals));
	expect_list(a->inputs, a->inputs_count, b->inputs, b->inputs_count,
	    sizeof(*a->inputs));
	expect_list(a->promises, a->promises_count, b->promises,
	    b->promises_count, sizeof(*a->promises));
	expect_list(a->spans, a->spans_count, b->spans, b->spans_count,
	    sizeof(*a->spans));
	expect_list(a->sources, a->sources_count, b->sources, b->sources_count,
	    sizeof(*a->sources));
}

static size_t
there_and_back(struct plan *p)
{
	size_t bytes;
	void *packed = plan_pack(p, &bytes);
	struct plan *back = plan_unpack(packed, bytes);

	expect_same(p, back);
	/* it can be gone on with */
	plan_buf_need(back, 0, 0, 1 << 20);
	plan_transfer_add(back,
	    &(struct plan_transfer){ .dst = 1, .bytes = 1 });
	assert_int_equal(back->transfers_count, p->transfers_count + 1);
	plan_free(back);
	free(packed);
	return bytes;
}

static void
test_full(void **state)
{
	struct plan *p = plan_of_all(8);
	size_t list_bytes = p->transfers_count * sizeof(*p->transfers) +
	    p->locals_count * sizeof(*p->locals) +
	    p->promises_count * sizeof(*p->promises);

	(void)state;
	plan_buf_on_host(p, 0);
	assert_true(there_and_back(p) < list_bytes / 5);
	plan_free(p);
}

static void
test_empty(void **state)
{
	struct plan *p = plan_new(1, "");

	(void)state;
	plan_buf_add(p, "", PLAN_TEMP);
	p->steps = 1;
	there_and_back(p);
	plan_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
