/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - a program started under coalmine-keeper.
 *
 * Life: child_start, then exactly one of failed (it never ran) and exited
 * (it did, and nothing of it is left), then child_free by the owner. started
 * comes before exited. Callbacks come from the loop, never from child_start.
 */
#ifndef AGENTS_PROCESS_CHILD_H
#define AGENTS_PROCESS_CHILD_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child;

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
};

struct child_ops {
	void (*started)(struct child *c, pid_t pid, void *arg);
	void (*failed)(struct child *c, const char *why, void *arg);
	/* status: exit code, or 128 + signal; tail: of stderr, and
	 * what Hydra says on stdout of a process that died.
	 * status -1: the keeper was lost, and what it kept may live on. */
	void (
	    *exited)(struct child *c, int status, const char *tail, void *arg);
};

/* -errno when no process could be made. spec is copied where needed. */
int child_start(struct event_base *base, const struct child_spec *spec,
    const struct child_ops *ops, void *arg, struct child **ret);
/* TERM to all of it, KILL after grace_ms; exited follows. */
void child_end(struct child *c, uint64_t grace_ms);
/* Of one that still runs: its keeper ends it by itself. NULL is allowed. */
void child_free(struct child *c);

/* stderr_tail.c: the last words of a child. Pure. ---- */

/* The last bytes a child wrote. Launchers print harmless warnings at the end of
 * every run, and every rank that crashes a page of addresses; lines known as
 * noise are left out, so that the tail shows what went wrong. */
#define STDERR_TAIL_MAX 4096 /* bytes kept: a screen of text */

struct stderr_tail {
	char bytes[STDERR_TAIL_MAX];
	size_t start; /* index of the oldest byte */
	size_t len_bytes;
	size_t line_bytes; /* of these, since the last end of a line */
	int is_cut;        /* older ones were dropped */
};

void stderr_tail_add(struct stderr_tail *t, const char *bytes,
    size_t len_bytes);
/* Valid UTF-8 without control characters but newline and tab; the caller
 * frees. A first line that was cut is left out when others follow.
 * Only the lines that contain mark; NULL: all. */
char *stderr_tail_lines(const struct stderr_tail *t, const char *mark);

#endif
