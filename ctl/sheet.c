/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.c - a run as one HTML file with plots, for mail and tickets.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "ctl/print.h"
#include "ctl/records.h"
#include "ctl/report.h"

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

int
report_svg(const json_t *records, FILE *to)
{
	struct picture p = { 0 };

	report_draw(records, &p);
	if (p.body.len_bytes == 0)
		return -ENODATA;
	picture_print(&p, to);
	return 0;
}

/* Text --------------------------------------------------------------------- */

static void
sheet_put(FILE *to, const char *text)
{
	struct strbuf sb = { 0 };

	picture_escape(&sb, text);
	fputs(sb.text != NULL ? sb.text : "", to);
	strbuf_clear(&sb);
}

static void
sheet_cell(FILE *to, const char *text)
{
	fputs("<td>", to);
	sheet_put(to, text);
	fputs("</td>", to);
}

static void
sheet_quantity(FILE *to, double value, const char *unit)
{
	char text[PRINT_BYTES];

	print_quantity(value, unit, text);
	sheet_cell(to, text);
}

static void
sheet_heads(FILE *to, const char *title, const char *const *names)
{
	fprintf(to, "<h2>%s</h2>\n<table><tr>", title);
	for (; *names != NULL; names++)
		fprintf(to, "<th>%s</th>", *names);
	fputs("</tr>\n", to);
}

static void
sheet_put_head(const json_t *run, FILE *to)
{
	size_t count;
	char *hosts = print_hostlist(json_object_get(run, "nodes"), &count);
	char at[PRINT_BYTES], ranks[PRINT_BYTES], seed[PRINT_BYTES], text[512];

	print_time(run, "started_unix_ns", at);
	print_count(run, "ranks", ranks);
	print_count(run, "seed", seed);
	fputs("<h1>Run ", to);
	sheet_put(to, print_member(run, "run", "?"));
	fputs(": ", to);
	sheet_put(to, print_member(run, "state", "?"));
	snprintf(text, sizeof(text),
	    "campaign %s; %zu nodes: %.200s; %s; %s ranks; seed %s; "
	    "started %s UTC",
	    print_member(run, "campaign", "?"), count,
	    hosts[0] == '\0' ? "-" : hosts, print_member(run, "mpi", "-"),
	    ranks, seed, at);
	fputs("</h1>\n<p class=\"quiet\">", to);
	sheet_put(to, text);
	fputs("</p>\n<p>", to);
	sheet_put(to, print_member(run, "text", ""));
	fputs("</p>\n", to);
	free(hosts);
}

static void
sheet_put_canaries(const json_t *records, FILE *to)
{
	static const char *const names[] = { "test", "phase", "n", "mean",
		"p50", "worst 1 %", "worst", "ended by", NULL };
	/* Of rates the low ones are bad. */
	static const char *const statistics[][4] = {
		{ "mean", "p50", "p99", "max" }, { "mean", "p50", "p01", "min" }
	};
	const json_t *r;
	size_t i;

	if (records_find(records, "canary", NULL, NULL) == NULL)
		return;
	sheet_heads(to, "Canaries", names);
	json_array_foreach (records, i, r) {
		int is_rate = strcmp(print_member(r, "unit", "s"), "B/s") == 0;

		if (!records_is(r, "canary", NULL))
			continue;
		fputs("<tr>", to);
		sheet_cell(to, print_member(r, "test", "?"));
		sheet_cell(to, print_member(r, "phase", "?"));
		fprintf(to, "<td>%.0f</td>", member_number(r, "n"));
		for (size_t k = 0; k < ARRAY_LEN(statistics[0]); k++)
			sheet_quantity(to,
			    member_number(r, statistics[is_rate][k]),
			    print_member(r, "unit", "s"));
		sheet_cell(to,
		    print_member(r, "cause",
			print_member(r, "stopped_by", "-")));
		fputs("</tr>\n", to);
	}
	fputs("</table>\n", to);
}

/* Plans that have no number, and why. */
static void
sheet_put_causes(const json_t *records, FILE *to)
{
	static const char *const names[] = { "plan", "not measured", "", NULL };
	const json_t *r;
	size_t i, count = 0;

	json_array_foreach (records, i, r) {
		if (json_object_get(r, "plan") == NULL ||
		    json_object_get(r, "cause") == NULL)
			continue;
		if (count++ == 0)
			sheet_heads(to, "Not measured", names);
		fputs("<tr>", to);
		sheet_cell(to, print_member(r, "plan", "?"));
		sheet_cell(to, print_member(r, "cause", "?"));
		sheet_cell(to, print_member(r, "text", ""));
		fputs("</tr>\n", to);
	}
	if (count > 0)
		fputs("</table>\n", to);
}

static void
sheet_put_pairs(const json_t *records, FILE *to)
{
	static const char *const names[] = { "test", "node", "with", "n",
		"median", NULL };
	const char *quiet = records_quiet_phase(records);
	const json_t *r, *pair;
	size_t i, k;

	if (records_find(records, "canary", NULL, quiet) == NULL)
		return;
	sheet_heads(to, "Worst pairs without congestors", names);
	json_array_foreach (records, i, r) {
		if (!records_is(r, "canary", NULL) ||
		    strcmp(print_member(r, "phase", ""), quiet) != 0)
			continue;
		member_foreach (r, "pairs", k, pair) {
			if (k == PAIRS_SHOWN)
				break;
			fputs("<tr>", to);
			sheet_cell(to, print_member(r, "test", "?"));
			sheet_cell(to, print_member(pair, "a", "?"));
			sheet_cell(to, print_member(pair, "b", "?"));
			fprintf(to, "<td>%.0f</td>", member_number(pair, "n"));
			sheet_quantity(to, member_number(pair, "p50"),
			    print_member(r, "unit", "s"));
			fputs("</tr>\n", to);
		}
	}
	fputs("</table>\n", to);
}

void
report_html(const json_t *run, const json_t *records, FILE *to)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">\n<meta name=\"viewport\" "
	      "content=\"width=device-width\">\n<title>",
	    to);
	sheet_put(to, print_member(run, "run", "run"));
	fprintf(to, "</title>\n<style>%s</style></head>\n<body>\n", style);
	sheet_put_head(run, to);
	if (report_svg(records, to) < 0)
		fputs("<p>Nothing was measured.</p>\n", to);
	sheet_put_canaries(records, to);
	sheet_put_causes(records, to);
	sheet_put_pairs(records, to);
	fprintf(to,
	    "<p class=\"quiet\">Made by coalctl %s.</p>\n"
	    "</body></html>\n",
	    COALMINE_VERSION);
}
