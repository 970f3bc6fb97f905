/* SPDX-License-Identifier: Apache-2.0 */
/* A large effect orders follow-up runs until it is a case or cleared; a large
 * effect that ends is cleared as quickly. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <string.h>

#include "common/clk.h"

static uint64_t now_ns = 1000 * CLK_NS_PER_S;
static int every_s = 360;

static uint64_t
clock_ns(void)
{
	return now_ns;
}

static int
follow_setup(void **state)
{
	struct fix *f;

	clk_set_source(clock_ns, clock_ns);
	fix_setup(state);
	f = *state;
	f->slower = 3;
	f->diagnosis->o.follow_up = 20;
	return 0;
}

static int
follow_teardown(void **state)
{
	fix_teardown(state);
	clk_set_source(NULL, NULL);
	return 0;
}

#define FOLLOW_TEST(t)                                                         \
	cmocka_unit_test_setup_teardown(t, follow_setup, follow_teardown)

/* A round of pairs; node5 is slower by factor. */
static void
hear_pairs(struct fix *f, double factor)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };
	json_t *record = made_round(factor);

	now_ns += (uint64_t)every_s * CLK_NS_PER_S;
	json_object_set_new(record, "partners", json_string("match"));
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

/* A round of bandwidths six minutes later. */
static void
hear_bandwidths(struct fix *f, double factor)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };
	json_t *record = made_round(1 / factor), *node;
	size_t i;

	now_ns += 360 * CLK_NS_PER_S;
	json_array_foreach (json_object_get(record, "nodes"), i, node)
		json_object_set(node, "q75", json_object_get(node, "q25"));
	json_object_set_new(record, "partners", json_string("match"));
	json_object_set_new(record, "test", json_string("bw"));
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

/* Return the order after this much time: "", or the begin of its sentence. */
static const char *
ordered_after(struct fix *f, uint64_t s)
{
	int orders = f->orders;

	now_ns += s * CLK_NS_PER_S;
	diagnosis_tick(f->diagnosis);
	return f->orders == orders ? "" : ordered(f, "about");
}

static void
expect_pending(struct fix *f, const char *text)
{
	char pending[DIAGNOSIS_PENDING_MAX];

	diagnosis_pending(f->diagnosis, roster_find(f->roster, "node5"),
	    pending);
	assert_string_equal(pending, text);
}

/* Four normal rounds, and a large one: node5 is a suspect. */
static void
suspect(struct fix *f)
{
	json_t *list;

	for (int i = 0; i < 4; i++)
		hear_pairs(f, 1);
	assert_string_equal(ordered_after(f, 1), "");
	hear_pairs(f, 3);
	assert_int_equal(open_cases(f), 0);
	expect_pending(f, "slow in 1 of 3 rounds, confirmation pending");
	list = diagnosis_suspects(f->diagnosis);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(
				json_object_get(json_array_get(list, 0),
				    "subject")),
	    "node5");
	json_decref(list);
	assert_string_equal(ordered_after(f, 1), "follow-up run on node5");
}

static void
make_bad(struct fix *f)
{
	suspect(f);
	hear_pass(f, "node5", 0);
	expect_pending(f, "slow in 2 of 3 rounds, confirmation pending");
	assert_string_equal(ordered_after(f, 1), "");
	assert_string_equal(ordered_after(f, 15), "follow-up run on node5");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f, "node5: 3.0 times slower");
	/* Not before it has lasted. */
	assert_string_equal(ordered_after(f, 60), "");
	assert_string_equal(ordered_after(f, 120), "confirmation run on node5");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
}

static void
test_bad_and_well(void **state)
{
	struct fix *f = *state;

	make_bad(f);
	expect_pending(f, "");
	hear_pairs(f, 1);
	expect_pending(f, "recovering: normal in 1 of 3 rounds");
	assert_string_equal(ordered_after(f, 60), "");
	assert_string_equal(ordered_after(f, 60), "follow-up run on node5");
	hear_pass(f, "none", 0);
	expect_pending(f, "recovering: normal in 2 of 3 rounds");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	assert_string_equal(ordered_after(f, 120), "follow-up run on node5");
	hear_pass(f, "none", 0);
	assert_int_equal(open_cases(f), 0);
	assert_string_equal(ordered_after(f, 600), "");
}

/* Rounds vary too much for its judge. As many runs as votes, less the round
 * that ordered them, find it slow: it is an outlier. */
static void
test_named_by_runs(void **state)
{
	struct fix *f = *state;

	suspect(f);
	f->diagnosis->o.judge.votes = 2; /* the judge itself requires 3 */
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	expect_text(f, "node5: 3.0 times slower");
	hear_pairs(f, 1);
	expect_pending(f, "recovering: normal in 1 of 3 rounds");
}

/* It was normal in one round and is still slow: rounds continue as usual. */
static void
test_not_well(void **state)
{
	struct fix *f = *state;

	make_bad(f);
	hear_pairs(f, 1);
	assert_string_equal(ordered_after(f, 120), "follow-up run on node5");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	assert_string_equal(ordered_after(f, 600), "");
}

/* An hourly test named it. That it is fast again in a more frequent test orders
 * runs of the hourly one. */
static void
test_well_by_another_test(void **state)
{
	struct fix *f = *state;

	every_s = 3600;
	for (int i = 0; i < 4; i++)
		hear_bandwidths(f, 1);
	make_bad(f);
	hear_bandwidths(f, 1);
	hear_bandwidths(f, 1);
	assert_string_equal(ordered_after(f, 600), "");
	hear_bandwidths(f, 3);
	hear_bandwidths(f, 1.08); /* neither slow nor normal */
	assert_string_equal(ordered_after(f, 600), "");
	hear_bandwidths(f, 1);
	assert_string_equal(ordered_after(f, 60), "");
	assert_string_equal(ordered_after(f, 60), "follow-up run on node5");
	hear_pass(f, "none", 0);
	expect_pending(f, "recovering: normal in 1 of 3 rounds");
	assert_string_equal(ordered_after(f, 120), "follow-up run on node5");
	hear_pass(f, "none", 0);
	assert_string_equal(ordered_after(f, 120), "follow-up run on node5");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	hear_pass(f, "none", 0);
	assert_int_equal(open_cases(f), 0);
	every_s = 360;
}

/* The run finds it as fast as the others: that was all. */
static void
test_once(void **state)
{
	struct fix *f = *state;

	suspect(f);
	hear_pass(f, "none", 0);
	expect_pending(f, "");
	assert_string_equal(ordered_after(f, 600), "");
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(told.verdicts, 0);
}

/* Three runs without a result: only rounds decide. */
static void
test_no_result(void **state)
{
	struct fix *f = *state;

	suspect(f);
	for (int i = 1; i < 3; i++) {
		diagnosis_run_over(f->diagnosis, f->diagnosis->pass.run);
		assert_string_equal(ordered_after(f, 120),
		    "follow-up run on node5");
	}
	diagnosis_run_over(f->diagnosis, f->diagnosis->pass.run);
	assert_string_equal(ordered_after(f, 120), "");
	expect_pending(f, "");
}

/* Rounds that are twelve times as frequent: so is all that follows. */
static void
test_frequent(void **state)
{
	struct fix *f = *state;

	every_s = 30;
	suspect(f);
	hear_pass(f, "node5", 0);
	assert_string_equal(ordered_after(f, 2), "follow-up run on node5");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_string_equal(ordered_after(f, 15), "confirmation run on node5");
	hear_pass(f, "node5", 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_BAD);
	every_s = 360;
}

/* An effect that is not large enough, and none at all by
 * configuration: rounds decide. */
static void
test_none(void **state)
{
	struct fix *f = *state;
	struct diagnosis *d = f->diagnosis;

	for (int i = 0; i < 4; i++)
		hear_pairs(f, 1);
	hear_pairs(f, 1.4);
	assert_string_equal(ordered_after(f, 1), "");
	hear_pairs(f, 1);
	d->o.follow_up = 0;
	hear_pairs(f, 3);
	assert_string_equal(ordered_after(f, 1), "");
	expect_pending(f, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FOLLOW_TEST(test_bad_and_well),
		FOLLOW_TEST(test_named_by_runs),
		FOLLOW_TEST(test_not_well),
		FOLLOW_TEST(test_well_by_another_test),
		FOLLOW_TEST(test_once),
		FOLLOW_TEST(test_no_result),
		FOLLOW_TEST(test_frequent),
		FOLLOW_TEST(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
