/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_nodes.c - nodes: all that is known of them, in few words for the page's
 * grid, and as targets for Prometheus' HTTP service discovery.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "daemon/http/http_route.h"

#define PORT_MAX     65535
#define PORT_DEFAULT "9100" /* node_exporter's: what every node has */

/* Ten thousand of these are a megabyte, of the whole ones sixteen. */
static json_t *
brief(const struct view_node *n)
{
	json_t *o = json_pack("{s:s,s:s,s:I,s:s}", "node", n->name, "state",
	    names_agent_states[n->state], "since_unix_ns",
	    (json_int_t)n->since_unix_ns, "verdict",
	    names_verdicts[n->verdict]);

	if (o == NULL)
		return NULL;
	if (n->leaf[0] != '\0')
		json_object_set_new(o, "leaf", json_string(n->leaf));
	if (!isnan(n->score))
		json_object_set_new(o, "score", json_real(n->score));
	return o;
}

static json_t *
brief_list(struct view *view)
{
	const struct view_node *nodes;
	size_t count = view_node_list(view, &nodes);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, brief(&nodes[i]));
	return list;
}

void
http_get_nodes(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "brief");
	int is_brief = 0;

	(void)part;
	if (text != NULL && str_to_bool(text, &is_brief) < 0)
		http_fail(req, 400, "config", "brief must be yes or no");
	else
		http_reply_json(req, 200,
		    is_brief ? brief_list(h->view) : view_nodes(h->view));
}

void
http_get_node(struct http *h, struct http_request *req, const char *part)
{
	json_t *node = view_node(h->view, part);

	if (node == NULL)
		http_fail(req, 404, "not-found",
		    "no agent of that name was ever seen");
	else
		http_reply_json(req, 200, node);
}

static json_t *
target(const struct view_node *n, int64_t port)
{
	char at[300];

	snprintf(at, sizeof(at), "%s:%lld", n->name, (long long)port);
	return json_pack("{s:[s],s:{s:s,s:s,s:s}}", "targets", at, "labels",
	    "__meta_coalmine_node", n->name, "__meta_coalmine_leaf", n->leaf,
	    "__meta_coalmine_state", names_agent_states[n->state]);
}

/* Agents listen on no port: the targets are what a site runs on its nodes
 * beside them, so that all of it is known by the same names. Lost nodes stay
 * in the list: that they do not answer is for Prometheus to find. */
void
http_get_targets(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "port");
	json_t *list = json_array();
	const struct view_node *nodes;
	size_t count = view_node_list(h->view, &nodes);
	int64_t port;

	(void)part;
	if (str_to_int(text != NULL ? text : PORT_DEFAULT, 1, PORT_MAX, &port) <
	    0) {
		json_decref(list);
		http_fail(req, 400, "config", "port must be 1 to 65535");
		return;
	}
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, target(&nodes[i], port));
	http_reply_json(req, 200, list);
}
