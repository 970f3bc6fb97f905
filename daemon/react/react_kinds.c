/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react_kinds.c - the kinds of reactions. A node's name has only letters,
 * digits, '.', '-' and '_' (hostlist.h). A verdict's text is passed to Slurm
 * without quotes and line ends, as one argument, without a shell.
 */
#include <stdio.h>
#include <string.h>

#include "common/hostname.h"
#include "common/str.h"
#include "daemon/cluster/roster.h"
#include "daemon/react/react_int.h"
#include "daemon/store/store.h"

#define TEXT_MAX 400

static char path_env[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char locale_env[] = "LC_ALL=C";

static void
react_kinds_first_line(const char *out, char ret[TEXT_MAX])
{
	snprintf(ret, TEXT_MAX, "%.*s", (int)strcspn(out, "\n"), out);
}

static void
react_kinds_ended_cb(int status, const char *out, void *arg)
{
	char line[TEXT_MAX], text[TEXT_MAX + 32];
	struct react *r = arg;

	react_kinds_first_line(out, line);
	if (status == 0) {
		react_finish(r, REACT_DONE, r->now->text);
		return;
	}
	snprintf(text, sizeof(text), "exit %d: %s", status, line);
	react_finish(r, REACT_FAILED, text);
}

static void
react_kinds_command_begin(struct react *r, const struct react_task *t)
{
	char node[300], text[340], what[40], command[4100];
	char shell[] = "/bin/sh", flag[] = "-c";
	char *argv[] = { shell, flag, command, NULL };
	char *env[] = { path_env, locale_env, node, text, what, NULL };

	snprintf(command, sizeof(command), "%s", r->o.command);
	snprintf(node, sizeof(node), "COALMINE_NODE=%s", t->node);
	snprintf(text, sizeof(text), "COALMINE_TEXT=%s", t->text);
	snprintf(what, sizeof(what), "COALMINE_VERDICT=%s",
	    t->undo ? "ok" : "bad");
	react_spawn(r, argv, env, react_kinds_ended_cb);
}

static void
react_kinds_slurm_run(struct react *r, const char *program, char *const *more,
    spawn_cb *cb)
{
	react_spawned(r,
	    slurm_call(r->base, &r->o.slurm, program, more, cb, r));
}

/* "bad" first, then the part, short: sinfo -R shows 20 characters. */
static void
react_kinds_update(struct react *r)
{
	const struct react_task *t = r->now;
	char verb[] = "update", node[300], state[40], reason[TEXT_MAX];
	char *more[] = { verb, node, state, reason, NULL };

	if (!store_leads(r->store)) {
		react_finish(r, REACT_FAILED,
		    "another collector may be active");
		return;
	}
	snprintf(node, sizeof(node), "nodename=%s", r->slurm_node);
	snprintf(state, sizeof(state), "state=%s",
	    t->undo ? "resume" : "drain");
	snprintf(reason, sizeof(reason), "reason=" REACT_MARK " bad, %s",
	    t->text);
	for (char *c = reason; *c != '\0'; c++)
		if (*c == '"' || *c == '\'' || *c == '\\' || *c < ' ')
			*c = ' ';
	if (t->undo)
		more[3] = NULL;
	react_kinds_slurm_run(r, "scontrol", more, react_kinds_ended_cb);
}

static int
react_kinds_has_word(const char *state, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strncmp(state, *words, strlen(*words)) == 0)
			return 1;
	return 0;
}

/* Return 1 if the node may be changed. "STATE|REASON" is from sinfo. Flags
 * after the state: @ and ^ reboot, # powering up, $ maintenance, - planned. */
static int
react_kinds_is_ours_to_touch(const struct react_task *t, const char *line)
{
	static const char *const taken[] = { "drain", "down", "fail", "maint",
		"reboot", "planned", "future", "power", "unknown", "error",
		"inval", NULL };
	size_t word = strcspn(line, "|");
	int marked = strncmp(line + word, "|" REACT_MARK,
			 strlen("|" REACT_MARK)) == 0;
	int drained = strncmp(line, "drain", 5) == 0;

	if (t->undo)
		return marked && drained;
	if (react_kinds_has_word(line, taken))
		return 0;
	return strcspn(line, "@^#$-%!") >= word;
}

/* line: "STATE|REASON" of the node. */
static void
react_kinds_decide(struct react *r, const char *line)
{
	char text[TEXT_MAX + 32];

	if (!r->now->undo && strncmp(line, "drain", 5) == 0 &&
	    strstr(line, "|" REACT_MARK) != NULL &&
	    json_object_get(r->begun, r->now->node) != NULL) {
		react_finish(r, REACT_DONE, r->now->text);
		return;
	}
	if (!react_kinds_is_ours_to_touch(r->now, line)) {
		snprintf(text, sizeof(text), "its state in Slurm is %s", line);
		react_finish(r, REACT_LEFT, text);
		return;
	}
	react_kinds_update(r);
}

/* Find the node in lines "NODE|STATE|REASON" by common/hostname.h; ret is its
 * line, or "" if Slurm has no or several such nodes. */
static void
react_kinds_find_line(struct react *r, const char *out, char ret[TEXT_MAX])
{
	char name[sizeof(r->slurm_node)];

	ret[0] = '\0';
	for (size_t len; *out != '\0'; out += len + (out[len] == '\n')) {
		size_t bytes = strcspn(out, "|\n");

		len = strcspn(out, "\n");
		if (out[bytes] != '|' || bytes >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)bytes, out);
		if (!hostname_is_same(name, r->now->node))
			continue;
		if (ret[0] != '\0' && strcmp(name, r->slurm_node) != 0) {
			ret[0] = '\0';
			return;
		}
		strcpy(r->slurm_node, name);
		react_kinds_first_line(out + bytes + 1, ret);
	}
}

static void
react_kinds_listed_cb(int status, const char *out, void *arg)
{
	struct react *r = arg;
	char line[TEXT_MAX], text[TEXT_MAX + 32];

	react_kinds_find_line(r, status == 0 ? out : "", line);
	if (line[0] != '\0') {
		react_kinds_decide(r, line);
		return;
	}
	if (status != 0)
		react_kinds_first_line(out, line);
	snprintf(text, sizeof(text), "sinfo: exit %d: %s", status,
	    status != 0 ? line : "Slurm has no such node");
	react_finish(r, REACT_FAILED, text);
}

/* Other programs may use another domain for the node. */
static int
react_kinds_is_alone(const struct react *r)
{
	const struct node *n = r->roster == NULL
	    ? NULL
	    : roster_find(r->roster, r->now->node);

	return n != NULL && roster_is_alone(r->roster, n);
}

static void
react_kinds_looked_cb(int status, const char *out, void *arg)
{
	char h[] = "-h", N[] = "-N", o[] = "-o", format[] = "%N|%T|%E";
	char *more[] = { h, N, o, format, NULL };
	struct react *r = arg;
	char line[TEXT_MAX], text[TEXT_MAX + 32];

	react_kinds_first_line(out, line);
	if (strchr(line, '|') != NULL && status == 0) {
		react_kinds_decide(r, line);
		return;
	}
	if (status == 0 && react_kinds_is_alone(r)) {
		react_kinds_slurm_run(r, "sinfo", more, react_kinds_listed_cb);
		return;
	}
	snprintf(text, sizeof(text), "sinfo: exit %d: %s", status, line);
	react_finish(r, REACT_FAILED, text);
}

/* Check the state first: actions of others must not be changed. */
static void
react_kinds_slurm_begin(struct react *r, const struct react_task *t)
{
	char h[] = "-h", N[] = "-N", n[] = "-n", o[] = "-o";
	char format[] = "%T|%E", node[256];
	char *more[] = { h, N, n, node, o, format, NULL };

	snprintf(node, sizeof(node), "%s", t->node);
	strcpy(r->slurm_node, node);
	react_kinds_slurm_run(r, "sinfo", more, react_kinds_looked_cb);
}

static const struct react_kind kinds[] = {
	{ REACT_COMMAND, "command run", "command run", 0,
	    react_kinds_command_begin },
	{ "slurm-drain", "drained in Slurm", "resumed in Slurm", 1,
	    react_kinds_slurm_begin },
};

const struct react_kind *
react_kinds_find(const char *action)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].action, action) == 0)
			return &kinds[i];
	return NULL;
}
