/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll_munge.c - check a node's munge credential before it gets a
 * certificate. A thread calls munged and the resolver, which both may be slow.
 * Root of any host of the realm can write a credential for any name, so a name
 * is given only to a peer at its address.
 */
#include "daemon/agents/enroll_munge.h"

#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/agents/enroll.h"
#include "pki/pki_munge.h"

#define WAITING_MAX 256 /* more requests are rejected; nodes retry */

struct item {
	TAILQ_ENTRY(item) link;
	uint64_t question;
	char *node, *addr, *request, *credential;
	char authority[PKI_DIGEST_TEXT];
	char *reply; /* the collector's own credential; NULL: refused */
	struct err err;
};
TAILQ_HEAD(items, item);

struct enroll_munge {
	char *users, *socket;
	enroll_munge_cb *cb;
	void *arg;
	struct event *done_event;
	pthread_t thread;
	int fd; /* eventfd: readable when some are done */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	struct items waiting, done;
	int count, stopping; /* waiting and done */
};

/* Return 1 if the name belongs to that address. */
static int
enroll_munge_address_check(const char *node, const char *addr, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	char text[NI_MAXHOST], first[NI_MAXHOST] = "";
	int rc = getaddrinfo(node, NULL, &hints, &list);

	if (rc != 0)
		return err_set(err, -EACCES,
		    "cannot resolve %.64s on this collector: %s", node,
		    gai_strerror(rc));
	rc = -EACCES;
	for (a = list; a != NULL; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text),
			NULL, 0, NI_NUMERICHOST) == 0) {
			if (strcmp(text, addr) == 0)
				rc = 0;
			if (first[0] == '\0')
				str_format(first, sizeof(first), "%s", text);
		}
	freeaddrinfo(list);
	if (rc < 0)
		err_say(err,
		    "%.64s has the address %.64s, but the connection is from "
		    "%.64s",
		    node, first, addr);
	return rc;
}

static int
enroll_munge_judge(const struct enroll_munge *m, struct item *i)
{
	char digest[PKI_DIGEST_TEXT], *text;
	EVP_PKEY *key = NULL;
	int rc = hostlist_name_check(i->node) < 0
	    ? err_set(&i->err, -EINVAL, "invalid node name")
	    : pki_request_read(i->request, i->node, &key, &i->err);

	if (rc < 0)
		return rc;
	pki_key_digest(key, digest);
	EVP_PKEY_free(key);
	text = pki_munge_text(ROLE_AGENT, i->node, digest, i->authority);
	rc = pki_munge_check(m->socket, i->credential, text, m->users, &i->err);
	free(text);
	if (rc == 0)
		rc = enroll_munge_address_check(i->node, i->addr, &i->err);
	if (rc < 0)
		return rc;
	text = pki_munge_text(ROLE_COLLECTOR, i->node, digest, i->authority);
	i->reply = pki_munge_write(m->socket, text, &i->err);
	free(text);
	return i->reply != NULL ? 0 : -EIO;
}

static void *
enroll_munge_main(void *arg)
{
	struct enroll_munge *m = arg;
	uint64_t one = 1;
	struct item *i;

	pthread_mutex_lock(&m->lock);
	while (!m->stopping) {
		i = TAILQ_FIRST(&m->waiting);
		if (i == NULL) {
			pthread_cond_wait(&m->wake, &m->lock);
			continue;
		}
		TAILQ_REMOVE(&m->waiting, i, link);
		pthread_mutex_unlock(&m->lock);
		(void)enroll_munge_judge(m, i);
		pthread_mutex_lock(&m->lock);
		TAILQ_INSERT_TAIL(&m->done, i, link);
		if (write(m->fd, &one, sizeof(one)) < 0)
			log_warn("munge: eventfd");
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static void
enroll_munge_items_free(struct items *list)
{
	struct item *i;

	while ((i = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, i, link);
		free(i->node);
		free(i->addr);
		free(i->request);
		free(i->credential);
		free(i->reply);
		free(i);
	}
}

static void
enroll_munge_done_cb(evutil_socket_t fd, short what, void *arg)
{
	struct enroll_munge *m = arg;
	struct items done = TAILQ_HEAD_INITIALIZER(done);
	struct item *i;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&m->lock);
	TAILQ_CONCAT(&done, &m->done, link);
	TAILQ_FOREACH (i, &done, link)
		m->count--;
	pthread_mutex_unlock(&m->lock);
	TAILQ_FOREACH (i, &done, link)
		m->cb(&(struct enroll_ask){ .node = i->node,
			  .request = i->request,
			  .munge = i->reply,
			  .addr = i->addr },
		    i->question, &i->err, m->arg);
	enroll_munge_items_free(&done);
}

int
enroll_munge_ask(struct enroll_munge *m, const struct enroll_ask *ask,
    const char authority[PKI_DIGEST_TEXT], uint64_t question, struct err *err)
{
	struct item *i;
	int full;

	pthread_mutex_lock(&m->lock);
	full = m->count == WAITING_MAX;
	if (!full) {
		i = xcalloc(1, sizeof(*i));
		i->question = question;
		i->node = xstrdup(ask->node);
		i->addr = xstrdup(ask->addr);
		i->request = xstrdup(ask->request);
		i->credential = xstrdup(ask->munge);
		memcpy(i->authority, authority, sizeof(i->authority));
		TAILQ_INSERT_TAIL(&m->waiting, i, link);
		m->count++;
		pthread_cond_signal(&m->wake);
	}
	pthread_mutex_unlock(&m->lock);
	return full
	    ? err_set(err, -EBUSY,
		  "limit of %d concurrent munge credentials reached; retry",
		  WAITING_MAX)
	    : 0;
}

struct enroll_munge *
enroll_munge_open(struct event_base *base, const char *users,
    const char *socket, enroll_munge_cb *cb, void *arg)
{
	struct enroll_munge *m = xcalloc(1, sizeof(*m));
	int rc;

	m->users = xstrdup(users);
	m->socket = xstrdup(socket);
	m->cb = cb;
	m->arg = arg;
	TAILQ_INIT(&m->waiting);
	TAILQ_INIT(&m->done);
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->wake, NULL);
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->done_event = event_new(base, m->fd, EV_READ | EV_PERSIST,
	    enroll_munge_done_cb, m);
	event_add(m->done_event, NULL);
	rc = pthread_create(&m->thread, NULL, enroll_munge_main, m);
	if (rc != 0)
		fatalx("munge: cannot create a thread: %s", strerror(rc));
	return m;
}

void
enroll_munge_close(struct enroll_munge *m)
{
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	m->stopping = 1;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	event_free(m->done_event);
	close(m->fd);
	enroll_munge_items_free(&m->waiting);
	enroll_munge_items_free(&m->done);
	free(m->users);
	free(m->socket);
	free(m);
}
