/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - run a program in a process group of its own: its output, its exit
 * code, and a limit after which it is killed.
 */
#ifndef DAEMON_PROCESS_SPAWN_H
#define DAEMON_PROCESS_SPAWN_H

struct event_base;
struct spawned;

/* Bytes of output that are kept: what 10,000 nodes are said to do. */
#define SPAWN_OUT_MAX (4 * 1024 * 1024)
#define SPAWN_LIMIT_S 20

/* status: exit code, 128 + signal, or 127 when it could not be started (out
 * then says why). out: standard output, or of one that failed its complaints,
 * where it has any; NUL-ended. Called once, never from inside spawn_start. */
typedef void spawn_cb(int status, const char *out, void *arg);

/* argv[0] is a path. env: NULL-ended "NAME=value" in place of ours. NULL and
 * errno when there are no resources for it. */
struct spawned *spawn_start(struct event_base *base, char *const *argv,
    char *const *env, spawn_cb *cb, void *arg);
/* Kills it; cb is not called. NULL is allowed. */
void spawn_cancel(struct spawned *s);

#endif
