/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run.c - the rows: states of a run and causes.
 */
#include "schema/names_run.h"

const struct run_state_row names_run_states[RUN_STATE_MAX] = {
	[RUN_PENDING] = { "pending", 0, "waits for its nodes or its time" },
	[RUN_STARTING] = { "starting", 0, "is being launched" },
	[RUN_RUNNING] = { "running", 0, "has shown its first record" },
	[RUN_FINISHED] = { "finished", 1, "its end record arrived" },
	[RUN_FAILED] = { "failed", 1, "ended without success" },
	[RUN_TIMED_OUT] = { "timed-out", 1, "was killed at its deadline" },
	[RUN_CANCELLED] = { "cancelled", 1, "was ended by order" },
	[RUN_MISSED] = { "missed", 1, "could not start when it was due" },
	[RUN_OVERDUE] = { "overdue", 0, "is due and still waits" },
	[RUN_PREEMPTED] = { "preempted", 1,
	    "made room for another run or a job" },
	[RUN_NONSTART] = { "nonstart", 1, "never showed a sign of life" },
};

const struct cause_row names_causes[CAUSE_MAX] = {
	[CAUSE_NONE] = { "none", "nothing is wrong" },
	[CAUSE_TIMEOUT] = { "timeout", "took longer than its limit" },
	[CAUSE_PEER_LOST] = { "peer-lost", "a peer went away" },
	[CAUSE_AGENT_LOST] = { "agent-lost", "a node's agent went silent" },
	[CAUSE_RANK_LOST] = { "rank-lost", "a rank died" },
	[CAUSE_STUCK] = { "stuck", "an exchange of two ranks did not end" },
	[CAUSE_LAUNCH] = { "launch", "the launcher failed" },
	[CAUSE_NO_DEVICE] = { "no-device", "the device is not there" },
	[CAUSE_DEVICE_FAULT] = { "device-fault", "a GPU is at fault" },
	[CAUSE_BUDGET] = { "budget",
	    "the budget or a blackout does not allow it" },
	[CAUSE_BUSY] = { "busy", "a node is not idle" },
	[CAUSE_IDLE_UNKNOWN] = { "idle-unknown",
	    "the nodes cannot tell whether they are idle" },
	[CAUSE_TOO_FEW_NODES] = { "too-few-nodes",
	    "fewer usable nodes than the campaign needs" },
	[CAUSE_TOO_FEW_SAMPLES] = { "too-few-samples",
	    "a p99 needs 1,000 samples in each phase" },
	[CAUSE_WRONG_DATA] = { "wrong-data", "bytes arrived changed" },
	[CAUSE_WRONG_NETWORK] = { "wrong-network",
	    "another network than the campaign wants carried the bytes" },
	[CAUSE_COMMAND] = { "command", "the program that was run failed" },
	[CAUSE_UNSUPPORTED] = { "unsupported",
	    "this MPI or machine cannot do it" },
	[CAUSE_DISK_FULL] = { "disk-full", "no room to write" },
	[CAUSE_CANCELLED] = { "cancelled", "ended by order" },
	[CAUSE_COLLECTOR_LOST] = { "collector-lost",
	    "the collector stayed away" },
	[CAUSE_NO_END] = { "no-end", "ended without an end record" },
	[CAUSE_CONFIG] = { "config", "the campaign is not valid" },
	[CAUSE_INTERNAL] = { "internal", "an error of our own" },
};
