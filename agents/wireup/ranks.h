/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the ranks of a run on this node: started without a launcher and
 * served what their MPI needs to find the other nodes' ranks.
 *
 * MPICH and its relatives speak PMI over a descriptor each, which this process
 * serves. Open MPI speaks PMIx with coalmine-pmix, a child like the ranks. What
 * nodes exchange travels through the session: a fence gives what all ranks of a
 * node have published and brings that of all nodes, a modex that of one rank.
 */
#ifndef AGENTS_WIREUP_RANKS_H
#define AGENTS_WIREUP_RANKS_H

#include <event2/event.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/process/strvec.h"
#include "schema/wire.h"

#define RANKS_MAX    1024 /* on a node */
#define RANKS_SERVER (RANKS_MAX + 1)

struct ranks;

/* A program that the owner starts under a keeper, as child id of the run. */
struct ranks_child {
	int id; /* RANKS_SERVER, or a rank of this node, counted from 1 */
	const char *path;
	char **argv;
	struct strvec *env;
	int pass;         /* see child_spec */
	const char *cpus; /* CPU list of each rank */
};

struct ranks_ops {
	/* 0 or -errno. */
	int (*start)(const struct ranks_child *c, void *arg);
	/* Takes msg; run is added. again: see run_send. */
	void (*send)(enum wire_type type, json_t *msg, int again, void *arg);
	/* The ranks cannot start or continue. */
	void (*failed)(const char *text, void *arg);
	/* All ranks have ended; status of the first one that failed. */
	void (*gone)(int status, const char *tail, void *arg);
};

/* Texts live as long as the ranks, except engine and argv. */
struct ranks_job {
	const char *run, *dir, *host;
	const char *pmix; /* path of coalmine-pmix; NULL: they speak PMI */
	const char *engine;
	const char *const *argv;
	const struct strvec *env; /* of every rank; copied */
	int first, local, size;   /* rank, ranks here, ranks in all */
	const char *bind;         /* "core", "numa" or NULL */
};

/* Return NULL after a call of failed. */
struct ranks *ranks_open(struct event_base *base, const struct ranks_job *job,
    const struct ranks_ops *ops, void *arg);
void ranks_close(struct ranks *r); /* NULL is allowed */

/* End the ranks without reporting their exit. */
void ranks_end(struct ranks *r);
/* Send pending reports now; the owner then closes. */
void ranks_settle(struct ranks *r);
/* Of children, as child_ops. */
void ranks_started(struct ranks *r, int id, pid_t pid);
void ranks_exited(struct ranks *r, int id, int status, const char *tail);
/* Of the rank watch: its connection ended, after "bye" or without. 1 when it is
 * a rank of these, whose end is reported with its status. */
int ranks_left(struct ranks *r, int64_t rank, int bye, int ended_itself);
/* Process a message of the collector; -EPROTO for one that cannot be for this
 * node. */
int ranks_fence(struct ranks *r, const json_t *msg);
int ranks_modex(struct ranks *r, const json_t *msg);

#endif
