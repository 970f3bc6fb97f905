/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run.c - the rows: states of a run and causes.
 */
#include "schema/names_run.h"

const struct run_state_row names_run_states[RUN_STATE_MAX] = {
	[RUN_PENDING] = { "pending", 0,
	    "waits for its nodes or its start time" },
	[RUN_STARTING] = { "starting", 0, "is being launched" },
	[RUN_RUNNING] = { "running", 0, "has sent its first record" },
	[RUN_FINISHED] = { "finished", 1, "its end record is stored" },
	[RUN_FAILED] = { "failed", 1, "ended without success" },
	[RUN_TIMED_OUT] = { "timed-out", 1, "killed at its deadline" },
	[RUN_CANCELLED] = { "cancelled", 1, "ended by an order" },
	[RUN_MISSED] = { "missed", 1, "could not start when it was due" },
	[RUN_OVERDUE] = { "overdue", 0, "is due and waits" },
	[RUN_PREEMPTED] = { "preempted", 1,
	    "ended in favour of another run or a job" },
	[RUN_NONSTART] = { "nonstart", 1,
	    "was launched, but its ranks sent no record within "
	    "campaign.start_limit" },
};

const struct cause_row names_causes[CAUSE_MAX] = {
	[CAUSE_NONE] = { "none", "no error" },
	[CAUSE_TIMEOUT] = { "timeout", "exceeded its time limit" },
	[CAUSE_PEER_LOST] = { "peer-lost", "lost contact with a peer" },
	[CAUSE_AGENT_LOST] = { "agent-lost",
	    "lost contact with the agent of a node" },
	[CAUSE_RANK_LOST] = { "rank-lost", "a rank died" },
	[CAUSE_STUCK] = { "stuck", "an exchange of two ranks did not end" },
	[CAUSE_LAUNCH] = { "launch", "the launcher failed" },
	[CAUSE_NO_DEVICE] = { "no-device", "the device is missing" },
	[CAUSE_DEVICE_FAULT] = { "device-fault", "a GPU failed" },
	[CAUSE_BUDGET] = { "budget",
	    "exceeds the budget, or is in a blackout" },
	[CAUSE_BUSY] = { "busy", "a node is not idle" },
	[CAUSE_HELD] = { "held", "another run uses the nodes" },
	[CAUSE_IDLE_UNKNOWN] = { "idle-unknown",
	    "it is unknown whether the nodes are idle" },
	[CAUSE_TOO_FEW_NODES] = { "too-few-nodes",
	    "fewer usable nodes than the campaign needs" },
	[CAUSE_TOO_FEW_SAMPLES] = { "too-few-samples",
	    "a p99 needs 1,000 samples in each phase" },
	[CAUSE_WRONG_DATA] = { "wrong-data", "bytes were corrupted" },
	[CAUSE_WRONG_NETWORK] = { "wrong-network",
	    "another network than the required one carried the bytes" },
	[CAUSE_COMMAND] = { "command", "the program of the test failed" },
	[CAUSE_UNSUPPORTED] = { "unsupported",
	    "not supported by this MPI or machine" },
	[CAUSE_DISK_FULL] = { "disk-full", "no free disk space" },
	[CAUSE_CANCELLED] = { "cancelled", "ended by an order" },
	[CAUSE_COLLECTOR_LOST] = { "collector-lost",
	    "the collector was unreachable" },
	[CAUSE_NO_END] = { "no-end", "ended without an end record" },
	[CAUSE_CONFIG] = { "config", "the campaign is invalid" },
	[CAUSE_INTERNAL] = { "internal", "an internal error" },
};
