/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - getaddrinfo(3) in a thread of its own.
 *
 * The resolver of libevent knows neither NSS nor /etc/hosts, and a name server
 * that is away must not stop heartbeats. One question is one thread, which
 * ends with its answer; an idle agent has none.
 */
#ifndef AGENTS_SESSION_RESOLVE_H
#define AGENTS_SESSION_RESOLVE_H

#include <event2/event.h>
#include <netdb.h>

struct resolve;

/* Called once in the loop's thread. list is NULL on failure, and why then
 * says what; freeaddrinfo is the receiver's. */
typedef void resolve_cb(struct addrinfo *list, const char *why, void *arg);

/* NULL when no thread could be made. The question frees itself after cb. */
struct resolve *resolve_start(struct event_base *base, const char *host,
    const char *port, resolve_cb *cb, void *arg);
/* Forget the answer: cb is not called any more. NULL is allowed. */
void resolve_cancel(struct resolve *r);

#endif
