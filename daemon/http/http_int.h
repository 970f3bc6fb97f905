/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_int.h - shared declarations of the HTTP interface, private to
 * daemon/http. http_parse.c, http_answer.c and http_conn.c handle bytes and
 * connections; the other files answer the routes.
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
#include "daemon/http/http_parse.h"
#include "daemon/store/store.h"
#include "daemon/api/api.h"

/* ---- http_conn.c: connections ----
 *
 * Every connection is counted, and limited in memory and time. A request is
 * answered exactly once, immediately or later. Its owner ends it with
 * http_reply, http_stream_end or http_drop, even if its connection is closed.
 */

/* Rights of a client. */
enum http_right { HTTP_MAY_NOTHING, HTTP_MAY_READ, HTTP_MAY_ORDER };

/* How it arrived. TCP may read. On a unix socket root and our own user may
 * order, other users may read. On TLS the role of the certificate decides. */
enum http_door { HTTP_DOOR_TCP, HTTP_DOOR_UNIX, HTTP_DOOR_TLS };

struct http_conn;
struct http_conns;

/* A request. */
struct http_request {
	struct http_head head;
	struct evbuffer *body; /* head.body_bytes of it */
	enum http_right right;
	enum http_door door;
	char who[160];          /* for the event log: "uid 0", "alice", ... */
	const char *name;       /* of the route, for counts */
	struct http_conn *conn; /* NULL: closed */
	/* Time that its answer took the loop; 0: it was not made at once. */
	uint64_t made_ns;
	struct account *account; /* charged for its time; or NULL */
};

/* The callee becomes the owner of the request. */
typedef void http_request_cb(struct http_request *req, void *arg);
/* Callbacks of connections. */
struct http_conns_ops {
	http_request_cb *request;
	/* The client of a pending request has disconnected. */
	http_request_cb *gone;
	/* Called once for every answer; req is NULL if the request was
	 * malformed. The bytes that it leaves in body count towards the memory
	 * limit of answers, unless it sets *ret_shared to 1. */
	void (*answered)(const struct http_request *req,
	    const struct http_answer *a, struct evbuffer *body, int *ret_shared,
	    void *arg);
};

/* Return a set of connections, at most max, which the caller frees. ops and arg
 * must outlive it. */
struct http_conns *http_conns_new(struct event_base *base, int max,
    const struct http_conns_ops *ops, void *arg);
void http_conns_free(struct http_conns *cs); /* NULL is allowed */
/* Accept connections on a listening socket, which is taken. Return 0 or
 * -errno. */
int http_conns_listen(struct http_conns *cs, enum http_door door, int fd);
/* Set the context of future connections; takes a reference. */
void http_conns_set_tls(struct http_conns *cs, SSL_CTX *ctx);
int http_conns_count(const struct http_conns *cs);

/* Send an answer and end the request. Takes body, which may be NULL. */
void http_reply(struct http_request *req, const struct http_answer *a,
    struct evbuffer *body);
/* Send the error {"error": {cause, message}} and end the request. */
void http_fail(struct http_request *req, int status, const char *cause,
    const char *message);
/* Set a longer time limit for the answer. */
void http_allow(struct http_request *req, uint64_t limit_ns);
/* Return 1 if the client has disconnected. */
int http_gone(const struct http_request *req);
/* Free the request and close its connection without an answer. */
void http_drop(struct http_request *req);

/* An answer in pieces. After begin and every add, more is called when the
 * client has received everything so far, or has disconnected. */
/* Begin the answer. Return 0, or -EAGAIN if slow clients hold too much memory;
 * the caller then replies with an error. */
int http_stream_begin(struct http_request *req, const struct http_answer *a,
    http_request_cb *more, void *arg);
void http_stream_add(struct http_request *req, struct evbuffer *piece);
void http_stream_end(struct http_request *req);

/* ---- routes ---- */

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
	const char *name; /* in metrics; short and stable */
	enum http_method method;
	const char *pattern; /* '*' is one segment */
	enum http_right right;
	http_handler *handle;
	json_t *(*list)(struct api *api);
	json_t *(*one)(struct api *api, const char *part);
	const char *missing; /* error text if one returns NULL */
	enum store_question ask;
	const char *const *args; /* as of http_args; the store's answer */
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
