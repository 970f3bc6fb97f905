/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - start a program as a shell would: in a separate process group, so
 * that it ends with all its children; with no signal blocked or ignored,
 * whatever the parent does; with the null device as input. Also restart this
 * program.
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
