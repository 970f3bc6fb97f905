/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the port that agents connect to, and ports that were opened for
 * us.
 */
#ifndef DAEMON_NET_LISTEN_H
#define DAEMON_NET_LISTEN_H

#include <stddef.h>

#include "common/err.h"

struct event_base;
struct listen;
struct sessions;

/* Bound and shut: connections wait until listen_start.
 * where: "host:port", "[v6]:port" or ":port"; numeric hosts only need no
 * resolver. -errno with why. */
int listen_open(const char *where, struct event_base *base, struct sessions *to,
    struct listen **ret, struct err *err);
void listen_start(struct listen *l);
void listen_close(struct listen *l); /* NULL is allowed */

/* A socket that a service manager has opened for us (sd_listen_fds(3)): the
 * descriptor of that name (LISTEN_FDNAMES), or the only one; -ENOENT if there
 * is none. Once: the environment is cleared, others are closed. */
int socket_activation_socket(const char *name);

#endif
