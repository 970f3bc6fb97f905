/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs as tables; one of them with where its ranks ran, from its
 * first record.
 */
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"

static const char *
run_took_of(const json_t *run, char *scratch)
{
	double from = member_number(run, "started_unix_ns");
	double until = member_number(run, "ended_unix_ns");

	print_span(from > 0 && until >= from ? (until - from) / 1e9 : -1,
	    scratch);
	return scratch;
}

static const char *
run_cause_of(const json_t *run, char *scratch)
{
	const char *cause = print_member(run, "cause", "none");

	(void)scratch;
	return strcmp(cause, "none") == 0 ? "" : cause;
}

static const struct print_column columns[] = {
	{ "run", "run", "?", PRINT_TEXT, NULL },
	{ "campaign", "campaign", "?", PRINT_TEXT, NULL },
	{ "state", "state", "?", PRINT_TEXT, NULL },
	{ "cause", NULL, NULL, PRINT_OF, run_cause_of },
	{ ">nodes", "nodes", NULL, PRINT_NODES, NULL },
	{ "created (UTC)", "created_unix_ns", NULL, PRINT_TIME, NULL },
	{ ">took", NULL, NULL, PRINT_OF, run_took_of },
	{ "text", "text", "", PRINT_TEXT, NULL },
	{ 0 },
};

static int
run_list(struct ctl *c)
{
	const char *state = opts_value(&c->opts, OPT_STATE);
	const char *campaign = opts_value(&c->opts, OPT_CAMPAIGN);
	json_t *runs, *known;
	int rc = runs_list(c,
	    &(struct runs_filter){ .campaign = campaign, .state = state },
	    opts_number(&c->opts, OPT_LIMIT, 20), &runs);

	if (rc == 0 && json_array_size(runs) == 0 && campaign != NULL) {
		rc = ctl_get(c, "campaigns/*", campaign, &known);
		json_decref(rc == 0 ? known : runs);
	}
	return rc == 0 ? print_list(c, runs, columns, NULL) : rc;
}

/* "n[1-8]: rank 0 on cores 0-15 (NUMA 0), rank 1 on 16-31 (NUMA 1)": of a run
 * whose first record says where its ranks were. */
static void
run_print_affinity(struct ctl *c, const char *run)
{
	const char *nodes, *last = "";
	json_t *records, *begin, *row;
	size_t i;

	if (records_get(c, run, &records) != 0)
		return;
	begin = records_find(records, "begin", NULL, NULL);
	member_foreach (begin, "affinity", i, row) {
		nodes = print_member(row, "nodes", "?");
		if (i == 0)
			printf("%-10s ", "affinity");
		if (strcmp(nodes, last) != 0)
			printf("%s%s: ", i > 0 ? "; " : "", nodes);
		else
			printf(", ");
		printf("rank %.0f on cores %s", member_number(row, "local"),
		    print_member(row, "cores", "?"));
		if (print_member(row, "numa", "")[0] != '\0')
			printf(" (NUMA %s)", print_member(row, "numa", ""));
		last = nodes;
	}
	if (last[0] != '\0')
		putchar('\n');
	json_decref(records);
}

static void
run_print_run(const json_t *run)
{
	static const struct {
		const char *title, *member;
	} texts[] = { { "run", "run" }, { "campaign", "campaign" },
		{ "state", "state" }, { "cause", "cause" }, { "text", "text" },
		{ "class", "class" }, { "mpi", "mpi" }, { "head", "head" },
		{ "by", "by" } };
	static const struct {
		const char *title, *member;
	} times[] = { { "created", "created_unix_ns" },
		{ "started", "started_unix_ns" },
		{ "ended", "ended_unix_ns" } };
	size_t count;
	char *hosts = print_hostlist(json_object_get(run, "nodes"), &count);
	char at[PRINT_BYTES], ranks[PRINT_BYTES], seed[PRINT_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		printf("%-10s %s\n", texts[i].title,
		    print_member(run, texts[i].member, "-"));
	printf("%-10s %s (%zu)\n", "nodes", hosts[0] == '\0' ? "-" : hosts,
	    count);
	free(hosts);
	print_count(run, "ranks", ranks);
	print_count(run, "seed", seed);
	printf("%-10s %s\n%-10s %s\n", "ranks", ranks, "seed", seed);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		print_time(run, times[i].member, at);
		printf("%-10s %s\n", times[i].title, at);
	}
	printf("%-10s %.0f\n", "records", member_number(run, "records"));
}

/* The run of the argument, by runs_get or runs_wait. */
static int
run_of(struct ctl *c, int (*get)(struct ctl *c, const char *run, json_t **ret),
    json_t **ret)
{
	char *id = NULL;
	int rc = runs_find(c, c->args[0], &id);

	if (rc == 0)
		rc = get(c, id, ret);
	free(id);
	return rc;
}

static int
run_show(struct ctl *c)
{
	json_t *run;
	int rc = run_of(c, runs_get, &run);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON)) {
		print_json(run);
	} else {
		run_print_run(run);
		if (member_number(run, "records") > 0)
			run_print_affinity(c, print_member(run, "run", ""));
	}
	json_decref(run);
	return EXIT_CODE_OK;
}

static int
run_watch(struct ctl *c)
{
	json_t *run;
	int rc = run_of(c, runs_wait, &run);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(run);
	else
		runs_print_end(run, stdout);
	rc = runs_exit_code(run);
	json_decref(run);
	return rc;
}

static int
run_cancel(struct ctl *c)
{
	char *run = NULL;
	json_t *answer;
	int rc = runs_find(c, c->args[0], &run);

	if (rc == 0)
		rc = ctl_post(c, "runs/*/cancel", run, NULL, &answer);
	if (rc == 0) {
		printf("run %s is being cancelled\n", run);
		json_decref(answer);
	}
	free(run);
	return rc;
}

const struct verb verbs_run[] = {
	{ "run", "list", "", 0, 0, "json campaign state limit where sort", "",
	    "List runs, newest first.", NULL, run_list },
	{ "run", "show", "RUN", 1, 1, "json", "runs",
	    "Show one run: its state, nodes, random seed, times, and "
	    "the cores of its ranks.",
	    NULL, run_show },
	{ "run", "watch", "RUN", 1, 1, "json", "runs",
	    "Wait for the end of a run and show its progress.", NULL,
	    run_watch },
	{ "run", "cancel", "RUN", 1, 1, "", "runs",
	    "End a run now. The results that the run has sent so far are "
	    "kept.",
	    NULL, run_cancel },
	{ 0 },
};
