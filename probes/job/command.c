/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - a program of the site is started without our MPI's words in its
 * environment, timed, and ended with all that it left.
 */
#include "probes/job/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/rank_env.h"

#define POLL_MS 20

extern char **environ;

/* By these a program's MPI would find our launcher, our rank and our
 * settings. Slurm's job is left: srun in it starts a step. */
static int
command_is_ours(const char *entry)
{
	static const char *const kept[] = { "SLURM_CONF=", "SLURM_JOB_ID=",
		"COALMINE_RUN=" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (strncmp(entry, kept[i], strlen(kept[i])) == 0)
			return 0;
	for (size_t i = 0; i < ARRAY_LEN(rank_envs); i++)
		if (strncmp(entry, rank_envs[i].prefix,
			strlen(rank_envs[i].prefix)) == 0)
			return 1;
	return 0;
}

/* Until it has ended, or its time has: then all of it is killed. */
static void
command_wait_for(const struct command_ask *ask, pid_t pid, uint64_t start_ns,
    struct command_result *ret)
{
	struct pollfd end = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };
	int status = 0; /* if the parent of this process ignores SIGCHLD */

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!ret->timed_out && clk_ns() - start_ns >= ask->timeout_ns) {
			ret->timed_out = 1;
			kill(-pid, SIGKILL);
		}
		if (ask->idle != NULL)
			ask->idle();
		/* without a descriptor (old kernels) it is a nap */
		(void)poll(&end, 1, POLL_MS);
	}
	ret->elapsed_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	ret->status = program_exit(status);
	kill(-pid, SIGKILL); /* processes that it left behind */
	if (end.fd >= 0)
		close(end.fd);
}

void
command_run(const struct command_ask *ask, struct command_result *ret)
{
	FILE *err = tmpfile();
	size_t count = 1, n = 0;
	uint64_t start_ns;
	ssize_t len;
	off_t size;
	char **env;
	pid_t pid;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (err == NULL) {
		ret->status = 127;
		snprintf(ret->tail, sizeof(ret->tail),
		    "cannot create a temporary file: %s", strerror(errno));
		return;
	}
	/* only the list is ours; its strings are those of environ and ask */
	for (size_t i = 0; environ[i] != NULL; i++)
		count++;
	for (size_t i = 0; ask->env[i] != NULL; i++)
		count++;
	env = xcalloc(count, sizeof(env[0]));
	for (size_t i = 0; environ[i] != NULL; i++)
		if (!command_is_ours(environ[i]))
			env[n++] = environ[i];
	for (size_t i = 0; ask->env[i] != NULL; i++)
		env[n++] = ask->env[i];
	start_ns = clk_ns();
	rc = program_start(ask->argv, env, -1, fileno(err), &pid);
	free(env);
	if (rc < 0) {
		ret->status = 127;
		snprintf(ret->tail, sizeof(ret->tail), "%.200s: %s",
		    ask->argv[0], strerror(-rc));
		fclose(err);
		return;
	}
	command_wait_for(ask, pid, start_ns, ret);
	/* the end of the file in one line: no letter becomes a blank */
	size = lseek(fileno(err), 0, SEEK_END);
	len = pread(fileno(err), ret->tail, sizeof(ret->tail) - 1,
	    size < COMMAND_TAIL_BYTES ? 0 : size - COMMAND_TAIL_BYTES + 1);
	for (ssize_t i = 0; i < len; i++)
		if ((unsigned char)ret->tail[i] < ' ' ||
		    (unsigned char)ret->tail[i] > '~')
			ret->tail[i] = ' ';
	while (len > 0 && ret->tail[len - 1] == ' ')
		len--;
	ret->tail[len < 0 ? 0 : len] = '\0';
	fclose(err);
}

char **
command_words(const char *line)
{
	char **words = xcalloc(strlen(line) / 2 + 2, sizeof(words[0]));
	size_t n = 0, len;

	for (line += strspn(line, " \t"); *line != '\0';
	     line += strspn(line, " \t")) {
		len = strcspn(line, " \t");
		words[n++] = xstrndup(line, len);
		line += len;
	}
	return words;
}

void
command_words_free(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}
