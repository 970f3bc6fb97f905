/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of one rank, their dependencies, and that both ends agree on
 * tags.
 */
#include "probes/plan/rank_graph.h"

#include "probes/plan/plan.h"
#include "probes/plan/order.h"
#include "tests/unit/probes/plan/cases.h"

static void
test_waits(void **state)
{
	struct plan *p = case_proven("stripe g=4 bytes=4K", 0);
	struct rank_graph v;

	(void)state;
	rank_graph_make(p, 5, &v);
	assert_int_equal(v.events_count, 2);
	assert_int_equal(v.events[0].kind, RANK_GRAPH_RECV);
	assert_int_equal(v.events[0].waits, 0);
	assert_int_equal(v.events[1].kind, RANK_GRAPH_SEND);
	assert_int_equal(v.events[1].waits, 1);
	assert_int_equal(v.waits[v.events[1].wait], 0);
	rank_graph_clear(&v);
	/* disjoint ranges: the assembly waits for no transfer here */
	rank_graph_make(p, 4, &v);
	assert_int_equal(v.events_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(v.events[i].waits, 0);
	rank_graph_clear(&v);
	plan_free(p);
}

/* A write waits for every reader since the last write, and a half that was
 * split off keeps its readers. */
static void
test_write_after_reads(void **state)
{
	struct plan *p = plan_new(4, "reads");
	uint16_t b = plan_buf_add(p, "b", PLAN_IN);
	struct plan_transfer t = { .from = b, .to = b, .bytes = 8 };
	struct rank_graph v;

	(void)state;
	for (uint32_t r = 0; r < 4; r++)
		plan_buf_need(p, b, r, 16);
	for (t.dst = 1; t.dst < 4; t.dst++) {
		t.from_off = t.dst == 3 ? 8 : 0;
		plan_transfer_add(p, &t);
	}
	plan_transfer_add(p,
	    &(struct plan_transfer){ .step = 1,
		.src = 1,
		.dst = 0,
		.from = b,
		.to = b,
		.to_off = 4,
		.bytes = 2 });
	plan_sort(p);
	rank_graph_make(p, 0, &v);
	assert_int_equal(v.events_count, 4);
	assert_int_equal(v.events[3].kind, RANK_GRAPH_RECV);
	assert_int_equal(v.events[3].waits, 2);
	rank_graph_clear(&v);
	plan_free(p);
}

static uint32_t
tag_at(const struct plan *p, uint32_t rank, uint32_t row)
{
	uint32_t tag = UINT32_MAX;
	struct rank_graph v;

	rank_graph_make(p, rank, &v);
	for (uint32_t i = 0; i < v.events_count; i++)
		if (v.events[i].kind != RANK_GRAPH_LOCAL &&
		    v.events[i].row == row)
			tag = v.events[i].tag;
	rank_graph_clear(&v);
	return tag;
}

static void
test_tags_agree(void **state)
{
	struct plan *p =
	    case_proven("group pattern=symmetric direction=omni n=3 g=2 k=2",
		0);

	(void)state;
	for (uint32_t i = 0; i < p->transfers_count; i++)
		assert_int_equal(tag_at(p, p->transfers[i].src, i),
		    tag_at(p, p->transfers[i].dst, i));
	plan_free(p);
}

/* A relay must not forward a piece before it has received it; a third,
 * independent piece may overlap. */
static void
test_order(void **state)
{
	struct plan *p = plan_new(3, "order");
	uint16_t b = plan_buf_add(p, "b", PLAN_IN);
	struct plan_transfer t = { .src = 0,
		.dst = 1,
		.from = b,
		.to = b,
		.bytes = 8 };
	struct plan_place in[] = { { 0, b }, { 8, b } };
	struct plan_local l = { .rank = 1,
		.to = b,
		.to_off = 16,
		.bytes = 8,
		.op = PLAN_SUM };
	struct order *o = order_new(p);

	(void)state;
	for (uint32_t r = 0; r < 3; r++)
		plan_buf_need(p, b, r, 24);
	order_transfer(o, &t);
	assert_int_equal(t.step, 0);
	order_local(o, &l, in, 2); /* may follow in the same step */
	assert_int_equal(l.step, 0);
	t = (struct plan_transfer){ .src = 1,
		.dst = 2,
		.from = b,
		.to = b,
		.from_off = 16,
		.bytes = 4 };
	order_transfer(o, &t); /* but its result not before the next */
	assert_int_equal(t.step, 1);
	t = (struct plan_transfer){ .src = 2,
		.dst = 0,
		.from = b,
		.to = b,
		.from_off = 20,
		.to_off = 4,
		.bytes = 4 };
	order_transfer(o, &t); /* a write after the read of step 0 */
	assert_int_equal(t.step, 1);
	t = (struct plan_transfer){ .src = 2,
		.dst = 0,
		.from = b,
		.to = b,
		.from_off = 20,
		.to_off = 20,
		.bytes = 4 };
	order_transfer(o, &t);
	assert_int_equal(t.step, 0);
	l = (struct plan_local){ .rank = 1, .to = b, .bytes = 8 };
	order_local(o, &l, &in[1], 1); /* overwrites an input of the sum */
	assert_int_equal(l.step, 1);
	order_free(o);
	plan_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_write_after_reads),
		cmocka_unit_test(test_tags_agree),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
