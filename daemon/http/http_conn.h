/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.h - HTTP connections: bytes to requests, answers to bytes.
 *
 * Every connection is counted and bounded in memory and in time. A request is
 * answered exactly once, at once or later; whoever holds it ends it with
 * http_reply, http_stream_end or http_drop, also when its connection is gone.
 */
#ifndef DAEMON_HTTP_HTTP_CONN_H
#define DAEMON_HTTP_HTTP_CONN_H

#include <event2/buffer.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/http/http_answer.h"
#include "daemon/http/http_parse.h"

/* What a peer may do. */
enum http_right { HTTP_MAY_NOTHING, HTTP_MAY_READ, HTTP_MAY_ORDER };

/* Where it came from: TCP may read; a unix socket's peer may order when it is
 * root or our own user, others read; TLS by the role of the certificate. */
enum http_door { HTTP_DOOR_TCP, HTTP_DOOR_UNIX, HTTP_DOOR_TLS };

struct http_conn;
struct http_conns;
struct event_base;

struct http_request {
	struct http_head head;
	struct evbuffer *body; /* head.body_bytes of it */
	enum http_right right;
	char who[160];          /* for the event log: "uid 0", "alice", ... */
	const char *name;       /* of the route, for counts */
	struct http_conn *conn; /* NULL: gone */
};

/* A request is the callee's from here on. */
typedef void http_request_cb(struct http_request *req, void *arg);
/* Told once for every answer; name "none" when there was no route. */
typedef void http_answered_cb(const char *name, int status, void *arg);

struct http_conns *http_conns_new(struct event_base *base, int max,
    http_request_cb *request, http_answered_cb *answered, void *arg);
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

#endif
