/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawings.c - which pictures a run's records make: impacts, histograms, and
 * what plans reached, as the figures of the papers show it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/print.h"
#include "ctl/records.h"
#include "ctl/report.h"
#include "schema/names.h"

static void
drawings_draw_impacts(const json_t *records, struct picture *p)
{
	struct picture_point points[2 * CANARY_MAX];
	char labels[2 * CANARY_MAX][64];
	size_t count = 0;

	for (int i = 0; i < 2 * CANARY_MAX; i++) {
		const char *of = i % 2 == 0 ? "p99" : "mean";
		const json_t *r = records_impact(records,
		    names_tests[i / 2].name, of);
		struct estimate e = records_estimate(r);

		if (r == NULL)
			continue;
		snprintf(labels[count], sizeof(labels[count]), "%s, %s",
		    names_tests[i / 2].name, of);
		points[count] = (struct picture_point){ labels[count], e.value,
			e.lo, e.hi };
		count++;
	}
	picture_points(p, "What congestion costs: times worse than isolated",
	    points, count);
}

static void
drawings_draw_histograms(const json_t *records, struct picture *p)
{
	static struct hist left, right;
	const char *quiet = records_quiet_phase(records);
	char title[160];

	for (int i = 0; i < CANARY_MAX; i++) {
		const struct test_row *t = &names_tests[i];

		hist_clear(&left);
		hist_clear(&right);
		records_hist(records_find(records, "canary", t->name, quiet),
		    &left);
		records_hist(records_find(records, "canary", t->name,
				 names_phases[PHASE_CONGESTED]),
		    &right);
		snprintf(title, sizeof(title), "%s: %s", t->name, t->text);
		picture_histograms(p, title, t->unit, &left, quiet, &right,
		    names_phases[PHASE_CONGESTED]);
	}
}

/* Bars of whole plans, against what a model promises where one does. */
static void
drawings_draw_bars(const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	json_t *r;

	json_array_foreach (records, i, r) {
		double rate = records_rate(r);

		/* Collectives have a picture of their own. */
		if (!isfinite(rate) || records_is(r, "collective", NULL) ||
		    strcmp(print_member(r, "of", "whole"), "whole") != 0)
			continue;
		bars[count].label = print_member(r, "plan",
		    print_member(r, "probe", "?"));
		bars[count].value = rate;
		bars[count++].model = member_number(r, "model");
	}
	picture_bars(p, "Bandwidth (bar) against the model (mark)", "B/s", bars,
	    count);
	free(bars);
}

/* As Figure 8 of HiCCL: throughput by collective, framed by its bound. */
static void
drawings_draw_collectives_of(const json_t *records, double bytes,
    struct picture *p)
{
	struct picture_group groups[NAMES_COLLECTIVES_MAX];
	const char *names[] = { "coalmine", "-",
		"bound by what two nodes exchange" };
	char title[PRINT_BYTES + 64], size[PRINT_BYTES];
	size_t count = 0, i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (records_is(r, "speedup", "collective") &&
		    member_number(r, "bytes") == bytes &&
		    count < ARRAY_LEN(groups)) {
			groups[count++] = (struct picture_group){
				print_member(r, "collective", "?"),
				{ member_number(r, "throughput"),
				    member_number(r, "baseline_throughput") },
				member_number(r, "bound")
			};
			names[1] = print_member(r, "baseline_impl", names[1]);
		}
	str_bytes_format(bytes, size, sizeof(size));
	snprintf(title, sizeof(title), "Throughput of collectives, %s in all",
	    size);
	picture_groups(p, title, "B/s", names, groups, count);
}

/* A picture a size, the largest first. */
static void
drawings_draw_collectives(const json_t *records, struct picture *p)
{
	double last = INFINITY, next;
	size_t i;
	json_t *r;

	do {
		next = -INFINITY;
		json_array_foreach (records, i, r) {
			double bytes = member_number(r, "bytes");

			if (records_is(r, "speedup", "collective") &&
			    bytes < last && bytes > next)
				next = bytes;
		}
		if (isfinite(next))
			drawings_draw_collectives_of(records, next, p);
		last = next;
	} while (isfinite(next));
}

/* As Figure 10: bandwidth over k, framed by the model. */
static void
drawings_draw_fit(const json_t *records, const json_t *r, struct picture *p)
{
	const char *names[] = { "measured", NULL, "model" };
	const json_t *profile = json_object_get(r, "profile");
	size_t count = json_array_size(profile), i, j;
	struct picture_group *groups = xcalloc(count + 1, sizeof(*groups));
	char(*labels)[16] = xcalloc(count + 1, sizeof(*labels));
	const char *text = print_member(r, "text", "?");
	char title[160];
	json_t *o;

	for (i = 0; i < count; i++) {
		const json_t *point = json_array_get(profile, i);
		double k = member_number(point, "k"), beside_per_s = NAN;

		/* The collective beside a group of k devices. */
		snprintf(title, sizeof(title), "%s k=%.0f",
		    print_member(r, "pattern", ""), k);
		json_array_foreach (records, j, o)
			if (!isfinite(beside_per_s) &&
			    records_is(o, "speedup", "binding") &&
			    strcmp(print_member(o, "plan", ""), title) == 0)
				beside_per_s = member_number(o,
				    "baseline_throughput");
		if (isfinite(beside_per_s))
			names[1] = "MPI_Scatter";
		snprintf(labels[i], sizeof(labels[i]), "k=%.0f", k);
		groups[i] = (struct picture_group){ labels[i],
			{ member_number(point, "bandwidth"), beside_per_s },
			member_number(point, "model") };
	}
	snprintf(title, sizeof(title), "%.*s", (int)strcspn(text, ";"), text);
	picture_groups(p, title, "B/s", names, groups, count);
	free(labels);
	free(groups);
}

/* One curve: nothing but the number of nodes and the size differs. */
static int
drawings_same_scale(const json_t *a, const json_t *b)
{
	return strcmp(print_member(a, "pattern", ""),
		   print_member(b, "pattern", "")) == 0 &&
	    strcmp(print_member(a, "direction", ""),
		print_member(b, "direction", "")) == 0 &&
	    member_number(a, "k") == member_number(b, "k");
}

/* Of so many nodes the largest messages, the first of them. */
static int
drawings_leads_scale(const json_t *records, const json_t *r)
{
	int before = 1;
	size_t i;
	json_t *o;

	json_array_foreach (records, i, o) {
		double more = member_number(o, "bytes") -
		    member_number(r, "bytes");

		if (o == r)
			before = 0;
		else if (records_is_scale(o) && drawings_same_scale(o, r) &&
		    member_number(o, "groups") == member_number(r, "groups") &&
		    (before ? more >= 0 : more > 0))
			return 0;
	}
	return 1;
}

/* As Figure 12: what a node gets through when there are more of them. */
static void
drawings_draw_scale(const json_t *records, const json_t *first,
    struct picture *p)
{
	static const char *const names[] = { "busiest node", NULL, "rated" };
	size_t max = json_array_size(records), count = 0, i;
	struct picture_group *groups = xcalloc(max + 1, sizeof(*groups));
	char(*labels)[16] = xcalloc(max + 1, sizeof(*labels)), title[96];
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!records_is_scale(r) || !drawings_same_scale(first, r) ||
		    !drawings_leads_scale(records, r))
			continue;
		snprintf(labels[count], sizeof(labels[count]), "%.0f nodes",
		    member_number(r, "groups"));
		groups[count] = (struct picture_group){ labels[count],
			{ member_number(r, "node_bandwidth"), NAN },
			member_number(r, "rated") };
		count++;
	}
	snprintf(title, sizeof(title),
	    "Each way through a node: %s, direction %s, k=%.0f",
	    print_member(first, "pattern", "?"),
	    print_member(first, "direction", "?"), member_number(first, "k"));
	if (count > 1)
		picture_groups(p, title, "B/s", names, groups, count);
	free(labels);
	free(groups);
}

static void
drawings_draw_scales(const json_t *records, struct picture *p)
{
	size_t i, k;
	json_t *r, *o;

	json_array_foreach (records, i, r) {
		int drawn = !records_is_scale(r);

		json_array_foreach (records, k, o)
			drawn |= k < i && records_is_scale(o) &&
			    drawings_same_scale(o, r);
		if (!drawn)
			drawings_draw_scale(records, r, p);
	}
}

/* As Figure 11: what the smallest messages take. */
static void
drawings_draw_latencies(const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	json_t *r;

	json_array_foreach (records, i, r) {
		double elements = member_number(r, "bytes") /
		    member_number(r, "messages");

		if (!records_is_plan(r) || !records_is(r, NULL, "whole") ||
		    !(elements <= 16))
			continue;
		bars[count].label = print_member(r, "plan", "?");
		bars[count].model = NAN;
		bars[count++].value = member_number(r, "median_middle");
	}
	picture_bars(p, "Latency of small messages, median", "s", bars, count);
	free(bars);
}

struct drawing {
	const char *probe, *of; /* of: NULL: any */
	const char *title;
	/* The members of a record to draw, and to mark as what may be hoped
	 * for: NULL for none. */
	const char *value, *model;
	int once; /* for all records of one label */
	void (*label)(const json_t *r, char *ret, size_t cap_bytes);
};

static void
drawings_speedup_label(const json_t *r, char *ret, size_t cap_bytes)
{
	char size[PRINT_BYTES];

	str_bytes_format(member_number(r, "bytes"), size, sizeof(size));
	snprintf(ret, cap_bytes, "density %.2f, %s, %s",
	    member_number(r, "density"), size, print_member(r, "order", "-"));
}

static void
drawings_graph_label(const json_t *r, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "density %.2f, %.0f ranks, %.0f edges",
	    member_number(r, "density"), member_number(r, "ranks"),
	    member_number(r, "edges"));
}

static void
drawings_spmm_label(const json_t *r, char *ret, size_t cap_bytes)
{
	snprintf(ret, cap_bytes, "%.0f rows, %.0f nonzeros, %s",
	    member_number(r, "rows"), member_number(r, "nonzeros"),
	    print_member(r, "order", "-"));
}

static const struct drawing drawings[] = {
	{ "speedup", "neighbor",
	    "Speed-up over the MPI's own (bar), and its bound (mark)", "value",
	    "load_bound", 0, drawings_speedup_label },
	{ "speedup", "neighbor",
	    "Bytes between nodes, MPI's over leaders' (bar), and "
	    "the mean of such graphs (mark)",
	    "byte_ratio", "byte_ratio_expected", 1, drawings_graph_label },
	{ "spmm", NULL,
	    "Speed-up of products of sparse matrices, set-up included", "value",
	    NULL, 0, drawings_spmm_label },
};

static void
drawings_draw(const struct drawing *d, const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, before, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	char(*labels)[96] = xcalloc(max + 1, sizeof(*labels));
	json_t *r;

	json_array_foreach (records, i, r) {
		if (!records_is(r, d->probe, d->of))
			continue;
		d->label(r, labels[count], sizeof(labels[count]));
		for (before = 0; before < count; before++)
			if (strcmp(labels[before], labels[count]) == 0)
				break;
		/* A graph is drawn once, however many sizes went over it. */
		if (d->once && before < count)
			continue;
		bars[count] = (struct picture_bar){ labels[count],
			member_number(r, d->value),
			d->model != NULL ? member_number(r, d->model) : NAN };
		count++;
	}
	picture_bars(p, d->title, "x", bars, count);
	free(bars);
	free(labels);
}

void
report_draw(const json_t *records, struct picture *p)
{
	size_t i;
	json_t *r;

	drawings_draw_impacts(records, p);
	drawings_draw_collectives(records, p);
	for (i = 0; i < ARRAY_LEN(drawings); i++)
		drawings_draw(&drawings[i], records, p);
	json_array_foreach (records, i, r)
		if (records_is(r, "fit", NULL))
			drawings_draw_fit(records, r, p);
	drawings_draw_scales(records, p);
	drawings_draw_latencies(records, p);
	drawings_draw_bars(records, p);
	drawings_draw_histograms(records, p);
}
