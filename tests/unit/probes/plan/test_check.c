/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans written by hand, each with one fault, and the reported fault.
 */
#include <errno.h>

#include "probes/plan/check.h"

#include "probes/plan/value.h"
#include "tests/unit/probes/plan/cases.h"

#define SEND 0
#define RECV 1
#define TEMP 2

/* Three buffers of 24 bytes on every rank. */
static struct plan *
plan_of(uint32_t ranks)
{
	struct plan *p = plan_new(ranks, "by hand");

	plan_buf_add(p, "send", PLAN_IN);
	plan_buf_add(p, "recv", PLAN_OUT);
	plan_buf_add(p, "temp", PLAN_TEMP);
	for (uint32_t r = 0; r < ranks; r++)
		for (uint16_t b = 0; b < 3; b++)
			plan_buf_need(p, b, r, 24);
	return p;
}

/* step, src, from, from_off, dst, to, to_off, bytes */
static void
move(struct plan *p, uint32_t step, uint32_t src, uint16_t from,
    uint64_t from_off, uint32_t dst, uint16_t to, uint64_t to_off,
    uint64_t bytes)
{
	plan_transfer_add(p,
	    &(struct plan_transfer){ .step = step,
		.src = src,
		.dst = dst,
		.from = from,
		.to = to,
		.from_off = from_off,
		.to_off = to_off,
		.bytes = bytes });
}

static void
add2(struct plan *p, uint32_t step, uint32_t rank, uint16_t a, uint64_t a_off,
    uint16_t b, uint64_t b_off, uint16_t to, uint64_t to_off, uint64_t bytes)
{
	const struct plan_place in[] = { { a_off, a }, { b_off, b } };

	plan_local_add(p,
	    &(struct plan_local){ .step = step,
		.rank = rank,
		.to = to,
		.to_off = to_off,
		.bytes = bytes,
		.op = PLAN_SUM,
		.type = PLAN_INT64 },
	    in, 2);
}

static void
promise(struct plan *p, uint32_t src, uint64_t from_off, uint32_t dst,
    uint64_t to_off, uint64_t bytes)
{
	plan_promise_copy(p,
	    &(struct plan_transfer){ .src = src,
		.dst = dst,
		.from = SEND,
		.to = RECV,
		.from_off = from_off,
		.to_off = to_off,
		.bytes = bytes });
}

static void
promise_sum(struct plan *p, uint32_t lo, uint32_t hi, uint32_t dst)
{
	plan_promise_add(p,
	    &(struct plan_promise){ .to = RECV,
		.bytes = 24,
		.op = PLAN_SUM,
		.type = PLAN_INT64 },
	    &(struct plan_span){ dst, dst + 1 }, 1,
	    &(struct plan_source){ .lo = lo, .hi = hi, .buf = SEND }, 1);
}

static void
expect(struct plan *p, enum check_kind kind, uint32_t rank, uint64_t off)
{
	struct check_fault fault;
	int rc = check_plan(p, &fault);

	if (kind == CHECK_OK && rc < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(rc, kind == CHECK_OK ? 0 : -EPROTO);
	assert_string_equal(check_kinds[fault.kind], check_kinds[kind]);
	if (kind != CHECK_OK) {
		assert_int_equal(fault.rank, rank);
		assert_int_equal(fault.off, off);
	}
	plan_free(p);
}

static void
test_relay(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, TEMP, 8, 16);
	move(p, 1, 1, TEMP, 8, 2, RECV, 0, 16);
	promise(p, 0, 0, 2, 0, 16);
	expect(p, CHECK_OK, 0, 0);
}

static void
test_relay_too_early(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 1, 0, SEND, 0, 1, TEMP, 8, 16);
	move(p, 0, 1, TEMP, 8, 2, RECV, 0, 16);
	promise(p, 0, 0, 2, 0, 16);
	expect(p, CHECK_UNWRITTEN, 1, 8);
}

/* In one step a rank must not forward data that it is just receiving. */
static void
test_relay_at_once(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, TEMP, 8, 16);
	move(p, 0, 1, TEMP, 12, 2, RECV, 0, 12);
	promise(p, 0, 4, 2, 0, 12);
	expect(p, CHECK_UNORDERED, 1, 12);
}

static void
test_two_writes(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 2, RECV, 0, 12);
	move(p, 0, 1, SEND, 0, 2, RECV, 11, 12);
	expect(p, CHECK_UNORDERED, 2, 11);
}

/* A long write hides behind it shorter ones that come later in the order. */
static void
test_write_within_write(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 2, RECV, 0, 24);
	move(p, 0, 1, SEND, 0, 2, RECV, 20, 2);
	expect(p, CHECK_UNORDERED, 2, 20);
}

static void
test_bounds(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 1, 1, RECV, 0, 24);
	expect(p, CHECK_BOUNDS, 0, 1);
	p = plan_of(2);
	move(p, 0, 0, SEND, 0, 1, RECV, UINT64_MAX - 7, 16);
	expect(p, CHECK_BOUNDS, 1, UINT64_MAX - 7);
	p = plan_of(2);
	move(p, 0, 0, SEND, 0, 2, RECV, 0, 16);
	expect(p, CHECK_MALFORMED, 2, 0);
}

static void
test_wrong_source(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 1, SEND, 0, 2, RECV, 0, 16);
	promise(p, 0, 0, 2, 0, 16);
	expect(p, CHECK_BROKEN, 2, 0);
}

static void
test_shifted(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, RECV, 0, 8);
	move(p, 0, 0, SEND, 9, 1, RECV, 8, 8);
	promise(p, 0, 0, 1, 0, 16);
	expect(p, CHECK_BROKEN, 1, 8);
}

static void
test_missing(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, RECV, 0, 15);
	promise(p, 0, 0, 1, 0, 16);
	expect(p, CHECK_BROKEN, 1, 15);
}

static void
test_too_much(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, RECV, 0, 17);
	promise(p, 0, 0, 1, 0, 16);
	expect(p, CHECK_UNPROMISED, 1, 16);
}

static void
test_source_changed(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, SEND, 3, 4);
	expect(p, CHECK_UNPROMISED, 1, 3);
}

static void
test_delivered_twice(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, RECV, 0, 16);
	move(p, 1, 0, SEND, 4, 1, RECV, 4, 4);
	promise(p, 0, 0, 1, 0, 16);
	expect(p, CHECK_TWICE, 1, 4);
}

static void
test_promised_twice(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, RECV, 0, 16);
	promise(p, 0, 0, 1, 0, 16);
	promise(p, 0, 4, 1, 4, 4);
	expect(p, CHECK_MALFORMED, 1, 0);
}

/* 0 + 1 at rank 1, then + 2 at rank 2: any bracketing is the same sum. */
static void
test_sum(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 1, TEMP, 0, 24);
	add2(p, 0, 1, TEMP, 0, SEND, 0, TEMP, 0, 24);
	move(p, 1, 1, TEMP, 0, 2, TEMP, 0, 24);
	add2(p, 1, 2, SEND, 0, TEMP, 0, RECV, 0, 24);
	promise_sum(p, 0, 3, 2);
	expect(p, CHECK_OK, 0, 0);
}

static void
test_sum_lost_and_doubled(void **state)
{
	struct plan *p = plan_of(3);

	(void)state;
	move(p, 0, 0, SEND, 0, 2, TEMP, 0, 24);
	add2(p, 0, 2, SEND, 0, TEMP, 0, RECV, 0, 24);
	promise_sum(p, 0, 3, 2);
	expect(p, CHECK_BROKEN, 2, 0);
	p = plan_of(2);
	move(p, 0, 0, SEND, 0, 1, TEMP, 0, 24);
	add2(p, 0, 1, SEND, 0, TEMP, 0, RECV, 0, 24);
	add2(p, 1, 1, RECV, 0, TEMP, 0, RECV, 0, 24);
	promise_sum(p, 0, 2, 1);
	expect(p, CHECK_BROKEN, 1, 0);
}

static void
test_sum_of_broken_elements(void **state)
{
	struct plan *p = plan_of(2);

	(void)state;
	move(p, 0, 0, SEND, 4, 1, TEMP, 0, 16);
	add2(p, 0, 1, SEND, 0, TEMP, 0, RECV, 0, 16);
	expect(p, CHECK_ELEMENTS, 1, 0);
	p = plan_of(2);
	move(p, 0, 0, SEND, 0, 1, TEMP, 0, 24);
	add2(p, 0, 1, SEND, 0, TEMP, 0, RECV, 0, 20);
	expect(p, CHECK_ELEMENTS, 1, 0);
}

/* In place is fine on the very same range, and only there. */
static void
test_local_conflicts(void **state)
{
	struct plan *p = plan_of(1);

	(void)state;
	add2(p, 0, 0, SEND, 0, SEND, 8, SEND, 4, 8);
	expect(p, CHECK_UNORDERED, 0, 4);
	p = plan_of(1);
	add2(p, 0, 0, SEND, 0, SEND, 8, RECV, 0, 8);
	add2(p, 0, 0, SEND, 8, SEND, 16, RECV, 0, 8);
	expect(p, CHECK_UNORDERED, 0, 0);
}

/* max over sums: an operation over another one is not flattened. */
static void
test_nested(void **state)
{
	struct value_table *vt = value_table_new(4, 1);
	struct spanmap_item x[4], s01, s23, m1, m2;

	(void)state;
	for (uint32_t r = 0; r < 4; r++)
		x[r] = (struct spanmap_item){ .tag = value_initial(vt, r, 0) };
	s01 = value_reduce(vt, PLAN_SUM, PLAN_INT32, x, 2);
	s23 = value_reduce(vt, PLAN_SUM, PLAN_INT32, x + 2, 2);
	m1 = value_reduce(vt, PLAN_MAX, PLAN_INT32,
	    (struct spanmap_item[]){ s01, s23 }, 2);
	m2 = value_reduce(vt, PLAN_MAX, PLAN_INT32, x, 4);
	assert_int_not_equal(m1.tag, m2.tag);
	m2 = value_reduce(vt, PLAN_MAX, PLAN_INT32,
	    (struct spanmap_item[]){ s23, s01 }, 2);
	assert_int_equal(m1.tag, m2.tag);
	/* the sums themselves do flatten, and count what comes twice */
	m1 = value_reduce(vt, PLAN_SUM, PLAN_INT32,
	    (struct spanmap_item[]){ s23, s01 }, 2);
	m2 = value_reduce(vt, PLAN_SUM, PLAN_INT32, x, 4);
	assert_int_equal(m1.tag, m2.tag);
	m1 = value_reduce(vt, PLAN_SUM, PLAN_INT32,
	    (struct spanmap_item[]){ m2, x[1] }, 2);
	assert_int_not_equal(m1.tag, m2.tag);
	value_table_free(vt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_relay_too_early),
		cmocka_unit_test(test_relay_at_once),
		cmocka_unit_test(test_two_writes),
		cmocka_unit_test(test_write_within_write),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_wrong_source),
		cmocka_unit_test(test_shifted),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_source_changed),
		cmocka_unit_test(test_delivered_twice),
		cmocka_unit_test(test_promised_twice),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_sum_lost_and_doubled),
		cmocka_unit_test(test_sum_of_broken_elements),
		cmocka_unit_test(test_local_conflicts),
		cmocka_unit_test(test_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
