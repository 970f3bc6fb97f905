/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the ranks of a run on this node: start them without a launcher, and
 * serve what their MPI needs to find the ranks of other nodes (the wire-up).
 *
 * MPICH and its relatives use PMI over one descriptor per rank, which this
 * process serves. Open MPI uses PMIx with coalmine-pmix, a child process like
 * the ranks. What nodes exchange travels through the session with the
 * collector: a fence sends what all ranks of a node have published, and brings
 * what all nodes have published; a modex brings what one rank has published.
 */
#ifndef AGENTS_WIREUP_RANKS_H
#define AGENTS_WIREUP_RANKS_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/process/strvec.h"
#include "schema/wire.h"

#define RANKS_MAX    1024 /* most ranks of a run on a node */
#define RANKS_SERVER (RANKS_MAX + 1)

struct ranks;

/* A program that the owner starts under a keeper, as child number id of the
 * run. */
struct ranks_child {
	int id; /* RANKS_SERVER, or a rank of this node, counted from 1 */
	const char *path;
	char **argv;
	struct strvec *env;
	int pass;         /* see child_spec */
	const char *cpus; /* CPU list of each rank */
};

/* Calls of the owner. */
struct ranks_ops {
	/* Start a program. Return 0 or -errno. */
	int (*start)(const struct ranks_child *c, void *arg);
	/* Send a message; takes msg, to which run is added. again: see
	 * run_send. */
	void (*send)(enum wire_type type, json_t *msg, int again, void *arg);
	/* The ranks cannot start, or cannot continue. */
	void (*failed)(const char *text, void *arg);
	/* All ranks have ended. status: exit status of the first rank that
	 * failed. */
	void (*gone)(int status, const char *tail, void *arg);
};

/* The ranks to start. Texts must live as long as struct ranks, except engine
 * and argv. */
struct ranks_job {
	const char *run, *dir, *host;
	const char *pmix; /* path of coalmine-pmix; NULL: the ranks use PMI */
	const char *engine;
	const char *const *argv;
	const struct strvec *env; /* environment of every rank; copied */
	/* Number of the first rank, ranks on this node, ranks of the run. */
	int first, local, size;
	const char *bind; /* "core", "numa" or NULL */
};

/* Start the ranks. Return NULL after a call of failed. */
struct ranks *ranks_open(struct event_base *base, const struct ranks_job *job,
    const struct ranks_ops *ops, void *arg);
void ranks_close(struct ranks *r); /* NULL is allowed */

/* End the ranks without reporting their exit. */
void ranks_end(struct ranks *r);
/* Send pending reports now; the owner then closes the ranks. */
void ranks_settle(struct ranks *r);
/* Note that a child has started, or has exited: see child_ops. */
void ranks_started(struct ranks *r, int id, pid_t pid);
void ranks_exited(struct ranks *r, int id, int status, const char *tail);
/* Note that the connection of a rank to the rank watch has ended; bye: 1 if the
 * rank wrote "bye" before. Return 1 if it is one of these ranks, whose end is
 * then reported with its status; 0 if not. */
int ranks_left(struct ranks *r, int64_t rank, int bye, int ended_itself);
/* Process a fence or modex message of the collector. Return 0, or -EPROTO for
 * one that cannot be for this node. */
int ranks_fence(struct ranks *r, const json_t *msg);
int ranks_modex(struct ranks *r, const json_t *msg);

#endif
