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

/* Write the path of a run's directory: run_dir/RUN, or for a name that is too
 * long for sockets inside it, a hash of it. Return its length or
 * -ENAMETOOLONG. */
int cleanup_run_path(const struct agent *ag, const char *run, char *ret,
    size_t cap_bytes);
/* Remove a run's directory recursively, without following links. run: its id;
 * NULL: this process is not the network process. */
void cleanup_run_dir(const struct agent *ag, const char *run, const char *path);
/* Empty the folder tmp of a run's directory, as the children's user. */
void cleanup_tmp_empty(const struct agent *ag, const char *path);
/* Write the environment variable that marks all processes below one child. */
void cleanup_mark(const struct agent *ag, const char *run, int64_t child,
    char *ret, size_t cap_bytes);
/* Kill the processes that a lost keeper left of a child (child -1: of no
 * child), and remove the cgroup leaves of its run. */
void cleanup_child(const struct agent *ag, const char *run, int64_t child);
/* Kill processes left by an earlier agent, then remove its directories. */
void cleanup_leftovers(struct agent *ag);
/* Remove shared memory that killed ranks have left. Only while no run is active
 * here, and only if children have a separate user. */
void cleanup_shm(const struct agent *ag);
/* Return the prefix of our cgroup leaves; several agents may share a machine.
 * Static storage. */
const char *cleanup_leaf_prefix(const struct agent *ag);

#endif
