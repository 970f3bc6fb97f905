/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the port that agents connect to, and ports that were opened
 * for us.
 */
#ifndef DAEMON_AGENTS_LISTEN_H
#define DAEMON_AGENTS_LISTEN_H

#include <stddef.h>

#include "common/err.h"

struct sessions;

struct listen;

/* Bound and shut: connections wait until listen_start.
 * where: "host:port", "[v6]:port" or ":port"; numeric hosts only need no
 * resolver. fd: a socket to use if it is bound there, or negative; taken.
 * -errno with why. */
int listen_open(const char *where, int fd, struct sessions *to,
    struct listen **ret, struct err *err);
/* Then it is shut again; SIZE_MAX: never. */
void listen_start(struct listen *l, size_t most);
int listen_fd(const struct listen *l);
void listen_close(struct listen *l); /* NULL is allowed */

/* Sockets that a service manager, or our own life before, has opened for us
 * (sd_listen_fds(3)): the descriptors of these names (LISTEN_FDNAMES), and the
 * only one as that of the first; -ENOENT for those that are not there. Once:
 * the environment is cleared, others are closed. */
void socket_activation_sockets(const char *const names[], size_t count,
    int ret_fds[]);

#endif
