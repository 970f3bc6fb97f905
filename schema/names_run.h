/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run.h - the states of a run, and the causes of failures.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_RUN_H
#define SCHEMA_NAMES_RUN_H

/* The state of a run, in the order in which a run passes through them. */
enum run_state {
	RUN_PENDING,
	RUN_STARTING,
	RUN_RUNNING,
	RUN_FINISHED,
	RUN_FAILED,
	RUN_TIMED_OUT,
	RUN_CANCELLED,
	RUN_MISSED,    /* its start time passed, and it could not be started */
	RUN_OVERDUE,   /* still waiting after its start margin */
	RUN_PREEMPTED, /* ended for a run of higher priority, or a job */
	RUN_NONSTART,  /* was started, but no rank ever reported */
	RUN_STATE_MAX
};
/* The properties of a state. */
struct run_state_row {
	const char *name; /* "timed-out" */
	int final;        /* 1: the run never changes again */
	const char *text; /* a sentence for manuals and help */
};
extern const struct run_state_row names_run_states[RUN_STATE_MAX];

/* Why a measurement has no number, or why a run did not succeed. The texts are
 * in names_run.c. */
enum cause {
	CAUSE_NONE,
	CAUSE_TIMEOUT,
	CAUSE_PEER_LOST,
	CAUSE_AGENT_LOST,
	CAUSE_RANK_LOST,
	CAUSE_STUCK,
	CAUSE_LAUNCH,
	CAUSE_NO_DEVICE,
	CAUSE_DEVICE_FAULT,
	CAUSE_BUSY,
	CAUSE_HELD,
	CAUSE_IDLE_UNKNOWN,
	CAUSE_BUDGET,
	CAUSE_TOO_FEW_NODES,
	CAUSE_TOO_FEW_SAMPLES,
	CAUSE_WRONG_DATA,
	CAUSE_WRONG_NETWORK,
	CAUSE_COMMAND,
	CAUSE_UNSUPPORTED,
	CAUSE_DISK_FULL,
	CAUSE_CANCELLED,
	CAUSE_COLLECTOR_LOST,
	CAUSE_NO_END,
	CAUSE_CONFIG,
	CAUSE_INTERNAL,
	CAUSE_MAX
};
/* The properties of a cause. */
struct cause_row {
	const char *name; /* "peer-lost" */
	const char *text; /* a sentence for manuals and help */
};
extern const struct cause_row names_causes[CAUSE_MAX];

/* The name of the campaign of confirmation runs. Such a run measures six nodes,
 * one of which is suspected. Statistics of the cluster therefore exclude the
 * runs of this campaign. */
#define NAMES_PASS_CAMPAIGN "confirmation"

#endif
