/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tries.c - each connection is a socket that the event loop watches once, with
 * a timeout.
 */
#include "agents/sensor/tries.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/str.h"
#include "common/xalloc.h"

struct tried {
	struct tries *of;
	char *run;
	char addr[INET6_ADDRSTRLEN];
	int port;
};

static void
tries_end(struct tried *one, int fd, int is_refused)
{
	struct tries *t = one->of;

	close(fd);
	t->count--;
	if (is_refused)
		t->cb(one->run, one->addr, one->port, t->arg);
	free(one->run);
	free(one);
}

/* A firewall rejects with a reset or with one of several ICMP messages, so that
 * every error is a refusal. */
static void
tries_event_cb(evutil_socket_t fd, short what, void *arg)
{
	socklen_t len = sizeof(int);
	int error = 0;

	tries_end(arg, fd,
	    (what & EV_TIMEOUT) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
		error != 0);
}

/* Return the length of the address in ret; 0: malformed. */
static socklen_t
tries_address(const char *addr, int port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *four = (void *)ret;
	struct sockaddr_in6 *six = (void *)ret;

	memset(ret, 0, sizeof(*ret));
	if (port < 1 || port > UINT16_MAX)
		return 0;
	if (inet_pton(AF_INET, addr, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, addr, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		return sizeof(*six);
	}
	return 0;
}

void
tries_add(struct tries *t, const char *run, const char *addr, int port)
{
	static const struct timeval limit = { TRIES_LIMIT_S, 0 };
	struct sockaddr_storage to;
	socklen_t len = tries_address(addr, port, &to);
	struct tried *one;
	int fd;

	if (len == 0 || t->count >= TRIES_MAX)
		return;
	fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	if (fd < 0)
		return;
	one = xcalloc(1, sizeof(*one));
	*one = (struct tried){ .of = t, .run = xstrdup(run), .port = port };
	str_format(one->addr, sizeof(one->addr), "%s", addr);
	t->count++;
	/* Other errors than a refusal are of this node: it has no route. */
	if (connect(fd, (struct sockaddr *)&to, len) < 0 &&
	    errno != EINPROGRESS)
		tries_end(one, fd, errno == ECONNREFUSED);
	else if (event_base_once(t->base, fd, EV_WRITE, tries_event_cb, one,
		     &limit) < 0)
		tries_end(one, fd, 0);
}
