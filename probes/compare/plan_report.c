/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/plan_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/compare/rail_stats.h"
#include "probes/compare/nic_capacity.h"
#include "probes/congestion/report.h"
#include "schema/patterns.h"
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
vias(const struct plan *p, int step)
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
footprint(const struct plan *p, int step, uint64_t *ret_bytes,
    uint64_t *ret_messages)
{
	*ret_bytes = *ret_messages = 0;
	for (size_t i = 0; i < p->transfers_count; i++)
		if (step < 0 || p->transfers[i].step == (uint32_t)step) {
			*ret_bytes += p->transfers[i].bytes;
			++*ret_messages;
		}
}

/* A step alone moves what it moves; the whole is judged by what it is for. */
static uint64_t
volume(const struct plan_report *r, int step)
{
	uint64_t bytes, messages;

	if (step < 0)
		return r->bytes;
	footprint(r->plan, step, &bytes, &messages);
	return bytes;
}

static json_t *
samples(const struct trial *t)
{
	json_t *list = json_array();
	size_t n = t->count;

	if (n > PLAN_REPORT_SAMPLES_MAX)
		n = PLAN_REPORT_SAMPLES_MAX;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("[f,i]", t->samples[i].s, t->samples[i].rank));
	return list;
}

static json_t *
interval(const struct timing *t)
{
	if (!isfinite(t->lo_s))
		return json_null();
	return json_pack("{s:s, s:f, s:f, s:f}", "of", "median", "level", 0.95,
	    "lo", t->lo_s, "hi", t->hi_s);
}

static json_t *
bandwidth(const struct timing *t, uint64_t bytes)
{
	double b = (double)bytes;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "max",
	    record_number(b / t->min_s), "median_upper",
	    record_number(b / t->median_upper_s), "median_middle",
	    record_number(b / t->median_middle_s), "mean",
	    record_number(b / t->mean_s), "min", record_number(b / t->max_s));
}

static int
above_memory(const struct plan_report *r, const struct timing *t, int step)
{
	uint64_t bytes, messages;

	footprint(r->plan, step, &bytes, &messages);
	return timing_above_memory(t, bytes, r->memory_bytes_per_s);
}

static void
put_times(json_t *o, const struct trial *t, const struct timing *tm)
{
	struct hist *h = xcalloc(1, sizeof(*h));

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
	json_object_set_new(o, "interval", interval(tm));
	json_object_set_new(o, "stopped_by",
	    json_string(names_stops[t->stopped_by]));
	json_object_set_new(o, "samples", samples(t));
}

static void
put_places(json_t *o, const struct plan_report *r, const struct trial *t,
    double median_s, int step)
{
	struct rail_stats places;

	rail_stats_count(r, t, step, &places);
	rail_stats_put(&places, o);
	if (r->groups > 0 && step == PLAN_REPORT_WHOLE)
		nic_capacity_put(&places, median_s, r->rated_per_s, o);
	rail_stats_clear(&places);
}

static void
put_notes(json_t *o, const struct plan *p)
{
	json_t *notes = json_object();

	for (size_t i = 0; i < p->notes_count; i++)
		json_object_set_new(notes, p->notes[i].name,
		    p->notes[i].is_real
			? record_number(p->notes[i].real)
			: json_integer((json_int_t)p->notes[i].value));
	json_object_set_new(o, "notes", notes);
	if (p->remark != NULL)
		json_object_set_new(o, "remark", json_string(p->remark));
}

static void
put_predicted(json_t *o, const struct plan_report *r, const struct timing *tm)
{
	json_object_set_new(o, "machine", json_string(r->machine));
	json_object_set_new(o, "predicted", record_number(r->predicted_s));
	json_object_set_new(o, "model",
	    record_number((double)r->bytes / r->predicted_s));
	json_object_set_new(o, "ratio",
	    record_number(r->predicted_s / tm->median_middle_s));
}

static void
put_shape(json_t *o, const struct plan_report *r)
{
	if (r->pattern == NULL)
		return;
	json_object_set_new(o, "pattern", json_string(r->pattern));
	json_object_set_new(o, "direction", json_string(r->direction));
	json_object_set_new(o, "k", json_integer(r->k));
	if (r->groups > 0)
		json_object_set_new(o, "groups", json_integer(r->groups));
}

static const char *
part_of(int step)
{
	if (step == PLAN_REPORT_CONCURRENT)
		return "concurrent";
	return step < 0 ? "whole" : "step";
}

json_t *
plan_report_trial(const struct plan_report *r, const struct trial *t, int step)
{
	uint64_t bytes, messages;
	struct timing tm;
	char *via = vias(r->plan, step);
	json_t *o;

	timing_of(t->samples, t->count, &tm);
	footprint(r->plan, step, &bytes, &messages);
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:s}",
	    "probe", r->probe, "plan", r->plan->title, "of", part_of(step),
	    "device", r->team->ops->name, "via", via, "ranks", r->team->ranks,
	    "messages", (json_int_t)messages, "footprint_bytes",
	    (json_int_t)bytes, "bytes", (json_int_t)volume(r, step), "unit",
	    "s");
	free(via);
	if (step >= 0)
		json_object_set_new(o, "step", json_integer(step));
	else
		json_object_set_new(o, "bytes_of", json_string(r->of));
	put_shape(o, r);
	put_times(o, t, &tm);
	json_object_set_new(o, "bandwidth", bandwidth(&tm, volume(r, step)));
	json_object_set_new(o, "memory_bytes_per_s",
	    record_number(r->memory_bytes_per_s));
	json_object_set_new(o, "above_memory",
	    json_boolean(above_memory(r, &tm, step)));
	if (r->machine != NULL && step == PLAN_REPORT_WHOLE)
		put_predicted(o, r, &tm);
	json_object_set_new(o, "setup_s", record_number(r->setup_s));
	json_object_set_new(o, "verified", json_true());
	if (r->staging[0] != '\0')
		json_object_set_new(o, "staging", json_string(r->staging));
	put_places(o, r, t, tm.median_middle_s, step);
	put_notes(o, r->plan);
	return o;
}

/* Where a fault is, for people: guards are before or behind a buffer. */
void
plan_report_fault_text(const struct plan_report *r, const struct exec_fault *f,
    const char *when, char *ret, size_t cap_bytes)
{
	const struct plan_buf *b = &r->plan->bufs[f->buf];
	int64_t past = f->off - (int64_t)b->bytes[f->rank];

	if (f->off >= 0 && past < 0)
		snprintf(ret, cap_bytes,
		    "%s: wrong data %s: rank %u, %s+%lld: 0x%02x instead of "
		    "0x%02x",
		    r->plan->title, when, f->rank, b->name, (long long)f->off,
		    f->got, f->want);
	else
		snprintf(ret, cap_bytes,
		    "%s: written outside of buffers %s: rank %u, %lld bytes "
		    "%s %s",
		    r->plan->title, when, f->rank,
		    (long long)(f->off < 0 ? -f->off : past),
		    f->off < 0 ? "before" : "behind the end of", b->name);
}

json_t *
plan_report_fault(const struct plan_report *r, const struct exec_fault *f,
    const char *when)
{
	char text[1024];

	plan_report_fault_text(r, f, when, text, sizeof(text));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I, "
			 "s:i, s:i, s:s}",
	    "probe", "bad", "of", r->probe, "plan", r->plan->title, "verdict",
	    "bad", "cause", names_causes[CAUSE_WRONG_DATA].name, "when", when,
	    "rank", (int)f->rank, "node",
	    r->world->names[r->team->nodes[f->rank]], "buffer",
	    r->plan->bufs[f->buf].name, "offset", (json_int_t)f->off, "want",
	    f->want, "got", f->got, "text", text);
}

json_t *
plan_report_refusal(const char *probe, const char *title, enum cause cause,
    const char *why)
{
	struct hist *none = xcalloc(1, sizeof(*none));
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "probe", probe,
	    "plan", title, "of", "whole", "unit", "s", "cause",
	    names_causes[cause].name, "text", why);

	hist_clear(none);
	record_put_hist(o, none);
	free(none);
	return o;
}

struct table *
plan_report_table(void)
{
	return table_new("plan|step|via|>bytes|>n|>min|>median (n/2)|"
			 ">median (middle)|>mean|>max|>GB/s|");
}

void
plan_report_row(struct table *table, const struct plan_report *r,
    const struct trial *t, int step)
{
	uint64_t bytes = volume(r, step);
	const double *times[5];
	struct timing tm;
	char *via = vias(r->plan, step), span[32];

	timing_of(t->samples, t->count, &tm);
	times[0] = &tm.min_s;
	times[1] = &tm.median_upper_s;
	times[2] = &tm.median_middle_s;
	times[3] = &tm.mean_s;
	times[4] = &tm.max_s;
	table_cell(table, "%s", step <= 0 ? r->plan->title : "");
	if (step < 0)
		table_cell(table, "all");
	else if (r->pattern != NULL)
		table_cell(table, "%s k=%d", r->pattern, r->k);
	else
		table_cell(table, "%d", step);
	table_cell(table, "%s", via);
	table_cell(table, "%llu", (unsigned long long)bytes);
	table_cell(table, "%zu", tm.n);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		clk_span_format((uint64_t)(*times[i] * 1e9 + 0.5), span,
		    sizeof(span));
		table_cell(table, "%s", span);
	}
	table_cell(table, "%.3f", (double)bytes / tm.median_middle_s / 1e9);
	table_cell(table, "%s",
	    above_memory(r, &tm, step) ? "above the memory's own speed" : "");
	free(via);
}
