/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.c - a connection: accepting, reading, answering, ending.
 *
 * A deadline belongs to a state and is not extended by received bytes, so a
 * slow sender holds its place only for seconds. If all places are taken, the
 * connection that has waited longest for a complete request is closed, so that
 * thousands of slow or silent connections cannot block a scrape. The unix
 * socket has separate places.
 *
 * Complete requests take turns. The loop does other work after each TURN_NS of
 * them, and compresses long answers in pieces.
 */
#include "daemon/http/http_conn.h"

#include <assert.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/file.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/xalloc.h"
#include "daemon/agents/tls.h"
#include "daemon/http/http_zip.h"

/* A certificate is verified again before an order, and before a request that
 * comes this long after. */
#define VERIFY_NS (3600 * CLK_NS_PER_S)
#define FIRST_NS  (10 * CLK_NS_PER_S) /* handshake and first byte */
#define KEEP_NS   (60 * CLK_NS_PER_S) /* between requests */
#define READ_NS   (10 * CLK_NS_PER_S) /* a whole request */
#define BUSY_NS   (15 * CLK_NS_PER_S) /* above the store's own limit */
#define LINGER_NS (1 * CLK_NS_PER_S)
#define STALL_S   20 /* without progress of the peer */
#define UNIX_MAX  64 /* places of the unix socket, apart from the others */
#define BACKLOG   1024
#define PAUSE_US  100000 /* before accepting again without descriptors */
#define PIECE_LOW 65536  /* a stream's next piece is requested below this */
#define STREAM_NS (15 * CLK_NS_PER_S)
#define HELD_MAX  (64U << 20) /* bytes of all queued answers */
/* Requests are answered for this time before the loop does other work. Less
 * makes answers slower, more delays other work (tests/bench/RESULTS.md). */
#define TURN_NS   (3 * CLK_NS_PER_MS)
#define ZIP_BYTES 65536 /* a longer body is compressed in such pieces */

enum conn_state {
	CONN_IDLE,   /* no byte of a request yet */
	CONN_READ,   /* an incomplete request */
	CONN_TURN,   /* a complete request waits for its turn */
	CONN_BUSY,   /* the reply is in preparation */
	CONN_STREAM, /* the answer is sent in pieces */
	CONN_WRITE,  /* the answer is complete and being sent */
	CONN_LINGER, /* the reply is sent; further input is discarded */
	CONN_STATE_MAX
};

struct http_conn {
	TAILQ_ENTRY(http_conn) link;       /* in all */
	TAILQ_ENTRY(http_conn) owing_link; /* in owing, until CONN_READ */
	TAILQ_ENTRY(http_conn) turn_link;  /* in turns: CONN_TURN, or zip */
	struct http_conns *all;
	enum conn_state state;
	enum http_door door;
	enum http_right right;
	char who[160];
	uint64_t verified_ns; /* when its certificate was verified */
	struct bufferevent *bev;
	struct event *timer;      /* the deadline of the state */
	struct http_request *req; /* from CONN_READ to CONN_STREAM */
	struct http_zip *zip; /* CONN_BUSY: its answer is being compressed */
	long head_bytes;      /* 0 until the head is complete */
	int keep_alive;
	int chunked;
	int head_only;     /* HEAD: no body is sent */
	int served;        /* requests answered */
	int want_more;     /* the stream waits for the peer */
	int is_last;       /* in which of turns */
	size_t held_bytes; /* of the answer, unless it is shared */
	http_request_cb *more;
	void *more_arg;
};

struct http_listener {
	TAILQ_ENTRY(http_listener) link;
	struct http_conns *all;
	struct evconnlistener *lev;
	struct event *again; /* after a pause for want of descriptors */
	enum http_door door;
	uint64_t told_ns; /* when a failed accept was logged; 0: never */
};

struct http_conns {
	struct event_base *base;
	SSL_CTX *tls;
	int max;           /* of all except the unix socket */
	int count[2];      /* of these; of the unix socket */
	size_t held_bytes; /* of all */
	const struct http_conns_ops *ops;
	void *arg;
	struct event *turn;                /* while any waits for its turn */
	const struct http_request *making; /* while its handler runs */
	uint64_t making_ns;                /* since when */
	TAILQ_HEAD(, http_conn) conns;
	TAILQ_HEAD(, http_conn) turns[2]; /* the first come first */
	TAILQ_HEAD(, http_conn) owing;    /* the longest first */
	TAILQ_HEAD(, http_listener) listeners;
};

static void
http_conn_request_free(struct http_request *req)
{
	if (req == NULL)
		return;
	evbuffer_free(req->body);
	free(req);
}

static void
http_conn_set_state(struct http_conn *c, enum conn_state state,
    uint64_t limit_ns)
{
	struct timeval tv = clk_timeval(limit_ns);

	if (c->state <= CONN_READ && state > CONN_READ)
		TAILQ_REMOVE(&c->all->owing, c, owing_link);
	if (c->state > CONN_READ && state <= CONN_READ)
		TAILQ_INSERT_TAIL(&c->all->owing, c, owing_link);
	c->state = state;
	evtimer_add(c->timer, &tv);
}

static void
http_conn_hold(struct http_conn *c, size_t bytes)
{
	c->all->held_bytes += bytes - c->held_bytes;
	c->held_bytes = bytes;
}

static void
http_conn_turn_add(struct http_conn *c, int is_last)
{
	struct timeval now = { 0 };

	c->is_last = is_last;
	TAILQ_INSERT_TAIL(&c->all->turns[is_last], c, turn_link);
	/* A timer waits for the loop's other events; event_active would not. */
	if (!event_pending(c->all->turn, EV_TIMEOUT, NULL))
		evtimer_add(c->all->turn, &now);
}

static void
http_conn_close(struct http_conn *c)
{
	struct http_request *req = c->req;

	if (c->state == CONN_TURN || c->zip != NULL)
		TAILQ_REMOVE(&c->all->turns[c->is_last], c, turn_link);
	if (c->state <= CONN_READ)
		TAILQ_REMOVE(&c->all->owing, c, owing_link);
	TAILQ_REMOVE(&c->all->conns, c, link);
	c->all->count[c->door == HTTP_DOOR_UNIX]--;
	http_conn_hold(c, 0);
	event_free(c->timer);
	bufferevent_free(c->bev); /* closes its descriptor */
	if (req != NULL && c->zip == NULL &&
	    (c->state == CONN_BUSY || c->state == CONN_STREAM)) {
		req->conn = NULL; /* its holder ends it */
		c->all->ops->gone(req, c->all->arg);
		if (c->want_more)
			c->more(req, c->more_arg);
	} else {
		http_conn_request_free(req);
	}
	http_zip_free(c->zip);
	free(c);
}

/* The answer is complete: wait until it is sent. */
static void
http_conn_flush(struct http_conn *c)
{
	http_conn_set_state(c, CONN_WRITE, 120 * CLK_NS_PER_S);
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) == 0)
		bufferevent_trigger(c->bev, EV_WRITE,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

/* ---- answers ---- */

static void
http_conn_send_answer(struct http_conn *c, const struct http_answer *a,
    struct evbuffer *body)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	http_answer_head(out, a, c->keep_alive);
	if (a->status != 304)
		evbuffer_add_printf(out, "Content-Length: %zu\r\n",
		    evbuffer_get_length(body));
	evbuffer_add_printf(out, "\r\n");
	if (!c->head_only)
		evbuffer_add_buffer(out, body);
	http_conn_flush(c);
}

static int
http_conn_is_full(const struct http_conn *c)
{
	return c->all->held_bytes > HELD_MAX && c->door != HTTP_DOOR_UNIX;
}

/* Send a body that is as short as it gets, and end the request. Takes body. */
static void
http_conn_reply(struct http_conn *c, struct http_answer *a,
    struct evbuffer *body)
{
	struct http_request *req = c->req;
	int shared = 0;

	c->all->ops->answered(req, a, body, &shared, c->all->arg);
	http_conn_hold(c, shared ? 0 : evbuffer_get_length(body));
	if (!shared && http_conn_is_full(c)) {
		evbuffer_free(body);
		body = http_answer_error("busy",
		    "too many slow clients: retry");
		*a = (struct http_answer){ .status = 503 };
		http_conn_hold(c, 0);
	}
	c->req = NULL;
	http_conn_send_answer(c, a, body);
	evbuffer_free(body);
	http_conn_request_free(req);
}

static void
http_conn_zip(struct http_conn *c)
{
	uint64_t began_ns = clk_ns();
	int is_done = http_zip_step(c->zip, ZIP_BYTES);
	struct http_zip *z = c->zip;

	if (c->req->made_ns > 0)
		c->req->made_ns += clk_ns() - began_ns;
	if (!is_done) {
		http_conn_turn_add(c, 1);
		return;
	}
	c->zip = NULL;
	http_conn_reply(c, http_zip_answer(z), http_zip_take(z));
	http_zip_free(z);
}

void
http_reply(struct http_request *req, const struct http_answer *a,
    struct evbuffer *body)
{
	struct http_answer answer = *a;
	struct http_conn *c = req->conn;
	size_t len;

	if (body == NULL)
		body = evbuffer_new();
	if (c == NULL) {
		evbuffer_free(body);
		http_conn_request_free(req);
		return;
	}
	assert(c->state == CONN_BUSY && c->zip == NULL);
	len = evbuffer_get_length(body);
	if (c->all->making == req)
		req->made_ns = clk_ns() - c->all->making_ns;
	if (!answer.gzipped && req->head.accepts_gzip && !http_conn_is_full(c))
		c->zip = http_zip_new(a, body);
	if (c->zip == NULL) {
		http_conn_reply(c, &answer, body);
	} else if (len <= ZIP_BYTES) {
		http_conn_zip(c);
	} else {
		http_conn_hold(c, len);
		http_conn_set_state(c, CONN_BUSY, BUSY_NS);
		http_conn_turn_add(c, 1);
	}
}

void
http_fail(struct http_request *req, int status, const char *cause,
    const char *message)
{
	http_reply(req, &(struct http_answer){ .status = status },
	    http_answer_error(cause, message));
}

/* Send an error for a malformed request, or after a timeout. */
static void
http_conn_fail(struct http_conn *c, int status, const char *cause,
    const char *message)
{
	struct evbuffer *body = http_answer_error(cause, message);
	struct http_answer answer = { .status = status };
	int shared;

	http_conn_request_free(c->req);
	c->req = NULL;
	c->keep_alive = 0; /* the start of the next request is unknown */
	c->head_only = 0;
	c->all->ops->answered(NULL, &answer, body, &shared, c->all->arg);
	http_conn_send_answer(c, &answer, body);
	evbuffer_free(body);
}

void
http_allow(struct http_request *req, uint64_t limit_ns)
{
	if (req->conn != NULL)
		http_conn_set_state(req->conn, req->conn->state, limit_ns);
}

int
http_gone(const struct http_request *req)
{
	return req->conn == NULL;
}

void
http_drop(struct http_request *req)
{
	struct http_conn *c = req->conn;

	if (c != NULL) {
		c->req = NULL;
		c->want_more = 0;
		http_conn_close(c);
	}
	http_conn_request_free(req);
}

static void
http_conn_want_more(struct http_conn *c)
{
	c->want_more = 1;
	http_conn_set_state(c, CONN_STREAM, STREAM_NS);
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) <= PIECE_LOW)
		bufferevent_trigger(c->bev, EV_WRITE,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

int
http_stream_begin(struct http_request *req, const struct http_answer *a,
    http_request_cb *more, void *arg)
{
	struct http_conn *c = req->conn;
	int shared;

	assert(c != NULL && c->state == CONN_BUSY);
	if (http_conn_is_full(c))
		return -EAGAIN;
	c->more = more;
	c->more_arg = arg;
	c->chunked = req->head.minor >= 1;
	if (!c->chunked)
		c->keep_alive = 0; /* the stream ends with the connection */
	c->all->ops->answered(req, a, NULL, &shared, c->all->arg);
	http_answer_head(bufferevent_get_output(c->bev), a, c->keep_alive);
	evbuffer_add_printf(bufferevent_get_output(c->bev), "%s\r\n",
	    c->chunked ? "Transfer-Encoding: chunked\r\n" : "");
	bufferevent_setwatermark(c->bev, EV_WRITE, PIECE_LOW, 0);
	http_conn_want_more(c);
	return 0;
}

void
http_stream_add(struct http_request *req, struct evbuffer *piece)
{
	struct http_conn *c = req->conn;
	size_t len = evbuffer_get_length(piece);
	struct evbuffer *out;

	assert(c != NULL && c->state == CONN_STREAM);
	out = bufferevent_get_output(c->bev);
	if (len > 0 && !c->head_only) {
		if (c->chunked)
			evbuffer_add_printf(out, "%zx\r\n", len);
		evbuffer_add_buffer(out, piece);
		if (c->chunked)
			evbuffer_add(out, "\r\n", 2);
	}
	http_conn_hold(c, evbuffer_get_length(out));
	http_conn_want_more(c);
}

void
http_stream_end(struct http_request *req)
{
	struct http_conn *c = req->conn;

	if (c != NULL) {
		c->req = NULL;
		c->want_more = 0;
		bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
		if (c->chunked && !c->head_only)
			evbuffer_add(bufferevent_get_output(c->bev),
			    "0\r\n\r\n", 5);
		http_conn_flush(c);
	}
	http_conn_request_free(req);
}

/* ---- reading ---- */

/* Verify the certificate again: it may have been revoked, have expired, or its
 * authority been removed, while the connection is open. Return -EACCES if the
 * connection was closed. */
static int
http_conn_verify(struct http_conn *c)
{
	struct err err;

	if (c->door != HTTP_DOOR_TLS || c->right == HTTP_MAY_NOTHING)
		return 0;
	c->verified_ns = clk_ns();
	if (tls_peer_check(bufferevent_openssl_get_ssl(c->bev), c->all->tls,
		&err) == 0)
		return 0;
	log_info("http: closing the connection of %s: %s", c->who, err.text);
	http_conn_close(c);
	return -EACCES;
}

/* Read the next request; a complete one is passed on. */
static void
http_conn_read(struct http_conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	size_t len = evbuffer_get_length(in);
	struct http_request *req = c->req;
	const char *why = NULL;
	int status = 0;

	if (c->state == CONN_LINGER)
		evbuffer_drain(in, len);
	if (c->state == CONN_IDLE && len > 0) {
		c->req = req = xcalloc(1, sizeof(*req));
		req->body = evbuffer_new();
		req->right = c->right;
		req->door = c->door;
		req->name = "none";
		req->conn = c;
		memcpy(req->who, c->who, sizeof(req->who));
		c->head_bytes = 0;
		http_conn_set_state(c, CONN_READ, READ_NS);
	}
	if (c->state != CONN_READ)
		return;
	if (c->head_bytes == 0) {
		if (len > HTTP_HEAD_MAX)
			len = HTTP_HEAD_MAX;
		c->head_bytes =
		    http_parse_head((const char *)evbuffer_pullup(in,
					(ev_ssize_t)len),
			len, &req->head, &status, &why);
		if (c->head_bytes < 0)
			http_conn_fail(c, status, "config", why);
		if (c->head_bytes <= 0)
			return;
		evbuffer_drain(in, (size_t)c->head_bytes);
		c->keep_alive = req->head.keep_alive;
		c->head_only = req->head.method == HTTP_HEAD;
		if (req->head.expects_continue && req->head.body_bytes > 0)
			evbuffer_add_printf(bufferevent_get_output(c->bev),
			    "HTTP/1.1 100 Continue\r\n\r\n");
	}
	if (evbuffer_get_length(in) < req->head.body_bytes)
		return;
	if ((req->head.method == HTTP_POST ||
		clk_ns() - c->verified_ns > VERIFY_NS) &&
	    http_conn_verify(c) < 0)
		return;
	evbuffer_remove_buffer(in, req->body, req->head.body_bytes);
	http_conn_set_state(c, CONN_TURN, BUSY_NS);
	/* Answers without parameters are short or kept: they come first. */
	http_conn_turn_add(c,
	    req->head.param_count > 0 || req->head.body_bytes > 0);
}

static void
http_conn_turn(struct http_conn *c)
{
	struct account *account = c->req->account;
	struct http_conns *cs = c->all;
	uint64_t began_ns = clk_ns();

	TAILQ_REMOVE(&cs->turns[c->is_last], c, turn_link);
	if (c->zip != NULL) {
		http_conn_zip(c);
		if (account != NULL)
			account->owed_ns += clk_ns() - began_ns;
		return;
	}
	http_conn_set_state(c, CONN_BUSY, BUSY_NS);
	cs->making = c->req;
	cs->making_ns = began_ns;
	cs->ops->request(c->req, cs->arg); /* may free c */
	cs->making = NULL;
}

static void
http_conn_turns_cb(evutil_socket_t fd, short what, void *arg)
{
	struct http_conns *cs = arg;
	uint64_t began_ns = clk_ns();
	struct timeval now = { 0 };

	(void)fd;
	(void)what;
	for (int i = 0; i < 2; i++)
		while (!TAILQ_EMPTY(&cs->turns[i])) {
			if (clk_ns() - began_ns >= TURN_NS) {
				evtimer_add(cs->turn, &now);
				return;
			}
			http_conn_turn(TAILQ_FIRST(&cs->turns[i]));
		}
}

static void
http_conn_read_cb(struct bufferevent *bev, void *arg)
{
	(void)bev;
	http_conn_read(arg);
}

/* The output is sent, or short enough for the next piece of a stream. */
static void
http_conn_write_cb(struct bufferevent *bev, void *arg)
{
	struct http_conn *c = arg;

	if (c->state == CONN_STREAM && c->want_more) {
		c->want_more = 0;
		http_conn_hold(c, 0);
		http_conn_set_state(c, CONN_STREAM, BUSY_NS);
		c->more(c->req, c->more_arg);
		return;
	}
	if (c->state != CONN_WRITE ||
	    evbuffer_get_length(bufferevent_get_output(bev)) > 0)
		return;
	c->served++;
	http_conn_hold(c, 0);
	if (c->keep_alive) {
		http_conn_set_state(c, CONN_IDLE, KEEP_NS);
		http_conn_read(c); /* one may have arrived already */
		return;
	}
	/* Closing with unread input would reset the connection and lose the
	 * answer. */
	if (c->door == HTTP_DOOR_TLS)
		SSL_shutdown(bufferevent_openssl_get_ssl(bev));
	shutdown(bufferevent_getfd(bev), SHUT_WR);
	http_conn_set_state(c, CONN_LINGER, LINGER_NS);
	http_conn_read(c);
}

static void
http_conn_event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *c = arg;
	struct tls_peer peer;
	struct err err;

	if (what & BEV_EVENT_CONNECTED) {
		if (tls_peer_get(bufferevent_openssl_get_ssl(bev), &peer,
			&err) < 0) {
			log_info("http: tls peer refused: %s", err.text);
			return;
		}
		c->verified_ns = clk_ns();
		snprintf(c->who, sizeof(c->who), "%.128s", peer.name);
		if (peer.role == ROLE_OPERATOR)
			c->right = HTTP_MAY_ORDER;
		else if (peer.role == ROLE_READER)
			c->right = HTTP_MAY_READ;
		/* The certificates were reloaded during the handshake. */
		if (SSL_get_SSL_CTX(bufferevent_openssl_get_ssl(bev)) !=
		    c->all->tls)
			(void)http_conn_verify(c);
		return;
	}
	/* A peer that has closed only its sending side still reads. */
	if ((what & BEV_EVENT_EOF) && !(what & BEV_EVENT_ERROR) &&
	    c->state >= CONN_TURN && c->state <= CONN_WRITE) {
		c->keep_alive = 0;
		return;
	}
	http_conn_close(c);
}

static void
http_conn_timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = arg;
	struct http_request *req = c->req;

	(void)fd;
	(void)what;
	if (c->state == CONN_BUSY && c->zip == NULL) {
		int is_order = req->head.method == HTTP_POST;

		req->conn = NULL; /* its owner ends it later */
		c->all->ops->gone(req, c->all->arg);
		c->req = NULL;
		c->keep_alive = 0;
		http_conn_fail(c, 503, "timeout",
		    is_order ? "timeout: the order may have been carried out; "
			       "check before you retry"
			     : "timeout: retry");
	} else if (c->state == CONN_READ) {
		http_conn_fail(c, 408, "timeout",
		    "timeout while receiving the request");
	} else {
		http_conn_close(c);
	}
}

/* Make room for a connection of this kind; the unix socket has separate places.
 * A connection that may give orders on this host is not closed for it. */
static void
http_conn_make_room(struct http_conns *cs, enum http_door door)
{
	struct http_conn *c;

	TAILQ_FOREACH (c, &cs->owing, owing_link)
		if ((door == HTTP_DOOR_UNIX) == (c->door == HTTP_DOOR_UNIX) &&
		    (door != HTTP_DOOR_UNIX || c->right != HTTP_MAY_ORDER)) {
			http_conn_close(c);
			return;
		}
}

/* No place is free: send an error if this needs no handshake. */
static void
http_conn_turn_away(enum http_door door, int fd)
{
	static const char body[] = "{\"error\":{\"cause\":\"busy\",\"message\":"
				   "\"too many connections: retry later\"}}\n";
	char text[512];
	int len = snprintf(text, sizeof(text),
	    "HTTP/1.1 503 Service Unavailable\r\n"
	    "Content-Type: application/json\r\n"
	    "Content-Length: %zu\r\nRetry-After: 5\r\n"
	    "Connection: close\r\n\r\n%s",
	    sizeof(body) - 1, body);

	if (door != HTTP_DOOR_TLS)
		(void)!send(fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void
http_conn_accept_cb(struct evconnlistener *lev, evutil_socket_t fd,
    struct sockaddr *from, int from_bytes, void *arg)
{
	struct timeval stall = { .tv_sec = STALL_S };
	const struct http_listener *l = arg;
	struct http_conns *cs = l->all;
	int is_unix = l->door == HTTP_DOOR_UNIX;
	int max = is_unix ? UNIX_MAX : cs->max;
	struct bufferevent *bev = NULL;
	struct http_conn *c;
	struct ucred peer;
	socklen_t peer_bytes = sizeof(peer);
	SSL *ssl;

	(void)lev;
	if (cs->count[is_unix] >= max)
		http_conn_make_room(cs, l->door);
	if (cs->count[is_unix] >= max || (!is_unix && file_fd_is_last(fd))) {
		http_conn_turn_away(l->door, fd);
		return;
	}
	if (l->door != HTTP_DOOR_TLS)
		bev = bufferevent_socket_new(cs->base, fd,
		    BEV_OPT_CLOSE_ON_FREE);
	else if (cs->tls != NULL && (ssl = SSL_new(cs->tls)) != NULL)
		bev = bufferevent_openssl_socket_new(cs->base, fd, ssl,
		    BUFFEREVENT_SSL_ACCEPTING,
		    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (bev == NULL) {
		close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->all = cs;
	c->bev = bev;
	c->door = l->door;
	c->right = l->door == HTTP_DOOR_TLS ? HTTP_MAY_NOTHING : HTTP_MAY_READ;
	if (l->door == HTTP_DOOR_UNIX) {
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer,
			&peer_bytes) == 0) {
			snprintf(c->who, sizeof(c->who), "uid %u",
			    (unsigned)peer.uid);
			if (peer.uid == 0 || peer.uid == geteuid())
				c->right = HTTP_MAY_ORDER;
		}
	} else if (getnameinfo(from, (socklen_t)from_bytes, c->who,
		       sizeof(c->who), NULL, 0, NI_NUMERICHOST) != 0) {
		snprintf(c->who, sizeof(c->who), "unknown");
	}
	c->timer = evtimer_new(cs->base, http_conn_timer_cb, c);
	bufferevent_setcb(bev, http_conn_read_cb, http_conn_write_cb,
	    http_conn_event_cb, c);
	bufferevent_setwatermark(bev, EV_READ, 0,
	    HTTP_HEAD_MAX + HTTP_BODY_MAX);
	bufferevent_set_timeouts(bev, NULL, &stall);
	c->state = CONN_IDLE;
	TAILQ_INSERT_TAIL(&cs->conns, c, link);
	TAILQ_INSERT_TAIL(&cs->owing, c, owing_link);
	cs->count[is_unix]++;
	http_conn_set_state(c, CONN_IDLE, FIRST_NS);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static void
http_conn_again_cb(evutil_socket_t fd, short what, void *arg)
{
	struct http_listener *l = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(l->lev);
}

/* Out of descriptors: accept would fail again immediately and repeatedly. */
static void
http_conn_error_cb(struct evconnlistener *lev, void *arg)
{
	struct http_listener *l = arg;
	struct timeval pause = { .tv_usec = PAUSE_US };

	if (l->told_ns == 0 || clk_ns() - l->told_ns >= 60 * CLK_NS_PER_S) {
		log_warn("http: cannot accept a connection; retrying");
		l->told_ns = clk_ns();
	}
	http_conn_make_room(l->all, l->door);
	evconnlistener_disable(lev);
	evtimer_add(l->again, &pause);
}

int
http_conns_listen(struct http_conns *cs, enum http_door door, int fd)
{
	struct http_listener *l = xcalloc(1, sizeof(*l));

	l->all = cs;
	l->door = door;
	evutil_make_socket_nonblocking(fd);
	l->lev = evconnlistener_new(cs->base, http_conn_accept_cb, l,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED,
	    BACKLOG, fd);
	if (l->lev == NULL) {
		log_warn("http: cannot listen");
		free(l);
		close(fd);
		return -EIO;
	}
	l->again = evtimer_new(cs->base, http_conn_again_cb, l);
	evconnlistener_set_error_cb(l->lev, http_conn_error_cb);
	TAILQ_INSERT_TAIL(&cs->listeners, l, link);
	return 0;
}

void
http_conns_start(struct http_conns *cs)
{
	struct http_listener *l;

	TAILQ_FOREACH (l, &cs->listeners, link)
		evconnlistener_enable(l->lev);
}

struct http_conns *
http_conns_new(struct event_base *base, int max,
    const struct http_conns_ops *ops, void *arg)
{
	struct http_conns *cs = xcalloc(1, sizeof(*cs));

	cs->base = base;
	cs->max = max;
	cs->ops = ops;
	cs->arg = arg;
	cs->turn = evtimer_new(base, http_conn_turns_cb, cs);
	TAILQ_INIT(&cs->conns);
	TAILQ_INIT(&cs->turns[0]);
	TAILQ_INIT(&cs->turns[1]);
	TAILQ_INIT(&cs->owing);
	TAILQ_INIT(&cs->listeners);
	return cs;
}

void
http_conns_free(struct http_conns *cs)
{
	struct http_listener *l;
	struct http_conn *c;

	if (cs == NULL)
		return;
	while ((l = TAILQ_FIRST(&cs->listeners)) != NULL) {
		TAILQ_REMOVE(&cs->listeners, l, link);
		event_free(l->again);
		evconnlistener_free(l->lev);
		free(l);
	}
	while ((c = TAILQ_FIRST(&cs->conns)) != NULL)
		http_conn_close(c);
	event_free(cs->turn);
	SSL_CTX_free(cs->tls);
	free(cs);
}

void
http_conns_set_tls(struct http_conns *cs, SSL_CTX *ctx)
{
	struct http_conn *c, *next;

	if (ctx != NULL)
		SSL_CTX_up_ref(ctx);
	SSL_CTX_free(cs->tls);
	cs->tls = ctx;
	for (c = TAILQ_FIRST(&cs->conns); ctx != NULL && c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		(void)http_conn_verify(c);
	}
}

int
http_conns_count(const struct http_conns *cs)
{
	return cs->count[0] + cs->count[1];
}
