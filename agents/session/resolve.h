/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - getaddrinfo(3) in a separate thread.
 *
 * The resolver of libevent knows neither NSS nor /etc/hosts, and a name server
 * that is down must not delay heartbeats. Each lookup is one thread, which ends
 * with its answer; an idle agent has none.
 */
#ifndef AGENTS_SESSION_RESOLVE_H
#define AGENTS_SESSION_RESOLVE_H

#include <event2/event.h>
#include <netdb.h>

struct resolve;

/* Called once in the loop's thread. The callee frees list with freeaddrinfo. On
 * failure list is NULL and why is the reason. */
typedef void resolve_cb(struct addrinfo *list, const char *why, void *arg);

/* Start a lookup, which frees itself after cb. Return NULL if no thread can be
 * created. */
struct resolve *resolve_start(struct event_base *base, const char *host,
    const char *port, resolve_cb *cb, void *arg);
/* Discard the answer: cb is not called any more. r can be NULL. */
void resolve_cancel(struct resolve *r);

#endif
