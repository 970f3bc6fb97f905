/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - start a program as a shell would: a process group of its own,
 * so that what it starts can be ended with it; no signal blocked or ignored,
 * whatever its parent does with them; the null device as its input. And this
 * one, from its beginning.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

/* argv: NULL-ended; [0] without a slash is looked for in PATH. env: NULL-ended
 * "NAME=value". out_fd and err_fd stay the caller's; -1: the null device; any
 * file else, but out_fd is 2 only if err_fd is. 0, or -errno: there is no such
 * program, or no process to be had. */
int program_start(char *const *argv, char *const *env, int out_fd, int err_fd,
    pid_t *ret_pid);
/* Exit code, or 128 + signal as shells have it, of what waitpid said. */
int program_exit(int status);

/* Raise the limit of open files as far as this program may; return the new
 * limit. */
size_t program_files_raise(void);

/* At the start of main: how this program was started. */
void program_remember(char **argv);
/* The same again, as another program in this process: of this life nothing goes
 * on, whatever its threads wait for. It gets these sockets as from a service
 * manager (sd_listen_fds(3)); those that are negative it does not get. */
void program_begin_again(const char *const names[], const int fds[],
    size_t count);

#endif
