/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_canary.c - what canaries measured and what congestion cost them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/export/metrics_int.h"

/* Bounds of exported histograms: powers of two are bounds of our own buckets,
 * so export is exact. 2^-20 s is about 1 us, 2^3 is 8 s. */
#define LE_FIRST -20
#define LE_LAST  3

#define LATENCY_HISTOGRAM "coalmine_canary_latency_distribution_seconds"

static void
canary_sample(struct strbuf *to, const char *name, const struct latest_test *t,
    const char *quantile, double value)
{
	if (!isnan(value))
		exposition_sample(to, name,
		    EXPOSITION_LABELS({ "test", names_tests[t->test].name },
			{ "phase", names_phases[t->phase] },
			{ "quantile", quantile }, { "class", t->class }),
		    value);
}

static void
canary_family(const struct metrics_in *in, struct strbuf *to, const char *name,
    const char *unit, const char *help)
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	/* A summary without sum and count: of quantiles nothing else is
	 * allowed to bear the label. */
	exposition_family(to, name, "summary", help);
	for (size_t i = 0; i < count; i++) {
		if (!t[i].known ||
		    strcmp(names_tests[t[i].test].unit, unit) != 0)
			continue;
		canary_sample(to, name, &t[i], "0.5", t[i].p50);
		canary_sample(to, name, &t[i], "0.9", t[i].p90);
		canary_sample(to, name, &t[i], "0.99", t[i].p99);
		canary_sample(to, name, &t[i], "0.999", t[i].p999);
	}
}

void
metrics_canaries(const struct metrics_in *in, struct strbuf *to)
{
	canary_family(in, to, "coalmine_canary_latency_seconds", "s",
	    "Latency quantiles of the newest run, by test and phase.");
	canary_family(in, to, "coalmine_canary_bandwidth_bytes_per_second",
	    "B/s", "Bandwidth quantiles of the newest run, by test and phase.");
}

static void
canary_count(const struct metrics_in *in, struct strbuf *to, const char *name,
    const char *help, uint64_t (*value)(const struct latest_test *))
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	exposition_family(to, name, "counter", help);
	for (size_t i = 0; i < count; i++)
		exposition_sample(to, name,
		    EXPOSITION_LABELS({ "test", names_tests[t[i].test].name },
			{ "phase", names_phases[t[i].phase] },
			{ "class", t[i].class }),
		    (double)value(&t[i]));
}

static uint64_t
value_records(const struct latest_test *t)
{
	return t->records;
}

static uint64_t
value_failures(const struct latest_test *t)
{
	return t->failures;
}

void
metrics_canary_counts(const struct metrics_in *in, struct strbuf *to)
{
	canary_count(in, to, "coalmine_canary_tests_total",
	    "Canary tests that were done, with or without a number.",
	    value_records);
	canary_count(in, to, "coalmine_canary_test_failures_total",
	    "Canary tests that gave no number.", value_failures);
}

/* How many samples lie at or below 2^octave. */
static uint64_t
below(const struct hist *h, int octave)
{
	uint64_t sum = 0;

	for (int i = HIST_FIRST; i <= octave * HIST_PER_OCTAVE; i++)
		sum += h->bucket[i - HIST_FIRST];
	return sum;
}

static void
bucket(struct strbuf *to, const char *name, const struct latest_test *t,
    const char *le, uint64_t count)
{
	exposition_sample(to, name,
	    EXPOSITION_LABELS({ "test", names_tests[t->test].name },
		{ "phase", names_phases[t->phase] }, { "class", t->class },
		{ "le", le }),
	    (double)count);
}

static void
histogram(struct strbuf *to, const struct latest_test *t)
{
	const struct exposition_label labels[] = {
		{ "test", names_tests[t->test].name },
		{ "phase", names_phases[t->phase] },
		{ "class", t->class },
		{ NULL, NULL },
	};
	char le[40];

	for (int octave = LE_FIRST; octave <= LE_LAST; octave++) {
		snprintf(le, sizeof(le), "%.17g", ldexp(1, octave));
		bucket(to, LATENCY_HISTOGRAM "_bucket", t, le,
		    below(t->hist, octave));
	}
	bucket(to, LATENCY_HISTOGRAM "_bucket", t, "+Inf", t->hist->count);
	exposition_sample(to, LATENCY_HISTOGRAM "_sum", labels, t->hist->sum);
	exposition_sample(to, LATENCY_HISTOGRAM "_count", labels,
	    (double)t->hist->count);
}

void
metrics_histograms(const struct metrics_in *in, struct strbuf *to)
{
	const struct latest_test *t;
	size_t count = latest_tests(in->latest, &t);

	exposition_family(to, LATENCY_HISTOGRAM, "histogram",
	    "Latencies of all canaries since start, by class of campaign.");
	for (size_t i = 0; i < count; i++)
		if (t[i].hist != NULL &&
		    strcmp(names_tests[t[i].test].unit, "s") == 0)
			histogram(to, &t[i]);
}

static double
impact_value(const struct latest_impact *row)
{
	return row->value;
}

static double
impact_lo(const struct latest_impact *row)
{
	return row->lo;
}

static double
impact_hi(const struct latest_impact *row)
{
	return row->hi;
}

void
metrics_impacts(const struct metrics_in *in, struct strbuf *to)
{
	static const struct {
		const char *name;
		const char *help;
		double (*value)(const struct latest_impact *);
	} rows[] = {
		{ "coalmine_congestion_impact",
		    "Congested against isolated, newest run; 1 is none.",
		    impact_value },
		{ "coalmine_congestion_impact_low",
		    "Lower end of the impact's interval.", impact_lo },
		{ "coalmine_congestion_impact_high",
		    "Upper end of the impact's interval.", impact_hi },
	};
	const struct latest_impact *list;
	size_t count = latest_impacts(in->latest, &list);

	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		exposition_family(to, rows[r].name, "gauge", rows[r].help);
		for (size_t i = 0; i < count; i++) {
			double value = rows[r].value(&list[i]);

			if (isnan(value))
				continue;
			exposition_sample(to, rows[r].name,
			    EXPOSITION_LABELS({ "test",
						  names_tests[list[i].test]
						      .name },
				{ "of", list[i].of }),
			    value);
		}
	}
}

void
metrics_speedups(const struct metrics_in *in, struct strbuf *to)
{
	static const char name[] = "coalmine_neighbor_speedup_ratio";
	const struct latest_speedup *list;
	size_t count = latest_speedups(in->latest, &list);

	exposition_family(to, name, "gauge",
	    "Neighborhood collective through leaders against MPI's own, newest "
	    "run; 1 is no gain.");
	for (size_t i = 0; i < count; i++)
		if (!isnan(list[i].value))
			exposition_sample(to, name,
			    EXPOSITION_LABELS({ "order", list[i].order },
				{ "baseline", list[i].baseline }),
			    list[i].value);
}

void
metrics_multipaths(const struct metrics_in *in, struct strbuf *to)
{
	static const char name[] = "coalmine_multipath_speedup_ratio";
	const struct latest_multipath *list;
	size_t count = latest_multipaths(in->latest, &list);

	exposition_family(to, name, "gauge",
	    "One message over several ways against the direct one alone, "
	    "newest record; 1 is no gain.");
	for (size_t i = 0; i < count; i++)
		if (!isnan(list[i].value))
			exposition_sample(to, name,
			    EXPOSITION_LABELS(
				{ "pair_class", list[i].pair_class }),
			    list[i].value);
}
