/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.h - leave nothing behind: files of a run, and at start whatever an
 * earlier life of this agent left.
 */
#ifndef AGENTS_RUN_CLEANUP_H
#define AGENTS_RUN_CLEANUP_H

#include "agents/agent.h"

/* In every directory of a run; nothing without it is ever removed. */
#define CLEANUP_MARK ".coalmine-run"

/* rm -r of a run's directory, without following links. */
void cleanup_run_dir(const struct agent *ag, const char *path);
/* Kill all that has mark, "NAME=value", in its environment; the count. */
int cleanup_kill_marked(const struct agent *ag, const char *mark);
/* Kill what an earlier life left running, then remove its directories. */
void cleanup_leftovers(struct agent *ag);
/* Kill the processes in the cgroup leaves of a run, or with run NULL of all
 * runs, and remove the leaves. Return how many could not be removed. */
int cleanup_leaves(const struct agent *ag, const char *run);
/* Remove shared memory that killed ranks have left. Only while no run is
 * here, and only where children have a user of their own. */
void cleanup_shm(const struct agent *ag);
/* Start of the names of our cgroup leaves; several agents may share a machine.
 * Static storage. */
const char *cleanup_leaf_prefix(const struct agent *ag);

#endif
