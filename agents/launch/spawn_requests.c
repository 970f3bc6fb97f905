/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn_requests.c - requests of a launcher are bounded three ways, by
 * connections, by bytes in part and by bytes in all, since its user may write
 * anything.
 */
#include "agents/launch/spawn_requests.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agents/launch/argv_allowlist.h"
#include "agents/process/sock.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/text.h"
#include "common/xalloc.h"

/* JSON escapes a byte with up to six. */
#define LINE_MAX_BYTES (6 * ARGV_ALLOWLIST_BYTES_MAX)
/* A launcher asks once for each node: the rest is one that has gone wild. */
#define ASKS_PER_NODE 4
/* Limits for incomplete requests together, and for all requests of a run. */
#define PART_BYTES_MAX (8 * 1024 * 1024)
#define ALL_BYTES_MAX  (64 * 1024 * 1024)

struct ask {
	TAILQ_ENTRY(ask) next;
	struct spawn_requests *asks;
	struct bufferevent *bev;
	int64_t id;        /* 0 until it has asked */
	size_t part_bytes; /* of a line that is not whole yet */
	int closing;
};

struct spawn_requests {
	struct event_base *base;
	struct sock *sock;
	uid_t uid;
	TAILQ_HEAD(, ask) list;
	size_t left; /* connections that may still be made */
	size_t part_bytes, all_bytes;
	int64_t last_id;
	spawn_requests_new_cb *cb;
	void *arg;
};

static void
ask_free(struct ask *k)
{
	TAILQ_REMOVE(&k->asks->list, k, next);
	k->asks->part_bytes -= k->part_bytes;
	bufferevent_free(k->bev);
	free(k);
}

static void
ask_say(struct ask *k, json_t *msg)
{
	char *text = json_dumps(msg, JSON_COMPACT);

	bufferevent_write(k->bev, text, strlen(text));
	bufferevent_write(k->bev, "\n", 1);
	free(text);
	json_decref(msg);
}

static void
ask_fail(struct ask *k, const char *text)
{
	ask_say(k,
	    json_pack("{s:s, s:o}", "state", "failed", "text",
		text_json(text)));
	k->closing = 1;
}

/* {"argv": ["HOST", "word", ...]}; NULL and a reason when it is not. */
static json_t *
argv_parse(const char *line, size_t len, const char **ret_why)
{
	json_t *msg = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *argv = json_object_get(msg, "argv");
	size_t i, n = json_array_size(argv);
	json_t *word;

	*ret_why = NULL;
	if (n < 2 || n > ARGV_ALLOWLIST_ARGS_MAX)
		*ret_why = "not a host and a command";
	json_array_foreach (argv, i, word)
		if (!json_is_string(word))
			*ret_why = "a word is not a string";
	if (*ret_why == NULL &&
	    hostlist_name_check(json_string_value(json_array_get(argv, 0))) < 0)
		*ret_why = "not a host's name";
	argv = *ret_why == NULL ? json_incref(argv) : NULL;
	json_decref(msg);
	return argv;
}

/* Hands one request to the caller, which asks the collector. */
static void
ask_take(struct ask *k, const char *line, size_t len)
{
	struct spawn_requests *a = k->asks;
	const char *why;
	json_t *argv, *host;

	if (k->id != 0) {
		ask_fail(k, "asked twice");
		return;
	}
	a->all_bytes += len;
	if (a->all_bytes > ALL_BYTES_MAX) {
		ask_fail(k, "too much was asked for in this run");
		return;
	}
	argv = argv_parse(line, len, &why);
	if (argv == NULL) {
		log_warnx("arsh: %s", why);
		ask_fail(k, why);
		return;
	}
	k->id = ++a->last_id;
	host = json_incref(json_array_get(argv, 0));
	json_array_remove(argv, 0);
	if (a->cb(k->id, json_string_value(host), argv, a->arg) < 0)
		ask_fail(k, "the collector is away");
	json_decref(host);
	json_decref(argv);
}

static void
read_cb(struct bufferevent *bev, void *arg)
{
	struct ask *k = arg;
	struct spawn_requests *a = k->asks;
	struct evbuffer *in = bufferevent_get_input(bev);
	size_t len;
	char *line;

	while (!k->closing &&
	    (line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF)) != NULL) {
		ask_take(k, line, len);
		free(line);
	}
	a->part_bytes -= k->part_bytes;
	k->part_bytes = k->closing ? 0 : evbuffer_get_length(in);
	a->part_bytes += k->part_bytes;
	if (k->part_bytes >= LINE_MAX_BYTES)
		ask_fail(k, "line too long");
	else if (k->part_bytes > 0 && a->part_bytes > PART_BYTES_MAX)
		ask_fail(k, "too much is asked for at a time");
	if (k->closing)
		bufferevent_disable(bev, EV_READ);
}

/* All is written: a connection that is to close, closes. */
static void
write_cb(struct bufferevent *bev, void *arg)
{
	struct ask *k = arg;

	(void)bev;
	if (k->closing)
		ask_free(k);
}

static void
event_cb(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	ask_free(arg);
}

static void
accept_cb(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *sa, int len, void *arg)
{
	struct spawn_requests *a = arg;
	struct ucred cred;
	socklen_t bytes = sizeof(cred);
	struct ask *k;

	(void)listener;
	(void)sa;
	(void)len;
	a->left--;
	if (a->left == 0) {
		log_warnx("arsh: too many connections, no more are taken");
		sock_close(a->sock);
		a->sock = NULL;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &bytes) < 0 ||
	    (cred.uid != a->uid && cred.uid != 0)) {
		log_warnx("arsh: connection refused");
		evutil_closesocket(fd);
		return;
	}
	k = xcalloc(1, sizeof(*k));
	k->asks = a;
	k->bev = bufferevent_socket_new(a->base, fd, BEV_OPT_CLOSE_ON_FREE);
	TAILQ_INSERT_TAIL(&a->list, k, next);
	bufferevent_setcb(k->bev, read_cb, write_cb, event_cb, k);
	bufferevent_setwatermark(k->bev, EV_READ, 0, LINE_MAX_BYTES);
	bufferevent_enable(k->bev, EV_READ | EV_WRITE);
}

struct spawn_requests *
spawn_requests_open(struct event_base *base, const char *path, uid_t uid,
    int64_t gid, size_t node_count, spawn_requests_new_cb *cb, void *arg)
{
	struct spawn_requests *a = xcalloc(1, sizeof(*a));

	a->base = base;
	a->uid = uid;
	a->left = node_count * ASKS_PER_NODE;
	a->cb = cb;
	a->arg = arg;
	TAILQ_INIT(&a->list);
	a->sock = sock_listen(base, path, gid, accept_cb, a);
	if (a->sock == NULL) {
		free(a);
		return NULL;
	}
	return a;
}

void
spawn_requests_close(struct spawn_requests *a)
{
	if (a == NULL)
		return;
	while (!TAILQ_EMPTY(&a->list))
		ask_free(TAILQ_FIRST(&a->list));
	sock_close(a->sock);
	free(a);
}

void
spawn_requests_state(struct spawn_requests *a, int64_t id, const char *state,
    int64_t status, const char *text)
{
	struct ask *k;

	TAILQ_FOREACH (k, &a->list, next)
		if (k->id == id && id > 0)
			break;
	if (k == NULL || k->closing)
		return;
	if (strcmp(state, "running") == 0) {
		ask_say(k, json_pack("{s:s}", "state", state));
		return;
	}
	if (strcmp(state, "failed") == 0) {
		ask_fail(k, text);
		return;
	}
	ask_say(k,
	    json_pack("{s:s, s:I}", "state", "exited", "status",
		(json_int_t)status));
	k->closing = 1;
}
