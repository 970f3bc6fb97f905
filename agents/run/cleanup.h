/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.h - remove the files and processes of a run, and at start those that
 * an earlier process of this agent left.
 */
#ifndef AGENTS_RUN_CLEANUP_H
#define AGENTS_RUN_CLEANUP_H

#include "agents/agent.h"

/* A file in every directory of a run; directories without it are never removed.
 */
#define CLEANUP_MARK ".coalmine-run"

/* Remove a run's directory recursively, without following links. */
void cleanup_run_dir(const struct agent *ag, const char *path);
/* Kill all processes with mark, "NAME=value", in their environment. Return how
 * many. */
int cleanup_kill_marked(const struct agent *ag, const char *mark);
/* Kill processes left by an earlier agent, then remove its directories. */
void cleanup_leftovers(struct agent *ag);
/* Kill the processes in the cgroup leaves of a run, or with run NULL of all
 * runs, and remove the leaves. Return how many could not be removed. */
int cleanup_leaves(const struct agent *ag, const char *run);
/* Remove shared memory that killed ranks have left. Only while no run is active
 * here, and only if children have a separate user. */
void cleanup_shm(const struct agent *ag);
/* Return the prefix of our cgroup leaves; several agents may share a machine.
 * Static storage. */
const char *cleanup_leaf_prefix(const struct agent *ag);

#endif
