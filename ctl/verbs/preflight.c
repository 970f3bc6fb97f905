/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight.c - the nodes of a job measure one another before it starts,
 * all together and then in groups as bisect.c wants them, in bounded time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bisect.h"
#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/expectation.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/campaign.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"
#include "schema/names_run.h"

#define CAMPAIGN  "preflight"
#define WITHIN_NS (20 * CLK_NS_PER_S)
#define POLL_NS   (200 * CLK_NS_PER_MS)
#define ANSWER_NS (5 * CLK_NS_PER_S) /* of the collector */
/* The share of the given time that is reserved at the end for cancelling runs
 * and for the report: nothing is measured then. */
#define TELL_SHARE  10
#define TELL_MAX_NS CLK_NS_PER_S
/* A round that has less than this left would not end. */
#define ROUND_MIN_NS (2 * CLK_NS_PER_S)
#define BYTES        (4U << 20) /* default message size of the collective */
#define SLOW_SHARE   0.85       /* lower limit relative to the expected rate */
#define SCATTER_MIN  0.02       /* of the logarithms of nodes' scores */
/* The worst of all scores exceeds this limit by chance in 1 of 1000 jobs. */
#define CHANCE 1e-3
/* Who waits for a core sends and answers later by as much as that; more is not
 * told of anybody. */
#define WAITS_MOST 0.9
/* What stood still where ranks waited for most of the time says nothing. */
#define STILL_DOUBT 0.7

enum { EXIT_FIT, EXIT_NAMED, EXIT_OPEN }; /* else EXIT_CODE_UNKNOWN */

struct flight {
	struct ctl *c;
	uint64_t start_ns, stop_ns, end_ns; /* measured until stop_ns */
	struct expectation_spec spec;       /* machine NULL: nothing is known */
	json_t *facts;         /* of nodes and leaves as if all were
				  sound */
	struct hostlist nodes; /* by leaf, and without those away */
	json_t *away;
	struct bisect_options options;
	struct bisect *b;
	json_t *typical; /* of each test: {median scatter} of the whole */
	json_t *groups;  /* results */
};

/* ---- who takes part ---- */

static const json_t *by_leaf; /* {node: leaf}, for qsort; NULL: by names */

static int
preflight_leaf_compare(const void *va, const void *vb)
{
	const char *a = *(char *const *)va, *b = *(char *const *)vb;
	int leaf = hostlist_compare(member_text(by_leaf, a),
	    member_text(by_leaf, b));

	return leaf != 0 ? leaf : hostlist_compare(a, b);
}

/* Put the nodes in an order in which halves have leaves of their own. Return 0
 * if none of them was ever seen. */
static int
preflight_order_nodes(struct flight *f)
{
	json_t *leaves = json_object(), *row;
	struct hostlist *hl = &f->nodes;
	size_t i, kept = 0;
	int is_known = 0;

	member_foreach (f->facts, "nodes", i, row) {
		json_object_set_new(row, "share", json_real(1));
		is_known |= hostlist_has(hl, member_text(row, "node"));
		if (strcmp(member_text(row, "state"),
			names_agent_states[AGENT_OK]) == 0)
			json_object_set(leaves, member_text(row, "node"),
			    json_object_get(row, "leaf"));
	}
	member_foreach (f->facts, "leaves", i, row)
		json_object_set_new(row, "share", json_real(1));
	for (i = 0; i < hl->count; i++)
		if (json_object_get(leaves, hl->names[i]) != NULL) {
			hl->names[kept++] = hl->names[i];
		} else {
			json_array_append_new(f->away,
			    json_string(hl->names[i]));
			free(hl->names[i]);
		}
	hl->count = kept;
	by_leaf = leaves;
	qsort(hl->names, kept, sizeof(*hl->names), preflight_leaf_compare);
	by_leaf = NULL;
	json_decref(leaves);
	return is_known;
}

static int
preflight_flight_open(struct flight *f)
{
	const char *nodes = opts_value(&f->c->opts, OPT_NODES);
	uint64_t within_ns = opts_span_ns(&f->c->opts, OPT_WITHIN, WITHIN_NS);
	struct err err;
	int rc;

	if (nodes == NULL)
		return ctl_fail(
		    "--nodes is missing: expected the nodes of the job");
	if (hostlist_parse(nodes, &f->nodes, &err) < 0)
		return ctl_fail("--nodes %.100s: %s", nodes, err.text);
	f->start_ns = clk_ns();
	f->end_ns = f->start_ns + within_ns;
	f->stop_ns = f->end_ns -
	    (within_ns / TELL_SHARE < TELL_MAX_NS ? within_ns / TELL_SHARE
						  : TELL_MAX_NS);
	f->options = (struct bisect_options){ -log(SLOW_SHARE), 32 };
	rc = expectation_options(f->c, &f->spec);
	if (rc == 0 && f->spec.machine == NULL &&
	    (opts_given(&f->c->opts, OPT_BYTES) ||
		opts_given(&f->c->opts, OPT_OP)))
		rc = ctl_fail(
		    "--bytes and --op select a collective, which is measured "
		    "only with --machine");
	if (!opts_given(&f->c->opts, OPT_BYTES))
		f->spec.bytes = BYTES;
	f->spec.until_ns = f->stop_ns;
	if (rc == 0)
		client_limit(ctl_client(f->c), ANSWER_NS, f->stop_ns);
	if (rc == 0 && f->spec.machine != NULL)
		rc = expectation_facts(f->c, &f->facts);
	else if (rc == 0)
		rc = ctl_get(f->c, "shares", NULL, &f->facts);
	if (rc == 0 && !preflight_order_nodes(f))
		rc =
		    ctl_fail("--nodes %.100s: no agent of these nodes has ever "
			     "connected; coalctl node list shows the nodes",
			nodes);
	return rc;
}

/* ---- one group: ordered, waited for, judged ---- */

struct group_run {
	char *list; /* its nodes */
	char *run;  /* NULL: none */
	size_t count;
	json_t *row; /* of flight.groups */
	int ended;
};

static int
preflight_group_order(struct flight *f, const struct bisect_group *g,
    struct group_run *ret)
{
	uint64_t now_ns = clk_ns();
	uint64_t left_s = now_ns < f->end_ns
	    ? (f->end_ns - now_ns) / CLK_NS_PER_S + 2
	    : 2;
	const char **names = xcalloc(g->count, sizeof(*names));
	char count[32], bytes[32], limit[32], ranks[32];
	json_t *order, *answer, *overrides;
	uint64_t block;
	int rc;

	for (size_t i = 0; i < g->count; i++)
		names[i] = f->nodes.names[g->members[i]];
	/* Ranks are so, and expected so. */
	qsort(names, g->count, sizeof(*names), preflight_leaf_compare);
	*ret = (struct group_run){ .list = hostlist_format(names, g->count),
		.count = g->count };
	free(names);
	block = f->spec.bytes / (g->count * (size_t)f->spec.ranks_per_node);
	snprintf(count, sizeof(count), "%zu", g->count);
	snprintf(ranks, sizeof(ranks), "%d", f->spec.ranks_per_node);
	snprintf(bytes, sizeof(bytes), "%llu",
	    (unsigned long long)(block < 8 ? 8 : block / 8 * 8));
	snprintf(limit, sizeof(limit), "%llus", (unsigned long long)left_s);
	/* The collector ends it too, whatever becomes of us. */
	overrides = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}",
	    "campaign.nodes", ret->list, "campaign.nodes_min", count,
	    "campaign.ranks_per_node", ranks, "campaign.deadline", limit,
	    "campaign.start_limit", limit, "canary.timeout", limit);
	/* Where nothing is known that it could be compared with, it is not
	 * worth its time. */
	if (f->spec.machine != NULL)
		json_object_update_new(overrides,
		    json_pack("{s:s, s:s}", "collective.name", f->spec.op,
			"measure.sizes", bytes));
	order = json_pack("{s:o}", "overrides", overrides);
	campaign_overrides_put(f->c, overrides);
	rc = ctl_post(f->c, "campaigns/*/run", CAMPAIGN, order, &answer);
	json_decref(order);
	if (rc != 0)
		return rc;
	ret->run = xstrdup(member_text(answer, "run"));
	json_decref(answer);
	ret->row = json_pack("{s:i, s:s, s:s}", "round",
	    (int)bisect_rounds(f->b), "nodes", ret->list, "run", ret->run);
	json_array_append_new(f->groups, ret->row);
	return 0;
}

/* Keep the effect that is further above its minimum. */
static void
preflight_worse(const struct flight *f, double effect, double spread,
    double *ret_effect, double *ret_spread)
{
	if (isnan(*ret_effect) ||
	    effect - bisect_least(&f->options, spread) >
		*ret_effect - bisect_least(&f->options, *ret_spread)) {
		*ret_effect = effect;
		*ret_spread = spread;
	}
}

/* How much slower waiting for cores may make the pairs of a node, as a
 * logarithm. A rank that had a core for a quarter of the time would be four
 * times as slow if it had work all along; it looks for messages for most of it,
 * so half of the logarithm is taken. */
static double
preflight_waits_of(const json_t *row)
{
	double ratio = member_number(row, "wait_ratio");

	return ratio > 0 ? -log1p(-fmin(ratio, WAITS_MOST)) / 2 : 0;
}

/* Judge each node's pairs against the typical node of the whole job, if that
 * was measured first; it also decides the order of the search. ret_doubt: the
 * possible effect of cores used by others. */
static void
preflight_judge_pairs(struct flight *f, const struct group_run *g,
    const json_t *record, double *ret_effect, double *ret_spread,
    double *ret_doubt)
{
	const char *test = member_text(record, "test"), *name;
	int rate = strcmp(member_text(record, "unit"), "B/s") == 0;
	const json_t *rows = json_object_get(record, "nodes"), *row, *typical;
	double *x = xcalloc(2 * json_array_size(rows) + 1, sizeof(*x)), *sorted;
	double median, spread;
	size_t i, n = 0;
	int is_first;

	/* The slow rank is unknown; the record may lack a number. */
	if (strcmp(member_text(record, "cause"),
		names_causes[CAUSE_TIMEOUT].name) == 0)
		preflight_worse(f, INFINITY, 0, ret_effect, ret_spread);
	json_array_foreach (rows, i, row)
		x[i] = (rate ? -1 : 1) *
		    log(member_number(row, rate ? "q75" : "q25"));
	sorted = x + i;
	json_array_foreach (rows, i, row)
		*ret_doubt = fmax(*ret_doubt, preflight_waits_of(row));
	for (size_t k = 0; k < i; k++)
		if (isfinite(x[k]))
			sorted[n++] = x[k];
	typical = json_object_get(f->typical, test);
	/* Of two, neither is the other's measure. */
	is_first = typical == NULL && g->count == f->nodes.count && n > 2;
	if (is_first) {
		median = robust_median(sorted, n);
		spread = fmax(SCATTER_MIN, robust_mad(sorted, n, median)) *
		    robust_normal_quantile(1 - CHANCE / (double)n) /
		    robust_normal_quantile(1 - CHANCE);
		json_object_set_new(f->typical, test,
		    json_pack("{s:f, s:f}", "median", median, "scatter",
			spread));
		typical = json_object_get(f->typical, test);
	}
	/* If the measurement of all nodes failed, the typical value is unknown;
	 * but a group that runs alone is not the cause of the failure. */
	if (typical == NULL && n > 0 && g->count < f->nodes.count)
		preflight_worse(f, 0, SCATTER_MIN, ret_effect, ret_spread);
	median = member_number(typical, "median");
	spread = member_number(typical, "scatter");
	json_array_foreach (rows, i, row) {
		double effect = x[i] - median;

		if (!isfinite(effect))
			continue;
		preflight_worse(f, effect, spread, ret_effect, ret_spread);
		name = member_text(row, "node");
		for (size_t k = 0;
		     is_first && effect > bisect_least(&f->options, spread) &&
		     k < f->nodes.count;
		     k++)
			if (strcmp(f->nodes.names[k], name) == 0)
				bisect_hint(f->b, k,
				    effect - preflight_waits_of(row) >
					bisect_least(&f->options, spread));
	}
	free(x);
}

/* The collective, against what sound nodes would give. The MPI's own is
 * compared with earlier ones, where there were some; else the faster way with
 * the fastest that is known. */
static void
preflight_judge_collective(struct flight *f, const struct group_run *g,
    const json_t *record, double *ret_effect, double *ret_spread)
{
	double seconds = member_number(record, "seconds");
	double mpi_s = member_number(record, "baseline_seconds"), effect;
	const json_t *mpi, *interval, *told;
	json_t *answer = NULL;
	struct err err;

	json_object_set_new(g->row, "seconds", json_real(fmin(seconds, mpi_s)));
	if (f->spec.machine == NULL)
		return;
	if (expectation_make(&f->spec, f->facts, g->list, &answer, &err) < 0) {
		ctl_fail("%s", err.text);
		return;
	}
	mpi = json_object_get(answer, "mpi");
	told = mpi != NULL && isfinite(mpi_s) ? mpi : answer;
	seconds = told == mpi ? mpi_s : fmin(seconds, mpi_s);
	interval = json_object_get(told, "interval");
	effect = log(seconds / member_number(told, "seconds"));
	if (isfinite(effect)) {
		preflight_worse(f, effect,
		    log(member_number(interval, "hi") /
			member_number(told, "seconds")) /
			robust_normal_quantile(0.5 + EXPECTATION_LEVEL / 2),
		    ret_effect, ret_spread);
		json_object_set(g->row, "expected_seconds",
		    json_object_get(told, "seconds"));
	}
	json_decref(answer);
}

/* A run that has ended: what its group is like. One that could not even run
 * says as much. */
static int
preflight_group_judge(struct flight *f, size_t index, const struct group_run *g,
    const json_t *run)
{
	int state = STR_FIND(names_run_states, member_text(run, "state"));
	double effect = NAN, spread = 0, doubt = 0, least;
	json_t *records, *record;
	size_t i;
	int rc = 0;

	json_object_set(g->row, "state", json_object_get(run, "state"));
	if (state == RUN_FINISHED) {
		rc = records_get(f->c, g->run, &records);
		if (rc != 0)
			return rc;
		json_array_foreach (records, i, record)
			if (records_is(record, "canary", NULL))
				preflight_judge_pairs(f, g, record, &effect,
				    &spread, &doubt);
			else if (records_is(record, "speedup", "collective"))
				preflight_judge_collective(f, g, record,
				    &effect, &spread);
		json_decref(records);
	} else if (state == RUN_FAILED || state == RUN_TIMED_OUT ||
	    state == RUN_NONSTART) {
		effect = clk_ns() < f->stop_ns ? INFINITY : NAN;
	}
	if (isinf(effect) && doubt > STILL_DOUBT)
		effect = NAN;
	least = bisect_least(&f->options, spread);
	if (state != RUN_FINISHED)
		json_object_set(g->row, "text", json_object_get(run, "text"));
	if (isfinite(effect))
		json_object_set_new(g->row, "times", json_real(exp(effect)));
	if (doubt > 0)
		json_object_set_new(g->row, "cores_times",
		    json_real(exp(doubt)));
	if (isnan(effect) ? doubt > STILL_DOUBT
			  : effect > least && effect - doubt <= least)
		json_object_set_new(g->row, "text",
		    json_string(
			"other processes used its nodes' cores during the "
			"measurement"));
	bisect_hear(f->b, index, effect, spread, doubt);
	return rc;
}

/* Run all groups of a round at once within the time limit; unfinished runs are
 * cancelled. */
static int
preflight_round_run(struct flight *f, const struct bisect_group *groups,
    size_t count)
{
	struct group_run *list = xcalloc(count, sizeof(*list));
	size_t left = 0;
	json_t *run, *answer;
	int rc = 0, is_away = 0;

	for (; rc == 0 && left < count; left++)
		rc = preflight_group_order(f, &groups[left], &list[left]);
	/* No request in the last moment: its time would not be enough, and the
	 * collector would look unreachable. */
	while (rc == 0 && left > 0 && clk_ns() + 2 * POLL_NS < f->stop_ns) {
		clk_sleep_ns(POLL_NS);
		for (size_t i = 0; rc == 0 && i < count; i++) {
			if (list[i].ended)
				continue;
			rc = runs_get(f->c, list[i].run, &run);
			if (rc != 0)
				break;
			if (runs_final(run)) {
				list[i].ended = 1;
				left--;
				rc = preflight_group_judge(f, i, &list[i], run);
			} else {
				/* Before its start: the reason for the wait. */
				json_object_set(list[i].row, "text",
				    json_object_get(run, "text"));
			}
			json_decref(run);
		}
	}
	/* A request that came too late leaves the result open, and is not an
	 * error of the collector. */
	if (clk_ns() >= f->stop_ns)
		rc = 0;
	client_limit(ctl_client(f->c), ANSWER_NS, f->end_ns);
	for (size_t i = 0; i < count; i++) {
		/* A collector that is away is not waited for again. */
		if (list[i].run != NULL && !list[i].ended && !is_away) {
			is_away = ctl_post(f->c, "runs/*/cancel", list[i].run,
				      NULL, &answer) != 0;
			if (!is_away)
				json_decref(answer);
		}
		free(list[i].run);
		free(list[i].list);
	}
	client_limit(ctl_client(f->c), ANSWER_NS, f->stop_ns);
	free(list);
	return rc;
}

/* ---- results ---- */

static json_t *
preflight_hosts_json(const struct flight *f, const size_t *members,
    size_t count)
{
	const char **names = xcalloc(count + 1, sizeof(*names));
	json_t *ret;
	char *text;

	for (size_t i = 0; i < count; i++)
		names[i] = f->nodes.names[members[i]];
	text = hostlist_format(names, count);
	ret = json_string(text);
	free(text);
	free(names);
	return ret;
}

static json_t *
preflight_times_json(double effect)
{
	return isfinite(effect) ? json_real(exp(effect)) : json_null();
}

static json_t *
preflight_told_make(const struct flight *f, int timely)
{
	size_t *lists = xcalloc(3 * f->nodes.count + 1, sizeof(*lists));
	size_t counts[3] = { 0 }, *of[3];
	json_t *slow = json_array(), *paths = json_array(), *told, *o;
	struct bisect_path path;
	double effect;

	for (int i = 0; i < 3; i++)
		of[i] = lists + (size_t)i * f->nodes.count;
	for (size_t i = 0; i < f->nodes.count; i++) {
		enum bisect_state s = bisect_of(f->b, i, &effect);

		of[s][counts[s]++] = i;
		if (s == BISECT_SLOW)
			json_array_append_new(slow,
			    json_pack("{s:s, s:o}", "node", f->nodes.names[i],
				"times", preflight_times_json(effect)));
	}
	for (size_t i = 0; bisect_path(f->b, i, &path); i++) {
		o = json_pack("{s:o, s:o, s:i}", "between",
		    preflight_hosts_json(f, path.members,
			path.left > 0 ? path.left : path.count),
		    "times", preflight_times_json(path.effect), "ends",
		    path.ends);
		if (path.left > 0)
			json_object_set_new(o, "and",
			    preflight_hosts_json(f, path.members + path.left,
				path.count - path.left));
		json_array_append_new(paths, o);
	}
	told = json_pack("{s:o, s:o, s:o, s:o, s:O, s:i, s:f, s:b, s:O}",
	    "slow", slow, "paths", paths, "fit",
	    preflight_hosts_json(f, of[BISECT_FINE], counts[BISECT_FINE]),
	    "open",
	    preflight_hosts_json(f, of[BISECT_OPEN], counts[BISECT_OPEN]),
	    "away", f->away, "rounds", (int)bisect_rounds(f->b), "took_s",
	    (double)(clk_ns() - f->start_ns) / 1e9, "timely", timely, "groups",
	    f->groups);
	free(lists);
	return told;
}

static void
preflight_print_times(const json_t *o)
{
	if (json_is_number(json_object_get(o, "times")))
		printf(": %.1f times the expected time\n",
		    member_number(o, "times"));
	else
		puts(": runs with this node do not start, or do not end");
}

/* The smallest group that was slow once, which is not enough to name a node. */
static void
preflight_print_suspects(const json_t *groups)
{
	const json_t *suspect = NULL;
	size_t i, count, least = SIZE_MAX;
	json_t *o;

	json_array_foreach (groups, i, o) {
		free(print_hostlist(json_object_get(o, "nodes"), &count));
		if (!(member_number(o, "times") > 1 / SLOW_SHARE) ||
		    count >= least)
			continue;
		suspect = o;
		least = count;
	}
	if (suspect != NULL)
		printf("      %s: slow in one round, %.1f times the expected "
		       "time; a longer --within can confirm it\n",
		    member_text(suspect, "nodes"),
		    member_number(suspect, "times"));
}

static void
preflight_print_told(const json_t *told)
{
	static const char *const ends[] = { "",
		", and paths from the first to others",
		", and paths from the second to others",
		", and paths from both to others" };
	char *away = print_hostlist(json_object_get(told, "away"), NULL);
	const json_t *groups = json_object_get(told, "groups");
	const char *text = "";
	json_t *o;
	size_t i;

	member_foreach (told, "slow", i, o) {
		printf("slow  %s", member_text(o, "node"));
		preflight_print_times(o);
	}
	member_foreach (told, "paths", i, o) {
		printf("slow  the path between %s%s%s%s",
		    json_object_get(o, "and") == NULL ? "two of " : "",
		    member_text(o, "between"),
		    json_object_get(o, "and") == NULL ? "" : " and ",
		    member_text(o, "and"));
		fputs(ends[member_int(o, "ends") & 3], stdout);
		preflight_print_times(o);
	}
	if (member_text(told, "fit")[0] != '\0')
		printf("fit   %s\n", member_text(told, "fit"));
	for (i = json_array_size(groups); i-- > 0 && text[0] == '\0';)
		text = member_text(json_array_get(groups, i), "text");
	if (member_text(told, "open")[0] != '\0')
		printf("open  %s: %s%s%s\n", member_text(told, "open"),
		    member_bool(told, "timely")
			? "undetermined"
			: "undetermined within the time limit",
		    text[0] == '\0' ? "" : "; ", text);
	if (member_text(told, "open")[0] != '\0' &&
	    !member_bool(told, "timely"))
		preflight_print_suspects(groups);
	if (away[0] != '\0')
		printf("away  %s: no connected agent, not measured\n", away);
	printf("%lld rounds in %.1f s\n", (long long)member_int(told, "rounds"),
	    member_number(told, "took_s"));
	free(away);
}

static int
preflight(struct ctl *c)
{
	struct flight f = { .c = c,
		.away = json_array(),
		.typical = json_object(),
		.groups = json_array() };
	const struct bisect_group *groups;
	int rc = preflight_flight_open(&f), timely = 1;
	size_t count;
	json_t *told;

	f.b = bisect_new(&f.options, f.nodes.count + (f.nodes.count == 0));
	while (rc == 0 && f.nodes.count > 1 &&
	    (count = bisect_next(f.b, &groups)) > 0) {
		timely = clk_ns() + ROUND_MIN_NS < f.stop_ns;
		if (!timely)
			break;
		rc = preflight_round_run(&f, groups, count);
		timely = clk_ns() < f.stop_ns;
	}
	/* A collector that goes away takes back nothing that was measured. */
	if (rc == 0 || bisect_rounds(f.b) > 1) {
		told = preflight_told_make(&f, timely);
		if (opts_given(&c->opts, OPT_JSON))
			print_json_line(told);
		else
			preflight_print_told(told);
		rc = json_array_size(json_object_get(told, "slow")) +
			    json_array_size(json_object_get(told, "paths")) >
			0
		    ? EXIT_NAMED
		    : f.nodes.count == 0 ? EXIT_CODE_UNKNOWN
		    : member_text(told, "open")[0] != '\0' ||
			json_array_size(f.away) > 0
		    ? EXIT_OPEN
		    : EXIT_FIT;
		json_decref(told);
	}
	bisect_free(f.b);
	hostlist_clear(&f.nodes);
	json_decref(f.facts);
	json_decref(f.away);
	json_decref(f.typical);
	json_decref(f.groups);
	return rc;
}

const struct verb verbs_preflight[] = {
	{ "preflight", NULL, "", 0, 0,
	    "json bytes machine nodes op override ranks-per-node within", "",
	    "Check whether nodes are fit for a job, before it starts.",
	    "The nodes measure each other with the campaign preflight: all "
	    "together, in pairs and, with --machine, with a collective (--op, "
	    "--bytes). If a group is slow, it is split and measured again, "
	    "until the slow node is found, or the slow path between groups "
	    "that are fit. A node is named after it was slow twice. Slow "
	    "means by more than 15 %, and more than chance. Each line of the "
	    "output names nodes that are slow, fit, open (undetermined) or "
	    "away (without an agent). The exit code is 0 if all nodes are "
	    "fit, 1 if nodes or paths are slow, 2 if some are undetermined, "
	    "and 3 if nothing was measured. The verb requires root or the "
	    "collector's user on the collector's host, or a certificate with "
	    "role operator. coalctl(8) describes the method.",
	    preflight },
	{ 0 },
};
