/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_report.c - the record, table row and sentence of a plan that was proven
 * and timed, was not measured, or moved wrong data.
 */

#include "probes/measure/plan_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "probes/congestion/report.h"
#include "probes/execute/trial.h"
#include "probes/job/emit.h"
#include "probes/job/fabric.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/rail_stats.h"
#include "probes/sampling/timing.h"
#include "schema/options.h"
#include "schema/record.h"

json_t *
plan_report_begin(const struct world *w, const struct conf *c)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	json_t *nodes = json_array();
	int len;

	MPI_DO(MPI_Get_library_version(text, &len));
	text[strcspn(text, "\r\n")] = '\0';
	for (int i = 0; i < w->nodes; i++)
		json_array_append_new(nodes, json_string(w->names[i]));
	return json_pack("{s:s, s:s, s:o, s:i, s:o, s:{}, s:i, s:o}", "probe",
	    "begin", "version", COALMINE_VERSION, "mpi",
	    json_stringn(text, strnlen(text, 100)), "ranks", w->size, "nodes",
	    nodes, "roles", "seed", 0, "options",
	    report_options(c, options_patterns));
}

/* Transports of a step, or of all, each once. */
static char *
plan_report_vias(const struct plan *p, int step)
{
	int used[PLAN_VIA_MAX] = { 0 };
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < p->transfers_count; i++)
		if (step < 0 || p->transfers[i].step == (uint32_t)step)
			used[p->transfers[i].via] = 1;
	for (int via = 0; via < PLAN_VIA_MAX; via++)
		if (used[via])
			strbuf_addf(&sb, "%s%s", sb.len_bytes > 0 ? "," : "",
			    plan_vias[via]);
	return sb.text;
}

static void
plan_report_footprint(const struct plan *p, int step, uint64_t *ret_bytes,
    uint64_t *ret_messages)
{
	*ret_bytes = *ret_messages = 0;
	for (size_t i = 0; i < p->transfers_count; i++)
		if (step < 0 || p->transfers[i].step == (uint32_t)step) {
			*ret_bytes += p->transfers[i].bytes;
			++*ret_messages;
		}
}

/* The volume of a single step is all moved bytes; the volume of the whole plan
 * is all delivered bytes. */
static uint64_t
plan_report_volume(const struct subject *r, int step)
{
	uint64_t bytes, messages;

	if (step < 0)
		return r->bytes;
	plan_report_footprint(r->plan, step, &bytes, &messages);
	return bytes;
}

json_t *
plan_report_interval(const struct timing *t)
{
	if (!isfinite(t->lo_s))
		return json_null();
	return json_pack("{s:s, s:f, s:f, s:f}", "of", "median", "level", 0.95,
	    "lo", t->lo_s, "hi", t->hi_s);
}

static void
plan_report_put_times(json_t *o, const struct trial *t, const struct timing *tm,
    uint64_t bytes)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	double b = (double)bytes;
	json_t *samples = json_array();

	hist_clear(h);
	for (size_t i = 0; i < t->count; i++)
		hist_add(h, t->samples[i].s);
	record_put_hist(o, h);
	free(h);
	json_object_set_new(o, "min", record_number(tm->min_s));
	json_object_set_new(o, "mean", record_number(tm->mean_s));
	json_object_set_new(o, "max", record_number(tm->max_s));
	json_object_set_new(o, "median_upper",
	    record_number(tm->median_upper_s));
	json_object_set_new(o, "median_middle",
	    record_number(tm->median_middle_s));
	json_object_set_new(o, "interval", plan_report_interval(tm));
	json_object_set_new(o, "stopped_by",
	    json_string(names_stops[t->stopped_by]));
	for (size_t i = 0; i < t->count && i < PLAN_REPORT_SAMPLES_MAX; i++)
		json_array_append_new(samples,
		    json_pack("[f,i]", t->samples[i].s, t->samples[i].rank));
	json_object_set_new(o, "samples", samples);
	json_object_set_new(o, "bandwidth",
	    json_pack("{s:o, s:o, s:o, s:o, s:o}", "max",
		record_number(b / tm->min_s), "median_upper",
		record_number(b / tm->median_upper_s), "median_middle",
		record_number(b / tm->median_middle_s), "mean",
		record_number(b / tm->mean_s), "min",
		record_number(b / tm->max_s)));
}

/* Report bytes between nodes: expected from the plan in all its runs, and
 * measured by the counters. */
static json_t *
plan_report_carried(const struct subject *r, const struct trial *t, int step)
{
	const int *nodes = r->team->nodes;
	double bytes = 0;

	for (size_t i = 0; i < r->plan->transfers_count; i++) {
		const struct plan_transfer *x = &r->plan->transfers[i];

		if ((step < 0 || x->step == (uint32_t)step) &&
		    nodes[x->src] != nodes[x->dst])
			bytes += (double)x->bytes * (double)t->runs;
	}
	return bytes > 0 ? fabric_carried(t->sent_bytes, bytes) : NULL;
}

static json_t *
plan_report_trial_record(const struct subject *r, const struct trial *t,
    int step)
{
	const struct plan *p = r->plan;
	const char *of = step < 0 ? "whole" : "step";
	char *via = plan_report_vias(p, step);
	json_t *notes = json_object(), *o;
	uint64_t bytes, messages;
	struct rail_stats places;
	struct timing tm;

	timing_of(t->samples, t->count, &tm);
	plan_report_footprint(p, step, &bytes, &messages);
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:s}",
	    "probe", r->probe, "plan", p->title, "of",
	    step == SUBJECT_CONCURRENT ? "concurrent" : of, "device",
	    r->team->ops->name, "via", via, "ranks", r->team->ranks, "messages",
	    (json_int_t)messages, "footprint_bytes", (json_int_t)bytes, "bytes",
	    (json_int_t)plan_report_volume(r, step), "unit", "s");
	free(via);
	if (step >= 0)
		json_object_set_new(o, "step", json_integer(step));
	else
		json_object_set_new(o, "bytes_of", json_string(r->of));
	if (r->pattern != NULL) {
		json_object_set_new(o, "pattern", json_string(r->pattern));
		json_object_set_new(o, "direction", json_string(r->direction));
		json_object_set_new(o, "k", json_integer(r->k));
		if (r->groups > 0)
			json_object_set_new(o, "groups",
			    json_integer(r->groups));
	}
	plan_report_put_times(o, t, &tm, plan_report_volume(r, step));
	json_object_set_new(o, "memory_bytes_per_s",
	    record_number(r->memory_bytes_per_s));
	json_object_set_new(o, "above_memory",
	    json_boolean(
		timing_above_memory(&tm, bytes, r->memory_bytes_per_s)));
	if (r->machine != NULL && step == SUBJECT_WHOLE) {
		json_object_set_new(o, "machine", json_string(r->machine));
		json_object_set_new(o, "placed", json_boolean(r->placed));
		json_object_set_new(o, "predicted",
		    record_number(r->predicted_s));
		json_object_set_new(o, "model",
		    record_number((double)r->bytes / r->predicted_s));
		json_object_set_new(o, "ratio",
		    record_number(r->predicted_s / tm.median_middle_s));
	}
	json_object_set_new(o, "setup_s", record_number(r->setup_s));
	json_object_set_new(o, "verified", json_true());
	if (r->staging[0] != '\0')
		json_object_set_new(o, "staging", json_string(r->staging));
	rail_stats_count(r, t, step, &places);
	rail_stats_put(&places, o);
	if (r->groups > 0 && step == SUBJECT_WHOLE)
		rail_stats_put_capacity(&places, tm.median_middle_s, o);
	rail_stats_clear(&places);
	for (size_t i = 0; i < p->notes_count; i++)
		json_object_set_new(notes, p->notes[i].name,
		    p->notes[i].is_real
			? record_number(p->notes[i].real)
			: json_integer((json_int_t)p->notes[i].value));
	json_object_set_new(o, "notes", notes);
	if (p->remark != NULL)
		json_object_set_new(o, "remark", json_string(p->remark));
	return o;
}

void
plan_report_trial(struct plan_report *pr, const struct subject *r,
    const struct trial *t, int step)
{
	uint64_t bytes, moved, messages;
	struct timing tm;
	const double *const times[] = { &tm.min_s, &tm.median_upper_s,
		&tm.median_middle_s, &tm.mean_s, &tm.max_s };
	json_t *record, *seen;
	char *via, span[32];

	if (pr == NULL)
		return;
	bytes = plan_report_volume(r, step);
	record = plan_report_trial_record(r, t, step);
	seen = plan_report_carried(r, t, step);
	if (seen != NULL && json_object_get(seen, "verdict") != NULL)
		plan_report_note(pr, PLAN_REPORT_BAD, CAUSE_WRONG_NETWORK,
		    member_text(seen, "text"));
	if (seen != NULL)
		json_object_set_new(record, "carried", seen);
	emit_put(pr->emit, record);
	timing_of(t->samples, t->count, &tm);
	plan_report_footprint(r->plan, step, &moved, &messages);
	table_cell(pr->table, "%s", step <= 0 ? r->plan->title : "");
	if (step < 0)
		table_cell(pr->table, "all");
	else if (r->pattern != NULL)
		table_cell(pr->table, "%s k=%d", r->pattern, r->k);
	else
		table_cell(pr->table, "%d", step);
	via = plan_report_vias(r->plan, step);
	table_cell(pr->table, "%s", via);
	free(via);
	table_cell(pr->table, "%llu", (unsigned long long)bytes);
	table_cell(pr->table, "%zu", tm.n);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		clk_span_format((uint64_t)(*times[i] * 1e9 + 0.5), span,
		    sizeof(span));
		table_cell(pr->table, "%s", span);
	}
	str_bytes_format((double)bytes / tm.median_middle_s, span,
	    sizeof(span));
	table_cell(pr->table, "%s/s", span);
	table_cell(pr->table, "%s",
	    timing_above_memory(&tm, moved, r->memory_bytes_per_s)
		? "faster than memory"
		: "");
	pr->rows++;
}

/* ---- what went wrong ---- */

void
plan_report_note(struct plan_report *pr, int status, enum cause cause,
    const char *why)
{
	if (pr == NULL)
		return;
	log_warnx("%s", why);
	if (status > pr->status)
		pr->status = status;
	if (pr->cause != CAUSE_NONE)
		return;
	pr->cause = cause;
	err_say(&pr->why, "%s", why);
}

/* Guards are before and behind a buffer. */
void
plan_report_fault(struct plan_report *pr, const struct subject *r,
    const struct exec_fault *f, const char *when)
{
	const struct plan_buf *b = &r->plan->bufs[f->buf];
	int64_t past = f->off - (int64_t)b->bytes[f->rank];
	struct err text;

	if (pr == NULL)
		return;
	if (f->off >= 0 && past < 0)
		err_say(&text,
		    "%s: wrong data %s: rank %u, %s+%lld: 0x%02x instead of "
		    "0x%02x",
		    r->plan->title, when, f->rank, b->name, (long long)f->off,
		    f->got, f->want);
	else
		err_say(&text,
		    "%s: write outside of buffers %s: rank %u, %lld bytes %s "
		    "%s",
		    r->plan->title, when, f->rank,
		    (long long)(f->off < 0 ? -f->off : past),
		    f->off < 0 ? "before" : "after the end of", b->name);
	emit_put(pr->emit,
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I, "
		      "s:i, s:i, s:s}",
		"probe", "bad", "of", r->probe, "plan", r->plan->title,
		"verdict", "bad", "cause", names_causes[CAUSE_WRONG_DATA].name,
		"when", when, "rank", (int)f->rank, "node",
		r->world->names[r->team->nodes[f->rank]], "buffer", b->name,
		"offset", (json_int_t)f->off, "want", f->want, "got", f->got,
		"text", text.text));
	plan_report_note(pr, PLAN_REPORT_BAD, CAUSE_WRONG_DATA, text.text);
}

void
plan_report_refusal(struct plan_report *pr, const char *probe,
    const char *title, enum cause cause, const char *why)
{
	struct hist *none = xcalloc(1, sizeof(*none));
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "probe", probe,
	    "plan", title, "of", "whole", "unit", "s", "cause",
	    names_causes[cause].name, "text", why);

	hist_clear(none);
	record_put_hist(o, none);
	free(none);
	emit_put(pr->emit, o);
}

/* ---- comparison with a baseline ---- */

json_t *
plan_report_speedup(const struct subject *r, const struct beside *x)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:f}", "probe",
	    "speedup", "of", r->probe, "plan", r->plan->title, "baseline",
	    x->name != NULL ? x->name : "", "ranks", r->team->ranks, "setup_s",
	    r->setup_s);
	enum cause cause = x->rc == -EBADMSG ? CAUSE_WRONG_DATA
					     : CAUSE_UNSUPPORTED;
	struct timing t;

	if (x->baseline == NULL) {
		json_object_set_new(o, "n", json_integer(0));
		json_object_set_new(o, "value", json_null());
		json_object_set_new(o, "interval", json_null());
		json_object_set_new(o, "cause",
		    json_string(names_causes[cause].name));
		json_object_set_new(o, "text", json_string(x->err.text));
		return o;
	}
	ab_timing_ratio(&x->turns, &t);
	json_object_set_new(o, "n", json_integer((json_int_t)t.n));
	json_object_set_new(o, "value", record_number(t.median_middle_s));
	json_object_set_new(o, "interval", plan_report_interval(&t));
	json_object_set_new(o, "seconds",
	    record_number(ab_timing_median_s(&x->turns, 0)));
	json_object_set_new(o, "baseline_seconds",
	    record_number(ab_timing_median_s(&x->turns, 1)));
	return o;
}

void
plan_report_speedup_text(const struct beside *x, struct strbuf *lines)
{
	struct timing t;

	if (x->baseline == NULL) {
		strbuf_addf(lines, "speed-up not measured: %s\n", x->err.text);
		return;
	}
	ab_timing_ratio(&x->turns, &t);
	strbuf_addf(lines, "speed-up over %s: %.2f", x->name,
	    t.median_middle_s);
	if (isfinite(t.lo_s))
		strbuf_addf(lines, " (%.2f to %.2f)", t.lo_s, t.hi_s);
	strbuf_addf(lines, ", %.3g ms against %.3g ms, %zu iterations each\n",
	    ab_timing_median_s(&x->turns, 0) * 1e3,
	    ab_timing_median_s(&x->turns, 1) * 1e3, t.n);
}

/* ---- all of a run ---- */

void
plan_report_open(struct plan_report *pr, struct emit *emit)
{
	memset(pr, 0, sizeof(*pr));
	pr->emit = emit;
	pr->table = table_new("plan|step|via|>bytes|>n|>min|>median (n/2)|"
			      ">median (middle)|>mean|>max|>bandwidth|");
}

void
plan_report_close(struct plan_report *pr)
{
	table_free(pr->table);
	strbuf_clear(&pr->remarks);
}
