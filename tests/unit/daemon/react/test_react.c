/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_react.c - reactions with fake sinfo and scontrol: drains by others are
 * not changed, only our own are undone, limits and dry runs hold.
 */
#include "daemon/react/react.c"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"
#include "daemon/cluster/roster.h"

static char dir[64];
static char events[8192];
static json_t *settings;
static int put_status, leads = 1;

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	size_t len = strlen(events);

	(void)st;
	assert_string_equal(kind, "reaction");
	snprintf(events + len, sizeof(events) - len, "%s %s\n", subject, text);
}

void
store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg)
{
	(void)st;
	if (value != NULL)
		json_object_set_new(settings, key, json_string(value));
	else
		json_object_del(settings, key);
	if (cb != NULL)
		cb(put_status, NULL, arg);
}

int
store_leads(const struct store *st)
{
	(void)st;
	return leads;
}

static struct node known;
static int alone;

struct node *
roster_find(const struct roster *r, const char *name)
{
	(void)r;
	(void)name;
	return &known;
}

int
roster_is_alone(const struct roster *r, const struct node *n)
{
	(void)r;
	(void)n;
	return alone;
}

static void
put(const char *name, const char *text, mode_t mode)
{
	char path[128];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fp = fopen(path, "we");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
	chmod(path, mode);
}

static char *
get(const char *name)
{
	static char text[4096];
	char path[128];
	FILE *fp;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fp = fopen(path, "re");
	if (fp != NULL) {
		n = fread(text, 1, sizeof(text) - 1, fp);
		fclose(fp);
	}
	text[n] = '\0';
	return text;
}

/* sinfo prints the node's file, scontrol writes it. */
static int
setup(void **state)
{
	char script[600];

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/coalmine-react-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	events[0] = '\0';
	settings = json_object();
	snprintf(script, sizeof(script),
	    "#!/bin/sh\n[ \"$1 $2 $3 $5\" = '-h -N -n -o' ] || exit 9\n"
	    "cat %s/$4 2>/dev/null || { echo \"invalid node $4\"; exit 1; }\n",
	    dir);
	put("sinfo", script, 0755);
	snprintf(script, sizeof(script),
	    "#!/bin/sh\necho \"$@\" >>%s/log\nn=${2#nodename=}\n"
	    "case $3 in state=drain) echo \"drained|${4#reason=}\" >%s/$n;;\n"
	    "state=resume) echo 'idle|none' >%s/$n;; *) exit 3;; esac\n",
	    dir, dir, dir);
	put("scontrol", script, 0755);
	return 0;
}

static int
teardown(void **state)
{
	char cmd[128];

	(void)state;
	json_decref(settings);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

static struct react_options
options(const char *action)
{
	struct react_options o = { action, 0, 1, "", { dir, "" }, 4, 1 };

	return o;
}

/* Run until no task is due. */
static void
run(struct react *r, size_t nodes)
{
	struct timeval tv = { .tv_usec = 10000 };

	for (int i = 0; i < 2000; i++) {
		react_tick(r, nodes);
		if (r->now == NULL && react_task_next(r, nodes) == NULL)
			return;
		event_base_loopexit(r->base, &tv);
		event_base_dispatch(r->base);
	}
	fail_msg("never done: %s", events);
}

static void
test_drain_and_resume(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	put("n5", "idle|none\n", 0644);
	react_bad(r, "n5", "28 % slower than \"14\" of 14 partners");
	run(r, 100);
	assert_string_equal(get("log"),
	    "update nodename=n5 state=drain reason=coalmine: bad, "
	    "28 % slower than  14  of 14 partners\n");
	assert_non_null(strstr(events, "n5 drained in Slurm"));
	assert_non_null(json_object_get(settings, "react/n5"));
	react_bad(r, "n5", "again"); /* once is enough */
	run(r, 100);
	assert_null(strstr(get("log"), "again"));
	react_free(r);
	/* after a restart the collector undoes its own actions */
	r = react_new(base, NULL, &o);
	react_load(r, settings);
	assert_int_equal(json_object_size(r->done), 1);
	react_well(r, "n5");
	run(r, 100);
	assert_non_null(strstr(get("log"), "update nodename=n5 state=resume"));
	assert_int_equal(json_object_size(r->done), 0);
	assert_int_equal(json_object_size(settings), 0);
	react_well(r, "n5"); /* nothing to undo */
	run(r, 100);
	react_free(r);
	event_base_free(base);
}

/* Slurm may know the node only by its short name; a name that could be another
 * node is not changed. */
static void
test_domains(void **state)
{
	static const struct {
		const char *node;
		int alone;
		const char *slurm; /* NULL: not found */
	} rows[] = {
		{ "n1.example.com", 1, "n1" },
		{ "n4", 1, "n4.lab" },
		{ "n1.example.com", 0, NULL },
		{ "n2", 1, NULL }, /* which one? */
		{ "n3", 1, NULL },
	};
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	char script[200], want[200];

	(void)state;
	snprintf(script, sizeof(script),
	    "#!/bin/sh\n[ \"$3\" = -n ] || cat %s/all\n", dir);
	put("sinfo", script, 0755);
	put("all",
	    "n1|idle|none\nn1|idle|none\nn2.a|idle|none\nn2.b|idle|none\n"
	    "n4.lab|idle|none\n",
	    0644);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct react *r = react_new(base, NULL, &o);

		/* Only whether it is there counts. */
		react_roster_set(r, (const struct roster *)r);
		alone = rows[i].alone;
		put("log", "", 0644);
		events[0] = '\0';
		react_bad(r, rows[i].node, "slow");
		run(r, 100);
		if (rows[i].slurm == NULL) {
			assert_string_equal(get("log"), "");
			assert_non_null(strstr(events, "failed"));
		} else {
			snprintf(want, sizeof(want),
			    "update nodename=%s state=drain reason=coalmine: "
			    "bad, slow\n",
			    rows[i].slurm);
			assert_string_equal(get("log"), want);
		}
		react_free(r);
	}
	event_base_free(base);
}

/* Every state that an administrator or another program has set. */
static void
test_foreign(void **state)
{
	static const char *const lines[] = { "drained|disk full\n",
		"draining|disk full\n", "down|Not responding\n", "down*|none\n",
		"maint|window\n", "idle@|reboot asked\n", "idle$|none\n",
		"planned|none\n", "idle-|none\n", "allocated^|none\n",
		"rebooting|x\n", "drained|coalmine: bad, by hand\n" };
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		put("n1", lines[i], 0644);
		react_bad(r, "n1", "slow");
		run(r, 5000);
		if (get("log")[0] != '\0')
			fail_msg("touched: %s", lines[i]);
		/* and does not count for the limit of an hour, which is 4 */
		assert_int_equal(json_object_size(r->done), 0);
	}
	assert_non_null(strstr(events,
	    "n1 skipped: its state in Slurm is drained|disk full"));
	react_free(r);
	event_base_free(base);
}

/* Drained by us, then an administrator took it over with words of his own. */
static void
test_taken_over(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	put("n1", "mixed|none\n", 0644);
	react_bad(r, "n1", "slow");
	run(r, 100);
	put("n1", "drained|replacing the NIC\n", 0644);
	react_well(r, "n1");
	run(r, 100);
	assert_null(strstr(get("log"), "resume"));
	assert_string_equal(get("n1"), "drained|replacing the NIC\n");
	assert_int_equal(json_object_size(r->done), 0);
	react_free(r);
	event_base_free(base);
}

/* The start of an action is stored first. A collector that is not active starts
 * none. After a restart an action that was started is found done, or repeated.
 */
static void
test_begun(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	put("n1", "idle|none\n", 0644);
	put("n2", "idle|none\n", 0644);
	react_bad(r, "n1", "slow");
	leads = 0;
	react_tick(r, 100);
	assert_null(r->now);
	leads = 1;
	put_status = -EIO;
	run(r, 100);
	assert_string_equal(get("log"), "");
	assert_non_null(strstr(events, "cannot record"));
	put_status = 0;
	react_free(r);

	put("n1", "drained|coalmine: bad, slow\n", 0644);
	json_object_set_new(settings, "react/n1", json_string("begun x"));
	json_object_set_new(settings, "react/n2", json_string("begun x"));
	r = react_new(base, NULL, &o);
	react_load(r, settings);
	react_bad(r, "n1", "slow");
	react_bad(r, "n2", "slow");
	run(r, 100);
	assert_null(strstr(get("log"), "nodename=n1"));
	assert_non_null(strstr(get("log"), "nodename=n2 state=drain"));
	assert_int_equal(json_object_size(r->done), 2);
	react_well(r, "n1");
	run(r, 100);
	assert_non_null(strstr(get("log"), "nodename=n1 state=resume"));
	react_free(r);

	o = options(REACT_COMMAND);
	json_object_clear(settings);
	json_object_set_new(settings, "react/n3",
	    json_string("begun 2026-11-20T19:12:00.250Z"));
	json_object_set_new(settings, "react/n4", json_string("undoing x"));
	for (int life = 0; life < 2;
	     life++) { /* the first process sets the reason */
		json_t *had = json_deep_copy(settings);

		r = react_new(base, NULL, &o);
		react_load(r, had);
		react_bad(r, "n3", "slow");
		react_well(r, "n4");
		assert_true(TAILQ_EMPTY(&r->tasks));
		assert_int_equal(json_object_size(settings), 1);
		assert_string_equal(json_string_value(
					json_object_get(settings, "react/n3")),
		    "2026-11-20T19:12:00.250Z");
		assert_true((strstr(events, "n3 result unknown") != NULL &&
				strstr(events, "n4 undo: result unknown") !=
				    NULL) == (life == 0));
		events[0] = '\0';
		react_free(r);
		json_decref(had);
	}
	event_base_free(base);
}

/* 2 % of 100 nodes are 2 in an hour, though 4 would be allowed. */
static void
test_limits(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r;

	(void)state;
	o.share_per_hour = 0.02;
	r = react_new(base, NULL, &o);
	for (int i = 1; i <= 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		put(name, "idle|none\n", 0644);
		react_bad(r, name, "slow");
	}
	run(r, 100);
	assert_int_equal(json_object_size(r->done), 2);
	assert_string_equal(get("n3"), "idle|none\n");
	assert_non_null(
	    strstr(events, "n3 delayed: limit of 2 nodes per hour"));
	react_well(r, "n3"); /* before its turn came */
	assert_true(TAILQ_EMPTY(&r->tasks));
	react_bad(r, "n3", "slow");
	for (size_t i = 0; i < REACT_BEGUN; i++) /* an hour passes */
		if (r->begun_ns[i] != 0)
			r->begun_ns[i] -= HOUR_NS;
	run(r, 100);
	assert_int_equal(json_object_size(r->done), 3);
	react_free(r);
	event_base_free(base);
}

static void
test_dry_run(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r;

	(void)state;
	o.dry_run = 1;
	r = react_new(base, NULL, &o);
	react_bad(r, "n1", "slow");
	run(r, 100);
	react_bad(r, "n1", "slow");
	run(r, 100);
	assert_string_equal(events, "n1 dry run, would act: slow\n");
	assert_int_equal(json_object_size(settings), 0);
	react_well(r, "n1");
	run(r, 100);
	assert_non_null(strstr(events, "n1 dry run, would undo"));
	assert_string_equal(get("log"), "");
	react_free(r);
	event_base_free(base);
}

/* If a program is missing or fails, it is retried later, and no state is
 * stored. */
static void
test_failure(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);
	char path[128];

	(void)state;
	react_bad(r, "n9", "slow"); /* sinfo does not know it */
	run(r, 100);
	assert_non_null(strstr(events,
	    "n9 failed; retrying: sinfo: exit 1: invalid node n9"));
	assert_int_equal(json_object_size(r->done), 0);
	assert_false(TAILQ_EMPTY(&r->tasks));
	snprintf(path, sizeof(path), "%s/sinfo", dir);
	unlink(path);
	TAILQ_FIRST(&r->tasks)->not_before_ns = 0;
	run(r, 100);
	assert_non_null(strstr(events, "No such file"));
	/* That it was done is still known when undoing it has failed. */
	react_done_set(r, "n8", 0);
	react_well(r, "n8");
	run(r, 100);
	assert_int_not_equal(strncmp(json_string_value(
					 json_object_get(settings, "react/n8")),
				 "undoing ", strlen("undoing ")),
	    0);
	react_free(r);
	event_base_free(base);
}

/* An error of Slurm is not a state of a node. */
static void
test_complaints(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);
	char script[300];

	(void)state;
	snprintf(script, sizeof(script),
	    "#!/bin/sh\necho 'sinfo: error: idle|obsolete option' >&2\n"
	    "cat %s/$4\n",
	    dir);
	put("sinfo", script, 0755);
	put("n1", "drained|disk full\n", 0644);
	put("n2", "", 0644);
	put("n3", "idle|none\n", 0644);
	react_bad(r, "n1", "slow");
	react_bad(r, "n2", "slow");
	react_bad(r, "n3", "slow");
	run(r, 100);
	assert_non_null(strstr(events,
	    "n1 skipped: its state in Slurm is drained|disk full"));
	assert_non_null(strstr(events, "n2 failed"));
	assert_non_null(strstr(events, "n3 drained in Slurm"));
	react_free(r);
	event_base_free(base);
}

/* Slurm reports a failure, but has drained the node: the drain still counts as
 * our own. */
static void
test_done_unsaid(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);
	char script[600];

	(void)state;
	snprintf(script, sizeof(script),
	    "#!/bin/sh\necho \"$@\" >>%s/log\nn=${2#nodename=}\n"
	    "case $3 in state=drain) echo \"drained|${4#reason=}\" >%s/$n;\n"
	    "echo 'Socket timed out' >&2; exit 1;; esac\n"
	    "echo 'idle|none' >%s/$n\n",
	    dir, dir, dir);
	put("scontrol", script, 0755);
	put("n1", "idle|none\n", 0644);
	put("n2", "idle|none\n", 0644);
	react_bad(r, "n1", "slow");
	react_bad(r, "n2", "slow");
	run(r, 100);
	assert_non_null(strstr(events, "n1 failed"));
	assert_non_null(strstr(events, "Socket timed out"));
	react_well(r, "n1");
	run(r, 100);
	assert_non_null(strstr(get("log"), "nodename=n1 state=resume"));
	/* the next check finds that it was done */
	TAILQ_FIRST(&r->tasks)->not_before_ns = 0;
	run(r, 100);
	assert_non_null(strstr(events, "n2 drained in Slurm"));
	assert_non_null(json_object_get(r->done, "n2"));
	react_free(r);
	event_base_free(base);
}

/* A node changes its state during a query to Slurm: the last state counts. */
static void
test_turns(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	put("n1", "idle|none\n", 0644);
	react_bad(r, "n1", "slow");
	react_tick(r, 100);
	assert_non_null(r->now);
	react_well(r, "n1");
	run(r, 100);
	assert_non_null(strstr(get("log"), "state=resume"));
	assert_int_equal(json_object_size(r->done), 0);
	assert_int_equal(json_object_size(settings), 0);
	react_bad(r, "n1", "slow");
	react_tick(r, 100);
	react_well(r, "n1");
	react_bad(r, "n1", "slow");
	run(r, 100);
	assert_string_equal(get("n1"), "drained|coalmine: bad, slow\n");
	react_well(r, "n1");
	react_tick(r, 100);
	react_bad(r, "n1", "slower");
	run(r, 100);
	assert_string_equal(get("n1"), "drained|coalmine: bad, slower\n");
	react_free(r);
	event_base_free(base);
}

/* A collector that ends and begins again drains no more for that. */
static void
test_limit_of_lives(void **state)
{
	struct react_options o = options("slurm-drain");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	o.nodes_per_hour = 1;
	put("n1", "idle|none\n", 0644);
	put("n2", "idle|none\n", 0644);
	react_bad(r, "n1", "slow");
	run(r, 100);
	react_free(r);
	r = react_new(base, NULL, &o);
	react_load(r, settings);
	react_bad(r, "n2", "slow");
	run(r, 100);
	assert_non_null(strstr(events, "n2 delayed"));
	react_free(r);
	event_base_free(base);
}

static void
test_command(void **state)
{
	struct react_options o = options(REACT_COMMAND);
	struct event_base *base = event_base_new();
	struct react *r;
	char command[200];

	(void)state;
	snprintf(command, sizeof(command),
	    "echo \"$COALMINE_NODE $COALMINE_VERDICT $COALMINE_TEXT\" >>%s/log",
	    dir);
	o.command = command;
	r = react_new(base, NULL, &o);
	react_bad(r, "n1", "slow; touch /x $(id)");
	run(r, 100);
	react_well(r, "n1");
	run(r, 100);
	assert_string_equal(get("log"),
	    "n1 bad slow; touch /x $(id)\nn1 ok has recovered\n");
	react_free(r);
	event_base_free(base);
}

/* By default the collector takes no action and prints nothing. */
static void
test_none(void **state)
{
	struct react_options o = options("none");
	struct event_base *base = event_base_new();
	struct react *r = react_new(base, NULL, &o);

	(void)state;
	react_bad(r, "n1", "slow");
	react_tick(r, 100);
	react_well(r, "n1");
	react_tick(r, 100);
	assert_string_equal(events, "");
	react_free(r);
	event_base_free(base);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drain_and_resume, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_domains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_over, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_begun, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dry_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_complaints, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_done_unsaid, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit_of_lives, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
