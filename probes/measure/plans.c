/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.c - in which order rank 0 has the plans of a campaign built, checked
 * and measured, and which of them go another way.
 */

#include "probes/measure/plans.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/measure/plan_driver.h"
#include "probes/measure/shape_tuning.h"
#include "probes/multipath/tuned.h"
#include "probes/pattern/builders.h"
#include "probes/catalog/patterns.h"
#include "probes/catalog/sweep.h"

static void
plans_note_config(struct plan_driver *s, const struct err *err)
{
	plan_report_note(&s->report, PLAN_REPORT_WRONG, CAUSE_CONFIG,
	    err->text);
}

/* ---- tuned paths: all within this rank; the others wait asleep ---- */

static void
plans_tuned_record_cb(void *arg, json_t *record)
{
	emit_put(((struct plan_driver *)arg)->report.emit, record);
}

static void
plans_tuned_line_cb(void *arg, const char *text)
{
	strbuf_addf(&((struct plan_driver *)arg)->report.remarks, "%s\n", text);
}

static int
plans_is_tuned_paths(const struct plan_driver *s, const struct pattern *pt)
{
	return pt == &pattern_multipath && tuned_wanted(s->conf);
}

/* ---- one plan ---- */

static int
plans_is_tuned(const struct plan_driver *s, const struct pattern *pt)
{
	return probe_of(pt)->is_tuned &&
	    strcmp(conf_string(s->conf, pt->name, "tune"), "auto") == 0;
}

static void
plans_run_one_cb(const struct pattern *pt, void *arg)
{
	struct plan_driver *s = arg;
	struct pattern_site site = plan_driver_site(s);
	struct plan_driver_outcome outcome;
	struct err err = { 0 };
	struct plan *p;
	int rc;

	if (plans_is_tuned_paths(s, pt)) {
		rc = tuned_run(s->conf,
		    &(struct tuned_out){ plans_tuned_record_cb,
			plans_tuned_line_cb, s },
		    &err);
		if (rc == -EBADMSG)
			plan_report_note(&s->report, PLAN_REPORT_BAD,
			    CAUSE_WRONG_DATA, err.text);
		else if (rc == -ENODEV)
			plan_report_note(&s->report, PLAN_REPORT_WRONG,
			    CAUSE_NO_DEVICE, err.text);
		else if (rc < 0)
			plans_note_config(s, &err);
		return;
	}
	if (plans_is_tuned(s, pt))
		rc = shape_tuning_choose(s, &p, &err);
	else
		rc = pattern_build(pt, s->conf, &site, &p, &err);
	if (rc < 0) {
		plans_note_config(s, &err);
		return;
	}
	if (plan_driver_check(s, pt->name, p) < 0)
		plan_free(p);
	else
		plan_driver_measure(s, pt, p, &outcome);
}

/* ---- all of a campaign ---- */

/* Try to build each plan: an error in the last plan of a campaign is reported
 * before the first is measured. */
static void
plans_try_one_cb(const struct pattern *pt, void *arg)
{
	struct plan_driver *s = arg;
	struct pattern_site site = plan_driver_site(s);
	struct err err;
	struct plan *p;

	if (plans_is_tuned_paths(s, pt) || plans_is_tuned(s, pt))
		return; /* each has its own way to a plan */
	if (pattern_build(pt, s->conf, &site, &p, &err) < 0)
		plans_note_config(s, &err);
	else
		plan_free(p);
}

static void
plans_each_variant(struct plan_driver *s, const struct pattern *pt,
    sweep_cb use)
{
	struct err err;

	if (sweep_each(s->conf, pt, use, s, &err) < 0)
		plans_note_config(s, &err);
}

static int
plans_is_wanted(const struct plan_driver *s, const struct pattern *pt,
    const struct pattern *only)
{
	return only == NULL ? conf_has_section(s->conf, pt->name) : pt == only;
}

void
plans_run(struct world *w, const struct plans_ask *ask,
    struct plans_result *ret)
{
	struct plan_driver s = { .world = w };
	const char *name;
	struct err err;
	int try_first, fine;

	if (ask == NULL) {
		s.report.status = plan_driver_follow(&s);
		goto out;
	}
	s.conf = ask->conf;
	s.is_campaign = ask->only == NULL;
	s.steps = ask->steps || conf_bool(s.conf, "measure", "steps");
	plan_report_open(&s.report, ask->emit);
	name = conf_string(s.conf, "measure", "machine");
	if (name[0] != '\0' &&
	    machine_load(name, NULL, 0, &s.machine, &err) < 0)
		plans_note_config(&s, &err);
	/* A single plan reports its own error. */
	try_first = s.report.status == 0 &&
	    (ask->only == NULL ||
		conf_string(s.conf, "measure", "vary")[0] != '\0' ||
		conf_string(s.conf, "measure", "sizes")[0] != '\0');
	for (size_t i = 0; try_first && patterns[i] != NULL; i++)
		if (plans_is_wanted(&s, patterns[i], ask->only))
			plans_each_variant(&s, patterns[i], plans_try_one_cb);
	fine = s.report.status == 0;
	for (size_t i = 0; fine && patterns[i] != NULL; i++) {
		if (!plans_is_wanted(&s, patterns[i], ask->only))
			continue;
		if (probe_of(patterns[i])->is_tuned)
			shape_tuning_bounds(&s);
		plans_each_variant(&s, patterns[i], plans_run_one_cb);
	}
	plan_driver_measure_together(&s);
	if (ask->table && s.report.rows > 0)
		table_print(s.report.table, stdout);
	if (ask->table && s.report.remarks.text != NULL)
		fputs(s.report.remarks.text, stdout);
	plan_driver_end(&s, s.report.status);
out:
	ret->status = s.report.status;
	ret->cause = s.report.cause;
	ret->why = s.report.why;
	plan_driver_close(&s);
}
