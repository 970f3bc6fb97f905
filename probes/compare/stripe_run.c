/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/stripe_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/pattern/stripe.h"
#include "probes/compare/rail_stats.h"
#include "schema/record.h"

#define PROVE_DATA 1 /* "iteration" of fill: any number */
#define TRANSLATE  1 /* the step between the nodes */

/* All ranks end a step before any begins the next. */
static void
synchronous_cb(void *arg)
{
	struct stripe_run *s = arg;

	for (uint32_t i = 0; i < s->plan->steps; i++) {
		if (i > 0)
			trial_meet(exec_team(s->exec));
		exec_start(s->exec, i, i + 1);
		exec_wait(s->exec);
	}
}

static void
open_direct(struct stripe_run *s)
{
	const struct transport_team *team = exec_team(s->exec);
	struct exec_fault fault;

	s->straight = stripe_direct(s->plan);
	if (exec_new(team, s->straight, &s->direct, &s->err) < 0)
		return;
	if (trial_prove(team, s->direct, PROVE_DATA, &fault) == 0)
		return;
	err_say(&s->err, "the direct transfer gave other data");
	exec_free(s->direct);
	s->direct = NULL;
}

void
stripe_run_open(struct exec *e, const struct plan *p, struct stripe_run *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->exec = e;
	ret->plan = p;
	open_direct(ret);
}

void
stripe_run_close(struct stripe_run *s)
{
	exec_free(s->direct);
	plan_free(s->straight);
	ab_timing_clear(&s->over_direct);
	ab_timing_clear(&s->over_synchronous);
	for (int i = 0; i < STRIPE_STEPS_MAX; i++)
		trial_clear(&s->steps[i]);
	memset(s, 0, sizeof(*s));
}

static void
time_beside(struct stripe_run *s, const struct trial_ask *ask,
    struct ab_timing *v, void (*other)(void *arg), void *arg)
{
	v->sides = arg != NULL ? AB_TIMING_SIDES : 1;
	v->side[0].run = ab_timing_exec_cb;
	v->side[0].arg = s->exec;
	v->side[1].run = other;
	v->side[1].arg = arg;
	ab_timing_time(exec_team(s->exec), ask, v);
}

void
stripe_run_time(struct stripe_run *s, const struct trial_ask *ask,
    struct trial *ret)
{
	time_beside(s, ask, &s->over_direct, ab_timing_exec_cb, s->direct);
	*ret = s->over_direct.side[0].trial;
	if (s->plan->steps == STRIPE_STEPS_MAX)
		time_beside(s, ask, &s->over_synchronous, synchronous_cb, s);
	for (uint32_t i = 0; i < s->plan->steps; i++)
		trial_time(s->exec, i, i + 1, ask, &s->steps[i]);
}

/* ---- rank 0 ---- */

static double
median_s(const struct trial *t)
{
	struct timing tm;

	return timing_of(t->samples, t->count, &tm) < 0 ? NAN
							: tm.median_middle_s;
}

/* What versus says, as the members of every speed-up. */
static json_t *
speedup_json(const struct plan_report *r, const char *baseline,
    const struct ab_timing *v)
{
	double own_s = median_s(&v->side[0].trial);
	double other_s = median_s(&v->side[1].trial);
	struct timing t;
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "probe",
	    "speedup", "of", r->probe, "plan", r->plan->title, "baseline",
	    baseline, "ranks", r->team->ranks, "bytes", (json_int_t)r->bytes);

	ab_timing_ratio(v, &t);
	json_object_set_new(o, "n", json_integer((json_int_t)t.n));
	json_object_set_new(o, "value", record_number(t.median_middle_s));
	json_object_set_new(o, "interval",
	    isfinite(t.lo_s) ? json_pack("{s:s, s:f, s:f, s:f}", "of", "median",
				   "level", 0.95, "lo", t.lo_s, "hi", t.hi_s)
			     : json_null());
	json_object_set_new(o, "seconds", record_number(own_s));
	json_object_set_new(o, "baseline_seconds", record_number(other_s));
	json_object_set_new(o, "throughput",
	    record_number((double)r->bytes / own_s));
	json_object_set_new(o, "baseline_throughput",
	    record_number((double)r->bytes / other_s));
	return o;
}

static json_t *
no_speedup(const struct stripe_run *s, const struct plan_report *r)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:n, s:n, s:s, s:s}",
	    "probe", "speedup", "of", r->probe, "plan", r->plan->title,
	    "baseline", "direct", "n", 0, "value", "interval", "cause",
	    names_causes[CAUSE_UNSUPPORTED].name, "text", s->err.text);
}

static uint32_t
stripes(const struct stripe_run *s)
{
	uint32_t count = 0;

	for (size_t i = 0; i < s->plan->transfers_count; i++)
		count += s->plan->transfers[i].step == TRANSLATE;
	return count;
}

static double
efficiency(const struct stripe_run *s)
{
	struct timing t;

	ab_timing_ratio(&s->over_direct, &t);
	return t.median_middle_s / stripes(s);
}

/* Rails with what each of them gives of the direct transfer. */
static void
put_rails(json_t *o, const struct rail_stats *p, double direct_per_s)
{
	json_t *rail;
	size_t i;

	rail_stats_put(p, o);
	json_object_del(o, "nodes");
	json_array_foreach (json_object_get(o, "rails"), i, rail)
		json_object_set_new(rail, "efficiency",
		    record_number(
			json_number_value(json_object_get(rail, "bandwidth")) /
			direct_per_s));
}

static double
steps_s(const struct stripe_run *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->plan->steps; i++)
		if (s->steps[i].count > 0)
			sum += median_s(&s->steps[i]);
	return sum;
}

/* How many stripes there are, and how each step moves them: "ipc+mpi+ipc". */
static void
put_steps(json_t *o, const struct stripe_run *s)
{
	struct strbuf via = { 0 };

	for (uint32_t step = 0; step < s->plan->steps; step++)
		for (size_t i = 0; i < s->plan->transfers_count; i++) {
			const struct plan_transfer *t = &s->plan->transfers[i];

			if (t->step != step)
				continue;
			strbuf_addf(&via, "%s%s", via.len_bytes > 0 ? "+" : "",
			    plan_vias[t->via]);
			break;
		}
	json_object_set_new(o, "g", json_integer(stripes(s)));
	json_object_set_new(o, "via", json_string(via.text));
	strbuf_clear(&via);
}

json_t *
stripe_run_report(const struct stripe_run *s, const struct plan_report *r)
{
	double direct_s = median_s(&s->over_direct.side[1].trial);
	struct strbuf weak = { 0 };
	struct rail_stats p;
	json_t *o;

	if (s->direct == NULL)
		return no_speedup(s, r);
	o = speedup_json(r, "direct", &s->over_direct);
	put_steps(o, s);
	json_object_set_new(o, "efficiency", record_number(efficiency(s)));
	json_object_set_new(o, "steps_seconds", record_number(steps_s(s)));
	rail_stats_count(r, &s->steps[TRANSLATE], TRANSLATE, &p);
	put_rails(o, &p, (double)r->bytes / direct_s);
	json_object_set_new(o, "verdict",
	    json_string(rail_stats_weak(&p, RAIL_STATS_WEAK, &weak) > 0
		    ? "warn"
		    : "ok"));
	if (weak.text != NULL)
		json_object_set_new(o, "text", json_string(weak.text));
	strbuf_clear(&weak);
	rail_stats_clear(&p);
	return o;
}

json_t *
stripe_run_synchronous(const struct stripe_run *s, const struct plan_report *r)
{
	if (s->over_synchronous.sides == 0)
		return NULL;
	return speedup_json(r, "synchronous", &s->over_synchronous);
}

void
stripe_run_text(const struct stripe_run *s, const struct plan_report *r,
    struct strbuf *lines)
{
	struct strbuf weak = { 0 };
	struct rail_stats p;
	struct timing t;

	if (s->direct == NULL) {
		strbuf_addf(lines, "no striping efficiency: %s\n", s->err.text);
		return;
	}
	ab_timing_ratio(&s->over_direct, &t);
	strbuf_addf(lines,
	    "striping over direct: %.2f times as fast, efficiency %.2f; %.2f "
	    "of the sum of its steps alone",
	    t.median_middle_s, efficiency(s),
	    median_s(&s->over_direct.side[0].trial) / steps_s(s));
	if (s->over_synchronous.sides > 0) {
		ab_timing_ratio(&s->over_synchronous, &t);
		strbuf_addf(lines, "; %.2f times as fast as synchronous",
		    t.median_middle_s);
	}
	rail_stats_count(r, &s->steps[TRANSLATE], TRANSLATE, &p);
	if (rail_stats_weak(&p, RAIL_STATS_WEAK, &weak) > 0)
		strbuf_addf(lines, "\n%s", weak.text);
	strbuf_addf(lines, "\n");
	strbuf_clear(&weak);
	rail_stats_clear(&p);
}
