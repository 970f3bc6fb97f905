/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - every collective in every form and shape, by number.
 *
 * A case is a number below sweep_count(); the full list runs in tests/bench, a
 * sample with a printed seed among the unit tests.
 */
#ifndef TESTS_UNIT_PLAN_SWEEP_H
#define TESTS_UNIT_PLAN_SWEEP_H

#include "common/str.h"
#include "tests/unit/probes/plan/cases.h"

static const char *const sweep_forms[] = {
	"broadcast form=single",
	"broadcast form=allgather.scatter",
	"reduce form=single",
	"reduce form=gather.reduce-scatter",
	"gather form=single",
	"scatter form=single",
	"allgather form=single",
	"allgather form=broadcast.gather",
	"reduce-scatter form=single",
	"reduce-scatter form=scatter.reduce",
	"allreduce form=single",
	"allreduce form=broadcast.reduce",
	"allreduce form=allgather.reduce-scatter",
	"alltoall form=single",
};

static const uint32_t sweep_ranks[] = { 8, 12, 16, 24 };
static const uint32_t sweep_depths[] = { 1, 2, 3, 4, 16 };
static const uint32_t sweep_counts[] = { 1, 3, 7, 96, 1003 };

#define SWEEP_SHAPES_MAX 4096

/* "8 2,4 stripe ring" of all ranks: ordered factorisations, and one with a
 * trailing 1, with every stripe and ring that divides. */
struct sweep_shape {
	char hierarchy[40];
	uint32_t ranks, stripe, ring;
};

static struct sweep_shape sweep_shapes[SWEEP_SHAPES_MAX];
static size_t sweep_shapes_count;

static void
sweep_shape_add(uint32_t ranks, const char *hierarchy)
{
	for (uint32_t s = 1; s <= ranks; s++)
		for (uint32_t r = 1; r <= ranks; r++) {
			struct sweep_shape *sh;

			if (ranks % s != 0 || ranks % r != 0)
				continue;
			assert_true(sweep_shapes_count < SWEEP_SHAPES_MAX);
			sh = &sweep_shapes[sweep_shapes_count++];
			snprintf(sh->hierarchy, sizeof(sh->hierarchy), "%s",
			    hierarchy);
			sh->ranks = ranks;
			sh->stripe = s;
			sh->ring = r;
		}
}

static void
sweep_factor(uint32_t ranks, uint32_t rest, const char *prefix)
{
	char text[40];

	for (uint32_t f = 2; f < rest; f++) {
		if (rest % f != 0)
			continue;
		snprintf(text, sizeof(text), "%.24s%u,", prefix, f);
		sweep_factor(ranks, rest / f, text);
	}
	snprintf(text, sizeof(text), "%.24s%u", prefix, rest);
	sweep_shape_add(ranks, text);
	if (prefix[0] == '\0') {
		snprintf(text, sizeof(text), "%u,1", rest);
		sweep_shape_add(ranks, text);
	}
}

static uint64_t
sweep_count(void)
{
	if (sweep_shapes_count == 0)
		for (size_t i = 0; i < ARRAY_LEN(sweep_ranks); i++)
			sweep_factor(sweep_ranks[i], sweep_ranks[i], "");
	return (uint64_t)sweep_shapes_count * ARRAY_LEN(sweep_forms) *
	    ARRAY_LEN(sweep_depths) * ARRAY_LEN(sweep_counts) * 2 * 2;
}

static uint64_t
sweep_digit(uint64_t *x, uint64_t base)
{
	uint64_t d = *x % base;

	*x /= base;
	return d;
}

/* The words of case x. */
static void
sweep_case(uint64_t x, char *ret, size_t cap_bytes)
{
	const struct sweep_shape *sh =
	    &sweep_shapes[sweep_digit(&x, sweep_shapes_count)];
	const char *form = sweep_forms[sweep_digit(&x, ARRAY_LEN(sweep_forms))];
	uint32_t depth = sweep_depths[sweep_digit(&x, ARRAY_LEN(sweep_depths))];
	uint32_t count = sweep_counts[sweep_digit(&x, ARRAY_LEN(sweep_counts))];
	uint32_t root = sweep_digit(&x, 2) == 0 ? 0 : 5;

	snprintf(ret, cap_bytes,
	    "collective name=%s hierarchy=%s stripe=%u ring=%u depth=%u "
	    "count=%u root=%u type=int64 lean=%s",
	    form, sh->hierarchy, sh->stripe, sh->ring, depth, count, root,
	    x == 0 ? "yes" : "no");
}

#endif
