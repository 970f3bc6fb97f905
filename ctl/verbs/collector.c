/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.c - verbs about the collector and its cluster: db, diags, cluster,
 * version, stop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

static int
collector_db_backup(struct ctl *c)
{
	const char *path = c->args[0];
	json_t *order, *answer;
	int rc;

	/* The collector writes the file: its directory is another one. */
	if (path[0] != '/')
		return ctl_fail("%.300s: expected an absolute path on the "
				"collector's host",
		    path);
	order = json_pack("{s:s}", "path", path);
	rc = client_post(ctl_client(c), "/db/backup", order, &answer);
	json_decref(order);
	if (rc == 0) {
		printf("%s written by the collector\n", path);
		json_decref(answer);
	} else if (rc == -EHOSTUNREACH) {
		rc = ctl_fail_client(c);
	} else if (rc == -ENOENT) {
		rc = ctl_fail("%s: the directory does not exist on the "
			      "collector's host",
		    path);
	} else {
		rc = ctl_fail("%s: %s", path, client_why(c->client));
	}
	return rc;
}

static int
collector_db_check(struct ctl *c)
{
	json_t *answer;
	int ok, rc = ctl_post(c, "db/check", NULL, NULL, &answer);

	if (rc != 0)
		return rc;
	ok = member_bool(answer, "ok");
	if (opts_given(&c->opts, OPT_JSON))
		print_json(answer);
	else
		printf("%s: %s\n", ok ? "ok" : "bad",
		    print_member(answer, "text", "no details"));
	json_decref(answer);
	return ok ? EXIT_CODE_OK : EXIT_CODE_BAD;
}

/* The store is a file on the collector's host, so coalmined does the work.
 * words: its arguments; the configuration is added as a further argument behind
 * at others. */
static int
collector_coalmined_run(struct ctl *c, char *const words[3], int at,
    const char *where)
{
	char *path = ctl_beside("sbin/coalmined"), name[] = "coalmined";
	char option[] = "--config", *argv[7] = { name };
	int n = 1;

	for (int i = 0; i < 3 && words[i] != NULL; i++)
		argv[n++] = words[i];
	if (c->args_count > at) {
		argv[n++] = option;
		argv[n++] = c->args[at];
	}
	execvp(path, argv);
	free(path);
	return ctl_fail("coalmined: %s: %s", strerror(errno), where);
}

static int
collector_db_restore(struct ctl *c)
{
	char option[] = "--restore";

	return collector_coalmined_run(c, (char *[3]){ option, c->args[0] }, 1,
	    "db restore runs only on the collector's host");
}

static int
collector_db_copy(struct ctl *c)
{
	char option[] = "--copy";

	return collector_coalmined_run(c,
	    (char *[3]){ option, c->args[0], c->args[1] }, 2,
	    "db copy runs only on a host with an installed collector");
}

static int
collector_db_recover(struct ctl *c)
{
	char option[] = "--recover";

	return collector_coalmined_run(c,
	    (char *[3]){ option, c->args[0], c->args[1] }, 2,
	    "db recover runs only on the collector's host");
}

const struct verb verbs_db[] = {
	{ "db", "backup", "FILE", 1, 1, "", "file",
	    "Copy the store into a file while the collector runs.",
	    "The collector writes the file, on its own host and as its own "
	    "user. FILE is an absolute path there.",
	    collector_db_backup },
	{ "db", "restore", "BACKUP [CONFIG]", 1, 2, "", "file",
	    "Restore the store from a backup, on the collector's host, while "
	    "the collector is stopped.",
	    "The previous store is kept in the same folder, as "
	    "coalmine.db.before-TIME. Agents resend all records that they "
	    "still hold; no action is needed.",
	    collector_db_restore },
	{ "db", "copy", "FROM TO [CONFIG]", 2, 3, "", "file",
	    "Copy a complete store into another one while the collectors of "
	    "both are stopped.",
	    "FROM and TO are folders, or addresses as in store.url; the schema "
	    "is store.schema. Both stores are compared at the end. An "
	    "interrupted copy continues where it stopped.",
	    collector_db_copy },
	{ "db", "recover", "DAMAGED NEW [CONFIG]", 2, 3, "", "file",
	    "Write the rows of a damaged SQLite store that can be read into a "
	    "new file, for db restore.",
	    "DAMAGED is not changed and needs its DAMAGED-wal, if it has one. "
	    "Rows saved and lost are reported for each table. The exit code "
	    "is 1 if rows were lost.",
	    collector_db_recover },
	{ "db", "check", "", 0, 0, "json", "",
	    "Check the integrity of the store.",
	    "All stored data is read and compared with its checksum. The exit "
	    "code is 2 if the store is damaged.",
	    collector_db_check },
	{ 0 },
};

/* severity is one of these; anything else counts as a warning. */
static int
collector_severity_code(const char *severity)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = { { "info", EXIT_CODE_OK }, { "ok", EXIT_CODE_OK },
		{ "warn", EXIT_CODE_WARN }, { "bad", EXIT_CODE_BAD },
		{ "error", EXIT_CODE_BAD } };
	int i = STR_FIND(codes, severity);

	return i < 0 ? EXIT_CODE_WARN : codes[i].code;
}

static int
collector_diags(struct ctl *c)
{
	json_t *list, *item;
	size_t i;
	int worst = EXIT_CODE_OK, rc = ctl_get(c, "diags", NULL, &list);

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, item) {
		int code = collector_severity_code(
		    print_member(item, "severity", "warn"));

		worst = code > worst ? code : worst;
	}
	if (opts_given(&c->opts, OPT_JSON)) {
		print_json(list);
	} else {
		json_array_foreach (list, i, item) {
			printf("%s: %s\n",
			    print_member(item, "severity", "warn"),
			    print_member(item, "text", ""));
			if (print_member(item, "remedy", NULL) != NULL)
				printf("    %s\n",
				    print_member(item, "remedy", ""));
		}
		if (json_array_size(list) == 0)
			puts("ok: no problem found with the collector and its "
			     "agents; coalctl verdict list lists slow parts");
	}
	json_decref(list);
	return worst;
}

const struct verb verbs_diags[] = {
	{ "diags", NULL, "", 0, 0, "json", "",
	    "List problems of the collector and its agents, with remedies.",
	    "The exit code is 0 if there is no problem, 1 if the worst "
	    "problem is a warning, and 2 if the worst problem is an error.",
	    collector_diags },
	{ 0 },
};

static int
collector_cluster_list(struct ctl *c)
{
	static const struct print_column columns[] = {
		{ "cluster", "cluster", "-", PRINT_TEXT, NULL },
		{ "verdict", "verdict", "unknown", PRINT_TEXT, NULL },
		{ "contact", "at_unix_ns", NULL, PRINT_TIME, NULL },
		{ "collector", "collector", "-", PRINT_TEXT, NULL },
		{ "address", "url", "-", PRINT_TEXT, NULL },
		{ "is", "text", "", PRINT_TEXT, NULL },
		{ 0 },
	};
	int worst = EXIT_CODE_OK, rc;
	json_t *list, *row;
	size_t i;

	/* Of all of them, so of one that has no collector, too. */
	(void)ctl_client_any(c);
	rc = ctl_list(c, &list, "clusters", NULL);
	if (rc != 0)
		return rc;
	json_array_foreach (list, i, row) {
		int code = collector_severity_code(member_text(row, "verdict"));

		worst = code > worst ? code : worst;
	}
	print_list(c, list, columns, NULL);
	return worst;
}

const struct verb verbs_cluster[] = {
	{ "cluster", "list", "", 0, 0, "json where sort", "",
	    "List the clusters whose collectors share a database, with their "
	    "state and active collector.",
	    "The exit code is that of the worst cluster: 0 for ok, 1 "
	    "if it has a warning or was not measured yet, 2 if it has "
	    "a bad node or no active collector.",
	    collector_cluster_list },
	{ 0 },
};

static int
collector_version(struct ctl *c)
{
	json_t *answer = NULL, *both;
	int rc = client_get(ctl_client(c), "/version", &answer);

	if (opts_given(&c->opts, OPT_JSON)) {
		both = json_pack("{s:s, s:o}", "coalctl", COALMINE_VERSION,
		    "collector", rc == 0 ? answer : json_null());
		print_json(both);
		json_decref(both);
	} else {
		printf("coalctl   %s\n", COALMINE_VERSION);
		if (rc == 0)
			printf("collector %s\n",
			    print_member(answer, "version", "?"));
		json_decref(answer);
	}
	if (rc == 0)
		return EXIT_CODE_OK;
	ctl_fail_client(c);
	return EXIT_CODE_WARN;
}

const struct verb verbs_version[] = {
	{ "version", NULL, "", 0, 0, "json", "",
	    "Print the versions of coalctl and of the collector.",
	    "The exit code is 1 if the collector does not answer.",
	    collector_version },
	{ 0 },
};

static int
collector_stop(struct ctl *c)
{
	json_t *answer;
	double count;

	if (!opts_given(&c->opts, OPT_ALL))
		return ctl_fail(
		    "stop ends every run and requires --all; to end one run: "
		    "coalctl run cancel RUN");
	if (client_post(ctl_client(c), "/stop", NULL, &answer) < 0)
		return ctl_fail_client(c);
	count = member_number(answer, "ended");
	json_decref(answer);
	printf("%.0f run%s ended\n", count, count == 1 ? "" : "s");
	return EXIT_CODE_OK;
}

const struct verb verbs_stop[] = {
	{ "stop", NULL, "", 0, 0, "all", "",
	    "End every run on all nodes now. Schedules stay enabled; see "
	    "coalctl schedule disable.",
	    NULL, collector_stop },
	{ 0 },
};
