/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headline.c - the result of a run in one sentence.
 */
#include "ctl/lib/headline.h"

#include <math.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "schema/names_probe.h"

/* The ratio of the ends of an interval above which the headline advises a
 * longer measurement. */
#define WIDE 4.0

/* Return whether a is the worse impact: its interval is known and that of b is
 * not, or its value is higher. */
static int
headline_is_worse(const struct estimate *a, const struct estimate *b)
{
	int a_known = isfinite(a->value) && !print_is_unknown(a->lo, a->hi);
	int b_known = isfinite(b->value) && !print_is_unknown(b->lo, b->hi);

	if (a_known != b_known)
		return a_known;
	return isfinite(a->value) &&
	    !(isfinite(b->value) && b->value >= a->value);
}

/* "p99" of a rate is its low end. */
static const char *
headline_statistic(const char *test, const char *of)
{
	int t = STR_FIND(names_tests, test);

	return t >= 0 && strcmp(names_tests[t].unit, "B/s") == 0 &&
		strcmp(of, "p99") == 0
	    ? "p01"
	    : of;
}

/* Write the impact with the strongest evidence. Return 0 if the records have
 * no impact. */
static int
headline_add_impact(struct strbuf *sb, const json_t *records)
{
	struct estimate worst = { NULL, "", NAN, NAN, NAN, NAN };
	const json_t *of = NULL;
	const char *test;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		struct estimate e = records_estimate(r);

		if (!records_is(r, "impact", NULL) ||
		    (of != NULL && !headline_is_worse(&e, &worst)))
			continue;
		of = r;
		worst = e;
	}
	if (of == NULL)
		return 0;
	test = print_member(of, "test", "?");
	if (!isfinite(worst.value) || print_is_unknown(worst.lo, worst.hi)) {
		strbuf_addf(sb, "The impact of congestion is undetermined");
		if (print_member(of, "cause", "")[0] != '\0')
			strbuf_addf(sb, ": %s", print_member(of, "cause", ""));
	} else if (worst.lo > 1) {
		strbuf_addf(sb, "Congestion makes %s %.3g times worse", test,
		    worst.value);
	} else {
		strbuf_addf(sb,
		    "No test is proven worse under congestion: %s is %.2f "
		    "times the value without",
		    test, worst.value);
	}
	if (isfinite(worst.lo) && isfinite(worst.hi))
		strbuf_addf(sb, " (%s, %.0f %% interval %.3g to %.3g)",
		    headline_statistic(test, worst.of), worst.level * 100,
		    worst.lo, worst.hi);
	if (isfinite(worst.lo) && worst.hi > WIDE * worst.lo)
		strbuf_addf(sb, "; the interval is wide: increase canary.time");
	return 1;
}

/* Write the main statistic of every canary of the phase without congestors.
 * Return 0 without a canary. */
static int
headline_add_canaries(struct strbuf *sb, const json_t *records)
{
	const char *quiet = records_quiet_phase(records);
	char text[PRINT_BYTES];
	int count = 0;

	for (int t = 0; t < CANARY_MAX; t++) {
		struct estimate e = records_estimate(records_find(records,
		    "canary", names_tests[t].name, quiet));

		if (!isfinite(e.value))
			continue;
		print_quantity(e.value, e.unit, text);
		strbuf_addf(sb, "%s%s %s is %s", count++ > 0 ? ", " : "",
		    names_tests[t].name, e.of, text);
	}
	if (count > 0 && strcmp(quiet, names_phases[PHASE_ISOLATED]) != 0)
		strbuf_addf(sb, " (%s)", quiet);
	return count;
}

/* Write how many speed-ups are proven, and the largest. Return 0 if there is
 * none. */
static int
headline_add_speedups(struct strbuf *sb, const json_t *records)
{
	const json_t *best = NULL;
	int count = 0, proven = 0;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		double value = member_number(r, "value");

		if (!records_is(r, "speedup", NULL) || !isfinite(value))
			continue;
		count++;
		proven += member_number(json_object_get(r, "interval"), "lo") >
		    1;
		if (best == NULL || value > member_number(best, "value"))
			best = r;
	}
	if (count == 0)
		return 0;
	strbuf_addf(sb,
	    "Faster than the baseline in %d of %d comparisons; the largest "
	    "speed-up is %.2f (%s)",
	    proven, count, member_number(best, "value"),
	    print_member(best, "collective",
		print_member(best, "plan", print_member(best, "of", "?"))));
	return 1;
}

/* Write the plan with the highest bandwidth. Return 0 without a plan. */
static int
headline_add_plan(struct strbuf *sb, const json_t *records)
{
	char text[PRINT_BYTES];
	const json_t *best = NULL;
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (records_is_plan(r) && isfinite(records_rate(r)) &&
		    (best == NULL || records_rate(r) > records_rate(best)))
			best = r;
	if (best == NULL)
		return 0;
	print_quantity(records_rate(best), "B/s", text);
	strbuf_addf(sb, "The highest bandwidth is %s (%s)", text,
	    print_member(best, "plan", print_member(best, "probe", "?")));
	return 1;
}

char *
headline(const json_t *records)
{
	static int (*const adds[])(struct strbuf * sb,
	    const json_t *records) = { headline_add_impact,
		headline_add_canaries, headline_add_speedups,
		headline_add_plan };
	struct strbuf sb = { 0 };
	const char *cause = "";
	size_t i;
	json_t *r;

	for (size_t k = 0; k < ARRAY_LEN(adds); k++)
		if (adds[k](&sb, records)) {
			strbuf_addf(&sb, ".");
			return sb.text;
		}
	json_array_foreach (records, i, r)
		if (cause[0] == '\0')
			cause = print_member(r, "cause", "");
	return xasprintf("Nothing was measured%s%s.",
	    cause[0] == '\0' ? "" : ": ", cause);
}
