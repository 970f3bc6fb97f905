/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.c - the expected time of nodes and of running jobs after an assumed
 * change of the cluster, and the cost of a drain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "ctl/lib/change.h"
#include "ctl/lib/expectation.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"

#define JOBS_ASKED       "/jobs?limit=1000"
#define DRAIN_DEFAULT_NS (86400 * CLK_NS_PER_S)
#define TIMES_LEAST      1.005 /* a job that is slower by less is not listed */

/* A request, and its rows in lists: nodes first, then running jobs. */
struct whatif {
	struct ctl *c;
	struct expectation_spec spec;
	json_t *facts;
	struct topology *t;
	struct change *change;
	char *nodes; /* of --nodes, --job, or all that are ok */
	char *nodes_then;
	json_t *jobs; /* running, with nodes that the collector knows */
	const char **lists;
	size_t count;
	double drain_s;
};

/* ---- input ---- */

/* A collector without a topology file has nodes and leaves only. */
static int
whatif_topology_read(struct whatif *w)
{
	json_t *list;
	struct err err;
	char *text;
	int rc = ctl_get(w->c, "topology", NULL, &list);

	if (rc != 0)
		return rc;
	text = xstrdup(member_text(json_array_get(list, 0), "text"));
	json_decref(list);
	if (text[0] != '\0' &&
	    topology_read(text, "the collector's", &w->t, &err) < 0)
		rc = ctl_fail("%s", err.text);
	free(text);
	return rc;
}

/* Check the options before a request is made. Return 0 or an exit code. */
static int
whatif_options_check(const struct ctl *c)
{
	const struct opts *o = &c->opts;

	if (!opts_given(o, OPT_SLOW) && !opts_given(o, OPT_DOWN) &&
	    !opts_given(o, OPT_DRAIN))
		return ctl_fail("missing change: expected --down, --slow or "
				"--drain");
	if (opts_given(o, OPT_NODES) && opts_given(o, OPT_JOB))
		return ctl_fail(
		    "--nodes and --job cannot be combined: give one of them");
	return 0;
}

static int
whatif_changes_read(struct whatif *w)
{
	static const enum opt options[] = { OPT_SLOW, OPT_DOWN, OPT_DRAIN };
	struct err err;

	w->change = change_new(w->facts, w->t);
	for (size_t k = 0; k < ARRAY_LEN(options); k++) {
		const struct opt_values *v = &w->c->opts.of[options[k]];

		for (size_t i = 0; i < v->count; i++)
			if (change_add(w->change, (enum change_kind)k,
				v->values[i], &err) < 0)
				return ctl_fail("%s", err.text);
	}
	return 0;
}

static char *
whatif_nodes_all(const struct whatif *w)
{
	json_t *names = json_array(), *row;
	size_t i;
	char *ret;

	member_foreach (w->facts, "nodes", i, row)
		if (strcmp(member_text(row, "state"),
			names_agent_states[AGENT_OK]) == 0)
			json_array_append(names, json_object_get(row, "node"));
	ret = print_hostlist(names, NULL);
	json_decref(names);
	return ret;
}

static int
whatif_nodes_read(struct whatif *w)
{
	const char *nodes = opts_value(&w->c->opts, OPT_NODES);
	const char *job = opts_value(&w->c->opts, OPT_JOB);
	json_t *list;
	int rc = 0;

	if (job == NULL) {
		w->nodes = nodes != NULL ? xstrdup(nodes) : whatif_nodes_all(w);
		return 0;
	}
	rc = ctl_get(w->c, "jobs/*", job, &list);
	if (rc != 0)
		return rc;
	w->nodes = xstrdup(member_text(json_array_get(list, 0), "nodes"));
	json_decref(list);
	return 0;
}

/* 1 when the collector has all nodes of a list. */
static int
whatif_knows(const json_t *known, const char *nodes)
{
	struct hostlist hl = { 0 };
	int ret = hostlist_parse(nodes, &hl, NULL) == 0 && hl.count > 0;

	for (size_t i = 0; ret && i < hl.count; i++)
		ret = json_object_get(known, hl.names[i]) != NULL;
	hostlist_clear(&hl);
	return ret;
}

/* Without jobs.source, or permission to read jobs, there are none. */
static void
whatif_jobs_read(struct whatif *w)
{
	const char *own = opts_value(&w->c->opts, OPT_JOB);
	json_t *list = NULL, *known = json_object(), *row;
	size_t i;

	w->jobs = json_array();
	member_foreach (w->facts, "nodes", i, row)
		json_object_set_new(known, member_text(row, "node"),
		    json_true());
	if (client_get(ctl_client(w->c), JOBS_ASKED, &list) == 0)
		json_array_foreach (list, i, row)
			if (json_object_get(row, "end_unix_ns") == NULL &&
			    (own == NULL ||
				strcmp(own, member_text(row, "job")) != 0) &&
			    whatif_knows(known, member_text(row, "nodes")))
				json_array_append(w->jobs, row);
	json_decref(list);
	json_decref(known);
}

static int
whatif_read(struct ctl *c, struct whatif *ret)
{
	json_t *job;
	size_t i;
	int rc;

	*ret = (struct whatif){ .c = c,
		.drain_s = (double)opts_span_ns(&c->opts, OPT_FOR,
			       DRAIN_DEFAULT_NS) /
		    CLK_NS_PER_S };
	rc = expectation_options(c, &ret->spec);
	rc = rc == 0 ? whatif_options_check(c) : rc;
	rc = rc == 0 ? expectation_facts(c, &ret->facts) : rc;
	rc = rc == 0 ? whatif_topology_read(ret) : rc;
	rc = rc == 0 ? whatif_changes_read(ret) : rc;
	rc = rc == 0 ? whatif_nodes_read(ret) : rc;
	if (rc != 0)
		return rc;
	whatif_jobs_read(ret);
	ret->lists = xcalloc(json_array_size(ret->jobs) + 1,
	    sizeof(*ret->lists));
	ret->lists[ret->count++] = ret->nodes;
	json_array_foreach (ret->jobs, i, job)
		ret->lists[ret->count++] = member_text(job, "nodes");
	return 0;
}

static void
whatif_clear(struct whatif *w)
{
	if (w->change != NULL)
		change_free(w->change);
	topology_free(w->t);
	json_decref(w->facts);
	json_decref(w->jobs);
	free(w->nodes);
	free(w->nodes_then);
	free(w->lists);
}

/* ---- the answer ---- */

static const char *const fates[] = { "slower", "drained", "stops" };

/* Predict count lists with these facts, which this takes. 0 or an exit code. */
static int
whatif_ask(const struct whatif *w, json_t *facts, const char *const *lists,
    size_t count, json_t **ret)
{
	struct err err;
	int rc = expectation_make_all(&w->spec, facts, lists, count, ret, &err);

	json_decref(facts);
	return rc < 0 ? ctl_fail("%s", err.text) : 0;
}

/* Widen the interval to what other routings of the leaves' traffic give. */
static int
whatif_routing_add(const struct whatif *w, json_t *then)
{
	static const enum change_routing bounds[] = { CHANGE_BEST,
		CHANGE_WORST };
	static const char *const ends[] = { "lo", "hi" };
	json_t *interval = json_object_get(then, "interval"), *bound;
	const char *nodes = w->nodes_then;

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		int rc = whatif_ask(w, change_facts(w->change, bounds[i]),
		    &nodes, 1, &bound);

		if (rc != 0)
			return rc;
		json_object_set(interval, ends[i],
		    json_object_get(json_object_get(json_array_get(bound, 0),
					"interval"),
			ends[i]));
		json_decref(bound);
	}
	return 0;
}

/* Rows of the jobs that stop, are on drained nodes or become slower. */
static json_t *
whatif_jobs_make(const struct whatif *w, const json_t *now, const json_t *then)
{
	json_t *ret = json_array(), *job;
	size_t i;

	json_array_foreach (w->jobs, i, job) {
		double times = member_number(json_array_get(then, i + 1),
				   "seconds") /
		    member_number(json_array_get(now, i + 1), "seconds");
		enum change_fate fate = change_fate(w->change, w->lists[i + 1]);

		if (fate == CHANGE_RUNS && times < TIMES_LEAST)
			continue;
		json_array_append_new(ret,
		    json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:o*}", "job",
			member_text(job, "job"), "name",
			member_text(job, "name"), "owner",
			member_text(job, "owner"), "nodes", w->lists[i + 1],
			"node_count", member_int(job, "node_count"), "fate",
			fates[fate], "times",
			fate == CHANGE_RUNS ? json_real(times) : NULL));
	}
	return ret;
}

/* The node-hours until the repair: of drained nodes that are idle, and of jobs
 * that wait for a slow part of those, if all their time is in the collective.
 * Of running jobs, or of the request's nodes without any. */
static int
whatif_drain_make(const struct whatif *w, json_t **ret)
{
	size_t drained = change_drained(w->change);
	double draining_h = (double)drained * w->drain_s / 3600, waiting_h = 0;
	const char *const *lists = w->lists + (w->count > 1 ? 1 : 0);
	size_t count = w->count > 1 ? w->count - 1 : 1;
	json_t *slow, *sound = NULL;
	int rc = whatif_ask(w, change_facts_waiting(w->change, 0), lists, count,
	    &slow);

	if (rc == 0)
		rc = whatif_ask(w, change_facts_waiting(w->change, 1), lists,
		    count, &sound);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct hostlist hl = { 0 };

		(void)hostlist_parse(lists[i], &hl, NULL);
		waiting_h += (double)hl.count * w->drain_s / 3600 *
		    (1 -
			member_number(json_array_get(sound, i), "seconds") /
			    member_number(json_array_get(slow, i), "seconds"));
		hostlist_clear(&hl);
	}
	if (rc == 0)
		*ret = json_pack("{s:i, s:f, s:i, s:f, s:f, s:o*}", "nodes",
		    (int)drained, "span_s", w->drain_s, "jobs",
		    (int)(w->count - 1), "draining_node_h", draining_h,
		    "waiting_node_h_max", waiting_h, "break_even_share",
		    waiting_h > draining_h ? json_real(draining_h / waiting_h)
					   : NULL);
	json_decref(slow);
	json_decref(sound);
	return rc;
}

static int
whatif_nodes_then(struct whatif *w, const json_t *facts)
{
	w->nodes_then = change_fate(w->change, w->nodes) != CHANGE_RUNS
	    ? expectation_replace(facts, w->nodes)
	    : xstrdup(w->nodes);
	return w->nodes_then != NULL
	    ? 0
	    : ctl_fail("%.80s: no node is left after the change", w->nodes);
}

static int
whatif_make(struct whatif *w, json_t **ret)
{
	json_t *facts = change_facts(w->change, CHANGE_EVEN);
	json_t *now = NULL, *then = NULL, *drain = NULL, *first;
	int rc = whatif_nodes_then(w, facts);

	if (rc == 0)
		rc = whatif_ask(w, json_incref(w->facts), w->lists, w->count,
		    &now);
	w->lists[0] = w->nodes_then;
	if (rc == 0)
		rc = whatif_ask(w, json_incref(facts), w->lists, w->count,
		    &then);
	w->lists[0] = w->nodes;
	first = json_array_get(then, 0);
	if (rc == 0 && change_has_routing(w->change))
		rc = whatif_routing_add(w, first);
	if (rc == 0 && change_drained(w->change) > 0)
		rc = whatif_drain_make(w, &drain);
	json_object_del(json_array_get(now, 0), "best");
	json_object_del(first, "best");
	if (rc == 0)
		*ret = json_pack("{s:O, s:O, s:f, s:o, s:o, s:o*}", "now",
		    json_array_get(now, 0), "then", first, "times",
		    member_number(first, "seconds") /
			member_number(json_array_get(now, 0), "seconds"),
		    "changed", change_list(w->change), "jobs",
		    whatif_jobs_make(w, now, then), "drain", drain);
	json_decref(facts);
	json_decref(now);
	json_decref(then);
	return rc;
}

/* ---- text ---- */

static void
whatif_print_time(const char *title, const json_t *o)
{
	char rate[PRINT_BYTES];

	printf("%-9s ", title);
	expectation_print(o);
	print_quantity(member_number(o, "rate_bytes_per_s"), "B/s", rate);
	if (member_text(o, "limit")[0] != '\0')
		printf("          limit %s at %s\n", member_text(o, "limit"),
		    rate);
}

static void
whatif_print_drain(const json_t *o)
{
	char span[PRINT_BYTES];
	double share = member_number(o, "break_even_share");

	if (o == NULL)
		return;
	print_span(member_number(o, "span_s"), span);
	printf("drain     node-hours in %s until the repair: waiting at most "
	       "%.1f, draining %.1f\n",
	    span, member_number(o, "waiting_node_h_max"),
	    member_number(o, "draining_node_h"));
	printf("          waiting: %s, if all %s time is in this operation\n",
	    member_int(o, "jobs") > 0 ? "the running jobs" : "such a job",
	    member_int(o, "jobs") > 0 ? "their" : "its");
	if (share < 1)
		printf("          draining costs less if jobs spend more than "
		       "%.0f %% of their time in this operation\n",
		    100 * share);
	else
		puts("          waiting costs less");
}

/* "1.33x", or what happens to the job. */
static const char *
whatif_time_text(const json_t *row, char *scratch)
{
	if (json_object_get(row, "times") == NULL)
		return member_text(row, "fate");
	print_quantity(member_number(row, "times"), "x", scratch);
	return scratch;
}

static void
whatif_print(const struct whatif *w, const json_t *o)
{
	static const struct print_column columns[] = {
		{ "job", "job", "?", PRINT_TEXT, NULL },
		{ "name", "name", "-", PRINT_TEXT, NULL },
		{ "owner", "owner", "-", PRINT_TEXT, NULL },
		{ ">nodes", "node_count", NULL, PRINT_COUNT, NULL },
		{ ">time", "", NULL, PRINT_OF, whatif_time_text },
		{ 0 },
	};
	const json_t *now = json_object_get(o, "now"), *row;
	const json_t *then = json_object_get(o, "then");
	const json_t *jobs = json_object_get(o, "jobs");
	char bytes[PRINT_BYTES];
	size_t i;

	str_bytes_format((double)w->spec.bytes, bytes, sizeof(bytes));
	printf("%s%s%s on %s, %lld ranks, machine %s\n",
	    w->spec.op != NULL ? w->spec.op : w->spec.plan,
	    w->spec.op != NULL ? " of " : "", w->spec.op != NULL ? bytes : "",
	    member_text(now, "nodes"), (long long)member_int(now, "ranks"),
	    w->spec.machine);
	whatif_print_time("now", now);
	whatif_print_time("then", then);
	if (strcmp(member_text(now, "nodes"), member_text(then, "nodes")) != 0)
		printf("          on %s\n", member_text(then, "nodes"));
	printf("          %.2f times as long\n", member_number(o, "times"));
	member_foreach (o, "changed", i, row) {
		printf("changed   %s: %.0f %% of its rate, now %.0f %%",
		    member_text(row, "subject"),
		    100 * member_number(row, "share"),
		    100 * member_number(row, "now"));
		if (json_object_get(row, "worst") != NULL)
			printf("; with fixed routes %.0f %%",
			    100 * member_number(row, "worst"));
		putchar('\n');
	}
	whatif_print_drain(json_object_get(o, "drain"));
	if (json_array_size(jobs) > 0) {
		puts("\nrunning jobs that are affected, if all their time is "
		     "in this operation:");
		print_rows(jobs, columns);
	}
}

static int
whatif(struct ctl *c)
{
	struct whatif w;
	json_t *told = NULL;
	int rc = whatif_read(c, &w);

	if (rc == 0)
		rc = whatif_make(&w, &told);
	if (rc == 0 && opts_given(&c->opts, OPT_JSON))
		print_json_line(told);
	else if (rc == 0)
		whatif_print(&w, told);
	json_decref(told);
	whatif_clear(&w);
	return rc;
}

const struct verb verbs_whatif[] = {
	{ "whatif", NULL, "", 0, 0,
	    "json bytes down drain for job machine nodes op plan "
	    "ranks-per-node slow",
	    "", "Predict the effect of a slow, failed or drained part.",
	    "The output has the expected time now and after the change, "
	    "computed as by the verb expect, on the nodes of --nodes or "
	    "--job, or on all nodes whose agent is ok. The current rates of "
	    "nodes and uplinks are taken from their newest measurements. "
	    "Nodes that are down or "
	    "drained are replaced by the best other nodes. The output lists "
	    "the running jobs that become slower or stop. For a drain the "
	    "output compares the node-hours lost by draining with the "
	    "node-hours lost by waiting for the repair, which takes as long "
	    "as --for. A change of cables requires topology.leaves on the "
	    "collector. coalctl(8) describes the method.",
	    whatif },
	{ 0 },
};
