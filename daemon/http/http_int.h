/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_int.h - what the files of the HTTP interface share; nobody else includes
 * it. Bytes to requests and back: http_parse.c, http_answer.c, http_conn.c;
 * what is behind the routes: the others.
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
 * Every connection is counted and bounded in memory and in time. A request is
 * answered exactly once, at once or later; whoever holds it ends it with
 * http_reply, http_stream_end or http_drop, also when its connection is gone.
 */

/* What a peer may do. */
enum http_right { HTTP_MAY_NOTHING, HTTP_MAY_READ, HTTP_MAY_ORDER };

/* Where it came from: TCP may read; a unix socket's peer may order when it is
 * root or our own user, others read; TLS by the role of the certificate. */
enum http_door { HTTP_DOOR_TCP, HTTP_DOOR_UNIX, HTTP_DOOR_TLS };

struct http_conn;
struct http_conns;

struct http_request {
	struct http_head head;
	struct evbuffer *body; /* head.body_bytes of it */
	enum http_right right;
	enum http_door door;
	char who[160];          /* for the event log: "uid 0", "alice", ... */
	const char *name;       /* of the route, for counts */
	struct http_conn *conn; /* NULL: gone */
};

/* A request is the callee's from here on. */
typedef void http_request_cb(struct http_request *req, void *arg);
/* What connections tell. */
struct http_conns_ops {
	http_request_cb *request;
	/* The request is held by somebody, and nobody waits for its answer. */
	http_request_cb *gone;
	/* Once for every answer; req is NULL when none was understood. Bytes
	 * that it leaves in body and does not own itself are counted against
	 * the memory of answers: *ret_shared is 1 else. */
	void (*answered)(const struct http_request *req,
	    const struct http_answer *a, struct evbuffer *body, int *ret_shared,
	    void *arg);
};

struct http_conns *http_conns_new(struct event_base *base, int max,
    const struct http_conns_ops *ops, void *arg);
void http_conns_free(struct http_conns *cs); /* NULL is allowed */
/* Takes the listening fd. */
int http_conns_listen(struct http_conns *cs, enum http_door door, int fd);
/* For connections to come; takes a reference. */
void http_conns_set_tls(struct http_conns *cs, SSL_CTX *ctx);
int http_conns_count(const struct http_conns *cs);

/* Takes body, which may be NULL. */
void http_reply(struct http_request *req, const struct http_answer *a,
    struct evbuffer *body);
/* {"error": {cause, message}} */
void http_fail(struct http_request *req, int status, const char *cause,
    const char *message);
/* More time than usual for an answer. */
void http_allow(struct http_request *req, uint64_t limit_ns);
/* 1 when nobody waits any more. */
int http_gone(const struct http_request *req);
void http_drop(struct http_request *req); /* frees; closes if not gone */

/* An answer in pieces. After begin and every add, more is called when the
 * peer has taken what there was, or is gone. */
void http_stream_begin(struct http_request *req, const struct http_answer *a,
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
	char *hosts;        /* names that requests may give as ours */
	char own_name[256]; /* likewise: this host's */
	char *jobs_proxy;   /* whose word for a user's name is believed */
	TAILQ_HEAD(, http_kept) kept;
	const struct http_request *making; /* while its handler runs */
	uint64_t making_ns;                /* since when */
	int giving;                        /* a kept answer goes out */
	/* By requests with parameters, and by those with a body. */
	struct account spent[2];
};

/* part: what stood for '*' in the pattern, decoded, or NULL. */
typedef void http_handler(struct http *h, struct http_request *req,
    const char *part);

/* One way to answer, of four. */
struct http_route {
	const char *name; /* in metrics; short and stable */
	enum http_method method;
	const char *pattern; /* '*' is one segment */
	enum http_right right;
	http_handler *handle;
	json_t *(*list)(struct api *api);
	json_t *(*one)(struct api *api, const char *part);
	const char *missing; /* what to say when one is NULL */
	enum store_question ask;
	const char *const *args; /* as of http_args; the store's answer */
	int is_live;             /* only the collector that leads can tell */
};
/* Each ends with a NULL name. */
extern const struct http_route http_routes[], http_orders_routes[];

/* http_read.c: state, and what was stored */
http_handler http_get_metrics, http_get_health, http_get_version, http_get_runs,
    http_get_run, http_post_check, http_get_counters, http_get_diags,
    http_get_nodes, http_get_targets, http_get_forecast, http_get_clusters,
    http_get_baseline, http_get_verdicts;
/* http_jobs.c: jobs, for those who may see them */
enum http_jobs { HTTP_JOBS_NONE, HTTP_JOBS_OWN, HTTP_JOBS_ALL };
enum http_jobs http_jobs_seen(const struct http *h,
    const struct http_request *req);
http_handler http_get_jobs, http_get_job, http_get_worst, http_get_costs,
    http_get_nccl;
/* http_records.c: all records of a run, in pieces */
http_handler http_get_records;
/* http_page.c: the page's files */
http_handler http_get_page, http_get_asset;

/* What a standby cannot answer or do: who can. */
void http_fail_standby(struct http *h, struct http_request *req);
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
