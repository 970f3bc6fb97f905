/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_int.h - the routes of the HTTP interface and the files that answer them.
 */
#ifndef DAEMON_HTTP_HTTP_INT_H
#define DAEMON_HTTP_HTTP_INT_H

#include <event2/buffer.h>
#include <jansson.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "common/account.h"
#include "common/queue.h"
#include "daemon/export/metrics.h"
#include "daemon/http/http.h"
#include "daemon/http/http_answer.h"
#include "daemon/http/http_conn.h"
#include "daemon/http/http_parse.h"
#include "daemon/store/store.h"
#include "daemon/api/api.h"

struct http {
	struct event_base *base;
	struct http_conns *conns;
	struct api *api;
	struct store *store;
	struct metrics_http counts;
	char *socket;       /* path to remove at the end, or NULL */
	char *hosts;        /* accepted values of the Host header */
	char own_name[256]; /* this host's name, accepted too */
	char *jobs_proxy;   /* client trusted for X-Forwarded-User */
	TAILQ_HEAD(, http_kept) kept;
	int giving; /* a cached answer is being sent */
	/* Time of requests with parameters, and of those with a body. */
	struct account spent[2];
};

/* part: the decoded path segment that matches '*', or NULL. */
typedef void http_handler(struct http *h, struct http_request *req,
    const char *part);

/* A route has exactly one of handle, list, one and ask. */
struct http_route {
	const char *name; /* name in metrics; short and stable */
	enum http_method method;
	const char *pattern; /* '*' is one segment */
	enum http_right right;
	http_handler *handle;
	json_t *(*list)(struct api *api);
	json_t *(*one)(struct api *api, const char *part);
	const char *missing; /* error text if one returns NULL */
	enum store_question ask;
	const char *const *args; /* names for http_args; the store answers */
	int is_live;             /* only the active collector can answer */
};
/* The last row has name NULL. */
extern const struct http_route http_routes[], http_orders_routes[];

/* http_read.c: state and stored data */
http_handler http_get_metrics, http_get_health, http_get_version, http_get_runs,
    http_get_run, http_post_check, http_get_counters, http_get_diags,
    http_get_nodes, http_get_targets, http_get_forecast, http_get_clusters,
    http_get_baseline, http_get_verdicts, http_get_faults;
/* http_jobs.c: jobs, restricted to permitted users */
enum http_jobs { HTTP_JOBS_NONE, HTTP_JOBS_OWN, HTTP_JOBS_ALL };
/* Return which jobs the client of a request may read: none, its own, or all. */
enum http_jobs http_jobs_seen(const struct http *h,
    const struct http_request *req);
http_handler http_get_jobs, http_get_job, http_get_worst, http_get_costs,
    http_get_nccl;
/* http_records.c: all records of a run, in pieces */
http_handler http_get_records;
/* http_page.c: the page's files */
http_handler http_get_page, http_get_asset;

/* Fail a request that only the active collector can handle; the error names
 * that collector. */
void http_fail_standby(struct http *h, struct http_request *req);
/* Send a JSON value as answer; takes value. NULL: send an internal error. */
void http_reply_json(struct http_request *req, int status, json_t *value);
/* Fail with the status and cause that correspond to an -errno. */
void http_fail_errno(struct http_request *req, int rc, const char *message);
/* Query the store and reply with its answer, immediately or later. Takes args.
 */
void http_ask(struct http *h, struct http_request *req,
    enum store_question what, json_t *args);
/* Copy parameters of the query to args. names end with NULL; '#' before a name
 * means a whole number. Return 0, or -EINVAL after replying with an error. */
int http_args(struct http_request *req, json_t *args, const char *const *names);

#endif
