/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - the port that agents connect to, and ports that were opened for
 * us.
 */
#include "daemon/net/session.h"

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
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define BACKLOG 1024

struct listen {
	struct evconnlistener *listener;
	struct event *again;
	struct sessions *to;
};

static void
accept_cb(struct evconnlistener *el, evutil_socket_t fd, struct sockaddr *addr,
    int len, void *arg)
{
	struct listen *l = arg;
	char host[64];

	(void)el;
	if (getnameinfo(addr, (socklen_t)len, host, sizeof(host), NULL, 0,
		NI_NUMERICHOST) != 0)
		snprintf(host, sizeof(host), "unknown");
	sessions_accept(l->to, fd, host);
}

/* Usually EMFILE, where the listener would spin: shut it for a while and make
 * room. */
static void
error_cb(struct evconnlistener *el, void *arg)
{
	struct timeval tv = { 0, 250 * 1000 };
	struct listen *l = arg;

	sessions_complain(l->to, "listen", "",
	    evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
	evconnlistener_disable(el);
	sessions_shed(l->to);
	event_add(l->again, &tv);
}

static void
again_cb(evutil_socket_t fd, short what, void *arg)
{
	struct listen *l = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(l->listener);
}

int
listen_open(const char *where, struct event_base *base, struct sessions *to,
    struct listen **ret, struct err *err)
{
	struct addrinfo hint = { .ai_flags = AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(where, ':');
	struct addrinfo *ai = NULL;
	struct listen *l;
	char *host;
	size_t len;
	int rc = EAI_NONAME;

	if (colon != NULL) {
		len = (size_t)(colon - where);
		if (len >= 2 && where[0] == '[' && where[len - 1] == ']')
			host = xstrndup(where + 1, len - 2);
		else
			host = xstrndup(where, len);
		rc = getaddrinfo(host[0] == '\0' ? NULL : host, colon + 1,
		    &hint, &ai);
		free(host);
	}
	if (rc != 0)
		return err_set(err, -EINVAL, "collector.listen %s: %s", where,
		    gai_strerror(rc));
	l = xcalloc(1, sizeof(*l));
	l->to = to;
	l->again = evtimer_new(base, again_cb, l);
	l->listener = evconnlistener_new_bind(base, accept_cb, l,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE |
		LEV_OPT_DISABLED,
	    BACKLOG, ai->ai_addr, (int)ai->ai_addrlen);
	rc = -errno;
	freeaddrinfo(ai);
	if (l->listener == NULL) {
		err_say(err, "collector.listen %s: %s", where, strerror(-rc));
		listen_close(l);
		return rc;
	}
	evconnlistener_set_error_cb(l->listener, error_cb);
	*ret = l;
	return 0;
}

void
listen_start(struct listen *l)
{
	evconnlistener_enable(l->listener);
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

/* Index of name in "a:b:c", or -ENOENT. */
static int
name_find(const char *names, const char *name)
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

int
socket_activation_socket(const char *name)
{
	const char *pid_text = getenv("LISTEN_PID");
	const char *count_text = getenv("LISTEN_FDS");
	int64_t pid = 0, count = 0;
	int chosen = -ENOENT;

	if (pid_text != NULL && count_text != NULL &&
	    str_to_int(pid_text, 1, INT32_MAX, &pid) == 0 &&
	    str_to_int(count_text, 1, FDS_MAX, &count) == 0 && pid == getpid())
		chosen = name_find(getenv("LISTEN_FDNAMES"), name);
	else
		count = 0;
	if (chosen < 0 && count == 1)
		chosen = 0;
	if (chosen >= count)
		chosen = -ENOENT;
	for (int i = 0; i < (int)count; i++) {
		if (i == chosen)
			(void)fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC);
		else
			close(FIRST_FD + i);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return chosen < 0 ? chosen : FIRST_FD + chosen;
}
