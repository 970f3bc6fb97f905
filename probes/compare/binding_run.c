/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/binding_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/compare/rail_stats.h"

/* ---- the steps ---- */

void
binding_run_open(const struct plan *p, struct binding_run *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->g = p->steps / 3;
	ret->bytes = p->transfers[0].bytes;
	ret->best_s = xcalloc(p->steps, sizeof(*ret->best_s));
}

void
binding_run_close(struct binding_run *b)
{
	for (int i = 0; i < BINDING_RIVALS; i++)
		trial_clear(&b->rivals[i].trial);
	free(b->best_s);
	memset(b, 0, sizeof(*b));
}

void
binding_run_step(struct binding_run *b, uint32_t step, const struct trial *t)
{
	struct timing tm;

	if (timing_of(t->samples, t->count, &tm) == 0)
		b->best_s[step] = tm.min_s;
}

static double
step_per_s(const struct binding_run *b, enum binding_part part, uint32_t k)
{
	uint32_t devices = part == BINDING_ALONE ? 1 : k;

	if (part == BINDING_BOTH)
		devices *= 2;
	return (double)b->bytes * devices /
	    b->best_s[binding_step_of(b->g, part, k)];
}

/* ---- rank 0: what it means ---- */

/* The numbers of one profile; weights of all. */
struct finding {
	const struct binding_run *run;
	const struct plan_report *report;
	const struct binding_limits *limits;
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

static void
find_weights(struct finding *f)
{
	for (uint32_t i = 0; i < f->run->g; i++)
		f->alone_per_s[i] = step_per_s(f->run, BINDING_ALONE, i + 1);
	f->sound_per_s = binding_fit_sound_per_s(f->alone_per_s, f->run->g);
	f->weak = binding_fit_weights(f->alone_per_s, f->run->g,
	    f->limits->weak, f->weights);
}

static void
find_fit(struct finding *f, enum binding_part part)
{
	f->part = part;
	for (uint32_t k = 1; k <= f->run->g; k++)
		f->per_s[k - 1] = step_per_s(f->run, part, k);
	f->profile = (struct binding_fit_profile){ f->run->g, f->per_s,
		f->weights };
	binding_fit_binding(&f->profile, f->limits->tolerance, &f->fit);
}

/* The model nearer to what was measured, whether it is believed or not. */
static enum binding_fit_kind
nearer(const struct binding_fit *fit)
{
	if (fit->kind != BINDING_FIT_DYNAMIC)
		return fit->kind;
	return fit->models[BINDING_FIT_ROUND_ROBIN].residual <
		fit->models[BINDING_FIT_PACKED].residual
	    ? BINDING_FIT_ROUND_ROBIN
	    : BINDING_FIT_PACKED;
}

static json_t *
model_json(const struct binding_fit *fit, enum binding_fit_kind kind)
{
	const struct binding_fit_model *m = &fit->models[kind];

	return json_pack("{s:i, s:f, s:f}",
	    kind == BINDING_FIT_PACKED ? "p" : "r", (int)m->per,
	    "nic_bytes_per_s", m->nic_per_s, "residual", m->residual);
}

static json_t *
profile_json(const struct finding *f)
{
	enum binding_fit_kind kind = nearer(&f->fit);
	json_t *list = json_array();

	for (uint32_t k = 1; k <= f->run->g; k++)
		json_array_append_new(list,
		    json_pack("{s:i, s:f, s:f}", "k", (int)k, "bandwidth",
			f->per_s[k - 1], "model",
			binding_fit_per_s(&f->profile, kind,
			    &f->fit.models[kind], k)));
	return list;
}

/* The two nodes between which rail i runs: the plan's groups are ranks, the
 * nodes are where these are. */
static json_t *
ends_json(const struct finding *f, uint32_t i, double ratio)
{
	const struct plan_report *r = f->report;
	const uint32_t ranks[] = { i, f->run->g + i };
	json_t *list = json_array();

	for (size_t e = 0; e < ARRAY_LEN(ranks); e++)
		json_array_append_new(list,
		    json_pack("{s:s, s:f, s:f}", "node",
			r->world->names[r->team->nodes[ranks[e]]], "bandwidth",
			f->alone_per_s[i], "ratio", ratio));
	return list;
}

static json_t *
rails_json(const struct finding *f)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->run->g; i++) {
		const char *nic = rail_stats_nic((int)i);
		double ratio = f->alone_per_s[i] / f->sound_per_s;
		json_t *one = json_pack("{s:i, s:f, s:f, s:b, s:o}", "rail",
		    (int)i, "bandwidth", f->alone_per_s[i], "ratio", ratio,
		    "weak", ratio < f->limits->weak, "nodes",
		    ends_json(f, i, ratio));

		if (nic != NULL)
			json_object_set_new(one, "nic", json_string(nic));
		json_array_append_new(list, one);
	}
	return list;
}

/* ---- in words ---- */

static const char *
rate(double per_s, char ret[32])
{
	if (per_s < 1e9)
		snprintf(ret, 32, "%.4g MB/s", per_s / 1e6);
	else
		snprintf(ret, 32, "%.4g GB/s", per_s / 1e9);
	return ret;
}

/* "packed, 2 devices on each NIC of 12.5 MB/s" */
static void
say_model(const struct finding *f, enum binding_fit_kind kind,
    struct strbuf *sb)
{
	const struct binding_fit_model *m = &f->fit.models[kind];
	char nic[32];

	rate(m->nic_per_s, nic);

	if (kind == BINDING_FIT_ROUND_ROBIN)
		strbuf_addf(sb, "round-robin over %u NIC%s of %s", m->per,
		    m->per > 1 ? "s" : "", nic);
	else if (m->per == 1)
		strbuf_addf(sb,
		    "packed, each of %u devices on a NIC of its own of %s",
		    f->run->g, nic);
	else if (m->per == f->run->g)
		strbuf_addf(sb, "packed, all %u devices on one NIC of %s",
		    m->per, nic);
	else
		strbuf_addf(sb, "packed, %u devices on each NIC of %s", m->per,
		    nic);
	strbuf_addf(sb, " (residual %.1f %%)", m->residual * 100);
}

static void
say_fit(const struct finding *f, struct strbuf *sb)
{
	strbuf_addf(sb, "%s: ", binding_parts[f->part]);
	if (f->fit.kind != BINDING_FIT_DYNAMIC) {
		say_model(f, f->fit.kind, sb);
		return;
	}
	strbuf_addf(sb, "dynamic, neither ");
	say_model(f, BINDING_FIT_PACKED, sb);
	strbuf_addf(sb, " nor ");
	say_model(f, BINDING_FIT_ROUND_ROBIN, sb);
}

static void
say_weak(const struct finding *f, struct strbuf *sb)
{
	const struct plan_report *r = f->report;
	const int *node = r->team->nodes;

	for (uint32_t i = 0; i < f->run->g; i++) {
		double ratio = f->alone_per_s[i] / f->sound_per_s;
		const char *nic = rail_stats_nic((int)i);

		if (!(ratio < f->limits->weak))
			continue;
		strbuf_addf(sb,
		    "; rail %u%s%s%s between %s and %s gives %.2f of what "
		    "others give",
		    i, nic != NULL ? " (" : "", nic != NULL ? nic : "",
		    nic != NULL ? ")" : "", r->world->names[node[i]],
		    r->world->names[node[f->run->g + i]], ratio);
	}
}

static json_t *
fit_record(const struct finding *f, const char *text)
{
	const struct binding_fit *fit = &f->fit;
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:f, s:o, s:o, "
			      "s:o, s:o, s:s, s:s}",
	    "probe", "fit", "of", f->report->probe, "plan",
	    f->report->plan->title, "pattern", binding_parts[f->part], "g",
	    (int)f->run->g, "binding", fit_kinds[fit->kind], "tolerance",
	    f->limits->tolerance, "packed", model_json(fit, BINDING_FIT_PACKED),
	    "round_robin", model_json(fit, BINDING_FIT_ROUND_ROBIN), "profile",
	    profile_json(f), "rails", rails_json(f), "verdict",
	    f->weak > 0 ? "warn" : "ok", "text", text);
	const struct binding_fit_model *m = &fit->models[nearer(fit)];

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
static json_t *
rival_record(const struct finding *f, const struct binding_rival *rv)
{
	double per_s = step_per_s(f->run, rv->part, rv->k);
	double s = f->run->best_s[binding_step_of(f->run->g, rv->part, rv->k)];
	double bytes = per_s * s;
	struct timing tm;
	char plan[64];
	json_t *o;

	snprintf(plan, sizeof(plan), "%s k=%u", binding_parts[rv->part], rv->k);
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:n, s:n, s:f, s:f}", "probe",
	    "speedup", "of", f->report->probe, "plan", plan, "baseline",
	    rv->name, "n", (int)rv->trial.count, "value", "interval", "seconds",
	    s, "throughput", per_s);
	if (timing_of(rv->trial.samples, rv->trial.count, &tm) < 0) {
		json_object_set_new(o, "cause",
		    json_string(names_causes[CAUSE_UNSUPPORTED].name));
		json_object_set_new(o, "text", json_string(rv->err.text));
		return o;
	}
	json_object_set_new(o, "value", json_real(tm.min_s / s));
	json_object_set_new(o, "baseline_seconds", json_real(tm.min_s));
	json_object_set_new(o, "baseline_throughput",
	    json_real(bytes / tm.min_s));
	return o;
}

static void
say_rival(const struct finding *f, const struct binding_rival *rv,
    struct strbuf *lines)
{
	double per_s = step_per_s(f->run, rv->part, rv->k);
	double s = f->run->best_s[binding_step_of(f->run->g, rv->part, rv->k)];
	struct timing tm;
	char own[32], group[32];

	if (timing_of(rv->trial.samples, rv->trial.count, &tm) < 0)
		strbuf_addf(lines, "%s: not measured: %s\n", rv->name,
		    rv->err.text);
	else
		strbuf_addf(lines,
		    "%s: %s between the nodes, %s with k=%u: %s\n", rv->name,
		    rate(per_s * s / tm.min_s, own), binding_parts[rv->part],
		    rv->k, rate(per_s, group));
}

void
binding_run_report(const struct binding_run *b, const struct plan_report *r,
    const struct binding_limits *limits, binding_put *put, void *arg,
    struct strbuf *lines)
{
	static const enum binding_part parts[] = { BINDING_RAIL,
		BINDING_ASYMMETRIC };
	struct finding *f = xcalloc(1, sizeof(*f));

	f->run = b;
	f->report = r;
	f->limits = limits;
	find_weights(f);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct strbuf text = { 0 };

		find_fit(f, parts[i]);
		say_fit(f, &text);
		say_weak(f, &text);
		put(arg, fit_record(f, text.text));
		strbuf_addf(lines, "%s\n", text.text);
		strbuf_clear(&text);
	}
	for (int i = 0; i < BINDING_RIVALS; i++) {
		put(arg, rival_record(f, &b->rivals[i]));
		say_rival(f, &b->rivals[i], lines);
	}
	free(f);
}
