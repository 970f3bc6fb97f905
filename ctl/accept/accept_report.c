/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_report.c - a row for each promise of each part, worst first.
 */
#include "ctl/accept/accept_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/accept/kpi.h"
#include "ctl/accept/seal.h"
#include "schema/names_verdict.h"
#include "schema/promise.h"

#define MISSING_BYTES 120

static const char *const kinds[EVIDENCE_CLASS_MAX] = {
	[EVIDENCE_NODES] = "link",
	[EVIDENCE_LEAVES] = "uplinks",
	[EVIDENCE_MEMORY] = "memory",
	[EVIDENCE_RAILS] = "rail",
	[EVIDENCE_PLANES] = "plane",
	[EVIDENCE_LOAD + LOAD_COLLECTIVE] = "collective",
	[EVIDENCE_LOAD + LOAD_INCAST] = "incast",
	[EVIDENCE_LOAD + LOAD_CONGESTION] = "congestion",
	[EVIDENCE_LOAD + LOAD_SOAK] = "soak",
};

static json_t *
accept_report_words(const char *text)
{
	size_t count = 0;
	char **words = str_list_parse(text, &count);
	json_t *ret = json_array();

	for (size_t i = 0; words != NULL && i < count; i++)
		json_array_append_new(ret, text_json(words[i]));
	str_list_free(words);
	return ret;
}

json_t *
accept_report_new(const char *promise_text, const struct conf *promise,
    const json_t *nodes, const json_t *away, const json_t *excluded)
{
	json_t *text = text_json(promise_text);
	char digest[PKI_DIGEST_TEXT];
	json_t *ret;

	seal_digest(text, digest);
	ret =
	    json_pack("{s:s, s:i, s:s, s:I, s:{s:o, s:s, s:s, s:s, s:o}, s:O, "
		      "s:O, s:O, s:[]}",
		"kind", PROMISE_REPORT_KIND, "version", PROMISE_REPORT_VERSION,
		"software", COALMINE_VERSION, "made_unix_ns",
		(json_int_t)clk_unix_ns(), "promise", "text", text, "sha256",
		digest, "about", conf_string(promise, "promise", "about"),
		"source", conf_string(promise, "promise", "source"), "guessed",
		accept_report_words(conf_string(promise, "promise", "guessed")),
		"nodes", nodes, "away", away, "excluded", excluded, "runs");
	return ret;
}

int
accept_report_check(const json_t *report, struct conf **ret_promise,
    struct err *err)
{
	const json_t *promise = json_object_get(report, "promise");
	const char *text = member_text_or(promise, "text", NULL);

	if (strcmp(member_text(report, "kind"), PROMISE_REPORT_KIND) != 0 ||
	    text == NULL || !json_is_array(json_object_get(report, "nodes")) ||
	    !json_is_array(json_object_get(report, "runs")))
		return err_set(err, -EINVAL,
		    "expected a report of coalctl accept run");
	if (member_int(report, "version") != PROMISE_REPORT_VERSION)
		return err_set(err, -EINVAL,
		    "the report has version %lld: expected %d",
		    (long long)member_int(report, "version"),
		    PROMISE_REPORT_VERSION);
	return conf_parse(options_promise, "the promise", text, ret_promise,
	    err);
}

struct evidence *
accept_report_evidence(const json_t *report, const struct conf *promise,
    const json_t *records)
{
	const json_t *nodes = json_object_get(report, "nodes"), *run;
	struct evidence *e = evidence_new(promise, nodes);
	size_t i;

	member_foreach (report, "runs", i, run)
		evidence_add(e, promise, run, json_array_get(records, i));
	evidence_judge(e);
	return e;
}

/* ---- results ---- */

static void
accept_report_number(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key,
	    isfinite(value) ? json_real(value) : json_null());
}

static json_t *
accept_report_row(const char *kind, const char *part, enum accept_state state,
    double share, const char *missing)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "kind", kind, "part", part,
	    "state", accept_states[state]);

	accept_report_number(o, "share", share);
	if (missing[0] != '\0')
		json_object_set_new(o, "missing", json_string(missing));
	return o;
}

/* Return the index of the first plane in this state that a node or a rail is
 * on, as a part; or e->part_count. */
static size_t
accept_report_plane(const struct evidence *e, enum evidence_class class,
    size_t part, enum accept_state state)
{
	const struct evidence_span *planes = &e->parts_of[EVIDENCE_PLANES];
	size_t first = e->parts_of[class].first, n = e->nodes.count;

	for (size_t r = 0; r < planes->count; r++)
		if (e->parts[planes->first + r].state == state &&
		    (class == EVIDENCE_NODES ||
			(class == EVIDENCE_RAILS && (part - first) / n == r)))
			return planes->first + r;
	return e->part_count;
}

static const char *
accept_report_missing(const struct evidence *e, enum evidence_class class,
    size_t i, char scratch[MISSING_BYTES])
{
	const struct accept_part *part = &e->parts[i];
	size_t plane = accept_report_plane(e, class, i, ACCEPT_FAILS);

	if (part->state != ACCEPT_OPEN)
		return "";
	if (plane < e->part_count) {
		snprintf(scratch, MISSING_BYTES,
		    "%.40s is slow on all nodes: repair it first",
		    evidence_part_name(e, plane));
		return scratch;
	}
	if (part->paths == 0 && e->rails_cut &&
	    (class == EVIDENCE_RAILS || class == EVIDENCE_PLANES))
		return "the records list the slowest rails only: measure fewer "
		       "nodes at once";
	/* Uplinks and loads are measured with nodes whose links hold. */
	if (part->paths == 0 &&
	    (class == EVIDENCE_LEAVES || class >= EVIDENCE_LOAD))
		return "no run has measured this part: repair the links of "
		       "nodes first, or see the runs that are not covered";
	if (part->paths == 0)
		return "no run has measured this part: see the runs that are "
		       "not covered";
	if (class == EVIDENCE_NODES && part->excused > 0 &&
	    accept_report_plane(e, class, i, ACCEPT_OPEN) < e->part_count)
		return "a plane that is undetermined may be why this node is "
		       "slow";
	if (class == EVIDENCE_PLANES && part->slow > 0) {
		if (e->nodes.count >= EVIDENCE_PLANE_NODES)
			return "rails of this plane are slow, and the others "
			       "are undetermined";
		snprintf(scratch, MISSING_BYTES,
		    "rails of this plane are slow: with fewer than %d nodes "
		    "the plane can be the cause",
		    EVIDENCE_PLANE_NODES);
		return scratch;
	}
	if (part->excused > 0)
		return "its ranks waited for CPU cores longer than those of "
		       "other nodes, which may be why they were slow: end "
		       "other processes on the node";
	if (part->slow > 0)
		return "its partners were slow too, or undetermined: repair "
		       "the parts that fail first";
	return "the least share that holds is within the interval: end other "
	       "traffic and measure again";
}

static void
accept_report_parts(const struct evidence *e, enum evidence_class class,
    json_t *rows)
{
	const struct evidence_span *s = &e->parts_of[class];

	for (size_t i = s->first; i < s->first + s->count; i++) {
		const struct accept_part *part = &e->parts[i];
		char scratch[MISSING_BYTES];
		json_t *o = accept_report_row(kinds[class],
		    evidence_part_name(e, i), part->state, part->value,
		    accept_report_missing(e, class, i, scratch));

		accept_report_number(o, "lo", part->lo);
		accept_report_number(o, "hi", part->hi);
		json_array_append_new(rows, o);
	}
}

/* One row for all rails, and one for all planes, if no run has measured any. */
static void
accept_report_railless(const struct evidence *e, enum evidence_class class,
    json_t *rows)
{
	const struct evidence_span *s = &e->paths_of[EVIDENCE_NODES];
	char reason[2 * MISSING_BYTES];
	size_t runs = 0;

	for (size_t i = s->first; i < s->first + s->count; i++)
		runs += e->paths[i].n;
	if (runs == 0)
		snprintf(reason, sizeof(reason),
		    "no run has measured the rails: see the runs that are not "
		    "covered");
	else
		snprintf(reason, sizeof(reason),
		    "the records have no rates of rails: list %zu NICs in "
		    "mpi.nics of every agent, one for each rank of a node, and "
		    "measure again",
		    e->rails);
	if (e->rails > 0)
		json_array_append_new(rows,
		    accept_report_row(kinds[class],
			class == EVIDENCE_RAILS ? "all rails" : "all planes",
			ACCEPT_OPEN, NAN, reason));
}

static int
accept_report_is_explained(const struct evidence *e,
    const struct accept_path *p)
{
	for (size_t k = 0; k < p->part_count; k++)
		if (e->parts[p->parts[k]].state == ACCEPT_FAILS)
			return 1;
	return accept_report_plane(e, (enum evidence_class)p->class,
		   p->parts[0], ACCEPT_FAILS) < e->part_count;
}

/* Slow paths that no part explains. */
static void
accept_report_paths(const struct evidence *e, json_t *rows)
{
	for (size_t i = 0; i < e->path_count; i++) {
		const struct accept_path *p = &e->paths[i];
		char name[600];
		json_t *o;

		if (p->state != ACCEPT_FAILS || p->part_count < 2 ||
		    accept_report_is_explained(e, p))
			continue;
		snprintf(name, sizeof(name), "%.255s to %.255s",
		    evidence_part_name(e, p->parts[0]),
		    evidence_part_name(e, p->parts[1]));
		o = accept_report_row("path", name, p->state, p->value, "");
		accept_report_number(o, "lo", p->lo);
		accept_report_number(o, "hi", p->hi);
		json_array_append_new(rows, o);
	}
}

/* Slow hosts and a slow protocol look like links that are all slow, so that a
 * low efficiency passes nothing, and accuses nothing. */
static void
accept_report_efficiency(const struct evidence *e, const struct conf *promise,
    json_t *rows)
{
	double least = conf_real(promise, "accept", "efficiency");
	const char *missing = "";

	if (isnan(e->efficiency))
		missing = "no run has measured the efficiency: see the runs "
			  "that are not covered";
	else if (e->efficiency < least)
		missing = "all nodes are slow: check the MPI, the load of the "
			  "CPU cores, and the links";
	json_array_append_new(rows,
	    accept_report_row("efficiency", "all nodes",
		missing[0] == '\0' ? ACCEPT_HOLDS : ACCEPT_OPEN,
		e->efficiency / least, missing));
}

/* Return the state of the MTU of a node, and the reason unless it holds. part:
 * the link of the node; NULL: not measured. */
static enum accept_state
accept_report_mtu_state(const struct accept_part *part, json_int_t mtu,
    int64_t want, char reason[MISSING_BYTES])
{
	if (mtu != 0 && mtu < want) {
		snprintf(reason, MISSING_BYTES,
		    "the NIC has MTU %lld, the promise is %lld", (long long)mtu,
		    (long long)want);
		return ACCEPT_FAILS;
	}
	if (mtu != 0 && part != NULL && part->state == ACCEPT_HOLDS) {
		reason[0] = '\0';
		return ACCEPT_HOLDS;
	}
	snprintf(reason, MISSING_BYTES, "%s",
	    mtu == 0 ? "the node does not report the MTU of its NIC"
		     : "the link of the node does not hold its promise, or is "
		       "undetermined");
	return ACCEPT_OPEN;
}

/* Nodes and leaves with which MPI cannot exchange messages. */
static void
accept_report_excluded(const json_t *report, const struct conf *promise,
    json_t *rows)
{
	const json_t *o;
	size_t i;

	member_foreach (report, "excluded", i, o) {
		const char *part = member_text(o, "subject");
		const char *text = member_text(o, "text");
		int is_leaf = strcmp(member_text(o, "kind"), "leaf") == 0;

		json_array_append_new(rows,
		    accept_report_row(kinds[is_leaf ? EVIDENCE_LEAVES
						    : EVIDENCE_NODES],
			part, ACCEPT_FAILS, NAN, text));
		if (!is_leaf && conf_int(promise, "nic", "mtu") > 0 &&
		    strcmp(member_text(o, "what"),
			names_whats[WHAT_MTU].name) == 0)
			json_array_append_new(rows,
			    accept_report_row("mtu", part, ACCEPT_FAILS, NAN,
				text));
	}
}

/* A node that carries large messages at its rate with that MTU set sends frames
 * of it, unless a port drops them, which the mesh finds. */
static void
accept_report_mtu(const json_t *report, const struct evidence *e,
    const struct conf *promise, json_t *rows)
{
	int64_t want = conf_int(promise, "nic", "mtu");
	const json_t *o;
	size_t i, at;

	if (want == 0)
		return;
	member_foreach (report, "nodes", i, o) {
		const char *name = member_text(o, "node");
		json_int_t mtu = member_int(o, "mtu");
		enum accept_state state;
		char reason[MISSING_BYTES];

		for (at = 0; at < e->nodes.count &&
		     strcmp(e->nodes.names[at], name) != 0;
		     at++)
			continue;
		state = accept_report_mtu_state(at == e->nodes.count
			? NULL
			: &e->parts[at],
		    mtu, want, reason);
		json_array_append_new(rows,
		    accept_report_row("mtu", name, state,
			mtu == 0 ? NAN : (double)mtu / (double)want, reason));
	}
}

static int
accept_report_rank(const json_t *row)
{
	static const int order
	    [] = { [ACCEPT_FAILS] = 0, [ACCEPT_OPEN] = 1, [ACCEPT_HOLDS] = 2 };
	int state = STR_FIND(accept_states, member_text(row, "state"));

	return state < 0 ? 3 : order[state];
}

static int
accept_report_compare(const void *va, const void *vb)
{
	const json_t *a = *(json_t *const *)va, *b = *(json_t *const *)vb;
	int rank = accept_report_rank(a) - accept_report_rank(b);
	double x = member_number(a, "share"), y = member_number(b, "share");

	if (rank != 0)
		return rank;
	x = isnan(x) ? INFINITY : x;
	y = isnan(y) ? INFINITY : y;
	if (x != y)
		return x < y ? -1 : 1;
	rank = strcmp(member_text(a, "kind"), member_text(b, "kind"));
	return rank != 0
	    ? rank
	    : hostlist_compare(member_text(a, "part"), member_text(b, "part"));
}

static json_t *
accept_report_sorted(json_t *rows)
{
	size_t n = json_array_size(rows);
	json_t **all = xcalloc(n + 1, sizeof(json_t *)), *ret = json_array();

	for (size_t i = 0; i < n; i++)
		all[i] = json_array_get(rows, i);
	qsort(all, n, sizeof(json_t *), accept_report_compare);
	for (size_t i = 0; i < n; i++)
		json_array_append(ret, all[i]);
	free(all);
	json_decref(rows);
	return ret;
}

/* ---- the rest ---- */

/* The text of a run without a measurement. */
static const char *
accept_report_run_text(const json_t *run)
{
	const char *text = member_text(run, "text");

	return text[0] != '\0'
	    ? text
	    : "but its records have no usable times: end other load, or "
	      "increase accept.time";
}

static json_t *
accept_report_not_covered(const json_t *report, const struct evidence *e)
{
	static const char *const loads[LOAD_MAX] = {
		[LOAD_COLLECTIVE] = "collectives of all nodes",
		[LOAD_INCAST] = "incast",
		[LOAD_CONGESTION] = "impact of congestion",
		[LOAD_SOAK] = "load for a long time",
	};
	static const char *const never[] = {
		"spread over equal-cost links: this needs counters of "
		"switches, which agents do not read",
		"convergence after the failure of a link: coalctl accept does "
		"not disable links"
	};
	json_t *ret = json_array(), *o;
	char text[700];
	size_t i;

	if (e->leaves_why != NULL) {
		snprintf(text, sizeof(text), "uplinks of leaves: %s",
		    e->leaves_why);
		json_array_append_new(ret, json_string(text));
	}
	member_foreach (report, "away", i, o) {
		snprintf(text, sizeof(text), "node %.255s: its agent is not ok",
		    json_is_string(o) ? json_string_value(o) : "?");
		json_array_append_new(ret, json_string(text));
	}
	member_foreach (report, "excluded", i, o)
		json_array_append_new(ret,
		    json_sprintf("%s: excluded from all runs because of its "
				 "verdict: %s",
			member_text(o, "subject"), member_text(o, "text")));
	member_foreach (report, "runs", i, o)
		if (member_int(o, "paths") == 0) {
			snprintf(text, sizeof(text),
			    "run %.64s of %.16s: %.32s, %.400s",
			    member_text_or(o, "run", "?"),
			    member_text(o, "class"), member_text(o, "state"),
			    accept_report_run_text(o));
			json_array_append_new(ret, text_json(text));
		}
	for (i = 0; i < LOAD_MAX; i++)
		if (e->loads_why[i] != NULL)
			json_array_append_new(ret,
			    json_sprintf("%s: %s", loads[i], e->loads_why[i]));
	for (i = 0; i < ARRAY_LEN(never); i++)
		json_array_append_new(ret, json_string(never[i]));
	return ret;
}

static json_t *
accept_report_detects(const struct evidence *e)
{
	json_t *ret = json_array(), *o;

	for (size_t class = 0; class < EVIDENCE_CLASS_MAX; class ++) {
		double share = accept_detects(&e->options, e->paths,
		    e->path_count, class, ACCEPT_PROBABILITY);

		if (!isfinite(share))
			continue;
		o = json_pack("{s:s, s:f, s:f}", "kind", kinds[class], "share",
		    share, "probability", ACCEPT_PROBABILITY);
		json_array_append_new(ret, o);
	}
	return ret;
}

/* Of rounds of pairs; of copies of memory nothing waits for the others. */
static json_t *
accept_report_kpis(const struct evidence *e)
{
	json_t *ret = json_array(), *o;

	for (size_t class = 0; class < EVIDENCE_MEMORY; class ++)
		for (int k = 0; k < KPI_MAX; k++) {
			struct kpi_value v = kpi_of(e->paths, e->path_count,
			    class, (enum kpi)k);

			if (!isfinite(v.value))
				continue;
			o = json_pack("{s:s, s:s, s:I, s:f}", "kpi",
			    kpi_names[k], "kind", kinds[class], "rounds",
			    (json_int_t)v.rounds, "level", KPI_LEVEL);
			accept_report_number(o, "value", v.value);
			accept_report_number(o, "lo", v.lo);
			accept_report_number(o, "hi", v.hi);
			json_array_append_new(ret, o);
		}
	return ret;
}

void
accept_report_judge(json_t *report, const struct conf *promise,
    const struct evidence *e)
{
	json_t *rows = json_array(), *row;
	json_int_t count[ACCEPT_STATE_MAX] = { 0 };
	const char *state;
	size_t i;

	for (int class = 0; class < EVIDENCE_CLASS_MAX; class ++)
		if (!e->rails_seen &&
		    (class == EVIDENCE_RAILS || class == EVIDENCE_PLANES))
			accept_report_railless(e, class, rows);
		else
			accept_report_parts(e, class, rows);
	accept_report_paths(e, rows);
	accept_report_efficiency(e, promise, rows);
	accept_report_mtu(report, e, promise, rows);
	accept_report_excluded(report, promise, rows);
	rows = accept_report_sorted(rows);
	json_array_foreach (rows, i, row) {
		int s = STR_FIND(accept_states, member_text(row, "state"));

		count[s < 0 ? ACCEPT_OPEN : s]++;
	}
	/* A node that is away keeps no promise. */
	state = accept_states[count[ACCEPT_FAILS] > 0 ? ACCEPT_FAILS
		: count[ACCEPT_OPEN] > 0 ||
		    json_array_size(json_object_get(report, "away")) > 0
		? ACCEPT_OPEN
		: ACCEPT_HOLDS];
	accept_report_number(report, "efficiency", e->efficiency);
	json_object_set_new(report, "results", rows);
	json_object_set_new(report, "detects", accept_report_detects(e));
	json_object_set_new(report, "kpis", accept_report_kpis(e));
	json_object_set_new(report, "not_covered",
	    accept_report_not_covered(report, e));
	json_object_set_new(report, "summary",
	    json_pack("{s:s, s:I, s:I, s:I, s:f, s:f}", "state", state,
		accept_states[ACCEPT_HOLDS], count[ACCEPT_HOLDS],
		accept_states[ACCEPT_FAILS], count[ACCEPT_FAILS],
		accept_states[ACCEPT_OPEN], count[ACCEPT_OPEN], "share",
		e->options.share, "error", e->options.error));
}
