/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_activation.h - sockets that a service manager has opened for us
 * (sd_listen_fds(3)).
 */
#ifndef DAEMON_NET_SOCKET_ACTIVATION_H
#define DAEMON_NET_SOCKET_ACTIVATION_H

/* The descriptor of that name (LISTEN_FDNAMES), or the only one; -ENOENT if
 * there is none. Once: the environment is cleared, others are closed. */
int socket_activation_socket(const char *name);

#endif
