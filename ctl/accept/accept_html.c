/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_html.c - the report as a page for print and mail: no script, no
 * address.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "ctl/accept/accept_report.h"

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
    "pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; }\n"
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

static void
accept_html_share(struct strbuf *sb, double share)
{
	if (isfinite(share))
		strbuf_addf(sb, "<td class=\"n\">%.1f %%</td>", 100 * share);
	else
		strbuf_addf(sb, "<td class=\"n\">-</td>");
}

static void
accept_html_cell(struct strbuf *sb, const char *text)
{
	strbuf_addf(sb, "<td>");
	accept_html_text(sb, text);
	strbuf_addf(sb, "</td>");
}

static void
accept_html_results(struct strbuf *sb, const json_t *report)
{
	const json_t *o;
	size_t i;

	strbuf_addf(sb,
	    "<h2>Results, worst first</h2>\n<table><tr><th>result</th>"
	    "<th>promise</th><th>part</th><th class=\"n\">share of promise</th>"
	    "<th class=\"n\">from</th><th class=\"n\">to</th>"
	    "<th>missing</th></tr>\n");
	member_foreach (report, "results", i, o) {
		const char *state = member_text(o, "state");

		strbuf_addf(sb, "<tr><td class=\"");
		accept_html_text(sb, state);
		strbuf_addf(sb, "\">");
		accept_html_text(sb, state);
		strbuf_addf(sb, "</td>");
		accept_html_cell(sb, member_text(o, "kind"));
		accept_html_cell(sb, member_text(o, "part"));
		accept_html_share(sb, member_number(o, "share"));
		accept_html_share(sb, member_number(o, "lo"));
		accept_html_share(sb, member_number(o, "hi"));
		accept_html_cell(sb, member_text(o, "missing"));
		strbuf_addf(sb, "</tr>\n");
	}
	strbuf_addf(sb, "</table>\n");
}

static void
accept_html_number(struct strbuf *sb, double x)
{
	if (isfinite(x))
		strbuf_addf(sb, "<td class=\"n\">%.4g</td>", x);
	else
		strbuf_addf(sb, "<td class=\"n\">-</td>");
}

static void
accept_html_kpis(struct strbuf *sb, const json_t *report)
{
	const json_t *o;
	size_t i;

	if (json_array_size(json_object_get(report, "kpis")) == 0)
		return;
	strbuf_addf(sb,
	    "<h2>Indicators of rounds</h2>\n<p>In a round each node or leaf "
	    "exchanges messages with its neighbours. The intervals are 95 %% "
	    "confidence intervals of the "
	    "mean, each for itself. No promise is judged by "
	    "them.</p>\n<table><tr><th>indicator</th><th>of</th>"
	    "<th class=\"n\">value</th><th class=\"n\">from</th>"
	    "<th class=\"n\">to</th><th class=\"n\">rounds</th></tr>\n");
	member_foreach (report, "kpis", i, o) {
		strbuf_addf(sb, "<tr>");
		accept_html_cell(sb, member_text(o, "kpi"));
		accept_html_cell(sb, member_text(o, "kind"));
		accept_html_number(sb, member_number(o, "value"));
		accept_html_number(sb, member_number(o, "lo"));
		accept_html_number(sb, member_number(o, "hi"));
		accept_html_number(sb, (double)member_int(o, "rounds"));
		strbuf_addf(sb, "</tr>\n");
	}
	strbuf_addf(sb, "</table>\n");
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

static void
accept_html_runs(struct strbuf *sb, const json_t *report)
{
	const json_t *o;
	size_t i;

	strbuf_addf(sb,
	    "<h2>Runs</h2>\n<table><tr><th>run</th><th>measured</th>"
	    "<th>state</th><th>SHA-256 of its records</th></tr>\n");
	member_foreach (report, "runs", i, o) {
		strbuf_addf(sb, "<tr>");
		accept_html_cell(sb, member_text(o, "run"));
		accept_html_cell(sb, member_text(o, "class"));
		accept_html_cell(sb, member_text(o, "state"));
		accept_html_cell(sb, member_text(o, "sha256"));
		strbuf_addf(sb, "</tr>\n");
	}
	strbuf_addf(sb, "</table>\n");
}

char *
accept_report_html(const json_t *report)
{
	const json_t *summary = json_object_get(report, "summary");
	const json_t *promise = json_object_get(report, "promise");
	const json_t *seal = json_object_get(report, "seal");
	const char *state = member_text(summary, "state");
	struct strbuf sb = { 0 };

	strbuf_add(&sb, head, strlen(head));
	strbuf_addf(&sb, "<h1>Acceptance: <span class=\"");
	accept_html_text(&sb, state);
	strbuf_addf(&sb, "\">");
	accept_html_text(&sb, state);
	strbuf_addf(&sb, "</span></h1>\n<p>");
	accept_html_text(&sb, member_text(promise, "about"));
	strbuf_addf(&sb, "<br>Source of the promise: ");
	accept_html_text(&sb, member_text_or(promise, "source", "-"));
	strbuf_addf(&sb,
	    "</p>\n<p>%lld promises hold, %lld fail, %lld are undetermined. A "
	    "promise holds from %.1f %% of its value. The probability that any "
	    "result is wrongly passed is at most %.1f %%, and so is the "
	    "probability that any is wrongly failed. The intervals are "
	    "simultaneous.</p>\n<p>Bytes moved between host memories; GPUs "
	    "were not measured.</p>\n",
	    (long long)member_int(summary, "holds"),
	    (long long)member_int(summary, "fails"),
	    (long long)member_int(summary, "undetermined"),
	    100 * member_number(summary, "share"),
	    100 * member_number(summary, "error"));
	accept_html_results(&sb, report);
	accept_html_kpis(&sb, report);
	accept_html_list(&sb, "Not covered",
	    json_object_get(report, "not_covered"));
	accept_html_list(&sb, "Guessed values of the promise",
	    json_object_get(promise, "guessed"));
	strbuf_addf(&sb, "<h2>Promise</h2>\n<pre>");
	accept_html_text(&sb, member_text(promise, "text"));
	strbuf_addf(&sb, "</pre>\n");
	accept_html_runs(&sb, report);
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
