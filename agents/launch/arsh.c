/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arsh.c - coalmine-arsh: what an MPI launcher runs instead of ssh.
 *
 * It hands its arguments, host first, to the agent of this node and stays
 * until the daemon that they name has ended on the other node. Launchers pass
 * its exit code on, so every failure has one of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/member.h"
#include "common/clk.h"
#include "common/str.h"

#define CONNECT_MS 3000
#define ANSWER_MS  15000 /* for the other node to say that it runs */

enum {
	EXIT_USAGE = 240,   /* no arguments, no agent named */
	EXIT_CONNECT = 241, /* no agent there */
	EXIT_ANSWER = 242,  /* it did not answer in time */
	EXIT_FAILED = 243,  /* the other node could or would not */
	EXIT_LOST = 244     /* the agent went away */
};

static int __attribute__((format(printf, 2, 3)))
fail(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("coalmine-arsh: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

/* Connect within CONNECT_MS; the socket or -errno. A full backlog is EAGAIN:
 * every node of a large run is asked for at once. */
static int
agent_connect(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	uint64_t end_ns = clk_ns() + CONNECT_MS * CLK_NS_PER_MS;
	int fd, rc;

	if (str_format(sun.sun_path, sizeof(sun.sun_path), "%s", path) < 0)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	for (;;) {
		rc = connect(fd, (struct sockaddr *)&sun, sizeof(sun));
		if (rc == 0)
			break;
		rc = -errno;
		if (rc != -EAGAIN || clk_ns() >= end_ns) {
			close(fd);
			return rc;
		}
		clk_sleep_ns(10 * CLK_NS_PER_MS);
	}
	fcntl(fd, F_SETFL, 0);
	return fd;
}

/* One line without its newline; 0 at the end of file, -ETIMEDOUT. */
static int
line_read(int fd, char *ret, size_t cap_bytes, int64_t limit_ms)
{
	uint64_t end_ns = clk_ns() + (uint64_t)limit_ms * CLK_NS_PER_MS;
	size_t len = 0;

	while (len + 1 < cap_bytes) {
		struct pollfd p = { fd, POLLIN, 0 };
		uint64_t now = clk_ns();
		int left = -1;

		if (limit_ms > 0)
			left = now < end_ns
			    ? (int)((end_ns - now) / CLK_NS_PER_MS) + 1
			    : 0;
		if (poll(&p, 1, left) == 0)
			return -ETIMEDOUT;
		if (read(fd, ret + len, 1) != 1)
			return 0;
		if (ret[len] == '\n') {
			ret[len] = '\0';
			return 1;
		}
		len++;
	}
	return 0;
}

/* Until the daemon has ended: the exit code. */
static int
follow(int fd)
{
	int64_t limit_ms = ANSWER_MS;
	char line[4096];
	int code = -1;

	while (code < 0) {
		int rc = line_read(fd, line, sizeof(line), limit_ms);
		const char *state, *text;
		json_t *msg;

		if (rc == -ETIMEDOUT)
			return fail(EXIT_ANSWER, "no answer in %d s",
			    ANSWER_MS / 1000);
		if (rc <= 0)
			return fail(EXIT_LOST, "the agent closed");
		msg = json_loads(line, 0, NULL);
		state = member_text_or(msg, "state", NULL);
		text = member_text_or(msg, "text", NULL);
		if (state != NULL && strcmp(state, "exited") == 0)
			code = (int)member_int(msg, "status");
		else if (state == NULL || strcmp(state, "running") != 0)
			code = fail(EXIT_FAILED, "%s",
			    text != NULL ? text : "failed");
		json_decref(msg);
		limit_ms = 0; /* it runs as long as it likes */
	}
	return code;
}

int
main(int argc, char **argv)
{
	const char *path = getenv("COALMINE_ARSH_SOCKET");
	json_t *list, *msg;
	size_t len, at = 0;
	ssize_t n = 0;
	char *text;
	int fd, failed;

	/* launchers forget their children */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (argc < 3 || path == NULL)
		return fail(EXIT_USAGE,
		    "started by an MPI launcher that an "
		    "agent runs, with a host and a command");
	fd = agent_connect(path);
	if (fd < 0)
		return fail(EXIT_CONNECT, "%s: %s", path, strerror(-fd));
	/* The request: one line of JSON with all our arguments. */
	list = json_array();
	for (int i = 1; i < argc; i++)
		json_array_append_new(list, json_string(argv[i]));
	msg = json_pack("{s:o}", "argv", list);
	text = json_dumps(msg, JSON_COMPACT);
	json_decref(msg);
	len = text != NULL ? strlen(text) : 0;
	if (text != NULL)
		text[len++] = '\n'; /* in place of the NUL */
	while (n >= 0 && at < len) {
		n = send(fd, text + at, len - at, MSG_NOSIGNAL);
		at += n > 0 ? (size_t)n : 0;
	}
	failed = text == NULL || n < 0;
	free(text);
	if (failed)
		return fail(EXIT_LOST, "%s: cannot send", path);
	return follow(fd);
}
