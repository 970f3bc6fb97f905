/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/sheet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/delivered.h"
#include "ctl/picture.h"
#include "ctl/print.h"
#include "ctl/records.h"
#include "ctl/speedups.h"
#include "schema/names.h"

#define PAIRS_SHOWN 8

static const char style[] =
    "body{font:14px/1.45 sans-serif;color:#1f2328;background:#fff;"
    "max-width:800px;margin:24px auto;padding:0 12px}"
    "h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:26px 0 6px}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:right;padding:3px 8px;border-top:1px solid #dcdad3}"
    "th{color:#5b636c;font-weight:normal}"
    "th:first-child,td:first-child{text-align:left}"
    "svg{max-width:100%;height:auto}.quiet{color:#5b636c}";

static const char *
quiet_phase(const json_t *records)
{
	return records_find(records, "canary", NULL,
		   names_phases[PHASE_PRODUCTION]) != NULL
	    ? names_phases[PHASE_PRODUCTION]
	    : names_phases[PHASE_ISOLATED];
}

/* Pictures ----------------------------------------------------------------- */

static void
draw_impacts(const json_t *records, struct picture *p)
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
draw_histograms(const json_t *records, struct picture *p)
{
	static struct hist left, right;
	const char *quiet = quiet_phase(records);
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

static int
is_collective(const json_t *r)
{
	return strcmp(print_member(r, "probe", ""), "speedup") == 0 &&
	    strcmp(print_member(r, "of", ""), "collective") == 0;
}

/* What a record says was moved, in bytes per second; NAN. */
static double
rate_of(const json_t *r)
{
	const json_t *bandwidth = json_object_get(r, "bandwidth");

	return json_is_object(bandwidth)
	    ? print_number(bandwidth, "median_middle")
	    : NAN;
}

/* Bars of whole plans, against what a model promises where one does. */
static void
draw_bars(const json_t *records, struct picture *p)
{
	size_t max = json_array_size(records), count = 0, i;
	struct picture_bar *bars = xcalloc(max + 1, sizeof(*bars));
	json_t *r;

	json_array_foreach (records, i, r) {
		double rate = rate_of(r);

		/* Collectives have a picture of their own. */
		if (!isfinite(rate) ||
		    strcmp(print_member(r, "probe", ""), "collective") == 0 ||
		    strcmp(print_member(r, "of", "whole"), "whole") != 0)
			continue;
		bars[count].label = print_member(r, "plan",
		    print_member(r, "probe", "?"));
		bars[count].value = rate;
		bars[count++].model = print_number(r, "model");
	}
	picture_bars(p, "Bandwidth (bar) against the model (mark)", "B/s", bars,
	    count);
	free(bars);
}

/* Sizes whose collectives were measured, ascending; how many. */
static size_t
collective_sizes(const json_t *records, double *ret)
{
	size_t n = 0, i, k;
	json_t *r;

	json_array_foreach (records, i, r) {
		double bytes = print_number(r, "bytes");

		if (!is_collective(r) || !isfinite(bytes))
			continue;
		for (k = 0; k < n && ret[k] < bytes; k++)
			continue;
		if (k < n && ret[k] == bytes)
			continue;
		memmove(ret + k + 1, ret + k, (n - k) * sizeof(*ret));
		ret[k] = bytes;
		n++;
	}
	return n;
}

/* As Figure 8 of HiCCL: throughput by collective, framed by its bound. */
static void
draw_collectives_of(const json_t *records, double bytes, struct picture *p)
{
	struct picture_group groups[NAMES_COLLECTIVES_MAX];
	const char *names[] = { "coalmine", "-",
		"bound by what two nodes "
		"exchange" };
	char title[PRINT_BYTES + 64], size[PRINT_BYTES];
	size_t count = 0, i;
	json_t *r;

	json_array_foreach (records, i, r)
		if (is_collective(r) && print_number(r, "bytes") == bytes &&
		    count < ARRAY_LEN(groups)) {
			groups[count++] = (struct picture_group){
				print_member(r, "collective", "?"),
				{ print_number(r, "throughput"),
				    print_number(r, "baseline_throughput") },
				print_number(r, "bound")
			};
			names[1] = print_member(r, "baseline_impl", names[1]);
		}
	str_bytes_format(bytes, size, sizeof(size));
	snprintf(title, sizeof(title), "Throughput of collectives, %s in all",
	    size);
	picture_groups(p, title, "B/s", names, groups, count);
}

static void
draw_collectives(const json_t *records, struct picture *p)
{
	double *sizes = xcalloc(json_array_size(records) + 1, sizeof(*sizes));
	size_t count = collective_sizes(records, sizes);

	while (count > 0) /* the largest first */
		draw_collectives_of(records, sizes[--count], p);
	free(sizes);
}

int
sheet_svg(const json_t *records, FILE *to)
{
	struct picture p = { 0 };

	draw_impacts(records, &p);
	draw_collectives(records, &p);
	speedups_draw(records, &p);
	delivered_draw(records, &p);
	draw_bars(records, &p);
	draw_histograms(records, &p);
	if (p.body.len_bytes == 0)
		return -ENODATA;
	picture_print(&p, to);
	return 0;
}

/* Text --------------------------------------------------------------------- */

static void
put(FILE *to, const char *text)
{
	struct strbuf sb = { 0 };

	picture_escape(&sb, text);
	fputs(sb.text != NULL ? sb.text : "", to);
	strbuf_clear(&sb);
}

static void
cell(FILE *to, const char *text)
{
	fputs("<td>", to);
	put(to, text);
	fputs("</td>", to);
}

static void
quantity(FILE *to, double value, const char *unit)
{
	char text[PRINT_BYTES];

	print_quantity(value, unit, text);
	cell(to, text);
}

static void
heads(FILE *to, const char *title, const char *const *names)
{
	fprintf(to, "<h2>%s</h2>\n<table><tr>", title);
	for (; *names != NULL; names++)
		fprintf(to, "<th>%s</th>", *names);
	fputs("</tr>\n", to);
}

static void
put_head(const json_t *run, FILE *to)
{
	size_t count;
	char *hosts = print_hostlist(json_object_get(run, "nodes"), &count);
	char at[PRINT_BYTES], ranks[PRINT_BYTES], seed[PRINT_BYTES], text[512];

	print_time(run, "started_unix_ns", at);
	print_count(run, "ranks", ranks);
	print_count(run, "seed", seed);
	fputs("<h1>Run ", to);
	put(to, print_member(run, "run", "?"));
	fputs(": ", to);
	put(to, print_member(run, "state", "?"));
	snprintf(text, sizeof(text),
	    "campaign %s; %zu nodes: %.200s; %s; %s ranks; seed %s; "
	    "started %s UTC",
	    print_member(run, "campaign", "?"), count,
	    hosts[0] == '\0' ? "-" : hosts, print_member(run, "mpi", "-"),
	    ranks, seed, at);
	fputs("</h1>\n<p class=\"quiet\">", to);
	put(to, text);
	fputs("</p>\n<p>", to);
	put(to, print_member(run, "text", ""));
	fputs("</p>\n", to);
	free(hosts);
}

static void
put_canaries(const json_t *records, FILE *to)
{
	static const char *const names[] = { "test", "phase", "n", "mean",
		"p50", "p99", "max", "ended by", NULL };
	static const char *const statistics[] = { "mean", "p50", "p99", "max" };
	const json_t *r;
	size_t i;

	if (records_find(records, "canary", NULL, NULL) == NULL)
		return;
	heads(to, "Canaries", names);
	json_array_foreach (records, i, r) {
		if (strcmp(print_member(r, "probe", ""), "canary") != 0)
			continue;
		fputs("<tr>", to);
		cell(to, print_member(r, "test", "?"));
		cell(to, print_member(r, "phase", "?"));
		fprintf(to, "<td>%.0f</td>", print_number(r, "n"));
		for (size_t k = 0; k < ARRAY_LEN(statistics); k++)
			quantity(to, print_number(r, statistics[k]),
			    print_member(r, "unit", "s"));
		cell(to,
		    print_member(r, "cause",
			print_member(r, "stopped_by", "-")));
		fputs("</tr>\n", to);
	}
	fputs("</table>\n", to);
}

/* Plans that have no number, and why. */
static void
put_causes(const json_t *records, FILE *to)
{
	static const char *const names[] = { "plan", "not measured", "", NULL };
	const json_t *r;
	size_t i, count = 0;

	json_array_foreach (records, i, r) {
		if (json_object_get(r, "plan") == NULL ||
		    json_object_get(r, "cause") == NULL)
			continue;
		if (count++ == 0)
			heads(to, "Not measured", names);
		fputs("<tr>", to);
		cell(to, print_member(r, "plan", "?"));
		cell(to, print_member(r, "cause", "?"));
		cell(to, print_member(r, "text", ""));
		fputs("</tr>\n", to);
	}
	if (count > 0)
		fputs("</table>\n", to);
}

static void
put_pairs_of(const json_t *r, FILE *to)
{
	const json_t *pairs = json_object_get(r, "pairs");

	for (size_t i = 0; i < json_array_size(pairs) && i < PAIRS_SHOWN; i++) {
		const json_t *p = json_array_get(pairs, i);

		fputs("<tr>", to);
		cell(to, print_member(r, "test", "?"));
		cell(to, print_member(p, "a", "?"));
		cell(to, print_member(p, "b", "?"));
		fprintf(to, "<td>%.0f</td>", print_number(p, "n"));
		quantity(to, print_number(p, "p50"),
		    print_member(r, "unit", "s"));
		fputs("</tr>\n", to);
	}
}

static void
put_pairs(const json_t *records, FILE *to)
{
	static const char *const names[] = { "test", "node", "with", "n",
		"median", NULL };
	const char *quiet = quiet_phase(records);
	const json_t *r;
	size_t i;

	if (records_find(records, "canary", NULL, quiet) == NULL)
		return;
	heads(to, "Worst pairs without congestors", names);
	json_array_foreach (records, i, r)
		if (strcmp(print_member(r, "probe", ""), "canary") == 0 &&
		    strcmp(print_member(r, "phase", ""), quiet) == 0)
			put_pairs_of(r, to);
	fputs("</table>\n", to);
}

void
sheet_html(const json_t *run, const json_t *records, FILE *to)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">\n<meta name=\"viewport\" "
	      "content=\"width=device-width\">\n<title>",
	    to);
	put(to, print_member(run, "run", "run"));
	fprintf(to, "</title>\n<style>%s</style></head>\n<body>\n", style);
	put_head(run, to);
	if (sheet_svg(records, to) < 0)
		fputs("<p>Nothing was measured.</p>\n", to);
	put_canaries(records, to);
	put_causes(records, to);
	put_pairs(records, to);
	fprintf(to,
	    "<p class=\"quiet\">Made by coalctl %s.</p>\n"
	    "</body></html>\n",
	    COALMINE_VERSION);
}
