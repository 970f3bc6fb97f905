/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tidy.h - leave nothing behind: files of a run, and at start whatever an
 * earlier life of this agent left.
 */
#ifndef AGENTS_TIDY_H
#define AGENTS_TIDY_H

#include "agents/agent.h"

/* In every directory of a run; nothing without it is ever removed. */
#define TIDY_MARK ".coalmine-run"

/* rm -r of a run's directory, without following links. */
void tidy_run_dir(const struct agent *ag, const char *path);
/* Kill all that has mark, "NAME=value", in its environment; the count. */
int tidy_kill_marked(const struct agent *ag, const char *mark);
/* Kill what an earlier life left running, then remove its directories. */
void tidy_leftovers(struct agent *ag);
/* Kill what is left in the cgroup leaves of a run, or with run NULL of all
 * runs, and remove them: how many could not be. */
int tidy_leaves(const struct agent *ag, const char *run);
/* Remove shared memory that killed ranks have left. Only while no run is
 * here, and only where children have a user of their own. */
void tidy_shm(const struct agent *ag);
/* Start of the names of our cgroup leaves; several agents may share a machine.
 * Static storage. */
const char *tidy_leaf_prefix(const struct agent *ag);

#endif
