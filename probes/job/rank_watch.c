/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_watch.c - the lines that a rank sends to the agent of its node.
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

static int rank_watch_fd = -1;
static int rank_watch_said_bye;

/* Not said by one that a signal kills: so the rank that died first can be told
 * from those whose MPI ends them for it. */
static void
rank_watch_exit(void)
{
	if (!rank_watch_said_bye)
		(void)send(rank_watch_fd, "exit\n", 5, MSG_NOSIGNAL);
}

void
rank_watch_open(int rank)
{
	const char *path = getenv("COALMINE_RANK_WATCH");
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
		log_warnx("cannot connect to the agent at %s: %s; the loss of "
			  "this rank will not be detected",
		    path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	rank_watch_fd = fd;
	len = snprintf(line, sizeof(line), "rank %d pid %ld\n", rank,
	    (long)getpid());
	if (send(rank_watch_fd, line, (size_t)len, MSG_NOSIGNAL) != len)
		log_warn("cannot send to the agent at %s; the loss of this "
			 "rank will not be detected",
		    path);
	atexit(rank_watch_exit);
}

void
rank_watch_stuck_line(const struct rank_stuck *s, char ret[RANK_STUCK_BYTES])
{
	snprintf(ret, RANK_STUCK_BYTES, "stuck %d %s %s %.1f %llu\n", s->rank,
	    s->node, s->what, s->waited_s, (unsigned long long)s->at);
}

void
rank_watch_send(const char *line)
{
	if (rank_watch_fd >= 0)
		(void)send(rank_watch_fd, line, strlen(line), MSG_NOSIGNAL);
}

void
rank_watch_stuck(const struct rank_stuck *s)
{
	char line[RANK_STUCK_BYTES];

	rank_watch_stuck_line(s, line);
	rank_watch_send(line);
}

/* The socket stays open: the end of the process closes it. */
void
rank_watch_bye(void)
{
	rank_watch_said_bye = 1;
	if (rank_watch_fd >= 0 &&
	    send(rank_watch_fd, "bye\n", 4, MSG_NOSIGNAL) != 4)
		log_warn("cannot report the end of this rank to the agent");
}
