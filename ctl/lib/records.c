/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - the first record that matches answers a question; a median's
 * interval comes from the number of rounds, not of operations.
 */
#include "ctl/lib/records.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/robust.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/print.h"
#include "ctl/lib/ratio.h"
#include "schema/names_probe.h"
#include "schema/options.h"
#include "schema/record.h"

#define LEVEL_ELSE 0.95 /* where a record does not say it */

int
records_get(struct ctl *c, const char *run, json_t **ret)
{
	json_t *list;
	int rc = ctl_get(c, "runs/*/records", run, &list);

	if (rc != 0)
		return rc;
	if (!json_is_array(list)) {
		json_decref(list);
		return ctl_fail("the server's records are not a JSON array");
	}
	for (size_t i = json_array_size(list);
	     i-- > 0 && !opts_given(&c->opts, OPT_RAW);)
		if (strcmp(print_member(json_array_get(list, i), "probe", ""),
			"round") == 0)
			json_array_remove(list, i);
	*ret = list; /* handed over */
	return 0;
}

static int
records_matches(const json_t *record, const char *name, const char *want)
{
	return want == NULL ||
	    strcmp(print_member(record, name, ""), want) == 0;
}

int
records_is(const json_t *record, const char *probe, const char *of)
{
	return records_matches(record, "probe", probe) &&
	    records_matches(record, "of", of);
}

/* Probes that have a table of their own in ctl/tables.c. */
static const char *const apart[] = { "neighbor", "collective", "allreduce" };

int
records_is_plan(const json_t *record)
{
	const char *probe = print_member(record, "probe", "");

	return strcmp(probe, "concurrent") == 0 ||
	    (options_is_plan(probe) && STR_FIND(apart, probe) < 0);
}

int
records_is_beside(const json_t *record)
{
	return records_is(record, "speedup", NULL) &&
	    !records_matches(record, "of", "multipath") &&
	    STR_FIND(apart, print_member(record, "of", "")) < 0;
}

int
records_is_scale(const json_t *record)
{
	return records_is(record, "group", "whole") &&
	    isfinite(member_number(record, "node_bandwidth"));
}

double
records_rate(const json_t *record)
{
	return member_number(json_object_get(record, "bandwidth"),
	    "median_middle");
}

const char *
records_quiet_phase(const json_t *records)
{
	const char *production = names_phases[PHASE_PRODUCTION];

	return records_find(records, "canary", NULL, production) != NULL
	    ? production
	    : names_phases[PHASE_ISOLATED];
}

json_t *
records_find(const json_t *records, const char *probe, const char *test,
    const char *phase)
{
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (records_matches(r, "probe", probe) &&
		    records_matches(r, "test", test) &&
		    records_matches(r, "phase", phase))
			return r;
	return NULL;
}

json_t *
records_impact(const json_t *records, const char *test, const char *of)
{
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (records_matches(r, "probe", "impact") &&
		    records_matches(r, "test", test) &&
		    records_matches(r, "of", of))
			return r;
	return NULL;
}

double
records_statistic(const json_t *record, const char *name, double q)
{
	static struct hist h;
	double value = member_number(record, name);

	if (isfinite(value) || records_hist(record, &h) < 0)
		return value;
	return hist_quantile(&h, q);
}

struct estimate
records_estimate(const json_t *record)
{
	const json_t *interval = json_object_get(record, "interval");
	int impact = strcmp(print_member(record, "probe", ""), "impact") == 0;
	struct estimate e = { NULL, "", NAN, NAN, NAN, NAN };
	int rate;

	if (record == NULL)
		return e;
	e.unit = impact ? "x" : print_member(record, "unit", "s");
	rate = strcmp(e.unit, "B/s") == 0;
	e.of = impact ? print_member(record, "of", "mean")
		      : print_member(interval, "of", rate ? "p01" : "p99");
	e.value = impact ? member_number(record, "value")
			 : records_statistic(record, e.of, rate ? 0.01 : 0.99);
	e.lo = member_number(interval, "lo");
	e.hi = member_number(interval, "hi");
	e.level = member_number(interval, "level");
	return e;
}

int
records_hist(const json_t *record, struct hist *ret)
{
	if (record == NULL || record_hist_read(record, NULL, ret) < 0 ||
	    ret->count == 0)
		return -ENODATA;
	return 0;
}

/*
 * The interval of a median from R independent samples reaches over the
 * quantiles 1/2 -+ z/2 / sqrt(R). Operations of one round are not
 * independent, rounds are: with R the number of rounds the interval is at
 * least as wide as it must be. Half a bucket is added on either side.
 */
struct estimate
records_median(const json_t *record)
{
	static struct hist h;
	const double half_bucket = exp2(0.5 / HIST_PER_OCTAVE);
	double rounds = member_number(record, "rounds");
	struct estimate e = records_estimate(record);
	double reach;

	e.of = "p50";
	e.value = member_number(record, "p50");
	e.lo = e.hi = NAN;
	e.level = isfinite(e.level) ? e.level : LEVEL_ELSE;
	if (records_hist(record, &h) < 0 || !(rounds > 0))
		return e;
	reach = robust_normal_quantile(0.5 + e.level / 2) / 2 / sqrt(rounds);
	if (reach >= 0.5)
		return e; /* too few rounds even for this */
	e.lo = hist_quantile(&h, 0.5 - reach) / half_bucket;
	e.hi = hist_quantile(&h, 0.5 + reach) * half_bucket;
	return e;
}
