/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the port to which agents connect, and sockets that a service
 * manager has opened for this program.
 */
#ifndef DAEMON_AGENTS_LISTEN_H
#define DAEMON_AGENTS_LISTEN_H

#include <stddef.h>

#include "common/err.h"

struct sessions;

struct listen;

/* Bind the port; connections wait until listen_start. where: "host:port",
 * "[v6]:port" or ":port"; a numeric host needs no resolver. fd: a socket that
 * is used if it is bound there, or negative; it is taken. Return 0, or -errno
 * with err. */
int listen_open(const char *where, int fd, struct sessions *to,
    struct listen **ret, struct err *err);
/* Accept this many connections, then stop; SIZE_MAX: no limit. */
void listen_start(struct listen *l, size_t most);
/* Return the listening socket, which stays in use. */
int listen_fd(const struct listen *l);
void listen_close(struct listen *l); /* NULL is allowed */

/* Take over sockets that a service manager or this program before its restart
 * has opened (sd_listen_fds(3)): ret_fds by name (LISTEN_FDNAMES); a single
 * unnamed one belongs to the first name; -ENOENT: not found. Call it once: it
 * clears the environment and closes all other sockets. */
void listen_activated(const char *const names[], size_t count, int ret_fds[]);

#endif
