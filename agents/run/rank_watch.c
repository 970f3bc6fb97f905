/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.c - a rank is lost when its connection ends without bye; a
 * connection with a line that no rank of ours writes is closed.
 */
#include "agents/run/rank_watch.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/process/sock.h"
#include "agents/wireup/ranks.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/names_probe.h"

#define LINE_MAX_BYTES 400
#define STUCK_MAX      2 /* partners that a rank waits for */
/* No node has more ranks. Each has one connection in the life of a run, and is
 * lost once: the rest is a rank that has gone wild. */
#define CONNS_MAX (4 * RANKS_MAX)

struct conn {
	TAILQ_ENTRY(conn) next;
	struct rank_watch *watch;
	struct bufferevent *bev;
	int64_t rank, pid; /* -1 until it has said who it is */
	int bye, exited, stuck;
};

struct rank_watch {
	struct event_base *base;
	struct sock *sock;
	TAILQ_HEAD(, conn) conns;
	unsigned opened, seen;
	int64_t told[RANKS_MAX]; /* ranks that are lost */
	size_t told_count;
	const struct rank_watch_ops *ops;
	void *arg;
};

static void
rank_watch_conn_free(struct conn *c)
{
	TAILQ_REMOVE(&c->watch->conns, c, next);
	bufferevent_free(c->bev);
	free(c);
}

/* The connection has ended: news unless the rank said bye, never said who it
 * is, or is known to be lost. */
static void
rank_watch_conn_end(struct conn *c)
{
	struct rank_watch *w = c->watch;
	int64_t rank = c->rank, pid = c->pid;
	int lost = rank >= 0 && !c->bye && w->told_count < RANKS_MAX;
	int exited = c->exited, bye = c->bye;

	rank_watch_conn_free(c);
	if (rank >= 0 && bye && w->ops->bye != NULL)
		w->ops->bye(rank, w->arg);
	for (size_t i = 0; i < w->told_count; i++)
		lost = lost && w->told[i] != rank;
	if (lost) {
		w->told[w->told_count++] = rank;
		w->ops->lost(rank, pid, exited, w->arg);
	}
}

/* "stuck RANK NODE WHAT SECONDS AT"; -1 for anything else. */
static int
rank_watch_stuck_take(struct conn *c, const char *text)
{
	char node[HOSTLIST_NAME_MAX + 1], what[32], rest;
	long long rank, at;
	double waited_s;

	_Static_assert(HOSTLIST_NAME_MAX == 255, "as below");
	if (c->rank < 0 || c->stuck++ >= STUCK_MAX ||
	    sscanf(text, "stuck %lld %255s %31s %lf %lld%c", &rank, node, what,
		&waited_s, &at, &rest) != 5 ||
	    rank < -1 || at < 0 || !(waited_s >= 0 && waited_s < 1e6) ||
	    (rank >= 0 && hostlist_name_check(node) < 0) ||
	    names_stuck(what) == NULL)
		return -1;
	c->watch->ops->stuck(c->rank, c->pid,
	    json_pack("{s:I, s:s, s:s, s:f, s:I}", "rank", (json_int_t)rank,
		"node", rank < 0 ? "" : node, "what", what, "waited_s",
		waited_s, "at", (json_int_t)at),
	    c->watch->arg);
	return 0;
}

/* One line of a rank: 0, or -1 for one that no rank of ours writes. */
static int
rank_watch_line_take(struct conn *c, const char *text)
{
	long long rank, pid;
	char rest;

	if (strcmp(text, "bye") == 0) {
		c->bye = 1;
		return 0;
	}
	if (strcmp(text, "exit") == 0) {
		c->exited = 1;
		return 0;
	}
	if (strncmp(text, "stuck ", 6) == 0)
		return rank_watch_stuck_take(c, text);
	if (c->rank >= 0 ||
	    sscanf(text, "rank %lld pid %lld%c", &rank, &pid, &rest) != 2 ||
	    rank < 0 || pid < 1)
		return -1;
	c->rank = rank;
	c->pid = pid;
	c->watch->seen++;
	return 0;
}

static void
rank_watch_read_cb(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	char *text;
	int rc = 0;

	while (rc == 0 &&
	    (text = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF)) != NULL) {
		rc = rank_watch_line_take(c, text);
		free(text);
	}
	if (rc == 0 && evbuffer_get_length(in) <= LINE_MAX_BYTES)
		return;
	log_warnx("rank watch: malformed line from a rank; closing its "
		  "connection");
	rank_watch_conn_end(c);
}

static void
rank_watch_event_cb(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	rank_watch_conn_end(arg);
}

static void
rank_watch_accept_cb(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *sa, int len, void *arg)
{
	struct rank_watch *w = arg;
	struct conn *c;

	(void)listener;
	(void)sa;
	(void)len;
	c = xcalloc(1, sizeof(*c));
	c->watch = w;
	c->rank = c->pid = -1;
	c->bev = bufferevent_socket_new(w->base, fd, BEV_OPT_CLOSE_ON_FREE);
	TAILQ_INSERT_TAIL(&w->conns, c, next);
	bufferevent_setcb(c->bev, rank_watch_read_cb, NULL, rank_watch_event_cb,
	    c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, 4 * LINE_MAX_BYTES);
	bufferevent_enable(c->bev, EV_READ);
	if (++w->opened < CONNS_MAX)
		return;
	log_warnx("rank watch: limit of %d connections reached; further ones "
		  "are rejected",
	    CONNS_MAX);
	sock_close(w->sock);
	w->sock = NULL;
}

struct rank_watch *
rank_watch_open(struct event_base *base, const char *path, int64_t gid,
    const struct rank_watch_ops *ops, void *arg)
{
	struct rank_watch *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->ops = ops;
	w->arg = arg;
	TAILQ_INIT(&w->conns);
	w->sock = sock_listen(base, path, gid, rank_watch_accept_cb, w);
	if (w->sock == NULL) {
		free(w);
		return NULL;
	}
	return w;
}

void
rank_watch_close(struct rank_watch *w)
{
	if (w == NULL)
		return;
	while (!TAILQ_EMPTY(&w->conns))
		rank_watch_conn_free(TAILQ_FIRST(&w->conns));
	sock_close(w->sock);
	free(w);
}

unsigned
rank_watch_count(const struct rank_watch *w)
{
	return w->seen;
}
