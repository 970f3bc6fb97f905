/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - ways to start the ranks of a run, as rows.
 */
#ifndef DAEMON_LAUNCHER_H
#define DAEMON_LAUNCHER_H

#include <stddef.h>

struct launcher {
	const char *name; /* as campaign.launcher and launch.launcher */
	size_t nodes_max; /* it cannot use more */
	int relays;       /* daemons are started through the agents */
};

/* By campaign.launcher; NULL if none. */
const struct launcher *launcher_find(const char *name);

#endif
