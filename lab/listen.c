/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - open a listening socket on 127.0.0.1 and hand it to a command,
 * as sd_listen_fds(3) describes.
 *
 *   listen NAME PORT TRIES COMMAND...
 *
 * The demo's collector lives in a host of the lab, which the machine's own
 * loopback does not reach; a socket keeps the network it was made in. If PORT
 * is taken the next ones are tried. The command gets descriptor 3,
 * LISTEN_FDS, LISTEN_FDNAMES and COALMINE_LISTEN_PORT; LISTEN_PID it must set
 * itself, once it has entered the pid namespace where the socket is used.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/str.h"

#define LISTEN_FD 3
#define BACKLOG   64

/* A socket that listens on the port, or -errno. */
static int
listen_open_port(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0), rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int
main(int argc, char **argv)
{
	int64_t port, tries;
	char text[16];
	int rc = -EINVAL;

	if (argc < 5 || str_to_int(argv[2], 1, UINT16_MAX, &port) < 0 ||
	    str_to_int(argv[3], 1, UINT16_MAX - port, &tries) < 0) {
		fprintf(stderr, "usage: listen NAME PORT TRIES COMMAND...\n");
		return 3;
	}
	for (int64_t last = port + tries; port < last; port++) {
		rc = listen_open_port((uint16_t)port);
		if (rc != -EADDRINUSE)
			break;
	}
	if (rc >= 0 &&
	    (rc == LISTEN_FD || (dup2(rc, LISTEN_FD) >= 0 && close(rc) == 0))) {
		snprintf(text, sizeof(text), "%d", (int)port);
		setenv("COALMINE_LISTEN_PORT", text, 1);
		setenv("LISTEN_FDS", "1", 1);
		setenv("LISTEN_FDNAMES", argv[1], 1);
		execvp(argv[4], argv + 4);
	}
	if (rc >= 0)
		rc = -errno;
	fprintf(stderr, "listen: %s: %s\n",
	    rc == -EADDRINUSE ? argv[2] : argv[4], strerror(-rc));
	return 1;
}
