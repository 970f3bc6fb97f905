/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - ways to start the ranks of a run, as rows.
 */
#ifndef DAEMON_RUN_LAUNCHER_H
#define DAEMON_RUN_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>

#include "schema/names.h"

struct run;

/* How a batch system's word for a job that has ended is understood. */
struct launcher_end {
	const char *word;
	enum run_state state;
	enum cause cause;
};

struct launcher {
	const char *name; /* as campaign.launcher and launch.launcher */
	size_t nodes_max; /* it cannot use more */
	int relays;       /* daemons are started through the agents */
	/* 1: nodes have to be idle in a batch system, too. */
	int idle;
	/* Of a run that has been launched and has said nothing yet: why, as
	 * far as it is known, or "". NULL: there is nothing to ask. */
	const char *(*waits)(const struct run *r);
	/* A run with signs of failure since then: how its job has ended, if
	 * that is why. 1: known, and *ret_end, or NULL when it says nothing.
	 * 0: not yet known. NULL: there is nothing to ask. */
	int (*ended)(const struct run *r, uint64_t since_ns,
	    const struct launcher_end **ret_end);
	/* What the head may have left behind. NULL: nothing. */
	void (*end)(const struct run *r);
};

/* By campaign.launcher; NULL if none. */
const struct launcher *launcher_find(const char *name);

#endif
