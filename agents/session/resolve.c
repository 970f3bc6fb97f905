/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - the thread uses nothing but its own lookup; its answer comes
 * through an eventfd, so callbacks run in the loop and need no lock.
 */
#include "agents/session/resolve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"

#define STACK_BYTES (256 * 1024) /* glibc's resolver stays below 100 KiB */
#define RUNNING_MAX 8 /* lookups; one that was cancelled may still run */

struct resolve {
	struct event *done; /* the eventfd becomes readable */
	int fd;
	pthread_t thread;
	char *host, *port;
	struct addrinfo *list;
	int rc;         /* of getaddrinfo */
	resolve_cb *cb; /* NULL: cancelled */
	void *arg;
};

static int running;

static void *
resolve_thread(void *arg)
{
	struct resolve *r = arg;
	struct addrinfo hints = { 0 };
	uint64_t one = 1;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_ADDRCONFIG;
	r->rc = getaddrinfo(r->host, r->port, &hints, &r->list);
	if (r->rc == EAI_ADDRFAMILY || r->rc == EAI_NONAME) {
		/* only loopback is up: ADDRCONFIG hides its names */
		hints.ai_flags = 0;
		r->rc = getaddrinfo(r->host, r->port, &hints, &r->list);
	}
	(void)!write(r->fd, &one, sizeof(one));
	return NULL;
}

static void
resolve_free(struct resolve *r)
{
	if (r->done != NULL)
		event_free(r->done);
	if (r->fd >= 0)
		close(r->fd);
	free(r->host);
	free(r->port);
	free(r);
}

static void
resolve_done_cb(evutil_socket_t fd, short what, void *arg)
{
	struct resolve *r = arg;
	struct addrinfo *list;
	const char *why;

	(void)fd;
	(void)what;
	pthread_join(r->thread, NULL);
	running--;
	list = r->rc == 0 ? r->list : NULL;
	why = r->rc == 0 ? NULL : gai_strerror(r->rc);
	if (r->cb != NULL)
		r->cb(list, why, r->arg);
	else if (list != NULL)
		freeaddrinfo(list);
	resolve_free(r);
}

struct resolve *
resolve_start(struct event_base *base, const char *host, const char *port,
    resolve_cb *cb, void *arg)
{
	struct resolve *r = xcalloc(1, sizeof(*r));
	pthread_attr_t attr;
	int rc;

	r->host = xstrdup(host);
	r->port = xstrdup(port);
	r->cb = cb;
	r->arg = arg;
	r->fd = -1;
	if (running == RUNNING_MAX) {
		log_warnx("cannot resolve %s: %d DNS lookups still pending",
		    host, running);
		goto fail;
	}
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->fd < 0) {
		log_warn("cannot resolve %s: cannot create an eventfd", host);
		goto fail;
	}
	r->done = event_new(base, r->fd, EV_READ, resolve_done_cb, r);
	event_add(r->done, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&r->thread, &attr, resolve_thread, r);
	pthread_attr_destroy(&attr);
	if (rc != 0) {
		log_warnx("cannot resolve %s: cannot start a thread: %s", host,
		    strerror(rc));
		goto fail;
	}
	running++;
	return r;
fail:
	resolve_free(r);
	return NULL;
}

void
resolve_cancel(struct resolve *r)
{
	if (r != NULL)
		r->cb = NULL;
}
