/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - run a program in a new process group with a time limit; collect its
 * output and exit code.
 */
#ifndef DAEMON_PROCESS_SPAWN_H
#define DAEMON_PROCESS_SPAWN_H

struct event_base;
struct spawned;

/* Maximum output in bytes: enough for the states of 10,000 nodes. */
#define SPAWN_OUT_MAX (4 * 1024 * 1024)
#define SPAWN_LIMIT_S 20

/* Called once at the end, never from inside spawn_start. status: exit code; 128
 * + signal; or 127 if the program could not be started, and out is the reason.
 * out: standard output, or standard error if the program failed and printed
 * any; NUL-ended. */
typedef void spawn_cb(int status, const char *out, void *arg);

/* Start a program. argv[0] is a path. env: NULL-ended "NAME=value", which
 * replaces the environment of this process. Return NULL with errno if resources
 * are insufficient. */
struct spawned *spawn_start(struct event_base *base, char *const *argv,
    char *const *env, spawn_cb *cb, void *arg);
/* Kill the program; cb is not called. s can be NULL. */
void spawn_cancel(struct spawned *s);

#endif
