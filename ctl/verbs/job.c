/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - jobs of the batch system, and their slow nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/expectation.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"

#define IN_BAND_JUDGED 10 /* an engine is started for each */

static double
job_lasts_s(const json_t *job)
{
	const json_t *end = json_object_get(job, "end_unix_ns");
	int64_t end_ns = end != NULL ? json_integer_value(end)
				     : (int64_t)clk_unix_ns();

	return (double)(end_ns - member_int(job, "start_unix_ns")) / 1e9;
}

static const char *
job_lasts_text(const json_t *job, char *scratch)
{
	print_span(job_lasts_s(job), scratch);
	return scratch;
}

static const char *
job_exposed_text(const json_t *job, char *scratch)
{
	snprintf(scratch, PRINT_BYTES, "%.1f",
	    member_number(job, "exposed_node_s") / 3600);
	return scratch;
}

static const struct print_column columns[] = {
	{ "job", "job", "?", PRINT_TEXT, NULL },
	{ "name", "name", "-", PRINT_TEXT, NULL },
	{ "owner", "owner", "-", PRINT_TEXT, NULL },
	{ "state", "state", "?", PRINT_TEXT, NULL },
	{ "start", "start_unix_ns", NULL, PRINT_TIME, NULL },
	{ ">duration", "", NULL, PRINT_OF, job_lasts_text },
	{ ">nodes", "node_count", NULL, PRINT_COUNT, NULL },
	{ "", "nodes", "", PRINT_TEXT, NULL },
	{ 0 },
};

static const struct print_column worst_columns[] = {
	{ ">exposed", "", NULL, PRINT_OF, job_exposed_text },
	{ "job", "job", "?", PRINT_TEXT, NULL },
	{ "name", "name", "-", PRINT_TEXT, NULL },
	{ "owner", "owner", "-", PRINT_TEXT, NULL },
	{ "start", "start_unix_ns", NULL, PRINT_TIME, NULL },
	{ ">duration", "", NULL, PRINT_OF, job_lasts_text },
	{ ">nodes", "node_count", NULL, PRINT_COUNT, NULL },
	{ 0 },
};

static int
job_list(struct ctl *c)
{
	char text[32];
	json_t *list;
	int rc = ctl_list(c, &list, "jobs", "from_unix_ns",
	    ctl_since(c, 0, text), "limit", opts_value(&c->opts, OPT_LIMIT),
	    NULL);

	return rc == 0 ? print_list(c, list, columns, "no jobs") : rc;
}

static int
job_worst(struct ctl *c)
{
	char text[32];
	json_t *list;
	int rc = ctl_list(c, &list, "jobs/worst", "from_unix_ns",
	    ctl_since(c, 0, text), "limit", opts_value(&c->opts, OPT_LIMIT),
	    NULL);

	if (rc != 0)
		return rc;
	if (!opts_given(&c->opts, OPT_JSON) && json_array_size(list) > 0)
		puts("exposed: node-hours in which a node or leaf of the job "
		     "was slow\n");
	return print_list(c, list, worst_columns,
	    "no job ran on a slow node or leaf");
}

static void
job_print_found(const json_t *list, const char *kind)
{
	char at[PRINT_BYTES];
	json_t *row;
	size_t i;

	json_array_foreach (list, i, row) {
		print_time(row, "at_unix_ns", at);
		printf("  %-6s  %s  %-7s %s\n", print_member(row, "when", "?"),
		    at, print_member(row, kind, "?"),
		    print_member(row, "text", "?"));
	}
}

static void
job_print_impacts(const json_t *list)
{
	static const struct print_column impact_columns[] = {
		{ "  test", "test", "?", PRINT_TEXT, NULL },
		{ "of", "of", "?", PRINT_TEXT, NULL },
		{ ">before", "before", "-", PRINT_TIMES, NULL },
		{ ">during", "during", "-", PRINT_TIMES, NULL },
		{ ">after", "after", "-", PRINT_TIMES, NULL },
		{ 0 },
	};

	if (json_array_size(list) == 0)
		return;
	puts("impact of congestion on canaries of the cluster (1: none):");
	print_rows(list, impact_columns);
}

static const char *const whens[] = { "before", "during", "after" };

/* The request of --machine and its related options; facts NULL: not given. */
struct asked {
	struct expectation_spec spec;
	json_t *facts;
	int briefly; /* only what epilog prints: each request starts the engine
			while the batch system waits */
};

/* While it ran; where nothing was measured then, before. */
static json_t *
job_then_told(const json_t *job)
{
	const json_t *all = json_object_get(job, "expectation");
	json_t *then = json_object_get(all, "during");

	return then != NULL ? then : json_object_get(all, "before");
}

/* Today's answer of the collector, with shares as they were then. */
static json_t *
job_facts_then(const json_t *facts, const json_t *then)
{
	static const char *const kinds[][2] = { { "nodes", "node" },
		{ "leaves", "leaf" } };
	json_t *ret = json_deep_copy(facts), *row, *was;
	size_t i, k, at;

	for (k = 0; k < ARRAY_LEN(kinds); k++)
		member_foreach (ret, kinds[k][0], i, row) {
			const char *name = member_text(row, kinds[k][1]);

			json_object_set_new(row, "share", json_real(1));
			member_foreach (then, "slow", at, was)
				if (strcmp(member_text(was, "subject"), name) ==
					0 &&
				    strcmp(member_text(was, "kind"),
					kinds[k][1]) == 0)
					json_object_update(row, was);
		}
	return ret;
}

/* Add the engine's prediction to each time. */
static int
job_expect_job(const struct asked *asked, const json_t *job)
{
	struct err err = { .text = "" };

	for (size_t i = 0; asked->facts != NULL && i < ARRAY_LEN(whens); i++) {
		json_t *then = json_object_get(json_object_get(job,
						   "expectation"),
		    whens[i]);
		json_t *facts, *told;
		int rc;

		if (then == NULL ||
		    (asked->briefly && then != job_then_told(job)))
			continue;
		facts = job_facts_then(asked->facts, then);
		rc = expectation_make(&asked->spec, facts,
		    member_text(job, "nodes"), &told, &err);
		json_decref(facts);
		if (rc < 0)
			return ctl_fail("%s", err.text);
		json_object_del(told, "best");
		json_object_set_new(then, "expected", told);
	}
	return EXIT_CODE_OK;
}

static void
job_print_expected(const json_t *expectation)
{
	const json_t *then, *row;
	char *unknown;
	size_t i, k;

	puts(json_object_size(expectation) > 0
		? "bandwidth of the job's slowest node or leaf, compared "
		  "with normal ones:"
		: "no bandwidth of the job's nodes was measured before, "
		  "during or after it");
	for (i = 0; i < ARRAY_LEN(whens); i++) {
		then = json_object_get(expectation, whens[i]);
		if (then == NULL)
			continue;
		printf("  %-6s  %.0f %%", whens[i],
		    100 * member_number(then, "share"));
		member_foreach (then, "slow", k, row)
			printf("%s %s %.0f %%", k == 0 ? ":" : ",",
			    member_text(row, "subject"),
			    100 * member_number(row, "share"));
		unknown = print_hostlist(json_object_get(then, "unknown"), &k);
		if (k > 0)
			printf("; not measured: %s", unknown);
		free(unknown);
		puts("");
		if (json_object_get(then, "expected") == NULL)
			continue;
		printf("          ");
		expectation_print(json_object_get(then, "expected"));
	}
}

/* Compare the longest collectives of all ranks with the worst expected times of
 * the job's nodes while it ran. */
static int
job_expect_in_band(const struct asked *asked, const json_t *job)
{
	const json_t *then = json_object_get(json_object_get(job,
						 "expectation"),
	    "during");
	json_t *facts, *row, *told;
	int rc = EXIT_CODE_OK;
	struct err err;
	size_t i, judged = 0;

	if (asked->facts == NULL)
		return rc;
	facts = job_facts_then(asked->facts, then);
	member_foreach (job, "in_band", i, row) {
		json_int_t nodes = member_int(row, "nodes");
		json_int_t ranks = member_int(row, "ranks");
		double bytes = member_number(row, "bytes");
		struct expectation_spec spec = { .machine = asked->spec.machine,
			.op = member_text(row, "op"),
			.bytes = bytes > 0 ? (uint64_t)bytes : 0,
			.ranks_per_node = nodes > 0 ? (int)(ranks / nodes)
						    : 0 };

		if (nodes != member_int(job, "node_count") || nodes < 2 ||
		    ranks % nodes != 0 || spec.bytes == 0 ||
		    STR_FIND(names_collectives, spec.op) < 0)
			continue;
		if (judged++ == IN_BAND_JUDGED || (asked->briefly && i > 0))
			break;
		if (expectation_make(&spec, facts, member_text(job, "nodes"),
			&told, &err) < 0) {
			rc = ctl_fail("%s", err.text);
			break;
		}
		json_object_set(row, "expected_s",
		    json_object_get(told, "seconds"));
		json_object_set(row, "interval",
		    json_object_get(told, "interval"));
		json_object_set_new(row, "share",
		    json_real(member_number(told, "seconds") /
			member_number(row, "least_s")));
		json_decref(told);
	}
	json_decref(facts);
	return rc;
}

static void
job_print_in_band(const json_t *list)
{
	static const struct print_column in_band_columns[] = {
		{ "collective", "op", "?", PRINT_TEXT, NULL },
		{ ">size", "bytes", "-", PRINT_BYTES_OF, NULL },
		{ ">ranks", "ranks", NULL, PRINT_COUNT, NULL },
		{ ">calls", "calls", NULL, PRINT_COUNT, NULL },
		{ ">mean", "mean_s", "-", PRINT_SECONDS, NULL },
		{ ">least", "least_s", "-", PRINT_SECONDS, NULL },
		{ "node", "node", "-", PRINT_TEXT, NULL },
		{ ">expected", "expected_s", "-", PRINT_SECONDS, NULL },
		{ ">share", "share", "-", PRINT_SHARE, NULL },
		{ "source", "source", "?", PRINT_TEXT, NULL },
		{ 0 },
	};

	if (json_array_size(list) == 0)
		return;
	puts("collectives of the job, as measured by its own programs:");
	print_rows(list, in_band_columns);
}

/* The newest reply of its communicators. */
static void
job_print_nccl(const json_t *nccl)
{
	char at[PRINT_BYTES];

	if (nccl == NULL)
		return;
	print_time(nccl, "at_unix_ns", at);
	printf("NCCL %s, %lld communicator%s, status at %s: %s\n",
	    print_member(nccl, "version", "?"),
	    (long long)member_int(nccl, "comms"),
	    member_int(nccl, "comms") == 1 ? "" : "s", at,
	    print_member(nccl, "state", "?"));
	if (member_text(nccl, "text")[0] != '\0')
		printf("  %s\n", print_member(nccl, "text", "?"));
}

static void
job_print_job(const json_t *job)
{
	double exposed_s = member_number(job, "exposed_node_s");
	double all_s = job_lasts_s(job) * (double)member_int(job, "node_count");
	const json_t *verdicts = json_object_get(job, "verdicts");
	const json_t *events = json_object_get(job, "events");
	char from[PRINT_BYTES], to[PRINT_BYTES];

	print_time(job, "start_unix_ns", from);
	print_time(job, "end_unix_ns", to);
	printf("job %s  %s  %s  %s\n", print_member(job, "job", "?"),
	    print_member(job, "name", "-"), print_member(job, "owner", "-"),
	    print_member(job, "state", "?"));
	printf("%s to %s%s  %" JSON_INTEGER_FORMAT " nodes: %s\n", from,
	    json_object_get(job, "end_unix_ns") == NULL ? "now" : to,
	    member_bool(job, "end_is_guess") ? " or later,"
		: member_bool(job, "backwards")
		? " (its reported end is earlier),"
		: "",
	    member_int(job, "node_count"), print_member(job, "nodes", "?"));
	job_print_nccl(json_object_get(job, "nccl"));
	if (exposed_s > 0)
		printf("a node or leaf of the job was slow in %.1f of its %.1f "
		       "node-hours:\n",
		    exposed_s / 3600, all_s / 3600);
	else
		puts("no node or leaf of the job was found slow while it ran");
	job_print_found(verdicts, "verdict");
	job_print_expected(json_object_get(job, "expectation"));
	if (json_array_size(events) > 0)
		puts("events of the job's nodes:");
	job_print_found(events, "kind");
	job_print_impacts(json_object_get(job, "impacts"));
	job_print_in_band(json_object_get(job, "in_band"));
}

/* All starts and parts of a job, with what --machine asks for; briefly: of the
 * one that began last. 0 and *ret, or an exit code. */
static int
job_get(struct ctl *c, int briefly, json_t **ret)
{
	struct asked asked = { .briefly = briefly };
	json_t *list = NULL, *job;
	size_t i;
	int rc = 0;

	if (opts_given(&c->opts, OPT_MACHINE) || opts_given(&c->opts, OPT_OP) ||
	    opts_given(&c->opts, OPT_PLAN) || opts_given(&c->opts, OPT_BYTES) ||
	    opts_given(&c->opts, OPT_RANKS_PER_NODE)) {
		rc = expectation_options(c, &asked.spec);
		rc = rc == 0 ? expectation_facts(c, &asked.facts) : rc;
	}
	if (rc == 0)
		rc = ctl_get(c, "jobs/*", c->args[0], &list);
	/* The latest comes first. */
	while (briefly && json_array_size(list) > 1)
		json_array_remove(list, json_array_size(list) - 1);
	if (rc == 0)
		json_array_foreach (list, i, job)
			rc |= job_expect_job(&asked, job) |
			    job_expect_in_band(&asked, job);
	json_decref(asked.facts);
	if (rc != 0)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

static int
job_show(struct ctl *c)
{
	json_t *list, *job;
	size_t i;
	int rc = job_get(c, 0, &list);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else
		json_array_foreach (list, i, job) {
			if (i > 0)
				puts("");
			job_print_job(job);
		}
	json_decref(list);
	return rc;
}

/* Print one line on the job's last start: the performance of its nodes, the
 * duration, and the in-band measurements of its calls. */
static int
job_epilog(struct ctl *c)
{
	json_t *list, *then, *row;
	char lasts[PRINT_BYTES], should[PRINT_BYTES], bytes[PRINT_BYTES];
	char mean[PRINT_BYTES], least[PRINT_BYTES];
	const json_t *job;
	double all_h;
	size_t i;
	int rc = job_get(c, 1, &list);

	if (rc != 0)
		return rc;
	job = json_array_get(list, 0);
	then = job_then_told(job);
	all_h = job_lasts_s(job) * (double)member_int(job, "node_count") / 3600;
	print_span(job_lasts_s(job), lasts);
	printf("job %s: %" JSON_INTEGER_FORMAT " nodes for %s; bandwidth: ",
	    print_member(job, "job", "?"), member_int(job, "node_count"),
	    lasts);
	if (then == NULL)
		printf("not measured");
	else
		printf("%.0f %% of the bandwidth of normal nodes",
		    100 * member_number(then, "share"));
	member_foreach (then, "slow", i, row)
		printf("%s%s %.0f %%%s", i == 0 ? " (" : ", ",
		    member_text(row, "subject"),
		    100 * member_number(row, "share"),
		    i + 1 == json_array_size(json_object_get(then, "slow"))
			? ")"
			: "");
	row = json_object_get(then, "expected");
	print_quantity(member_number(row, "seconds"), "s", should);
	if (row != NULL)
		printf(", expected time of the collective %s", should);
	printf("; used: %.1f node-hours, %.1f of them with a slow node or "
	       "leaf",
	    all_h, member_number(job, "exposed_node_s") / 3600);
	/* The collective with the most time. */
	row = json_array_get(json_object_get(job, "in_band"), 0);
	if (row != NULL) {
		str_bytes_format(member_number(row, "bytes"), bytes,
		    sizeof(bytes));
		print_quantity(member_number(row, "mean_s"), "s", mean);
		print_quantity(member_number(row, "least_s"), "s", least);
		printf("; its %s of %s took %s on average, %s on %s, which "
		       "waited "
		       "least",
		    member_text(row, "op"), bytes, mean, least,
		    member_text(row, "node"));
	}
	if (member_number(row, "share") > 0)
		printf(": %.0f %% of the expected speed",
		    100 * member_number(row, "share"));
	puts("");
	json_decref(list);
	return EXIT_CODE_OK;
}

/* Print the cost of a job, or of jobs of a name, for the jobs next to them. */
static void
job_print_cost(const json_t *o)
{
	const json_t *rivals = json_object_get(o, "rivals");
	const json_t *job = json_object_get(o, "job");
	char from[PRINT_BYTES], to[PRINT_BYTES], s[4][PRINT_BYTES];
	static const char *const seconds[] = { "cost_s", "lo_s", "hi_s",
		"quiet_s" };
	json_int_t sets = member_int(o, "placebo_sets");
	const char *rival, *comma = "";
	json_t *unused;

	print_time(o, "from_unix_ns", from);
	print_time(o, "to_unix_ns", to);
	printf("%-6s  %s%s%s%s: ", member_bool(o, "blamed") ? "costs" : "-",
	    job != NULL ? "job " : "jobs named ",
	    job != NULL ? print_member(o, "job", "-") : "",
	    job != NULL ? ", named " : "", print_member(o, "name", "-"));
	if (json_object_get(o, "lo") != NULL)
		printf("operations on shared links took %+.1f %% time (%+.1f "
		       "to "
		       "%+.1f) in test %s",
		    100 * member_number(o, "cost"),
		    100 * member_number(o, "lo"), 100 * member_number(o, "hi"),
		    print_member(o, "test", "?"));
	else
		printf("undetermined in test %s: %s",
		    print_member(o, "test", "?"),
		    member_int(o, "steps") == 0
			? "no start or end of their traffic could be compared"
			: "too few random moments to compare with");
	if (json_object_get(o, "lo_s") != NULL) {
		for (size_t i = 0; i < ARRAY_LEN(seconds); i++)
			print_quantity(member_number(o, seconds[i]), "s", s[i]);
		printf(", %s (%s to %s) more than the usual %s", s[0], s[1],
		    s[2], s[3]);
	}
	printf(";\n        %" JSON_INTEGER_FORMAT
	       " job%s, %" JSON_INTEGER_FORMAT
	       " start%s or end of traffic from %s to %s, %.1f node-hours "
	       "of other jobs on shared links\n",
	    member_int(o, "jobs"), member_int(o, "jobs") == 1 ? "" : "s",
	    member_int(o, "steps"), member_int(o, "steps") == 1 ? "" : "s",
	    from, to, member_number(o, "beside_node_s") / 3600);
	printf("        compared with random moments: %" JSON_INTEGER_FORMAT,
	    member_int(o, "placebos"));
	/* Only with random sets to compare with. */
	if (sets > 0)
		printf("; jobs would be blamed by chance in %.1f %% of the "
		       "comparisons (%" JSON_INTEGER_FORMAT
		       " of %" JSON_INTEGER_FORMAT ")",
		    100 * (double)member_int(o, "placebo_sets_blamed") /
			(double)sets,
		    member_int(o, "placebo_sets_blamed"), sets);
	puts("");
	if (member_int(o, "steps_confounded") > 0) {
		printf("        excluded: %" JSON_INTEGER_FORMAT
		       " more, at the same time as other jobs: ",
		    member_int(o, "steps_confounded"));
		json_object_foreach ((json_t *)(uintptr_t)rivals, rival,
		    unused) {
			printf("%s%s", comma, rival);
			comma = ", ";
		}
		puts("");
	}
	if (member_int(o, "steps_alone") > 0)
		printf("        excluded: %" JSON_INTEGER_FORMAT
		       " more, without a canary on shared links or on other "
		       "links\n",
		    member_int(o, "steps_alone"));
}

static int
job_cost(struct ctl *c)
{
	char text[32];
	json_t *list, *o;
	size_t i;
	int rc = ctl_list(c, &list, "jobs/costs", "from_unix_ns",
	    ctl_since(c, 0, text), "name", c->args[0], "by",
	    opts_value(&c->opts, OPT_BY), NULL);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(list);
	else if (json_array_size(list) == 0)
		printf("no job%s%s started or ended its traffic on a link that "
		       "a "
		       "canary uses\n",
		    c->args[0] != NULL ? " named " : "",
		    c->args[0] != NULL ? c->args[0] : "");
	else
		json_array_foreach (list, i, o)
			job_print_cost(o);
	json_decref(list);
	return EXIT_CODE_OK;
}

const struct verb verbs_job[] = {
	{ "job", "list", "", 0, 0, "json limit since where sort", "",
	    "List jobs of the batch system, latest start first.",
	    "The collector stores jobs only if its option jobs.source "
	    "is set. Owners are pseudonyms unless jobs.owners is name.",
	    job_list },
	{ "job", "show", "JOB", 1, 1,
	    "json machine op bytes ranks-per-node plan", "",
	    "Show the state of a job's nodes before, during and after "
	    "the job.",
	    "The output has the verdicts on the job's nodes and their leaves, "
	    "the events of its nodes, and the impact of congestion on "
	    "canaries of the cluster. The output also has the bandwidth of "
	    "the job's slowest node or leaf as a share of the bandwidth of "
	    "normal ones: at the start of the job, the lowest value while the "
	    "job ran, and at its end. With --machine the output has the "
	    "expected time of a collective or a plan, as printed by expect. "
	    "If the job's programs measured their own collectives "
	    "(agent.in_band), their times are printed and compared with the "
	    "prediction. The periods before and after are as long as the job, "
	    "from 10 minutes to 6 hours. Each start of a requeued job, and "
	    "each task of an array, is shown separately.",
	    job_show },
	{ "job", "cost", "[NAME]", 0, 1, "json since by", "",
	    "Show by how much jobs with the same name slow down other "
	    "jobs.",
	    "Measurements of canaries that share uplinks with a job are "
	    "compared with those of canaries that do not, before and after "
	    "the job's traffic starts or ends. The result is for all jobs "
	    "with the same name. The same comparison at random moments shows "
	    "how large differences by chance are. A line that begins with "
	    "costs names jobs that slow down others by more than chance "
	    "explains. --by week prints a line for each week from Monday, "
	    "--by job a line for each job.",
	    job_cost },
	{ "job", "worst", "", 0, 0, "json limit since where sort", "",
	    "List the jobs that lost the most time to slow nodes or "
	    "leaves.",
	    "Jobs are sorted by exposed node-hours: the time in which "
	    "a node or leaf of the job was slow, times all nodes of "
	    "the job, since the whole job waits for its slowest node. "
	    "The list covers the last 7 days (--since) and has up to "
	    "20 jobs (--limit).",
	    job_worst },
	{ "epilog", NULL, "JOB", 1, 1, "machine op bytes ranks-per-node plan",
	    "",
	    "Print one line about a job: the bandwidth of its nodes "
	    "and its node-hours.",
	    "The line is meant for the owner of the job, after the end of the "
	    "job. The line has the lowest bandwidth of the job's slowest node "
	    "or leaf while it ran, as a share of the bandwidth of normal "
	    "ones; the node-hours of the job, and those in which a node or "
	    "leaf was slow; and the collective in which its programs spent "
	    "the most time, if they measured it (agent.in_band). For a "
	    "requeued job the last start counts. With --machine the line also "
	    "has the expected time of a collective, as printed by expect.",
	    job_epilog },
	{ 0 },
};
