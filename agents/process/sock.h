/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.h - unix sockets that the children of a run may connect to.
 */
#ifndef AGENTS_PROCESS_SOCK_H
#define AGENTS_PROCESS_SOCK_H

#include <event2/listener.h>
#include <stdint.h>

struct sock;

/* Listen at path, writable for group gid (-1: only the owner). On failure log
 * the reason and return NULL. */
struct sock *sock_listen(struct event_base *base, const char *path, int64_t gid,
    evconnlistener_cb cb, void *arg);
void sock_close(struct sock *s); /* also in cb; NULL is allowed */

#endif
