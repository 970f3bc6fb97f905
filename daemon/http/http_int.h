/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_int.h - a connection, as http_conn.c (reading) and http_reply.c
 * (writing) share it.
 */
#ifndef DAEMON_HTTP_HTTP_INT_H
#define DAEMON_HTTP_HTTP_INT_H

#include <event2/bufferevent.h>
#include <event2/event.h>

#include "common/queue.h"
#include "daemon/http/http_conn.h"

enum conn_state {
	CONN_IDLE,   /* no byte of a request yet: may be closed for others */
	CONN_READ,   /* a request is coming in */
	CONN_BUSY,   /* somebody works at the answer */
	CONN_STREAM, /* the answer goes out in pieces */
	CONN_WRITE,  /* the answer is complete and goes out */
	CONN_LINGER, /* all is said; what still comes in is thrown away */
	CONN_STATE_MAX
};

struct http_conn {
	TAILQ_ENTRY(http_conn) link;      /* in all */
	TAILQ_ENTRY(http_conn) idle_link; /* in idle, while CONN_IDLE */
	struct http_conns *all;
	enum conn_state state;
	enum http_door door;
	enum http_right right;
	char who[160];
	struct bufferevent *bev;
	struct event *timer;      /* the deadline of the state */
	struct http_request *req; /* from CONN_READ to CONN_STREAM */
	long head_bytes;          /* 0 until the head is complete */
	int keep_alive;
	int chunked;
	int head_only; /* HEAD: no body goes out */
	int served;    /* requests answered */
	int want_more; /* the stream waits for the peer */
	http_request_cb *more;
	void *more_arg;
};

struct http_listener {
	TAILQ_ENTRY(http_listener) link;
	struct http_conns *all;
	struct evconnlistener *lev;
	struct event *again; /* after a pause for want of descriptors */
	enum http_door door;
};

struct http_conns {
	struct event_base *base;
	SSL_CTX *tls;
	int max;
	int count;
	http_request_cb *request;
	http_answered_cb *answered;
	void *arg;
	TAILQ_HEAD(, http_conn) conns;
	TAILQ_HEAD(, http_conn) idle; /* the longest idle first */
	TAILQ_HEAD(, http_listener) listeners;
};

void http_conn_set_state(struct http_conn *c, enum conn_state state,
    uint64_t limit_ns);
void http_conn_close(struct http_conn *c);
/* The answer is complete: wait until it is out. */
void http_conn_flush(struct http_conn *c);
void http_request_free(struct http_request *req);
/* Answer what could not be parsed, or was not answered in time. */
void http_conn_fail(struct http_conn *c, int status, const char *cause,
    const char *message);
const char *http_status_text(int status);

#endif
