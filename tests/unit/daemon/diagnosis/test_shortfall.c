/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs compared with a machine's rates. */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <stdio.h>
#include <string.h>

/* Nodes in pairs, in a ring with an offset of shift, at the machine's rate
 * times ratio. slow: by node, or 1 << 30 for traffic that crosses the border of
 * leaf 10.78.2.0. */
static void
hear_pairs(struct fix *f, const char *run, int shift, unsigned slow,
    double ratio)
{
	struct diagnosis_source from = { run, "collectives", "exclusive",
		"openmpi", "agents", NULL, NULL };
	json_t *nodes = json_array(), *record;

	for (int i = 0; i < NODES; i++) {
		int with = (i + ((i + shift) % 2 == 0 ? 1 : NODES - 1)) % NODES;
		int crosses = (i / 4 == 1) != (with / 4 == 1);
		int is_slow = (slow >> i & 1) || (slow >> with & 1) ||
		    (slow >> 30 && crosses);
		char a[16], b[16];

		snprintf(a, sizeof(a), "node%d", i + 1);
		snprintf(b, sizeof(b), "node%d", with + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s, s:s, s:f, s:f}", "node", a, "partner", b,
			"seconds", 1.0, "ratio", is_slow ? ratio : 0.9));
	}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "pairs", "of",
	    "whole", "machine", "lab", "nodes", nodes);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

/* A prediction for another placement of ranks is not evidence about a node. */
static void
test_placed(void **state)
{
	struct fix *f = *state;
	struct diagnosis_source from = { "run-1", "collectives", "exclusive",
		"openmpi", "agents", NULL, NULL };

	for (int placed = 0; placed < 2; placed++) {
		json_t *record = json_pack("{s:s, s:s, s:s, s:b, s:[{s:s, s:s, "
					   "s:f, s:f}]}",
		    "probe", "group", "of", "whole", "machine", "lab", "placed",
		    placed, "nodes", "node", "node5", "partner", "node6",
		    "seconds", 1.0, "ratio", 0.4);

		evidence_record(f->diagnosis, f->roster, &from, record);
		json_decref(record);
		diagnosis_run_over(f->diagnosis, "run-1");
		assert_int_equal(open_cases(f), placed);
	}
}

static void
hear_promise(struct fix *f, const char *run, unsigned slow, double ratio)
{
	hear_pairs(f, run, 0, slow, ratio);
	hear_pairs(f, run, 1, slow, ratio);
	diagnosis_run_over(f->diagnosis, run);
}

/* The node that is slow with both partners is named, not the partners; it is
 * cleared when it is faster again. */
static void
test_promise(void **state)
{
	struct fix *f = *state;
	json_t *list;

	hear_promise(f, "run-1", 1 << 4, 0.6);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	hear_promise(f, "run-2", 1 << 4, 0.1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node4"), VERDICT_OK);
	assert_int_equal(verdict_of(f, "node6"), VERDICT_OK);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "node5: its speed is 10 % of the prediction for machine lab, with "
	    "the best of 2 "
	    "partners");
	diagnosis_tick(f->diagnosis);
	assert_int_equal(f->orders, 0); /* no second pass */
	/* over a restart too */
	list = diagnosis_json(f->diagnosis, 0);
	fix_again(f);
	diagnosis_load(f->diagnosis, list);
	json_decref(list);
	expect_text(f, "10 % of the prediction for machine lab");
	hear_promise(f, "run-3", 0, 1);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(open_cases(f), 0);
	assert_non_null(strstr(told.last, "as predicted"));
}

static void
test_promise_of_links(void **state)
{
	struct fix *f = *state;

	hear_promise(f, "run-1", 1u << 30, 0.2);
	assert_int_equal(open_cases(f), 1);
	expect_text(f,
	    "link of leaf 10.78.2.0/24: its speed is 20 % of the prediction "
	    "for machine "
	    "lab");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	/* a single pair cannot show which of the two is slow */
	hear_pairs(f, "run-2", 0, 1 << 8, 0.2);
	diagnosis_run_over(f->diagnosis, "run-2");
	assert_int_equal(verdict_of(f, "node9"), VERDICT_WARN);
	assert_int_equal(verdict_of(f, "node10"), VERDICT_WARN);
	assert_non_null(strstr(told.last, "may be the slow one"));
}

/* Most of them: the description is wrong, or it is not their fault. */
static void
test_promise_of_all(void **state)
{
	struct fix *f = *state;

	hear_promise(f, "run-1", 0xfff, 0.2);
	assert_int_equal(open_cases(f), 0);
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	assert_int_equal(told.events, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_promise),
		DIAGNOSIS_TEST(test_placed),
		DIAGNOSIS_TEST(test_promise_of_links),
		DIAGNOSIS_TEST(test_promise_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
