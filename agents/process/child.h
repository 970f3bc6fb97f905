/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - a program started under coalmine-keeper, a helper process that ends
 * the program and all its descendants when it has to end or the agent has died.
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

/* Descriptors of a keeper: output and error output of the program, the control
 * socket, the program's environment (CHILD_FD_ENV), and one that the program
 * inherits. -1: no such descriptor. */
#define CHILD_FDS    5
#define CHILD_FD_ENV 3

/* The program and its limits. */
struct child_spec {
	const char *keeper; /* path of coalmine-keeper */
	const char *path;   /* program, absolute */
	char **argv;        /* arguments, argv[0] first; NULL-ended */
	char **env;         /* its whole environment; NULL-ended */
	int64_t uid, gid;   /* user and group; -1: those of the agent */
	uint64_t deadline_ms;
	uint64_t file_max_bytes, processes_max; /* 0: no limit */
	/* Cgroup leaf to create, or NULL. */
	const char *cgroup;
	const char *output; /* file for its standard output, or NULL: dropped */
	/* A descriptor that the program gets as CHILD_PASS_FD; 0: none. The
	 * caller keeps its own. */
	int pass;
	const char *cpus; /* cores that it is bound to, "0-3,8"; NULL: any */
	/* Socket of the broker, which starts the child; 0: this process does.
	 * The broker has its own user, limits and leaf for child number id of
	 * run. run NULL: it starts idle.command, by its own configuration. */
	int broker;
	const char *run;
	int64_t id;
};

/* Callbacks. */
struct child_ops {
	void (*started)(struct child *c, pid_t pid, void *arg);
	void (*failed)(struct child *c, const char *why, void *arg);
	/* status: exit code, or 128 + signal; tail: the end of its standard
	 * error. status -1: the keeper was lost, and the program's processes
	 * may still run. */
	void (
	    *exited)(struct child *c, int status, const char *tail, void *arg);
};

/* Start a program. spec is copied as needed. Return 0, or -errno if the process
 * could not be created. */
int child_start(struct event_base *base, const struct child_spec *spec,
    const struct child_ops *ops, void *arg, struct child **ret);
/* Start a keeper as a child of this process. fds stay the caller's; without an
 * environment among them, the program gets spec->env. Return its pid or -errno.
 * child_start calls it, and the broker. */
int child_keeper_start(const struct child_spec *spec, const int fds[CHILD_FDS]);
/* Send SIGTERM to all processes of the program, and SIGKILL after grace_ms;
 * exited is called later. */
void child_end(struct child *c, uint64_t grace_ms);
/* Free it, even while the program runs: its keeper then ends the program. c can
 * be NULL. */
void child_free(struct child *c);

#endif
