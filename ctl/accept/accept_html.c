/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_html.c - the report as a page for print and mail: no script, no
 * address.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "ctl/accept/accept_report.h"
#include "ctl/accept/accept_rows.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n<title>Acceptance</title>\n<style>\n"
    "body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; "
    "margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; "
    "background: #fff; }\n"
    "h1 { margin-bottom: 0; } table { border-collapse: collapse; "
    "width: 100%; margin: .5rem 0 1.5rem; }\n"
    "th, td { text-align: left; padding: .25rem .6rem; "
    "border-bottom: 1px solid #ddd; }\n"
    "td.n, th.n { text-align: right; font-variant-numeric: "
    "tabular-nums; }\n"
    ".fails { color: #b00020; font-weight: 600; } "
    ".holds { color: #0a6b2d; } .undetermined { color: #8a5a00; }\n"
    "td.n, td.fails, td.undetermined, td.holds { white-space: nowrap; }\n"
    "p { overflow-wrap: anywhere; }\n"
    "td.part { overflow-wrap: anywhere; min-width: 8rem; }\n"
    "td.long { overflow-wrap: anywhere; font: 12px/1.3 monospace; }\n"
    "@media screen and (max-width: 45rem) { table { display: block; "
    "overflow-x: auto; } }\n"
    "pre { background: #f5f5f5; padding: .8rem; white-space: pre-wrap; "
    "overflow-wrap: anywhere; }\n"
    "@page { margin: 15mm; }\n"
    "@media print { body { font-size: 10pt; max-width: none; margin: 0; "
    "padding: 0; } thead { display: table-header-group; } "
    "tr, li { break-inside: avoid; } h2 { break-after: avoid; } "
    "* { print-color-adjust: exact; } }\n"
    "</style></head><body>\n";

/* Text of a file or a node as text of the page. */
static void
accept_html_text(struct strbuf *sb, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			strbuf_addf(sb, "&lt;");
			break;
		case '>':
			strbuf_addf(sb, "&gt;");
			break;
		case '&':
			strbuf_addf(sb, "&amp;");
			break;
		case '"':
			strbuf_addf(sb, "&quot;");
			break;
		default:
			strbuf_add(sb, text, 1);
		}
}

/* How a column shows a member. */
enum cell {
	CELL_TEXT,
	CELL_LONG,
	CELL_PART,
	CELL_STATE,
	CELL_SHARE,
	CELL_NUMBER
};

struct column {
	const char *title, *key;
	enum cell cell;
};

static void
accept_html_number(struct strbuf *sb, enum cell cell, double x)
{
	if (!isfinite(x))
		strbuf_addf(sb, "<td class=\"n\">-</td>");
	else if (cell == CELL_SHARE)
		strbuf_addf(sb, "<td class=\"n\">%.1f %%</td>", 100 * x);
	else
		strbuf_addf(sb, "<td class=\"n\">%.4g</td>", x);
}

static void
accept_html_cell(struct strbuf *sb, const struct column *c, const json_t *row)
{
	const char *text = member_text(row, c->key);

	if (c->cell == CELL_SHARE || c->cell == CELL_NUMBER) {
		accept_html_number(sb, c->cell, member_number(row, c->key));
		return;
	}
	strbuf_addf(sb, c->cell == CELL_TEXT ? "<td" : "<td class=\"");
	if (c->cell == CELL_STATE)
		accept_html_text(sb, text);
	strbuf_addf(sb,
	    c->cell == CELL_TEXT       ? ">"
		: c->cell == CELL_LONG ? "long\">"
		: c->cell == CELL_PART ? "part\">"
				       : "\">");
	accept_html_text(sb, text);
	strbuf_addf(sb, "</td>");
}

/* columns: a row without a title ends them. */
static void
accept_html_table(struct strbuf *sb, const struct column *columns,
    const json_t *rows)
{
	const json_t *o;
	size_t i;

	strbuf_addf(sb, "<table><thead><tr>");
	for (const struct column *c = columns; c->title != NULL; c++)
		strbuf_addf(sb, "<th%s>%s</th>",
		    c->cell == CELL_SHARE || c->cell == CELL_NUMBER
			? " class=\"n\""
			: "",
		    c->title);
	strbuf_addf(sb, "</tr></thead><tbody>\n");
	json_array_foreach (rows, i, o) {
		strbuf_addf(sb, "<tr>");
		for (const struct column *c = columns; c->title != NULL; c++)
			accept_html_cell(sb, c, o);
		strbuf_addf(sb, "</tr>\n");
	}
	strbuf_addf(sb, "</tbody></table>\n");
}

static const struct column result_columns[] = {
	{ "result", "state", CELL_STATE },
	{ "promise", "kind", CELL_TEXT },
	{ "part", "part", CELL_PART },
	{ "share of promise", "share", CELL_SHARE },
	{ "from", "lo", CELL_SHARE },
	{ "to", "hi", CELL_SHARE },
	{ "reason", "missing", CELL_TEXT },
	{ 0 },
};
static const struct column kpi_columns[] = {
	{ "indicator", "kpi", CELL_TEXT },
	{ "of", "kind", CELL_TEXT },
	{ "value", "value", CELL_NUMBER },
	{ "from", "lo", CELL_NUMBER },
	{ "to", "hi", CELL_NUMBER },
	{ "rounds", "rounds", CELL_NUMBER },
	{ 0 },
};
static const struct column detects_columns[] = {
	{ "promise", "kind", CELL_TEXT },
	{ "a part at this share of its promise is found", "share", CELL_SHARE },
	{ "with probability", "probability", CELL_NUMBER },
	{ 0 },
};
static const struct column run_columns[] = {
	{ "run", "run", CELL_TEXT },
	{ "measured", "class", CELL_TEXT },
	{ "nodes", "nodes", CELL_LONG },
	{ "state", "state", CELL_TEXT },
	{ "SHA-256 of its records", "sha256", CELL_LONG },
	{ 0 },
};

static const struct column published_columns[] = {
	{ "collective", "op", CELL_TEXT },
	{ "GPU", "gpu", CELL_TEXT },
	{ "fabric", "fabric", CELL_TEXT },
	{ "ranks", "ranks", CELL_NUMBER },
	{ "bytes", "bytes", CELL_NUMBER },
	{ "bus bandwidth, B/s", "busbw_bytes_per_s", CELL_NUMBER },
	{ "source", "source", CELL_LONG },
	{ 0 },
};

static void
accept_html_kpis(struct strbuf *sb, const json_t *report)
{
	const json_t *kpis = json_object_get(report, "kpis");

	if (json_array_size(kpis) == 0)
		return;
	strbuf_addf(sb,
	    "<h2>Indicators of rounds</h2>\n<p>In a round each node or leaf "
	    "exchanges messages with its neighbours. The intervals are 95 %% "
	    "confidence intervals of the "
	    "mean, each for itself. No promise is judged by "
	    "them.</p>\n");
	accept_html_table(sb, kpi_columns, kpis);
}

static void
accept_html_list(struct strbuf *sb, const char *title, const json_t *list)
{
	const json_t *o;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	strbuf_addf(sb, "<h2>%s</h2>\n<ul>\n", title);
	json_array_foreach (list, i, o) {
		strbuf_addf(sb, "<li>");
		accept_html_text(sb,
		    json_is_string(o) ? json_string_value(o) : "?");
		strbuf_addf(sb, "</li>\n");
	}
	strbuf_addf(sb, "</ul>\n");
}

/* Each part that fails has a row. */
static void
accept_html_results(struct strbuf *sb, const json_t *report)
{
	const json_t *all = json_object_get(report, "results");
	json_t *rows = accept_rows_fold(all);

	strbuf_addf(sb, "<h2>Results, worst first</h2>\n");
	if (json_array_size(rows) < json_array_size(all))
		strbuf_addf(sb,
		    "<p>A row of several parts has the values of the worst of "
		    "them. The JSON file has the values of each.</p>\n");
	accept_html_table(sb, result_columns, rows);
	json_decref(rows);
}

/* Lines with the cluster, the promise and the time of the acceptance. */
static void
accept_html_about(struct strbuf *sb, const json_t *report)
{
	static const char *const titles[][2] = { { "about", "Cluster" },
		{ "source", "Source of the promise" } };
	const json_t *promise = json_object_get(report, "promise");
	char made[64];

	for (size_t i = 0; i < ARRAY_LEN(titles); i++) {
		if (member_text(promise, titles[i][0])[0] == '\0')
			continue;
		strbuf_addf(sb, "%s: ", titles[i][1]);
		accept_html_text(sb, member_text(promise, titles[i][0]));
		strbuf_addf(sb, "<br>\n");
	}
	clk_unix_format(member_unsigned(report, "made_unix_ns"), made,
	    sizeof(made));
	strbuf_addf(sb, "Measured nodes: %zu<br>\nBegun: %s, with Coalmine ",
	    json_array_size(json_object_get(report, "nodes")), made);
	accept_html_text(sb, member_text(report, "software"));
}

char *
accept_report_html(const json_t *report)
{
	const json_t *summary = json_object_get(report, "summary");
	const json_t *promise = json_object_get(report, "promise");
	const json_t *seal = json_object_get(report, "seal");
	const char *state = member_text(summary, "state");
	char *counts = accept_rows_counts(report);
	struct strbuf sb = { 0 };

	strbuf_add(&sb, head, strlen(head));
	strbuf_addf(&sb, "<h1>Acceptance: <span class=\"");
	accept_html_text(&sb, state);
	strbuf_addf(&sb, "\">");
	accept_html_text(&sb, state);
	strbuf_addf(&sb, "</span></h1>\n<p><strong>");
	accept_html_text(&sb, counts);
	free(counts);
	strbuf_addf(&sb, ".</strong></p>\n<p>");
	accept_html_about(&sb, report);
	strbuf_addf(&sb,
	    "</p>\n<p>A promise holds from %.1f %% of its value. The "
	    "probability that any "
	    "result is wrongly passed is at most %.1f %%, and so is the "
	    "probability that any is wrongly failed. The intervals are "
	    "simultaneous.</p>\n<p>Bytes moved between host memories; GPUs "
	    "were not measured.</p>\n",
	    100 * member_number(summary, "share"),
	    100 * member_number(summary, "error"));
	accept_html_results(&sb, report);
	strbuf_addf(&sb, "<h2>Smallest defects that are found</h2>\n");
	accept_html_table(&sb, detects_columns,
	    json_object_get(report, "detects"));
	accept_html_kpis(&sb, report);
	if (json_array_size(json_object_get(report, "published")) > 0) {
		strbuf_addf(&sb,
		    "<h2>Published elsewhere</h2>\n<p>For comparison only. "
		    "Conditions can differ.</p>\n");
		accept_html_table(&sb, published_columns,
		    json_object_get(report, "published"));
	}
	accept_html_list(&sb, "Not covered",
	    json_object_get(report, "not_covered"));
	accept_html_list(&sb, "Guessed values of the promise",
	    json_object_get(promise, "guessed"));
	strbuf_addf(&sb, "<h2>Promise</h2>\n<pre>");
	accept_html_text(&sb, member_text(promise, "text"));
	strbuf_addf(&sb, "</pre>\n");
	strbuf_addf(&sb, "<h2>Runs</h2>\n");
	accept_html_table(&sb, run_columns, json_object_get(report, "runs"));
	strbuf_addf(&sb, "<h2>Seal</h2>\n<p>");
	if (seal != NULL) {
		strbuf_addf(&sb, "SHA-256 ");
		accept_html_text(&sb, member_text(seal, "sha256"));
		strbuf_addf(&sb, ", signed by authority ");
		accept_html_text(&sb, member_text(seal, "authority"));
		strbuf_addf(&sb,
		    ". coalctl accept verify checks the JSON file.");
	} else {
		strbuf_addf(&sb, "This report is not signed.");
	}
	strbuf_addf(&sb, "</p>\n</body></html>\n");
	return sb.text;
}
