/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - the port that agents connect to, and ports that were opened for
 * us.
 */
#include "daemon/agents/session_int.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/agents/listen.h"

/* Connections that wait in the kernel until a place is free; the kernel's own
 * limit is 4096 (net.core.somaxconn). */
#define BACKLOG   4096
#define FULL_MS   10
#define FAILED_MS 250

struct listen {
	struct evconnlistener *listener;
	struct event *again;
	struct sessions *to;
	size_t left; /* connections until it stops accepting */
};

static void
listen_pause_for(struct listen *l, int span_ms)
{
	struct timeval tv = { 0, span_ms * 1000 };

	evconnlistener_disable(l->listener);
	event_add(l->again, &tv);
}

/* The listener would spin: disable it for a while and close connections. */
static void
listen_no_room(struct listen *l, const char *why)
{
	sessions_complain(l->to, "listen", "", why);
	sessions_shed(l->to);
	listen_pause_for(l, FAILED_MS);
}

static void
listen_accept_cb(struct evconnlistener *el, evutil_socket_t fd,
    struct sockaddr *addr, int len, void *arg)
{
	struct listen *l = arg;
	char host[64];

	(void)el;
	/* Reserve descriptors for the local socket and the store. */
	if (file_fd_is_last(fd)) {
		close(fd);
		listen_no_room(l, strerror(EMFILE));
		return;
	}
	if (getnameinfo(addr, (socklen_t)len, host, sizeof(host), NULL, 0,
		NI_NUMERICHOST) != 0)
		snprintf(host, sizeof(host), "unknown");
	/* IPv4, on a dual-stack socket */
	sessions_accept(l->to, fd,
	    strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host);
	if (l->left != SIZE_MAX && --l->left == 0)
		evconnlistener_disable(l->listener);
	else if (sessions_full(l->to))
		listen_pause_for(l, FULL_MS);
}

static void
listen_error_cb(struct evconnlistener *el, void *arg)
{
	struct listen *l = arg;

	(void)el;
	listen_no_room(l, evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
}

static void
listen_again_cb(evutil_socket_t fd, short what, void *arg)
{
	struct listen *l = arg;

	(void)fd;
	(void)what;
	if (l->left == 0)
		return;
	if (sessions_full(l->to))
		listen_pause_for(l, FULL_MS);
	else
		evconnlistener_enable(l->listener);
}

static int
listen_is_bound(int fd, const struct addrinfo *ai)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);

	return fd >= 0 && getsockname(fd, (struct sockaddr *)&at, &len) == 0 &&
	    len == ai->ai_addrlen && memcmp(&at, ai->ai_addr, len) == 0;
}

int
listen_open(const char *where, int fd, struct sessions *to, struct listen **ret,
    struct err *err)
{
	const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
	    LEV_OPT_REUSEABLE | LEV_OPT_DISABLED;
	struct addrinfo hint = { .ai_flags = AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	struct str_address at;
	struct addrinfo *ai = NULL;
	struct listen *l;
	int rc = EAI_NONAME;

	if (str_address_parse(where, &at) == 0)
		rc = getaddrinfo(at.host[0] == '\0' ? NULL : at.host, at.port,
		    &hint, &ai);
	if (rc != 0)
		return err_set(err, -EINVAL, "collector.listen %s: %s", where,
		    gai_strerror(rc));
	l = xcalloc(1, sizeof(*l));
	l->to = to;
	l->again = evtimer_new(to->base, listen_again_cb, l);
	if (listen_is_bound(fd, ai)) {
		l->listener = evconnlistener_new(to->base, listen_accept_cb, l,
		    flags, BACKLOG, fd);
	} else {
		if (fd >= 0)
			close(fd);
		l->listener = evconnlistener_new_bind(to->base,
		    listen_accept_cb, l, flags, BACKLOG, ai->ai_addr,
		    (int)ai->ai_addrlen);
	}
	rc = -errno;
	freeaddrinfo(ai);
	if (l->listener == NULL) {
		err_say(err, "collector.listen %s: %s", where, strerror(-rc));
		listen_close(l);
		return rc;
	}
	evconnlistener_set_error_cb(l->listener, listen_error_cb);
	*ret = l;
	return 0;
}

void
listen_start(struct listen *l, size_t most)
{
	l->left = most;
	if (most == 0)
		evconnlistener_disable(l->listener);
	else if (!event_pending(l->again, EV_TIMEOUT, NULL))
		evconnlistener_enable(l->listener);
}

int
listen_fd(const struct listen *l)
{
	return evconnlistener_get_fd(l->listener);
}

void
listen_close(struct listen *l)
{
	if (l == NULL)
		return;
	if (l->listener != NULL)
		evconnlistener_free(l->listener);
	event_free(l->again);
	free(l);
}

#define FIRST_FD 3
#define FDS_MAX  64

/* Return the index of name in "a:b:c", or -ENOENT. */
static int
listen_name_find(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; names != NULL; i++) {
		if (strncmp(names, name, len) == 0 &&
		    (names[len] == ':' || names[len] == '\0'))
			return i;
		names = strchr(names, ':');
		if (names != NULL)
			names++;
	}
	return -ENOENT;
}

void
listen_activated(const char *const names[], size_t count, int ret_fds[])
{
	const char *pid_text = getenv("LISTEN_PID");
	const char *count_text = getenv("LISTEN_FDS");
	int64_t pid = 0, given = 0;
	int found = 0;

	if (pid_text == NULL || count_text == NULL ||
	    str_to_int(pid_text, 1, INT32_MAX, &pid) < 0 ||
	    str_to_int(count_text, 1, FDS_MAX, &given) < 0 || pid != getpid())
		given = 0;
	for (size_t k = 0; k < count; k++) {
		int at = listen_name_find(getenv("LISTEN_FDNAMES"), names[k]);

		ret_fds[k] = at >= 0 && at < given ? FIRST_FD + at : -ENOENT;
		found += ret_fds[k] >= 0;
	}
	if (given == 1 && found == 0)
		ret_fds[0] = FIRST_FD;
	for (int fd = FIRST_FD; fd < FIRST_FD + (int)given; fd++) {
		int taken = 0;

		for (size_t k = 0; k < count; k++)
			taken |= ret_fds[k] == fd;
		if (taken)
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		else
			close(fd);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}
