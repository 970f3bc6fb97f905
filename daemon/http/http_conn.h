/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.h - connections of clients.
 *
 * Every connection is counted, and limited in memory and time. A request is
 * answered exactly once, immediately or later. Its owner ends it with
 * http_reply, http_stream_end or http_drop, even if its connection is closed.
 */
#ifndef DAEMON_HTTP_HTTP_CONN_H
#define DAEMON_HTTP_HTTP_CONN_H

#include <event2/buffer.h>
#include <openssl/ssl.h>
#include <stdint.h>

#include "common/account.h"
#include "daemon/http/http_answer.h"
#include "daemon/http/http_parse.h"

struct event_base;

/* Rights of a client. */
enum http_right { HTTP_MAY_NOTHING, HTTP_MAY_READ, HTTP_MAY_ORDER };

/* The socket on which a request arrived. TCP may read. On a unix socket root
 * and our own user may order, other users may read. On TLS the role of the
 * certificate decides. */
enum http_door { HTTP_DOOR_TCP, HTTP_DOOR_UNIX, HTTP_DOOR_TLS };

struct http_conn;
struct http_conns;

/* A request. */
struct http_request {
	struct http_head head;
	struct evbuffer *body; /* head.body_bytes long */
	enum http_right right;
	enum http_door door;
	char who[160];          /* for the event log: "uid 0", "alice", ... */
	const char *name;       /* name of the route, for counts */
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
/* Add a listening socket, which is taken. Return 0 or -errno. */
int http_conns_listen(struct http_conns *cs, enum http_door door, int fd);
/* Accept connections from now on; until then clients that connect wait. */
void http_conns_start(struct http_conns *cs);
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

#endif
