/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.h - unix sockets to which the children of a run can connect.
 */
#ifndef AGENTS_PROCESS_SOCK_H
#define AGENTS_PROCESS_SOCK_H

#include <event2/listener.h>
#include <stdint.h>

struct sock;

/* Listen at path, writable for group gid (-1: only the owner). cb is called for
 * each connection. Return NULL after logging the reason if that fails. */
struct sock *sock_listen(struct event_base *base, const char *path, int64_t gid,
    evconnlistener_cb cb, void *arg);
void sock_close(struct sock *s); /* can be called in cb; s can be NULL */

#endif
