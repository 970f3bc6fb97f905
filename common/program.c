/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - posix_spawn sets group, signals and descriptors in one call, so
 * that nothing of ours runs between fork and exec.
 */
#include "common/program.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define LISTEN_FD   3
#define SOCKETS_MAX 8

static char **first_argv, **first_env;

static void
program_fd_set_to(posix_spawn_file_actions_t *files, int fd, int is)
{
	if (is < 0)
		posix_spawn_file_actions_addopen(files, fd, "/dev/null",
		    O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(files, is, fd);
}

/* Return env without the variables by which the service manager addresses this
 * program only. The caller frees the list. */
static char **
program_env_of_child(char *const *env)
{
	static const char *const own[] = { "CREDENTIALS_DIRECTORY=",
		"NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC=",
		"LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=" };
	size_t count = 0, used = 0, k;
	char **ret;

	while (env[count] != NULL)
		count++;
	ret = xcalloc(count + 1, sizeof(*ret));
	for (size_t i = 0; i < count; i++) {
		for (k = 0; k < ARRAY_LEN(own); k++)
			if (strncmp(env[i], own[k], strlen(own[k])) == 0)
				break;
		if (k == ARRAY_LEN(own))
			ret[used++] = env[i];
	}
	return ret;
}

int
program_start(char *const *argv, char *const *env, int out_fd, int err_fd,
    pid_t *ret_pid)
{
	char **child_env = program_env_of_child(env);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	/* The last first: where we have no input, a file of ours may be 0. */
	program_fd_set_to(&files, STDERR_FILENO, err_fd);
	program_fd_set_to(&files, STDOUT_FILENO, out_fd);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
	    O_RDONLY, 0);
	posix_spawnattr_setflags(&attr,
	    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
		POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawnp(ret_pid, argv[0], &files, &attr, argv, child_env);
	free(child_env);
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
program_begin_again(const char *const names[], const int fds[], size_t count)
{
	struct strbuf text = { 0 };
	int copies[SOCKETS_MAX], given = 0;
	char number[2][16];

	assert(count <= SOCKETS_MAX);
	environ = first_env;
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		/* Their places may be taken by one that comes later. */
		strbuf_addf(&text, "%s%s", given == 0 ? "" : ":", names[i]);
		copies[given++] = fcntl(fds[i], F_DUPFD_CLOEXEC,
		    LISTEN_FD + (int)count);
	}
	for (int i = 0; i < given; i++) /* without FD_CLOEXEC */
		(void)dup2(copies[i], LISTEN_FD + i);
	snprintf(number[0], sizeof(number[0]), "%d", given);
	snprintf(number[1], sizeof(number[1]), "%d", (int)getpid());
	setenv("LISTEN_FDS", number[0], 1);
	setenv("LISTEN_PID", number[1], 1);
	setenv("LISTEN_FDNAMES", given > 0 ? text.text : "", 1);
	execv("/proc/self/exe", first_argv);
	fatal("cannot restart the program");
}

size_t
program_files_raise(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return SIZE_MAX;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	return (size_t)rl.rlim_cur;
}
