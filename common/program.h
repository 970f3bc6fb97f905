/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - start a program as a shell would: in a separate process group, so
 * that it can be ended with all its children; with no signal blocked or
 * ignored, even if the parent blocks or ignores some; with the null device as
 * input. Also restart this program.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

/* Start a program. argv: NULL-ended; argv[0] without a slash is searched in
 * PATH. env: NULL-ended "NAME=value"; variables of the service manager for this
 * process are not passed on. out_fd and err_fd stay the caller's; -1
 * is the null device; otherwise any file, but out_fd may be 2 only if err_fd
 * is. Return 0, or -errno: the program does not exist, or fork failed. */
int program_start(char *const *argv, char *const *env, int out_fd, int err_fd,
    pid_t *ret_pid);
/* Return the exit code for a status of waitpid, or 128 + the signal's number
 * as shells do. */
int program_exit(int status);

/* Raise the limit of open files to the maximum that this program may set.
 * Return the new limit. */
size_t program_files_raise(void);

/* Store the arguments of this program, for
 * program_begin_again. Call it at the start of main. */
void program_remember(char **argv);
/* Restart this program in this process (exec), with its original arguments.
 * Does not return; all threads end. names, fds: count sockets that the new
 * program inherits, as from a service manager (sd_listen_fds(3)); negative ones
 * are skipped. */
void program_begin_again(const char *const names[], const int fds[],
    size_t count);

#endif
