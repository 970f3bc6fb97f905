/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - posix_spawn sets group, signals and descriptors in one call, so
 * that nothing of ours runs between fork and exec.
 */
#include "common/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"

#define LISTEN_FD 3

static char **first_argv, **first_env;

static void
fd_set_to(posix_spawn_file_actions_t *files, int fd, int is)
{
	if (is < 0)
		posix_spawn_file_actions_addopen(files, fd, "/dev/null",
		    O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(files, is, fd);
}

int
program_start(char *const *argv, char *const *env, int out_fd, int err_fd,
    pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	/* The last first: where we have no input, a file of ours may be 0. */
	fd_set_to(&files, STDERR_FILENO, err_fd);
	fd_set_to(&files, STDOUT_FILENO, out_fd);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
	    O_RDONLY, 0);
	posix_spawnattr_setflags(&attr,
	    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
		POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawnp(ret_pid, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

int
program_exit(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

void
program_remember(char **argv)
{
	size_t count = 0;

	while (environ[count] != NULL)
		count++;
	first_argv = argv;
	first_env = xcalloc(count + 1, sizeof(*environ));
	memcpy(first_env, environ, count * sizeof(*environ));
}

void
program_begin_again(int listen_fd)
{
	environ = first_env;
	if (listen_fd >= 0) { /* others it had are closed by now */
		(void)dup2(listen_fd, LISTEN_FD);
		(void)fcntl(LISTEN_FD, F_SETFD, 0);
		setenv("LISTEN_FDS", "1", 1);
		unsetenv("LISTEN_FDNAMES");
	}
	execv("/proc/self/exe", first_argv);
	fatal("cannot begin again");
}
