/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the part of a run on this node: its processes, its files and its
 * messages to the collector.
 *
 * Prepare opens a run and reserves the node. A run is closed when it was ended
 * and has no process, socket or file left, except its records in the spool. It
 * ends by order of the collector, at its deadline, or if the collector is
 * unreachable for too long. Messages about it that could not be sent wait here
 * for the next session.
 */
#ifndef AGENTS_RUN_RUN_H
#define AGENTS_RUN_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "agents/agent.h"
#include "agents/process/child.h"
#include "agents/launch/mpi_impl.h"
#include "agents/launch/gate.h"
#include "agents/launch/launcher.h"
#include "agents/wireup/ranks.h"
#include "schema/record.h"
#include "schema/wire.h"

/* Reports of a run; arg is the agent. */
struct run_ops {
	/* Send msg to the collector; takes msg. -ENOTCONN without a session. */
	int (*send)(enum wire_type type, json_t *msg, void *arg);
	/* A record of the engine, as in record_pipe_ops. */
	void (*record)(const char *run, const struct record_head *head,
	    const char *line, size_t len_bytes, void *arg);
	/* Send waiting records: a message follows that depends on them. */
	void (*flush)(void *arg);
	/* The run has closed; only its records in the spool remain. */
	void (*closed)(const char *run, void *arg);
};

struct run_child;
struct idle_wait;

/* A run on this node. */
struct run {
	TAILQ_ENTRY(run) next;
	struct agent *ag;
	char id[RECORD_RUN_MAX + 1];
	char dir[AGENT_PATH_MAX];
	const struct mpi_impl_mpi *mpi;
	int exclusive; /* 1: no other run may use the node */
	uint64_t deadline_ns;
	struct event *deadline; /* timer */
	struct idle_wait *idle; /* prepare still waits for it */
	/* 1: the run ends when a job of the batch system starts here. */
	int yields;
	json_t *jobs; /* jobs of the node (idle_jobs) when it was prepared */
	struct event *jobs_look; /* timer: look for new jobs */
	struct rank_watch *watch;
	struct record_pipe *records; /* only on the node of rank 0; else NULL */
	struct gate *gate;           /* a batch system's job; or NULL */
	int starts_ranks;    /* 1: the agents start the ranks, not a launcher */
	struct ranks *ranks; /* NULL: none that this agent started */
	TAILQ_HEAD(, run_child) children;
	/* Messages that wait for a session, [[type, again, message], ...]; see
	 * run_send. */
	json_t *outbox;
	int ending; /* 1: its processes are being ended */
};

/* Return the run with this id, or NULL. */
struct run *run_find(struct agent *ag, const char *id);
/* Return another exclusive run that holds this node; NULL without one. */
struct run *run_exclusive(struct agent *ag, const struct run *except);

/* Create the run's directory and its rank watch. id must be valid and new.
 * Return 0, or -errno with err. */
int run_open(struct agent *ag, const char *id, uint64_t deadline_ms,
    struct run **ret, struct err *err);
/* Return 0 if option children.programs has the first word of line, otherwise
 * -EACCES with err. */
int run_program_check(const struct agent *ag, const char *line,
    struct err *err);
/* From now on, end the run when a job of the batch system starts on this node,
 * if the run yields to jobs (run.yields). */
void run_watch_jobs(struct run *run);
/* End all processes of a run. run_close is called when the last one has ended,
 * immediately if it has none: do not use run after this call. */
void run_end(struct run *run, uint64_t grace_ms, const char *text);
/* End all processes of all runs. */
void run_end_all(struct agent *ag, uint64_t grace_ms, const char *text);

/* Start the job's launcher on this node; the message launched is sent later. */
void run_launch(struct run *run, const struct launcher *launcher,
    const struct mpi_impl_node *nodes, size_t node_count, int ranks_per_node,
    const char *campaign, const char *net);
/* Arguments of run_start: the ranks that this node starts. */
struct run_start {
	/* Number of the first rank, ranks on this node, ranks of the run. */
	int first, local, size;
	const char *campaign;
	const char *net; /* interfaces for the ranks; "": the MPI chooses */
	/* Networks of these interfaces, as texts; or NULL. */
	const json_t *networks;
};
/* Start the ranks of this node; the message launched is sent when they run. */
void run_start(struct run *run, const struct run_start *s);
/* Send msg now, or in the next session if none is open; takes msg. again: 1:
 * also repeat it in the next session, because the collector may have missed
 * it. */
void run_send(struct run *run, enum wire_type type, json_t *msg, int again);
/* Send the messages that wait, in a new session. */
void run_resend(struct run *run);

#endif
