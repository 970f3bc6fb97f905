/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/sensor/version.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clk.h"

#define LIMIT_MS 3000

/* Up to the end of file or of patience. */
static size_t
read_all(int fd, char *ret, size_t cap_bytes)
{
	uint64_t end_ns = clk_ns() + LIMIT_MS * CLK_NS_PER_MS;
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < cap_bytes - 1 && clk_ns() < end_ns) {
		struct pollfd p = { fd, POLLIN, 0 };
		int ms = (int)((end_ns - clk_ns()) / CLK_NS_PER_MS);

		if (poll(&p, 1, ms) <= 0)
			break;
		n = read(fd, ret + len, cap_bytes - 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	ret[len] = '\0';
	return len;
}

static pid_t
start(const char *path, const char *argv0, int out)
{
	char *argv[] = { (char *)argv0, (char *)"--version", NULL };
	char *env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C",
		(char *)"HOME=/nonexistent", NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, out, 2);
	rc = posix_spawn(&pid, path, &fa, NULL, argv, env);
	posix_spawn_file_actions_destroy(&fa);
	return rc == 0 ? pid : -1;
}

void
version_ask(const char *path, const char *argv0, const char *mark, char *ret,
    size_t cap_bytes)
{
	char text[2048];
	size_t len;
	char *at;
	int fds[2];
	pid_t pid;

	ret[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pid = start(path, argv0, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		read_all(fds[0], text, sizeof(text));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		at = strstr(text, mark);
		if (at != NULL) {
			at += strlen(mark);
			at += strspn(at, " \t");
			len = strcspn(at, " \t\n");
			if (len < cap_bytes) {
				memcpy(ret, at, len);
				ret[len] = '\0';
			}
		}
	}
	close(fds[0]);
}
