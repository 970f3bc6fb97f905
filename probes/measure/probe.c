/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - the rows of probes that have a baseline or additional members in a
 * record; and the additional members of a collective, a sparse pattern and a
 * group.
 */

#include "probes/measure/probe.h"

#include <math.h>
#include <string.h>

#include "probes/job/emit.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/rail_stats.h"
#include "probes/pattern/builders.h"
#include "probes/predict/expectation.h"

/* ---- groups ---- */

static void
probe_group_describe(const struct measurement *c, struct subject *r)
{
	const char *section = pattern_group.name;

	r->pattern = conf_string(c->conf, section, "pattern");
	r->direction = conf_string(c->conf, section, "direction");
	r->k = (int)conf_int(c->conf, section, "k");
	r->groups = (int)conf_int(c->conf, section, "n");
	r->capacity_per_s = rail_stats_capacity_per_s(c->machine, "");
}

static const struct probe probe_group = { .pattern = &pattern_group,
	.describe = probe_group_describe };

/* ---- collectives ---- */

static void
probe_put_number(json_t *o, const char *name, double x)
{
	json_object_set_new(o, name,
	    isfinite(x) && x > 0 ? json_real(x) : json_null());
}

/* Throughput is d / t with d the bytes of a block for every rank (HiCCL
 * section 6: p times the count, divided by the time), and of an all-reduce the
 * bytes of a vector, which are the same. Also where there is nothing to
 * compare with. */
static void
probe_collective_report(const struct measurement *c)
{
	const struct beside *x = &c->besides[0];
	const char *name = c->subject.probe, *of;
	double bytes = expectation_data(c->subject.plan, &of), bound, own;
	double most;
	json_t *o = plan_report_speedup(&c->subject, x);

	if (c->probe->is_tuned)
		name = conf_string(c->conf, name, "name");
	bound = bounds_per_s(c->bounds, name);
	own = most = bytes / ab_timing_median_s(&x->turns, 0);
	json_object_set_new(o, "collective", json_string(name));
	if (x->baseline != NULL)
		json_object_set_new(o, "baseline_impl",
		    json_string(x->baseline->impl));
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
	probe_put_number(o, "seconds", ab_timing_median_s(&x->turns, 0));
	probe_put_number(o, "throughput", own);
	if (x->baseline != NULL) {
		most = bytes / ab_timing_median_s(&x->turns, 1);
		probe_put_number(o, "baseline_throughput", most);
		most = most > own ? most : own;
	}
	/* A bound that was exceeded does not apply at this size. */
	if (bound > 0 && most > bound) {
		probe_put_number(o, "bound_exceeded", bound);
	} else if (bound > 0) {
		probe_put_number(o, "bound", bound);
		probe_put_number(o, "bound_ratio", own / bound);
	}
	emit_put(c->report->emit, o);
	plan_report_speedup_text(x, &c->report->remarks);
}

static const struct probe probe_collective = { .pattern = &pattern_collective,
	.baselines = { &baseline_collective },
	.take_turns = 1,
	.is_tuned = 1,
	.report = probe_collective_report };

static const struct probe probe_allreduce = { .pattern = &pattern_allreduce,
	.baselines = { &baseline_collective },
	.report = probe_collective_report };

/* ---- sparse patterns ---- */

/* The parameters that identify a pattern; of the file only its name without
 * folders. */
static void
probe_sparse_report(const struct measurement *c)
{
	const char *section = pattern_sparse.name;
	const struct beside *x = &c->besides[0];
	const char *file = conf_string(c->conf, section, "file");
	const char *slash = strrchr(file, '/');
	double own_s = ab_timing_median_s(&x->turns, 0);
	double other_s = ab_timing_median_s(&x->turns, 1);
	double bytes = (double)c->subject.bytes;
	json_t *o = plan_report_speedup(&c->subject, x);

	json_object_set_new(o, "pattern",
	    json_string(slash != NULL ? slash + 1 : file));
	json_object_set_new(o, "scope",
	    json_string(conf_string(c->conf, section, "scope")));
	json_object_set_new(o, "stripes",
	    json_integer(conf_int(c->conf, section, "stripes")));
	json_object_set_new(o, "bytes",
	    json_integer((json_int_t)c->subject.bytes));
	if (own_s > 0)
		json_object_set_new(o, "throughput", json_real(bytes / own_s));
	if (other_s > 0)
		json_object_set_new(o, "baseline_throughput",
		    json_real(bytes / other_s));
	emit_put(c->report->emit, o);
	plan_report_speedup_text(x, &c->report->remarks);
}

static const struct probe probe_sparse = { .pattern = &pattern_sparse,
	.baselines = { &baseline_alltoallv },
	.report = probe_sparse_report };

/* ---- the table ---- */

static const struct probe probe_compose = { .pattern = &pattern_compose,
	.take_turns = 1 };

const struct probe *
probe_of(const struct pattern *pt)
{
	static const struct probe alone = { 0 };
	static const struct probe *const rows[] = { &probe_group, &probe_stripe,
		&probe_binding, &probe_sparse, &probe_collective,
		&probe_compose, &probe_neighbor, &probe_allreduce };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i]->pattern == pt)
			return rows[i];
	return &alone;
}
