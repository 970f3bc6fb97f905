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

void
version_ask(const char *path, const char *argv0, const char *mark, char *ret,
    size_t cap_bytes)
{
	char *argv[] = { (char *)argv0, (char *)"--version", NULL };
	char *env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C",
		(char *)"HOME=/nonexistent", NULL };
	uint64_t end_ns = clk_ns() + LIMIT_MS * CLK_NS_PER_MS;
	posix_spawn_file_actions_t fa;
	char text[2048], *at;
	size_t len = 0;
	int fds[2], rc;
	ssize_t n = 1;
	pid_t pid;

	ret[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
	posix_spawn_file_actions_adddup2(&fa, fds[1], 2);
	rc = posix_spawn(&pid, path, &fa, NULL, argv, env);
	posix_spawn_file_actions_destroy(&fa);
	close(fds[1]);
	/* Up to the end of file or of the time. */
	while (
	    rc == 0 && n > 0 && len < sizeof(text) - 1 && clk_ns() < end_ns) {
		struct pollfd p = { fds[0], POLLIN, 0 };
		int ms = (int)((end_ns - clk_ns()) / CLK_NS_PER_MS);

		if (poll(&p, 1, ms) <= 0)
			break;
		n = read(fds[0], text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	close(fds[0]);
	if (rc != 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	text[len] = '\0';
	at = strstr(text, mark);
	if (at == NULL)
		return;
	at += strlen(mark);
	at += strspn(at, " \t");
	len = strcspn(at, " \t\n");
	if (len < cap_bytes) {
		memcpy(ret, at, len);
		ret[len] = '\0';
	}
}
