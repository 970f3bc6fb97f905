/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.c - one socket, held open while this rank lives.
 */
#include "probes/job/rank_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"

static int tether = -1;
static int said_bye;

/* Not said by one that a signal kills: so the rank that died first can be told
 * from those whose MPI ends them for it. */
static void
say_exit(void)
{
	if (!said_bye)
		(void)send(tether, "exit\n", 5, MSG_NOSIGNAL);
}

void
rank_watch_open(int rank)
{
	const char *path = getenv("COALMINE_TETHER");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char line[64];
	int fd = -1, len;

	if (path == NULL || path[0] == '\0')
		return;
	errno = ENAMETOOLONG;
	if (strlen(path) < sizeof(addr.sun_path)) {
		strcpy(addr.sun_path, path);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		/* The measurement is as good without it. */
		log_warnx("%s: %s: nobody watches this rank", path,
		    strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	tether = fd;
	len = snprintf(line, sizeof(line), "rank %d pid %ld\n", rank,
	    (long)getpid());
	if (send(tether, line, (size_t)len, MSG_NOSIGNAL) != len)
		log_warn("%s", path);
	atexit(say_exit);
}

/* The socket stays open: the end of the process closes it. */
void
rank_watch_bye(void)
{
	said_bye = 1;
	if (tether >= 0 && send(tether, "bye\n", 4, MSG_NOSIGNAL) != 4)
		log_warn("tether");
}
