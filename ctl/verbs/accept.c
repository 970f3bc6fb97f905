/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.c - measure a cluster against a promise file, and report for each part
 * whether it keeps the promise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "ctl/accept/accept_rows.h"
#include "ctl/accept/seal.h"
#include "ctl/lib/print.h"
#include "ctl/lib/reference.h"
#include "ctl/verbs/acceptance.h"
#include "ctl/verbs/verbs.h"

#define PUBLISHED_BYTES 1073741824.0 /* published results near this size */

enum { EXIT_KEPT, EXIT_BROKEN, EXIT_OPEN }; /* else EXIT_CODE_UNKNOWN */

/* ---- the plan ---- */

/* Return the number of windows that runs of this time take, the last minutes of
 * each window being unused if no run fits. */
static size_t
accept_windows_count(const struct window_list *w, double span_s,
    double longest_s)
{
	uint64_t at = window_opens_ns(w, 0), left;
	size_t ret = 0;

	while (span_s > 0) {
		left = window_left_ns(w, at);
		if ((double)left / CLK_NS_PER_S > longest_s) {
			span_s -= (double)left / CLK_NS_PER_S - longest_s;
			ret++;
		}
		at = window_opens_ns(w, at + left - 1);
	}
	return ret;
}

static void
accept_print_plan(const struct acceptance *a, FILE *to)
{
	struct evidence_cost cost = evidence_cost(a->e, a->promise, a->rounds);
	double rate = conf_real(a->promise, "nic", "rate") / 8e-9;
	char lo[PRINT_BYTES], hi[PRINT_BYTES], each[PRINT_BYTES];

	print_span(cost.fewest_s, lo);
	print_span(cost.most_s, hi);
	str_bytes_format(rate * cost.sending_s *
		(double)conf_int(a->promise, "nic", "count"),
	    each, sizeof(each));
	fprintf(to,
	    "%zu nodes on %zu lea%s: %zu to %zu runs, about %s to %s; each "
	    "node sends at most %s in the first %zu runs\n",
	    a->e->nodes.count, a->e->leaves.count,
	    a->e->leaves.count == 1 ? "f" : "ves", cost.fewest, cost.most, lo,
	    hi, each, cost.fewest);
	fprintf(to,
	    "with %zu rounds, a part at %.0f %% of its promised value is "
	    "detected with probability %.2f, if repeated runs differ by %.1f "
	    "%%\n",
	    a->rounds, 100 * conf_real(a->promise, "accept", "found"),
	    ACCEPTANCE_FOUND_WITH,
	    100 * conf_real(a->promise, "accept", "scatter"));
	if (a->window.count > 0)
		fprintf(to, "with --window %s UTC: %zu to %zu windows\n",
		    opts_value(&a->c->opts, OPT_WINDOW),
		    accept_windows_count(&a->window, cost.fewest_s,
			cost.longest_s),
		    accept_windows_count(&a->window, cost.most_s,
			cost.longest_s));
	if (a->e->leaves_why != NULL)
		fprintf(to, "uplinks of leaves are not measured: %s\n",
		    a->e->leaves_why);
}

static int
accept_plan(struct ctl *c)
{
	struct acceptance a = { .c = c };
	int rc = acceptance_open(&a);

	if (rc == 0)
		accept_print_plan(&a, stdout);
	acceptance_clear(&a);
	return rc;
}

/* ---- output ---- */

static const char *
accept_interval(const json_t *row, char *scratch)
{
	double lo = member_number(row, "lo"), hi = member_number(row, "hi");

	if (!isfinite(lo) || !isfinite(hi))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.1f to %.1f %%", 100 * lo, 100 * hi);
	return scratch;
}

static const char *
accept_share(const json_t *row, char *scratch)
{
	double share = member_number(row, "share");

	if (!isfinite(share))
		return "-";
	snprintf(scratch, PRINT_BYTES, "%.1f %%", 100 * share);
	return scratch;
}

static const char *
accept_kpi_interval(const json_t *row, char *scratch)
{
	double lo = member_number(row, "lo"), hi = member_number(row, "hi");

	if (!isfinite(lo) || !isfinite(hi))
		return "unknown";
	snprintf(scratch, PRINT_BYTES, "%.4g to %.4g", lo, hi);
	return scratch;
}

/* Return the rows that are printed, which the caller decrefs. Parts that hold
 * are counted; with --all each part has a row. */
static json_t *
accept_print_rows(const struct ctl *c, const json_t *report)
{
	json_t *rows, *ret, *o;
	size_t i;

	if (opts_given(&c->opts, OPT_ALL))
		return json_incref(json_object_get(report, "results"));
	rows = json_array();
	member_foreach (report, "results", i, o)
		if (strcmp(member_text(o, "state"),
			accept_states[ACCEPT_HOLDS]) != 0)
			json_array_append(rows, o);
	ret = accept_rows_fold(rows);
	json_decref(rows);
	return ret;
}

static void
accept_print(const struct ctl *c, const json_t *report)
{
	static const struct print_column columns[] = {
		{ "result", "state", "?", PRINT_TEXT, NULL },
		{ "promise", "kind", "?", PRINT_TEXT, NULL },
		{ "part", "part", "?", PRINT_TEXT, NULL },
		{ ">of promise", NULL, NULL, PRINT_OF, accept_share },
		{ ">interval", NULL, NULL, PRINT_OF, accept_interval },
		{ "reason", "missing", "", PRINT_TEXT, NULL },
		{ 0 },
	};
	const json_t *summary = json_object_get(report, "summary");
	json_t *rows = accept_print_rows(c, report), *o;
	char text[PRINT_BYTES], *counts = accept_rows_counts(report);
	size_t i;

	printf("%s: %s\n", member_text(summary, "state"), counts);
	free(counts);
	if (json_array_size(rows) > 0)
		print_rows(rows, columns);
	member_foreach (report, "detects", i, o)
		printf("%s: a part at %.1f %% of its promised value is "
		       "detected with probability %.2f\n",
		    member_text(o, "kind"), 100 * member_number(o, "share"),
		    member_number(o, "probability"));
	member_foreach (report, "kpis", i, o)
		printf("%s: %s of a round: %.4g, 95 %% confidence interval %s "
		       "(%lld rounds)\n",
		    member_text(o, "kind"), member_text(o, "kpi"),
		    member_number(o, "value"), accept_kpi_interval(o, text),
		    (long long)member_int(o, "rounds"));
	member_foreach (report, "not_covered", i, o)
		printf("not covered: %s\n", json_string_value(o));
	member_foreach (json_object_get(report, "promise"), "guessed", i, o)
		printf("guessed value of the promise: %s\n",
		    json_string_value(o));
	member_foreach (report, "published", i, o) {
		str_bytes_format(member_number(o, "bytes"), text, sizeof(text));
		printf("published elsewhere: %s of %s, %s, %s, %.0f ranks: "
		       "%.4g GB/s of bus bandwidth: %s\n",
		    member_text(o, "op"), text,
		    member_text_or(o, "gpu", "any GPU"),
		    member_text_or(o, "fabric", "fabric not stated"),
		    member_number(o, "ranks"),
		    member_number(o, "busbw_bytes_per_s") / 1e9,
		    member_text(o, "source"));
	}
	json_decref(rows);
}

static int
accept_html_write(const struct ctl *c, const json_t *report)
{
	const char *path = opts_value(&c->opts, OPT_HTML);
	char *text;
	int rc;

	if (path == NULL)
		return 0;
	text = accept_report_html(report);
	rc = ctl_write(path, text);
	free(text);
	return rc;
}

/* Set the member published: results of the promised collectives on clusters of
 * the same class. No result depends on them. */
static int
accept_published_set(const struct acceptance *a)
{
	json_int_t rails = conf_int(a->promise, "nic", "count");
	struct reference_class class = { conf_string(a->promise, "promise",
					     "gpu"),
		conf_string(a->promise, "promise", "fabric"), NULL,
		conf_real(a->promise, "nic", "rate") * (double)rails,
		PUBLISHED_BYTES, (int)a->e->nodes.count,
		(int)(a->e->nodes.count * (size_t)rails) };
	json_t *all = json_array(), *reference, *rows;
	struct err err;

	if (reference_read(&reference, &err) < 0) {
		json_decref(all);
		return ctl_fail("%s", err.text);
	}
	for (size_t i = 0; i < ARRAY_LEN(a->e->loads); i++) {
		class.op = a->e->loads[i].word;
		if (a->e->loads[i].kind != LOAD_COLLECTIVE ||
		    class.op[0] == '\0')
			continue;
		rows = reference_match(reference, &class);
		json_array_extend(all, rows);
		json_decref(rows);
	}
	json_object_set_new(a->report, "published", all);
	json_decref(reference);
	return 0;
}

static int
accept_finish(struct acceptance *a)
{
	const char *out = opts_value(&a->c->opts, OPT_OUT);
	const char *state;
	int rc;

	accept_report_judge(a->report, a->promise, a->e);
	rc = accept_published_set(a);
	if (rc == 0)
		rc = acceptance_save(a);
	if (rc == 0)
		rc = accept_html_write(a->c, a->report);
	if (rc != 0)
		return rc;
	if (opts_given(&a->c->opts, OPT_JSON))
		print_json_line(a->report);
	else if (out == NULL || strcmp(out, "-") != 0)
		accept_print(a->c, a->report);
	state = member_text(json_object_get(a->report, "summary"), "state");
	return strcmp(state, accept_states[ACCEPT_HOLDS]) == 0 ? EXIT_KEPT
	    : strcmp(state, accept_states[ACCEPT_FAILS]) == 0  ? EXIT_BROKEN
							       : EXIT_OPEN;
}

static int
accept_run(struct ctl *c)
{
	struct acceptance a = { .c = c };
	int rc = acceptance_open(&a);

	if (rc == 0)
		rc = acceptance_load(&a);
	if (rc == 0) {
		accept_print_plan(&a, stderr);
		rc = acceptance_measure(&a);
	}
	if (rc == 0)
		rc = accept_finish(&a);
	acceptance_clear(&a);
	return rc;
}

/* ---- show, sign, verify ---- */

/* A report has results after the last run. */
static int
accept_ended_check(const struct ctl *c, const json_t *report)
{
	return json_object_get(report, "summary") != NULL
	    ? 0
	    : ctl_fail("%s: the acceptance has not ended and has no results; "
		       "to continue it: coalctl accept run PROMISE --out %s",
		  c->args[0], c->args[0]);
}

static int
accept_show(struct ctl *c)
{
	json_t *report;
	struct conf *promise;
	struct err err;
	int rc = acceptance_read(c->args[0], &report);

	if (rc != 0)
		return rc;
	if (accept_report_check(report, &promise, &err) < 0) {
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	} else {
		conf_free(promise);
		rc = accept_ended_check(c, report);
		if (rc == 0)
			rc = accept_html_write(c, report);
		if (rc == 0 && opts_given(&c->opts, OPT_JSON))
			print_json_line(report);
		else if (rc == 0)
			accept_print(c, report);
	}
	json_decref(report);
	return rc;
}

static int
accept_sign(struct ctl *c)
{
	json_t *report;
	struct conf *promise = NULL;
	struct err err;
	char *text;
	int rc = acceptance_read(c->args[0], &report);

	if (rc != 0)
		return rc;
	if (accept_report_check(report, &promise, &err) < 0)
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	if (rc == 0)
		rc = accept_ended_check(c, report);
	if (rc == 0 && seal_sign(report, c->args[1], &err) < 0)
		rc = ctl_fail("%s", err.text);
	if (rc == 0) {
		text = json_dumps(report, JSON_INDENT(1) | JSON_SORT_KEYS);
		rc = ctl_write(c->args[0], text);
		free(text);
	}
	if (rc == 0)
		rc = accept_html_write(c, report);
	conf_free(promise);
	json_decref(report);
	return rc;
}

/* Return the results without the reasons, which a later version can word in
 * another way. The caller decrefs them. */
static json_t *
accept_results_bare(const json_t *report, const char *member)
{
	json_t *ret = json_deep_copy(json_object_get(report, member)), *o;
	size_t i;

	json_array_foreach (ret, i, o)
		if (json_is_object(o))
			json_object_del(o, "missing");
	return ret;
}

/* Make the results again from the stored records, and compare. */
static int
accept_recompute(struct acceptance *a)
{
	static const char *const made[] = { "efficiency", "results", "detects",
		"summary", "kpis", "not_covered" };
	json_t *old = json_deep_copy(a->report);
	int rc = acceptance_load(a);

	if (rc == 0)
		accept_report_judge(a->report, a->promise, a->e);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(made); i++) {
		json_t *was = accept_results_bare(old, made[i]);
		json_t *now = accept_results_bare(a->report, made[i]);

		if (was == NULL || !json_equal(was, now))
			rc = ctl_fail("%s: %s differs from the result of the "
				      "stored records",
			    a->c->args[0], made[i]);
		json_decref(was);
		json_decref(now);
	}
	json_decref(old);
	return rc;
}

static int
accept_verify(struct ctl *c)
{
	struct acceptance a = { .c = c, .records = json_array() };
	const char *ca = opts_value(&c->opts, OPT_CA);
	char name[256];
	struct err err;
	int rc = acceptance_read(c->args[0], &a.report);

	if (ca == NULL)
		ca = getenv("COALMINE_CA");
	if (ca == NULL)
		ca = "/etc/coalmine/pki/ca.pem";
	if (rc == 0 &&
	    (accept_report_check(a.report, &a.promise, &err) < 0 ||
		seal_check(a.report, ca, name, &err) < 0))
		rc = ctl_fail("%s: %s", c->args[0], err.text);
	if (rc == 0)
		rc = accept_recompute(&a);
	if (rc == 0)
		printf("valid: signed by %s, and equal to the result of %zu "
		       "stored runs\n",
		    name, json_array_size(json_object_get(a.report, "runs")));
	acceptance_clear(&a);
	return rc;
}

const struct verb verbs_accept[] = {
	{ "accept", "plan", "PROMISE", 1, 1, "window", "file",
	    "Print how many runs an acceptance needs, how long they take, and "
	    "how many bytes nodes send.",
	    "PROMISE is a file of coalmine-promise(5). Nothing is measured. "
	    "With --window also in how many windows.",
	    accept_plan },
	{ "accept", "run", "PROMISE", 1, 1, "all html json out override window",
	    "file", "Measure the cluster against a promise file.",
	    "Neighbouring nodes exchange messages in pairs, then neighbouring "
	    "leaves with the same number of nodes of each, then each node "
	    "copies memory. Then "
	    "all nodes run the collectives, incast, congestion and soak of "
	    "the promise. Each "
	    "part holds its promise, fails it, or is undetermined; the failed "
	    "ones are listed first, worst first. --out stores the report as "
	    "JSON after every run; started again with the same file, an "
	    "interrupted acceptance continues. --html writes the report for "
	    "print. --override sets options of all its campaigns. "
	    "With --window runs start only in these times; between them the "
	    "verb waits. "
	    "A node or leaf whose verdict says that MPI cannot exchange "
	    "messages with it (mtu, stuck) is excluded and fails. "
	    "Exit code 0: all promises hold; 1: some fail; 2: undetermined; "
	    "3: stopped before the end. The verb requires root or the "
	    "collector's user "
	    "on the collector's host, or a certificate with role operator. "
	    "See Method of accept in coalctl(8).",
	    accept_run },
	{ "accept", "show", "FILE", 1, 1, "all html json", "file",
	    "Print a stored report.", NULL, accept_show },
	{ "accept", "sign", "FILE DIR", 2, 2, "html", "file",
	    "Sign a stored report with the authority of the site.",
	    "DIR is the folder of coalctl pki init. The signature covers the "
	    "promise, the results, and the SHA-256 of the records of every "
	    "run. No collector is needed.",
	    accept_sign },
	{ "accept", "verify", "FILE", 1, 1, "", "file",
	    "Check the signature of a report, and compute its results again "
	    "from the stored records.",
	    "The signature must be made by the authority of --ca. The "
	    "collector must still store the runs. Exit code 0: valid; 3: "
	    "invalid.",
	    accept_verify },
	{ 0 },
};
