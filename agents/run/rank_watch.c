/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.c - a rank is lost when its connection ends without bye; a
 * connection with a line that no rank of ours writes is closed.
 */
#include "agents/run/run.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/process/sock.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/names.h"

#define LINE_MAX_BYTES 400
#define STUCK_MAX      2 /* partners that a rank waits for */
/* No node has more ranks. Each has one line in the life of a run, and is lost
 * once: the rest is a rank that has gone wild. */
#define RANKS_MAX 1024
#define LINES_MAX (4 * RANKS_MAX)

struct line {
	TAILQ_ENTRY(line) next;
	struct rank_watch *watch;
	struct bufferevent *bev;
	int64_t rank, pid; /* -1 until it has said who it is */
	int bye, exited, stuck;
};

struct rank_watch {
	struct event_base *base;
	struct sock *sock;
	TAILQ_HEAD(, line) lines;
	unsigned opened, seen;
	int64_t told[RANKS_MAX]; /* ranks that are lost */
	size_t told_count;
	const struct rank_watch_ops *ops;
	void *arg;
};

static void
line_free(struct line *l)
{
	TAILQ_REMOVE(&l->watch->lines, l, next);
	bufferevent_free(l->bev);
	free(l);
}

/* The line broke: news unless it said bye, never said who it is, or
 * is known to be lost. */
static void
line_end(struct line *l)
{
	struct rank_watch *t = l->watch;
	int64_t rank = l->rank, pid = l->pid;
	int lost = rank >= 0 && !l->bye && t->told_count < RANKS_MAX;
	int exited = l->exited;

	line_free(l);
	for (size_t i = 0; i < t->told_count; i++)
		lost = lost && t->told[i] != rank;
	if (lost) {
		t->told[t->told_count++] = rank;
		t->ops->lost(rank, pid, exited, t->arg);
	}
}

/* "stuck RANK NODE WHAT SECONDS AT"; -1 for anything else. */
static int
stuck_take(struct line *l, const char *text)
{
	char node[HOSTLIST_NAME_MAX + 1], what[32], rest;
	long long rank, at;
	double waited_s;

	_Static_assert(HOSTLIST_NAME_MAX == 255, "as below");
	if (l->rank < 0 || l->stuck++ >= STUCK_MAX ||
	    sscanf(text, "stuck %lld %255s %31s %lf %lld%c", &rank, node, what,
		&waited_s, &at, &rest) != 5 ||
	    rank < -1 || at < 0 || !(waited_s >= 0 && waited_s < 1e6) ||
	    (rank >= 0 && hostlist_name_check(node) < 0) ||
	    STR_FIND(names_tests, what) < 0)
		return -1;
	l->watch->ops->stuck(l->rank, l->pid,
	    json_pack("{s:I, s:s, s:s, s:f, s:I}", "rank", (json_int_t)rank,
		"node", rank < 0 ? "" : node, "what", what, "waited_s",
		waited_s, "at", (json_int_t)at),
	    l->watch->arg);
	return 0;
}

/* One line of a rank: 0, or -1 for one that no rank of ours writes. */
static int
line_take(struct line *l, const char *text)
{
	long long rank, pid;
	char rest;

	if (strcmp(text, "bye") == 0) {
		l->bye = 1;
		return 0;
	}
	if (strcmp(text, "exit") == 0) {
		l->exited = 1;
		return 0;
	}
	if (strncmp(text, "stuck ", 6) == 0)
		return stuck_take(l, text);
	if (l->rank >= 0 ||
	    sscanf(text, "rank %lld pid %lld%c", &rank, &pid, &rest) != 2 ||
	    rank < 0 || pid < 1)
		return -1;
	l->rank = rank;
	l->pid = pid;
	l->watch->seen++;
	return 0;
}

static void
read_cb(struct bufferevent *bev, void *arg)
{
	struct line *l = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	char *text;
	int rc = 0;

	while (rc == 0 &&
	    (text = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF)) != NULL) {
		rc = line_take(l, text);
		free(text);
	}
	if (rc == 0 && evbuffer_get_length(in) <= LINE_MAX_BYTES)
		return;
	log_warnx("tether: foreign line, closed");
	line_end(l);
}

static void
event_cb(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	line_end(arg);
}

static void
accept_cb(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *sa, int len, void *arg)
{
	struct rank_watch *t = arg;
	struct line *l;

	(void)listener;
	(void)sa;
	(void)len;
	l = xcalloc(1, sizeof(*l));
	l->watch = t;
	l->rank = l->pid = -1;
	l->bev = bufferevent_socket_new(t->base, fd, BEV_OPT_CLOSE_ON_FREE);
	TAILQ_INSERT_TAIL(&t->lines, l, next);
	bufferevent_setcb(l->bev, read_cb, NULL, event_cb, l);
	bufferevent_setwatermark(l->bev, EV_READ, 0, 4 * LINE_MAX_BYTES);
	bufferevent_enable(l->bev, EV_READ);
	if (++t->opened < LINES_MAX)
		return;
	log_warnx("tether: %d lines, no more are taken", LINES_MAX);
	sock_close(t->sock);
	t->sock = NULL;
}

struct rank_watch *
rank_watch_open(struct event_base *base, const char *path, int64_t gid,
    const struct rank_watch_ops *ops, void *arg)
{
	struct rank_watch *t = xcalloc(1, sizeof(*t));

	t->base = base;
	t->ops = ops;
	t->arg = arg;
	TAILQ_INIT(&t->lines);
	t->sock = sock_listen(base, path, gid, accept_cb, t);
	if (t->sock == NULL) {
		free(t);
		return NULL;
	}
	return t;
}

void
rank_watch_close(struct rank_watch *t)
{
	if (t == NULL)
		return;
	while (!TAILQ_EMPTY(&t->lines))
		line_free(TAILQ_FIRST(&t->lines));
	sock_close(t->sock);
	free(t);
}

unsigned
rank_watch_count(const struct rank_watch *t)
{
	return t->seen;
}
