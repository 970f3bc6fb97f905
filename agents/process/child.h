/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - a program started under coalmine-keeper.
 *
 * Order of calls: child_start, then exactly one of failed (it never ran) and
 * exited (all its processes have ended), then child_free by the owner. started
 * is called before exited. Callbacks are called by the loop, never by
 * child_start.
 */
#ifndef AGENTS_PROCESS_CHILD_H
#define AGENTS_PROCESS_CHILD_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child;

#define CHILD_PASS_FD 5

struct child_spec {
	const char *keeper; /* path of coalmine-keeper */
	const char *path;   /* program, absolute */
	char **argv;        /* from [0]; NULL ends it */
	char **env;         /* all of its environment */
	int64_t uid, gid;   /* -1: as we are */
	uint64_t deadline_ms;
	uint64_t file_max_bytes, processes_max; /* 0: no limit */
	const char *cgroup;                     /* leaf to make, or NULL */
	const char *output; /* file for its stdout, or NULL: dropped */
	/* A descriptor for the program, which finds it as CHILD_PASS_FD; 0:
	 * none. It stays the caller's. */
	int pass;
	const char *cpus; /* cores that it is bound to, "0-3,8"; NULL: any */
};

struct child_ops {
	void (*started)(struct child *c, pid_t pid, void *arg);
	void (*failed)(struct child *c, const char *why, void *arg);
	/* status: exit code, or 128 + signal; tail: the end of stderr. status
	 * -1: the keeper was lost, and its processes may still run. */
	void (
	    *exited)(struct child *c, int status, const char *tail, void *arg);
};

/* Return -errno if the process could not be created. spec is copied as needed.
 */
int child_start(struct event_base *base, const struct child_spec *spec,
    const struct child_ops *ops, void *arg, struct child **ret);
/* Send TERM to all its processes, and KILL after grace_ms; exited is called
 * later. */
void child_end(struct child *c, uint64_t grace_ms);
/* Free it, even while it runs: its keeper then ends the child automatically.
 * NULL is allowed. */
void child_free(struct child *c);

#endif
