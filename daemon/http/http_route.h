/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_route.h - what the files behind the routes share.
 */
#ifndef DAEMON_HTTP_HTTP_ROUTE_H
#define DAEMON_HTTP_HTTP_ROUTE_H

#include <jansson.h>

#include "daemon/export/metrics.h"
#include "daemon/http/http_conn.h"
#include "daemon/store/store.h"
#include "daemon/view/view.h"

struct http {
	struct event_base *base;
	struct http_conns *conns;
	struct view *view;
	struct store *store;
	struct metrics_http counts;
	char *socket; /* path to remove at the end, or NULL */
};

/* part: what stood for '*' in the pattern, decoded, or NULL. */
typedef void http_handler(struct http *h, struct http_request *req,
    const char *part);

struct http_route {
	const char *name; /* in metrics; short and stable */
	enum http_method method;
	const char *pattern; /* '*' is one segment */
	enum http_right right;
	http_handler *handle;
};

/* http_read.c: state, and what was stored */
http_handler http_get_metrics, http_get_health, http_get_version,
    http_get_campaigns, http_get_campaign, http_get_runs, http_get_run,
    http_get_counters, http_get_events, http_get_schedule, http_get_diags,
    http_get_impacts, http_get_check, http_get_nodes, http_get_node,
    http_get_targets, http_get_forecast, http_get_budget, http_get_coverage,
    http_get_canaries, http_get_baselines, http_get_baseline, http_get_verdicts,
    http_get_verdict_history;
/* http_records.c: all records of a run, in pieces */
http_handler http_get_records;
/* http_page.c: the page's files */
http_handler http_get_page, http_get_asset;
/* http_orders.c: doing */
http_handler http_post_run, http_post_validate, http_post_cancel,
    http_post_enable, http_post_disable, http_post_stop, http_post_backup,
    http_post_baseline, http_post_unpin;

/* Takes value; NULL is an error of our own. */
void http_reply_json(struct http_request *req, int status, json_t *value);
/* Answer an -errno with the status and cause that belong to it. */
void http_fail_errno(struct http_request *req, int rc, const char *message);
/* Ask the store and answer with what it says, at once or later. Takes args. */
void http_ask(struct http *h, struct http_request *req,
    enum store_question what, json_t *args);
/* Members of args from the query: names end with NULL; a '#' before one means
 * a whole number. 0, or -EINVAL after answering. */
int http_args(struct http_request *req, json_t *args, const char *const *names);

#endif
