/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what of a run lives on this node.
 *
 * A run is opened by prepare, which reserves the node, and closed when it was
 * ended and nothing of it is left: no process, no socket, no file but its
 * records in the spool. Its end comes from the collector, from its deadline,
 * or from the collector's absence. Messages about it that could not be sent
 * wait here for the next session.
 */
#ifndef AGENTS_RUN_RUN_H
#define AGENTS_RUN_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "agents/agent.h"
#include "agents/launch/spawn_requests.h"
#include "agents/process/child.h"
#include "agents/launch/mpi_impl.h"
#include "agents/launch/launcher.h"
#include "schema/record.h"
#include "schema/wire.h"

/* ---- rank_watch.c: the connections that the ranks of a run hold here ----
 *
 * A rank connects, writes "rank R pid P", and "bye" once its results are out;
 * between them "stuck RANK NODE WHAT SECONDS AT" where it waits for another one
 * in vain, at most for two; RANK -1: it cannot say for whom.
 * A connection that ends without bye is a rank that died, whatever its launcher
 * thinks of it; one that ended itself, as its MPI does when another rank is
 * gone, could still say "exit".
 */
struct rank_watch;

/* exited: it ended itself. */
typedef void rank_watch_lost_cb(int64_t rank, int64_t pid, int exited,
    void *arg);
/* with: {rank node what waited_s at}, taken; the node's name may be any, or ""
 * with rank -1. */
typedef void rank_watch_stuck_cb(int64_t rank, int64_t pid, json_t *with,
    void *arg);
struct rank_watch_ops {
	rank_watch_lost_cb *lost;
	rank_watch_stuck_cb *stuck;
};

/* NULL after a line in the log. */
struct rank_watch *rank_watch_open(struct event_base *base, const char *path,
    int64_t gid, const struct rank_watch_ops *ops, void *arg);
/* Closes all connections, without lost. NULL is allowed. */
void rank_watch_close(struct rank_watch *w);
unsigned rank_watch_count(const struct rank_watch *w); /* ranks seen so far */

/* ---- record_pipe.c: the pipe that an engine writes its records into ----
 *
 * The engine is not trusted: a line that is no record of this run, or too
 * long, or out of order is a reason to end the run.
 */
struct record_pipe;

struct record_pipe_ops {
	/* A good line, without newline; all of it dies with the call. */
	void (*record)(const struct record_head *head, const char *line,
	    size_t len_bytes, void *arg);
	void (*bad)(const char *why, void *arg); /* no more calls after it */
};

/* Make the FIFO at path for group gid and read it. NULL after a line in the
 * log. */
struct record_pipe *record_pipe_open(struct event_base *base, const char *path,
    const char *run, int64_t gid, const struct record_pipe_ops *ops, void *arg);
/* Take what is in the pipe now: the writer has ended. */
void record_pipe_drain(struct record_pipe *r);
void record_pipe_close(struct record_pipe *r); /* NULL is allowed */

/* ---- a run ---- */

/* What a run reports; arg is the agent. */
struct run_ops {
	/* Send msg to the collector; takes msg. -ENOTCONN without a session. */
	int (*send)(enum wire_type type, json_t *msg, void *arg);
	/* A record of the engine, as record_pipe_ops has it. */
	void (*record)(const char *run, const struct record_head *head,
	    const char *line, size_t len_bytes, void *arg);
	/* Send the records that wait: a message follows that counts on them. */
	void (*flush)(void *arg);
	/* Nothing of the run is left but records in the spool. */
	void (*closed)(const char *run, void *arg);
};

struct run_child;
struct idle_wait;

struct run {
	TAILQ_ENTRY(run) next;
	struct agent *ag;
	char id[RECORD_RUN_MAX + 1];
	char dir[AGENT_PATH_MAX];
	const struct mpi_impl_mpi *mpi;
	int exclusive;
	json_t *head_addrs;
	uint64_t deadline_ns;
	struct event *deadline;
	struct idle_wait *idle; /* prepare still waits for it */
	struct rank_watch *watch;
	struct spawn_requests *asks; /* where the launcher runs */
	struct record_pipe *records; /* likewise */
	TAILQ_HEAD(, run_child) children;
	json_t *outbox; /* [[type, again, message], ...] */
	int ending;
};

struct run *run_find(struct agent *ag, const char *id);
/* Another exclusive run that holds this node; NULL if none. */
struct run *run_exclusive(struct agent *ag, const struct run *except);

/* Make directory and rank watch. -errno and why; id is valid and new. */
int run_open(struct agent *ag, const char *id, uint64_t deadline_ms,
    struct run **ret, struct err *err);
/* Whether children.programs has the first word of line. -EACCES with why. */
int run_program_check(const struct agent *ag, const char *line,
    struct err *err);
/* End everything of it; run_close follows by itself when nothing is left, at
 * once when nothing runs: do not touch run after this call. */
void run_end(struct run *run, uint64_t grace_ms, const char *text);
void run_end_all(struct agent *ag, uint64_t grace_ms, const char *text);

/* Start the job's launcher here: answers launched by itself. */
void run_launch(struct run *run, const struct launcher *launcher,
    const struct mpi_impl_node *nodes, size_t node_count, int ranks_per_node,
    const char *campaign);
/* Start a daemon of a launcher elsewhere: answers spawned by itself. argv is
 * as the grammar made it. */
void run_spawn(struct run *run, int64_t id, char **argv);

/* Send now, or when the session is back; takes msg. again: also repeated in
 * the next session, for the collector may have missed it. */
void run_send(struct run *run, enum wire_type type, json_t *msg, int again);
void run_resend(struct run *run);

#endif
