/* SPDX-License-Identifier: Apache-2.0 */
/* A node against its own past, and against a pinned baseline. */
#include "common/clk.h"
#include "common/member.h"
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <string.h>

static const char *
what_of(struct fix *f)
{
	struct diagnosis_open list[8];

	return diagnosis_open_cases(f->diagnosis, list, 8) == 1
	    ? names_whats[list[0].what].name
	    : "not one case";
}

/* node5 always was 6 % faster than its peers, and is now hardly slower than
 * they are: only its own past shows that. A restarted collector loads the
 * learned state. */
static void
test_drift(void **state)
{
	struct fix *f = *state;
	json_t *rows;

	hear_made(f, 0.94, 100);
	assert_int_equal(open_cases(f), 0);
	fix_again(f);
	rows = json_pack("[{s:s, s:O}]", "name", DIAGNOSIS_RECENT, "body",
	    told.recent);
	diagnosis_load_baselines(f->diagnosis, rows);
	json_decref(rows);
	for (int i = 0; i < 60; i++)
		hear_made(f, 0.94 * (1 + 0.002 * i), 1);
	assert_true(strcmp(what_of(f), "drift") == 0 ||
	    strcmp(what_of(f), "node") == 0);
	expect_text(f, "node5: ");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_WARN);
	hear_made(f, 0.94, 200);
	assert_int_equal(open_cases(f), 0);
}

static json_t *
made_baseline(double factor, int rounds)
{
	json_t *record = made_round(factor), *o;
	size_t i;

	member_foreach (record, "nodes", i, o)
		json_object_set_new(o, "rounds", json_integer(rounds));
	return json_pack("{s:s, s:[o]}", "run", "", "records", record);
}

static void
test_pinned(void **state)
{
	struct fix *f = *state;
	json_t *body = made_baseline(0.9, 1000);

	diagnosis_pin(f->diagnosis, "another", body);
	hear_made(f, 1, 100);
	assert_int_equal(open_cases(f), 0);
	diagnosis_pin(f->diagnosis, "commissioning", body);
	hear_made(f, 1, 60);
	assert_string_equal(what_of(f), "drift");
	expect_text(f, "slower than in baseline commissioning");
	diagnosis_pin(f->diagnosis, "commissioning", NULL);
	hear_made(f, 1, 1);
	assert_int_equal(open_cases(f), 0);
	json_decref(body);
}

#define ROUND_NS (300 * CLK_NS_PER_S)
#define DAY      288 /* rounds */

static uint64_t round_ns;

static uint64_t
round_clock(void)
{
	return round_ns;
}

static int
days_setup(void **state)
{
	round_ns = 1000 * DAY * ROUND_NS;
	clk_set_source(round_clock, round_clock);
	return fix_setup(state);
}

static int
days_teardown(void **state)
{
	int rc = fix_teardown(state);

	clk_set_source(NULL, NULL);
	return rc;
}

#define DAYS_TEST(t)                                                           \
	cmocka_unit_test_setup_teardown(t, days_setup, days_teardown)

/* Rounds in which all nodes are slower by a factor: `slower` at the end, `from`
 * at the beginning; and in the first half of each day by `day`. */
static void
hear_fleet(struct fix *f, int rounds, double from, double slower, double day)
{
	static const struct diagnosis_source source = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };

	for (int round = 0; round < rounds; round++) {
		json_t *record = made_round(1), *o;
		double factor = from + (slower - from) * round / rounds;
		size_t i;

		if (round_ns / ROUND_NS % DAY < DAY / 2)
			factor *= 1 + day;
		member_foreach (record, "nodes", i, o)
			json_object_set_new(o, "q25",
			    json_real(factor *
				json_number_value(json_object_get(o, "q25"))));
		evidence_record(f->diagnosis, f->roster, &source, record);
		json_decref(record);
		round_ns += ROUND_NS;
	}
}

/* Comparison with peers does not show a change of all nodes. A restarted
 * collector keeps the case. */
static void
test_fleet(void **state)
{
	struct fix *f = *state;
	json_t *rows, *recent;

	hear_fleet(f, 3 * DAY, 1, 1, 0);
	assert_int_equal(open_cases(f), 0);
	hear_fleet(f, 30, 1.2, 1.2, 0);
	assert_string_equal(what_of(f), "fleet");
	expect_text(f, "the fleet (all nodes) is 1");
	expect_text(f, "than in the last 43 hours: 12 of 12 nodes");
	assert_int_equal(verdict_of(f, "node5"), VERDICT_OK);
	recent = diagnosis_recent(f->diagnosis);
	fix_again(f);
	rows = json_pack("[{s:s, s:o}]", "name", DIAGNOSIS_RECENT, "body",
	    recent);
	diagnosis_load_baselines(f->diagnosis, rows);
	json_decref(rows);
	hear_fleet(f, 30, 1.2, 1.2, 0);
	assert_string_equal(what_of(f), "fleet");
	hear_fleet(f, 60, 1, 1, 0);
	assert_int_equal(open_cases(f), 0);
}

/* Half of each day is slower: the usual course, from the first day on. A step
 * beyond it is not. */
static void
test_fleet_day(void **state)
{
	struct fix *f = *state;

	for (int day = 0; day < 10; day++) {
		hear_fleet(f, DAY, 1, 1, 0.3);
		assert_int_equal(open_cases(f), 0);
	}
	hear_fleet(f, 30, 1.2, 1.2, 0.3);
	assert_string_equal(what_of(f), "fleet");
	hear_fleet(f, DAY, 1, 1, 0.3);
	assert_int_equal(open_cases(f), 0);
}

/* 1 % a day: the last weeks follow it, the first two do not. Whoever pins a
 * baseline takes today for normal. */
static void
test_fleet_slow_drift(void **state)
{
	struct fix *f = *state;
	json_t *body = made_baseline(1, 1000);

	hear_fleet(f, 16 * DAY, 1, 1, 0);
	assert_int_equal(open_cases(f), 0);
	hear_fleet(f, 9 * DAY, 1, 1.09, 0);
	assert_string_equal(what_of(f), "fleet");
	hear_fleet(f, 30 * DAY, 1.09, 1.09, 0);
	assert_string_equal(what_of(f), "fleet");
	diagnosis_pin(f->diagnosis, "commissioning", body);
	hear_fleet(f, 3 * DAY, 1.09, 1.09, 0);
	assert_int_equal(open_cases(f), 0);
	json_decref(body);
}

/* A round in which 4 of 11 pairs of the second leaf's nodes are slow, or 1 as
 * everywhere. */
static void
hear_uplink(struct fix *f, const char *class, int is_slow)
{
	const struct diagnosis_source from = { "run-1", "watch", class,
		"openmpi", "agents", NULL, NULL };
	json_t *record = made_round(1), *o;
	size_t i;

	member_foreach (record, "nodes", i, o) {
		json_object_set_new(o, "partners", json_integer(11));
		json_object_set_new(o, "slow_partners",
		    json_integer(is_slow && i / 4 == 1 ? 4 : 1));
	}
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
}

/* A slow uplink of a leaf, detected by two kinds of rounds. The sums of the
 * less frequent kind fall later: they must not reopen the case after the other
 * kind has closed it. */
static void
test_uplink_heals(void **state)
{
	struct fix *f = *state;
	int rounds = 0;

	for (int i = 0; i < 250; i++) {
		hear_uplink(f, "background", i >= 200);
		hear_uplink(f, "exclusive", i >= 200);
	}
	assert_string_equal(what_of(f), "link");
	expect_text(f, "leaf 10.78.2.0/24: ");
	while (open_cases(f) > 0 && rounds++ < 200)
		hear_uplink(f, "background", 0);
	assert_in_range(rounds, 1, 199);
	hear_uplink(f, "exclusive", 0);
	assert_int_equal(open_cases(f), 0);
	/* Were it slow still, it would be found again. */
	for (int i = 0; i < 50; i++)
		hear_uplink(f, "exclusive", 1);
	assert_string_equal(what_of(f), "link");
}

/* All echoes take a few microseconds more, because the machines are busy: an
 * insignificant change. */
static void
test_fleet_echoes(void **state)
{
	struct fix *f = *state;

	for (int round = 0; round < 3 * DAY + 30; round++) {
		json_t *record = made_round(1), *o;
		size_t i;

		round_ns += ROUND_NS;
		json_object_set_new(record, "probe", json_string("mesh"));
		json_object_set_new(record, "test", json_string("spine"));
		json_object_set_new(record, "run", json_string("mesh-1"));
		member_foreach (record, "nodes", i, o)
			json_object_set_new(o, "q25",
			    json_real((round >= 3 * DAY ? 1.45 : 1) *
				json_number_value(json_object_get(o, "q25"))));
		evidence_mesh(f->diagnosis, f->roster, record);
		json_decref(record);
		assert_int_equal(open_cases(f), 0);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DIAGNOSIS_TEST(test_drift),
		DAYS_TEST(test_fleet),
		DAYS_TEST(test_fleet_day),
		DAYS_TEST(test_fleet_echoes),
		DAYS_TEST(test_fleet_slow_drift),
		DIAGNOSIS_TEST(test_pinned),
		DIAGNOSIS_TEST(test_uplink_heals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
