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

/* status: exit code, 128 + signal, or 127 if it could not be started (out is
 * then the reason). out: standard output, or standard error if it failed and
 * printed any; NUL-ended. Called once, never from inside spawn_start. */
typedef void spawn_cb(int status, const char *out, void *arg);

/* argv[0] is a path. env: NULL-ended "NAME=value" in place of ours. Return NULL
 * with errno if resources are insufficient. */
struct spawned *spawn_start(struct event_base *base, char *const *argv,
    char *const *env, spawn_cb *cb, void *arg);
/* Kills it; cb is not called. NULL is allowed. */
void spawn_cancel(struct spawned *s);

#endif
