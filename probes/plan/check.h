/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - prove that a plan does what its builder promised.
 *
 * Every byte is followed symbolically through every step (value.h); no data is
 * moved. A plan passes when
 *   - every range is in its buffer, and every rank, buffer and step exists;
 *   - no two accesses of a rank at the same time (plan.h) overlap if one of
 *     them writes;
 *   - no byte is read before it is written, and reductions see whole elements;
 *   - no byte is delivered to a place that holds it already, or to a temporary
 *     place where it is never read;
 *   - every promised range ends with the promised bytes on every rank;
 *   - the user's buffers hold nothing but the promised bytes: sources are
 *     unchanged, results are not written past their ends.
 * A transfer is one row for both of its ends, so that the ends agree on its
 * size. Sends and receives are matched in the order of the rows (rank_graph.h).
 *
 * The cost depends on the number of ranges, not of bytes. An all-gather of
 * 2,048 ranks, with 4.2 million transfers, takes a few seconds on one core.
 */
#ifndef PROBES_PLAN_CHECK_H
#define PROBES_PLAN_CHECK_H

#include "probes/plan/plan.h"

/* The rule that a plan violates. */
enum check_kind {
	CHECK_OK,
	CHECK_MALFORMED, /* a rank, buffer, step or transport does not exist */
	CHECK_BOUNDS,    /* beyond a buffer's end */
	/* Two accesses at the same time overlap, and one writes. */
	CHECK_UNORDERED,
	CHECK_UNWRITTEN, /* a byte is read before any write */
	CHECK_ELEMENTS,  /* a reduction cuts an element */
	/* A byte is delivered to a place that already holds it. */
	CHECK_TWICE,
	/* A byte is delivered to a temporary place and never read. */
	CHECK_UNREAD,
	/* A promised range does not end with the promised bytes. */
	CHECK_BROKEN,
	/* A byte of the user changed that no promise covers. */
	CHECK_UNPROMISED,
	CHECK_KIND_MAX
};
extern const char *const check_kinds[CHECK_KIND_MAX];

/* The first violation, in the order of step, rank, buffer and offset. */
struct check_fault {
	enum check_kind kind;
	uint32_t step; /* plan.steps for faults found at the end */
	uint32_t rank;
	uint16_t buf;
	uint64_t off;   /* in bytes, in the buffer */
	char text[320]; /* a whole sentence with step, rank and offset */
};

/* Check a plan. Return 0 if it passes, or -EPROTO with the first violation in
 * *ret_fault. */
int check_plan(const struct plan *p, struct check_fault *ret_fault);

#endif
