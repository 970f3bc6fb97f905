/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_run.c - the result of all steps of a binding plan: the model of
 * predict/model.h that they fit, the weak rails, and the comparison with MPI's
 * own scatter and all-to-all (CommBench, section 5.2.2).
 *
 * Bandwidths are of the fastest iteration, since any disturbance makes one
 * slower.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/execute/trial.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/measure/rail_stats.h"
#include "probes/pattern/builders.h"
#include "probes/predict/model.h"
#include "probes/predict/binding_fit.h"
#include "probes/sampling/timing.h"

static void
binding_run_describe_step(uint32_t step, struct subject *r)
{
	uint32_t k, steps = r->plan->steps;

	r->pattern = binding_parts[binding_step(steps / 3, step, &k)];
	r->direction = step + 1 < steps ? "out" : "bi";
	r->k = (int)k;
}

/* An MPI collective, and the step that moves as many bytes between the
 * nodes. */
struct collective {
	const struct baseline_row *row;
	enum binding_part part;
	int all; /* with k of g, else of 1 */
};
static const struct collective collectives[] = {
	{ &baseline_scatter, BINDING_ASYMMETRIC, 0 },
	{ &baseline_alltoall, BINDING_BOTH, 1 },
};

/* The numbers of one profile; weights of all. */
struct finding {
	const struct measurement *c;
	const struct subject *subject;
	uint32_t g;
	double tolerance, weak_ratio; /* as options */
	double alone_per_s[BINDING_FIT_DEVICES_MAX],
	    weights[BINDING_FIT_DEVICES_MAX];
	double sound_per_s;
	uint32_t weak;
	/* of one part: */
	enum binding_part part;
	double per_s[BINDING_FIT_DEVICES_MAX];
	struct binding_fit_profile profile;
	struct binding_fit fit;
};

/* Best seconds of a step, and what passes in it; 0 where it has no samples. */
static double
binding_run_step_s(const struct finding *f, enum binding_part part, uint32_t k)
{
	const struct trial *t = &f->c->parts[binding_step_of(f->g, part, k)];
	struct timing tm;

	return timing_of(t->samples, t->count, &tm) == 0 ? tm.min_s : 0;
}

static double
binding_run_step_per_s(const struct finding *f, enum binding_part part,
    uint32_t k)
{
	uint32_t devices = part == BINDING_ALONE ? 1 : k;

	if (part == BINDING_BOTH)
		devices *= 2;
	return (double)f->subject->plan->transfers[0].bytes * devices /
	    binding_run_step_s(f, part, k);
}

static json_t *
binding_run_model_json(const struct binding_fit *fit,
    enum binding_fit_kind kind)
{
	const struct binding_fit_model *m = &fit->models[kind];

	return json_pack("{s:i, s:f, s:f}",
	    kind == BINDING_FIT_PACKED ? "p" : "r", (int)m->per,
	    "nic_bytes_per_s", m->nic_per_s, "residual", m->residual);
}

static json_t *
binding_run_rails_json(const struct finding *f)
{
	const struct subject *r = f->subject;
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->g; i++) {
		/* The two nodes between which the rail runs: the plan's groups
		 * are ranks, the nodes are where these are. */
		const uint32_t ranks[] = { i, f->g + i };
		const char *nic = rail_stats_nic((int)i);
		double ratio = f->alone_per_s[i] / f->sound_per_s;
		json_t *ends = json_array(), *one;

		for (size_t e = 0; e < ARRAY_LEN(ranks); e++)
			json_array_append_new(ends,
			    json_pack("{s:s, s:f, s:f}", "node",
				r->world->names[r->team->nodes[ranks[e]]],
				"bandwidth", f->alone_per_s[i], "ratio",
				ratio));
		one = json_pack("{s:i, s:f, s:f, s:b, s:o}", "rail", (int)i,
		    "bandwidth", f->alone_per_s[i], "ratio", ratio, "weak",
		    ratio < f->weak_ratio, "nodes", ends);

		if (nic != NULL)
			json_object_set_new(one, "nic", json_string(nic));
		json_array_append_new(list, one);
	}
	return list;
}

/* ---- in words ---- */

/* "packed, 2 devices on each NIC of 11.9 MiB/s" */
static void
binding_run_say_model(const struct finding *f, enum binding_fit_kind kind,
    struct strbuf *sb)
{
	const struct binding_fit_model *m = &f->fit.models[kind];
	char nic[32];

	str_bytes_format(m->nic_per_s, nic, sizeof(nic));
	if (kind == BINDING_FIT_ROUND_ROBIN)
		strbuf_addf(sb, "round-robin over %u NIC%s of %s/s", m->per,
		    m->per > 1 ? "s" : "", nic);
	else if (m->per == 1)
		strbuf_addf(sb,
		    "packed, each of %u devices on a separate NIC of %s/s",
		    f->g, nic);
	else if (m->per == f->g)
		strbuf_addf(sb, "packed, all %u devices on one NIC of %s/s",
		    m->per, nic);
	else
		strbuf_addf(sb, "packed, %u devices on each NIC of %s/s",
		    m->per, nic);
	strbuf_addf(sb, " (residual %.1f %%)", m->residual * 100);
}

static json_t *
binding_run_fit_record(const struct finding *f, const char *text)
{
	const struct binding_fit *fit = &f->fit;
	const struct binding_fit_model *m = fit->models;
	enum binding_fit_kind kind = fit->kind;
	json_t *profile = json_array(), *o;

	/* The model closer to the measurement, accepted or not. */
	if (kind == BINDING_FIT_DYNAMIC)
		kind = m[BINDING_FIT_ROUND_ROBIN].residual <
			m[BINDING_FIT_PACKED].residual
		    ? BINDING_FIT_ROUND_ROBIN
		    : BINDING_FIT_PACKED;
	m = &fit->models[kind];
	for (uint32_t k = 1; k <= f->g; k++)
		json_array_append_new(profile,
		    json_pack("{s:i, s:f, s:f}", "k", (int)k, "bandwidth",
			f->per_s[k - 1], "model",
			binding_fit_per_s(&f->profile, kind, m, k)));
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:f, s:o, s:o, "
		      "s:o, s:o, s:s, s:s}",
	    "probe", "fit", "of", f->subject->probe, "plan",
	    f->subject->plan->title, "pattern", binding_parts[f->part], "g",
	    (int)f->g, "binding", fit_kinds[fit->kind], "tolerance",
	    f->tolerance, "packed",
	    binding_run_model_json(fit, BINDING_FIT_PACKED), "round_robin",
	    binding_run_model_json(fit, BINDING_FIT_ROUND_ROBIN), "profile",
	    profile, "rails", binding_run_rails_json(f), "verdict",
	    f->weak > 0 ? "warn" : "ok", "text", text);
	json_object_set_new(o, "residual", json_real(m->residual));
	json_object_set_new(o, "nic_bytes_per_s",
	    fit->kind == BINDING_FIT_DYNAMIC ? json_null()
					     : json_real(m->nic_per_s));
	if (fit->kind != BINDING_FIT_DYNAMIC)
		json_object_set_new(o,
		    fit->kind == BINDING_FIT_PACKED ? "p" : "r",
		    json_integer(m->per));
	return o;
}

/* What of a collective passes between the nodes, in the time of all of it. */
static void
binding_run_report_collective(const struct finding *f,
    const struct collective *cl, const struct beside *x)
{
	uint32_t k = cl->all ? f->g : 1;
	double per_s = binding_run_step_per_s(f, cl->part, k),
	       s = binding_run_step_s(f, cl->part, k);
	const struct trial *t = &x->turns.side[0].trial;
	struct strbuf *lines = &f->c->report->remarks;
	char plan[64], own[32], group[32];
	struct timing tm;
	json_t *o;

	snprintf(plan, sizeof(plan), "%s k=%u", binding_parts[cl->part], k);
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:n, s:n, s:f, s:f}", "probe",
	    "speedup", "of", f->subject->probe, "plan", plan, "baseline",
	    x->name, "n", (int)t->count, "value", "interval", "seconds", s,
	    "throughput", per_s);
	if (timing_of(t->samples, t->count, &tm) < 0) {
		json_object_set_new(o, "cause",
		    json_string(names_causes[CAUSE_UNSUPPORTED].name));
		json_object_set_new(o, "text", json_string(x->err.text));
		strbuf_addf(lines, "%s: not measured: %s\n", x->name,
		    x->err.text);
	} else {
		json_object_set_new(o, "value", json_real(tm.min_s / s));
		json_object_set_new(o, "baseline_seconds", json_real(tm.min_s));
		json_object_set_new(o, "baseline_throughput",
		    json_real(per_s * s / tm.min_s));
		str_bytes_format(per_s * s / tm.min_s, own, sizeof(own));
		str_bytes_format(per_s, group, sizeof(group));
		strbuf_addf(lines,
		    "%s: %s/s between the nodes, %s with k=%u: %s/s\n", x->name,
		    own, binding_parts[cl->part], k, group);
	}
	emit_put(f->c->report->emit, o);
}

static void
binding_run_report_fits(struct finding *f)
{
	static const enum binding_part parts[] = { BINDING_RAIL,
		BINDING_ASYMMETRIC };
	struct plan_report *pr = f->c->report;
	const int *node = f->subject->team->nodes;
	const struct world *w = f->subject->world;

	for (uint32_t i = 0; i < f->g; i++)
		f->alone_per_s[i] = binding_run_step_per_s(f, BINDING_ALONE,
		    i + 1);
	f->sound_per_s = binding_fit_sound_per_s(f->alone_per_s, f->g);
	f->weak = binding_fit_weights(f->alone_per_s, f->g, f->weak_ratio,
	    f->weights);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct strbuf text = { 0 };

		f->part = parts[i];
		for (uint32_t k = 1; k <= f->g; k++)
			f->per_s[k - 1] = binding_run_step_per_s(f, f->part, k);
		f->profile = (struct binding_fit_profile){ f->g, f->per_s,
			f->weights };
		binding_fit_binding(&f->profile, f->tolerance, &f->fit);
		strbuf_addf(&text, "%s: ", binding_parts[f->part]);
		if (f->fit.kind != BINDING_FIT_DYNAMIC) {
			binding_run_say_model(f, f->fit.kind, &text);
		} else {
			strbuf_addf(&text, "dynamic, neither ");
			binding_run_say_model(f, BINDING_FIT_PACKED, &text);
			strbuf_addf(&text, " nor ");
			binding_run_say_model(f, BINDING_FIT_ROUND_ROBIN,
			    &text);
		}
		for (uint32_t k = 0; k < f->g; k++) {
			double ratio = f->alone_per_s[k] / f->sound_per_s;
			const char *nic = rail_stats_nic((int)k);

			if (!(ratio < f->weak_ratio))
				continue;
			strbuf_addf(&text,
			    "; rail %u%s%s%s between %s and %s has %.2f of the "
			    "other rails' rate",
			    k, nic != NULL ? " (" : "", nic != NULL ? nic : "",
			    nic != NULL ? ")" : "", w->names[node[k]],
			    w->names[node[f->g + k]], ratio);
		}
		emit_put(pr->emit, binding_run_fit_record(f, text.text));
		strbuf_addf(&pr->remarks, "%s\n", text.text);
		strbuf_clear(&text);
	}
}

/* The collectives are timed alone: their messages are not the plan's. */
static void
binding_run_more(struct measurement *c)
{
	struct finding *f = xcalloc(1, sizeof(*f));
	struct beside besides[ARRAY_LEN(collectives)];

	f->c = c;
	f->subject = &c->subject;
	f->g = c->subject.plan->steps / 3;
	for (size_t i = 0; i < ARRAY_LEN(collectives); i++) {
		struct beside *x = &besides[i];

		baseline_open(collectives[i].row, c->exec, c->subject.plan, x);
		if (x->baseline == NULL)
			continue;
		x->turns.sides = 1;
		x->turns.side[0].run = x->baseline->row->run;
		x->turns.side[0].arg = x->baseline;
		ab_timing_time(c->subject.team, &c->ask, &x->turns);
	}
	if (c->report != NULL) {
		const char *section = c->subject.probe;

		f->tolerance = conf_real(c->conf, section, "tolerance");
		f->weak_ratio = conf_real(c->conf, section, "weak");
		binding_run_report_fits(f);
		for (size_t i = 0; i < ARRAY_LEN(collectives); i++)
			binding_run_report_collective(f, &collectives[i],
			    &besides[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(collectives); i++)
		baseline_close(&besides[i]);
	free(f);
}

const struct probe probe_binding = { .pattern = &pattern_binding,
	.steps = PROBE_STEPS_ONLY,
	.describe_step = binding_run_describe_step,
	.more = binding_run_more };
