/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c - nodes are filtered here, so that a hostlist works for thousands; for
 * a rollout it lists the agents that may be replaced now, and the reasons for
 * the others.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"
#include "schema/names_verdict.h"

/* Return the names of a hostlist that do not belong to a node, as a hostlist,
 * which the caller frees, and their number. */
static char *
node_unseen(const struct hostlist *hl, const json_t *nodes, size_t *ret_count)
{
	const char **names = xcalloc(hl->count + 1, sizeof(*names));
	json_t *seen = json_object(), *node;
	size_t i, count = 0;
	char *text;

	json_array_foreach (nodes, i, node)
		json_object_set_new(seen, print_member(node, "node", ""),
		    json_true());
	for (i = 0; i < hl->count; i++)
		if (json_object_get(seen, hl->names[i]) == NULL)
			names[count++] = hl->names[i];
	text = hostlist_format(names, count);
	free(names);
	json_decref(seen);
	*ret_count = count;
	return text;
}

/* A name that was never seen is more often a slip than a node to come. Return 1
 * if all names are such. */
static int
node_tell_unseen(const struct hostlist *hl, const json_t *nodes)
{
	size_t count;
	char *text = node_unseen(hl, nodes, &count);

	if (count > 0)
		fprintf(stderr,
		    "coalctl: no agent has ever connected from: %s\n", text);
	free(text);
	return count > 0 && count == hl->count;
}

/* Drop the nodes that --state or the hostlist leave out. 0 or an exit code. */
static int
node_filter(struct ctl *c, json_t *nodes)
{
	const char *state = opts_value(&c->opts, OPT_STATE);
	struct hostlist hl = { 0 };
	struct err err;
	int rc = 0;

	if (c->args_count > 0 && hostlist_parse(c->args[0], &hl, &err) < 0)
		return ctl_fail("%s: %s", c->args[0], err.text);
	if (node_tell_unseen(&hl, nodes))
		rc = EXIT_CODE_UNKNOWN;
	for (size_t i = json_array_size(nodes); i-- > 0;) {
		const json_t *node = json_array_get(nodes, i);

		if ((hl.count > 0 &&
			!hostlist_has(&hl, print_member(node, "node", ""))) ||
		    (state != NULL &&
			strcmp(state, print_member(node, "state", "")) != 0))
			json_array_remove(nodes, i);
	}
	hostlist_clear(&hl);
	return rc;
}

static const char *
node_work_of(const json_t *node, char *scratch)
{
	const json_t *m = json_object_get(node, "maintenance");
	char at[PRINT_BYTES];

	if (m == NULL)
		return print_member(node, "run",
		    print_member(node, "busy", "-"));
	print_time(m, "until_unix_ns", at);
	snprintf(scratch, PRINT_BYTES, "until %.19s: %.36s", at,
	    print_member(m, "text", ""));
	return scratch;
}

/* Return the verdict, and a pending state before its begin or end. */
static const char *
node_verdict_of(const json_t *node, char *scratch)
{
	const char *verdict = print_member(node, "verdict", "-");
	const char *pending = print_member(node, "pending", NULL);

	if (pending == NULL)
		return verdict;
	snprintf(scratch, PRINT_BYTES, "%s, %s", verdict, pending);
	return scratch;
}

static const struct print_column columns[] = {
	{ "node", "node", "?", PRINT_TEXT, NULL },
	{ "state", "state", "?", PRINT_TEXT, NULL },
	{ "verdict", NULL, NULL, PRINT_OF, node_verdict_of },
	{ "leaf", "leaf", "-", PRINT_TEXT, NULL },
	{ "since", "since_unix_ns", NULL, PRINT_TIME, NULL },
	{ "last seen", "last_seen_unix_ns", NULL, PRINT_TIME, NULL },
	{ ">load", "load", NULL, PRINT_NUMBER, NULL },
	{ ">score", "score", NULL, PRINT_NUMBER, NULL },
	{ "run", NULL, NULL, PRINT_OF, node_work_of },
	{ "software", "software", "-", PRINT_TEXT, NULL },
	{ "address", "addr", "-", PRINT_TEXT, NULL },
	{ 0 },
};

/* A line for each value of a member, in the order of its first node. */
static void
node_print_folded(const json_t *nodes, const char *key)
{
	char *heads = xasprintf("%s|>nodes|hosts", key);
	struct table *t = table_new(heads);
	json_t *by = json_object(), *node, *names;
	const char *value;
	size_t i;

	json_array_foreach (nodes, i, node) {
		value = print_member(node, key, "-");
		if (json_object_get(by, value) == NULL)
			json_object_set_new(by, value, json_array());
		json_array_append(json_object_get(by, value),
		    json_object_get(node, "node"));
	}
	json_object_foreach (by, value, names) {
		char *text = print_hostlist(names, NULL);

		table_cell(t, "%s", value);
		table_cell(t, "%zu", json_array_size(names));
		table_cell(t, "%s", text);
		free(text);
	}
	table_print(t, stdout);
	table_free(t);
	json_decref(by);
	free(heads);
}

static int
node_list(struct ctl *c)
{
	json_t *nodes;
	int rc = ctl_get(c, "nodes", NULL, &nodes);

	if (rc != 0)
		return rc;
	rc = node_filter(c, nodes);
	if (rc == 0 &&
	    (opts_given(&c->opts, OPT_JSON) ||
		(!opts_given(&c->opts, OPT_SOFTWARE) &&
		    !opts_given(&c->opts, OPT_FOLD))))
		return print_list(c, nodes, columns, NULL);
	if (rc == 0)
		node_print_folded(nodes,
		    opts_given(&c->opts, OPT_SOFTWARE) ? "software" : "state");
	json_decref(nodes);
	return rc;
}

/* Print a value on a separate line; each member of an object gets its own
 * line. */
static void
node_print_value(const char *name, json_t *v, int indent)
{
	char at[PRINT_BYTES];
	const char *key;
	json_t *item;
	size_t i, n = strlen(name);
	char *list = json_is_array(v) ? print_texts(v, ", ") : NULL;

	if (list != NULL) {
		printf("%*s%-*s %s\n", indent, "", 18 - indent, name,
		    list[0] == '\0' ? "-" : list);
		free(list);
	} else if (json_is_object(v)) {
		printf("%*s%s\n", indent, "", name);
		json_object_foreach (v, key, item)
			node_print_value(key, item, indent + 2);
	} else if (json_is_array(v)) {
		printf("%*s%s\n", indent, "", name);
		json_array_foreach (v, i, item)
			node_print_value("-", item, indent + 2);
	} else if (n > 8 && strcmp(name + n - 8, "_unix_ns") == 0) {
		json_t *time = json_pack("{s:O}", "t", v);

		print_time(time, "t", at);
		printf("%*s%-*.*s %s\n", indent, "", 18 - indent, (int)(n - 8),
		    name, at);
		json_decref(time);
	} else {
		char *text = json_dumps(v,
		    JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

		printf("%*s%-*s %s\n", indent, "", 18 - indent, name,
		    json_is_string(v) ? json_string_value(v) : text);
		free(text);
	}
}

static int
node_show(struct ctl *c)
{
	json_t *node, *v;
	const char *key;
	int rc;

	if (strpbrk(c->args[0], "[],") != NULL)
		return ctl_fail("node show takes one node, not %.60s; node "
				"list takes a hostlist",
		    c->args[0]);
	rc = ctl_get(c, "nodes/*", c->args[0], &node);
	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON)) {
		print_json(node);
	} else {
		json_object_foreach (node, key, v)
			node_print_value(key, v, 0);
	}
	json_decref(node);
	return EXIT_CODE_OK;
}

/* Reject a hostlist with a name that does not belong to a node: a mistyped list
 * would otherwise change half of the intended nodes, or all nodes. */
static int
node_order_check(struct ctl *c, const struct hostlist *hl)
{
	json_t *nodes;
	size_t count;
	char *text;
	int rc = ctl_get(c, "nodes", NULL, &nodes);

	if (rc != 0)
		return rc;
	text = node_unseen(hl, nodes, &count);
	if (count > 0)
		rc = ctl_fail("no node%s %s; nothing was changed; coalctl node "
			      "list shows the nodes",
		    count > 1 ? "s" : "", text);
	free(text);
	json_decref(nodes);
	return rc;
}

/* Send an order for each node of the hostlist; a failed one does not stop the
 * others. */
static int
node_order(struct ctl *c, const char *part, json_t *body, const char *done)
{
	struct hostlist hl = { 0 };
	int rc, worst, refused;
	json_t *answer;
	struct err err;

	if (hostlist_parse(c->args[0], &hl, &err) < 0)
		return ctl_fail("%s: %s", c->args[0], err.text);
	refused = worst = node_order_check(c, &hl);
	for (size_t i = 0; refused == 0 && i < hl.count; i++) {
		rc = ctl_post(c, part, hl.names[i], body, &answer);
		if (rc > worst)
			worst = rc;
		if (rc != 0)
			continue;
		json_decref(answer);
		printf("%s: %s\n", hl.names[i], done);
	}
	hostlist_clear(&hl);
	return worst;
}

static int
node_maintain(struct ctl *c)
{
	const char *span = opts_value(&c->opts, OPT_FOR);
	const char *reason = opts_value(&c->opts, OPT_REASON);
	json_t *body;
	char *done;
	int rc;

	if (opts_given(&c->opts, OPT_END))
		return span == NULL && reason == NULL
		    ? node_order(c, "nodes/*/maintain/end", NULL,
			  "maintenance ended")
		    : ctl_fail("--end takes neither --for nor --reason");
	if (span == NULL || reason == NULL)
		return ctl_fail(
		    "node maintain needs --for SPAN and --reason TEXT, for "
		    "example --for 8h --reason 'new cable'; or --end");
	body = json_pack("{s:s, s:s}", "for", span, "reason", reason);
	done = xasprintf("in maintenance for %s", span);
	rc = node_order(c, "nodes/*/maintain", body, done);
	free(done);
	json_decref(body);
	return rc;
}

static int
node_forget(struct ctl *c)
{
	return node_order(c, "nodes/*/forget", NULL, "forgotten");
}

/* Why the agent of a node should not be replaced now, or NULL. */
static const char *
node_upgrade_wait(const json_t *node, char scratch[ERR_TEXT_BYTES])
{
	const char *run = print_member(node, "run", NULL);

	if (strcmp(print_member(node, "state", ""),
		names_agent_states[AGENT_LOST]) == 0)
		return "is lost: repair the node first, otherwise a failed "
		       "upgrade would not be noticed";
	if (run == NULL)
		return NULL;
	snprintf(scratch, ERR_TEXT_BYTES,
	    "is in run %.64s: wait for the end of the run, or cancel the run",
	    run);
	return scratch;
}

/* A batch of a rollout: may it go now, and in which order goes what? */
static int
node_upgrade_check(struct ctl *c)
{
	json_t *nodes, *version, *ready = json_array(), *node;
	char scratch[ERR_TEXT_BYTES], *text;
	const char *own, *why;
	int older = 0, rc = ctl_get(c, "nodes", NULL, &nodes);
	size_t i;

	if (rc != 0)
		return rc;
	if (ctl_get(c, "version", NULL, &version) != 0) {
		json_decref(nodes);
		return EXIT_CODE_UNKNOWN;
	}
	own = print_member(version, "version", "?");
	rc = node_filter(c, nodes);
	if (rc == 0) {
		printf("collector: %s\n", own);
		node_print_folded(nodes, "software");
	}
	for (i = 0; rc == 0 && i < json_array_size(nodes); i++) {
		node = json_array_get(nodes, i);
		why = node_upgrade_wait(node, scratch);
		older |= strverscmp(print_member(node, "software", own), own) >
		    0;
		if (why == NULL)
			json_array_append(ready, json_object_get(node, "node"));
		else
			printf("not ready: %s %s\n",
			    print_member(node, "node", "?"), why);
	}
	if (rc == 0 && older)
		printf(
		    "not ready: agents are newer than the collector; upgrade "
		    "the collector first\n");
	text = print_hostlist(ready, NULL);
	if (rc == 0)
		printf("ready: %zu of %zu nodes%s%s\n", json_array_size(ready),
		    json_array_size(nodes), text[0] != '\0' ? ": " : "", text);
	if (rc == 0 &&
	    (older || json_array_size(ready) < json_array_size(nodes)))
		rc = EXIT_CODE_WARN;
	free(text);
	json_decref(ready);
	json_decref(nodes);
	json_decref(version);
	return rc;
}

const struct verb verbs_node[] = {
	{ "node", "list", "[HOSTS]", 0, 1,
	    "json state fold software where sort", "nodes",
	    "List all nodes, or the nodes of a hostlist, with their states.",
	    NULL, node_list },
	{ "node", "show", "NODE", 1, 1, "json", "nodes",
	    "Show the state of a node: agent, verdict, measurements "
	    "and inventory.",
	    NULL, node_show },
	{ "node", "upgrade-check", "[HOSTS]", 0, 1, "", "nodes",
	    "Check whether the agents of these nodes can be upgraded now.",
	    "The output has the version of the collector, the nodes by "
	    "version of their agents, a line not ready: NODE with the "
	    "reason for each node that must not be upgraded now, and "
	    "the nodes that are ready. Upgrade the collector first: it "
	    "accepts agents of the same version and of the previous "
	    "one. All nodes of a run must have the same version. The "
	    "exit code is 1 if some nodes are not ready.",
	    node_upgrade_check },
	{ "node", "maintain", "HOSTS", 1, 1, "for reason end", "nodes",
	    "Put nodes into maintenance, or end their maintenance.",
	    "A node in maintenance is not chosen for runs, is not judged and "
	    "raises no alarm, whether its agent is connected or not. An open "
	    "incident of the node is closed. A run that uses the node "
	    "continues. Maintenance ends automatically after --for; a second "
	    "order replaces the first. Maintenance survives restarts and "
	    "failover of the collector. Lists show the state maintenance. If "
	    "a name is not a node, nothing is changed.",
	    node_maintain },
	{ "node", "forget", "HOSTS", 1, 1, "", "nodes",
	    "Remove nodes that no longer exist.",
	    "The agent must be stopped first. If a name is not a node, nothing "
	    "is changed. Records and events of earlier "
	    "runs remain until their retention ends. If the agent connects "
	    "again, the node is added again; to prevent this, revoke its "
	    "certificate with pki revoke.",
	    node_forget },
	{ 0 },
};
