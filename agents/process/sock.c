/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.c - a listener that runs out of descriptors is closed to new connections
 * for a while instead of spinning on accept.
 */
#include "agents/process/sock.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define BACKLOG 256 /* every rank of a node at once */

struct sock {
	struct evconnlistener *listener;
	struct event *again;
	evconnlistener_cb cb;
	void *arg;
	int told;
};

static void
sock_accept_cb(struct evconnlistener *l, evutil_socket_t fd,
    struct sockaddr *sa, int len, void *arg)
{
	struct sock *s = arg;

	s->cb(l, fd, sa, len, s->arg); /* s may be gone */
}

static void
sock_again_cb(evutil_socket_t fd, short what, void *arg)
{
	struct sock *s = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(s->listener);
}

/* Out of file descriptors, where the listener would spin: disable it for a
 * while. Waiting clients have their own time limit. */
static void
sock_error_cb(struct evconnlistener *l, void *arg)
{
	static const struct timeval pause = { .tv_usec = 250 * 1000 };
	struct sock *s = arg;

	if (!s->told)
		log_warn("cannot accept a connection on a local socket; "
			 "retrying");
	s->told = 1;
	evconnlistener_disable(l);
	event_add(s->again, &pause);
}

struct sock *
sock_listen(struct event_base *base, const char *path, int64_t gid,
    evconnlistener_cb cb, void *arg)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct sock *s;

	if (str_format(sun.sun_path, sizeof(sun.sun_path), "%s", path) < 0) {
		log_warnx("%s: path too long for a socket", path);
		return NULL;
	}
	unlink(path);
	s = xcalloc(1, sizeof(*s));
	s->cb = cb;
	s->arg = arg;
	s->again = evtimer_new(base, sock_again_cb, s);
	privileges_take(-1, gid);
	s->listener = evconnlistener_new_bind(base, sock_accept_cb, s,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
	    (struct sockaddr *)&sun, (int)sizeof(sun));
	privileges_back();
	if (s->listener == NULL || chmod(path, gid >= 0 ? 0660 : 0600) < 0) {
		log_warn("cannot create the socket %s", path);
		sock_close(s);
		return NULL;
	}
	evconnlistener_set_error_cb(s->listener, sock_error_cb);
	return s;
}

void
sock_close(struct sock *s)
{
	if (s == NULL)
		return;
	if (s->listener != NULL)
		evconnlistener_free(s->listener);
	event_free(s->again);
	free(s);
}
