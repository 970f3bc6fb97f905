/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc.h - find processes through /proc and end them.
 *
 * Process groups and sessions are no guard: every MPI rank makes its own. What
 * holds is descent (the keeper is a subreaper), an environment that a process
 * was started with, and a cgroup where one may be made.
 */
#ifndef AGENTS_PROCESS_PROC_H
#define AGENTS_PROCESS_PROC_H

#include <stddef.h>
#include <sys/types.h>

/* Send sig to every process below root, root not included; the count of those
 * that were alive. */
int proc_kill_below(pid_t root, int sig);
/* Likewise to every process whose environment has the line "NAME=value"; the
 * caller itself is left out. Processes whose environment may not be read are
 * not ours. */
int proc_kill_marked(const char *marker, int sig);

/*
 * A cgroup v2 directory of our own to make leaves in: "/sys/fs/cgroup/..." or
 * that of the hybrid layout. -ENOENT where there is none that can be written.
 */
int proc_cgroup_home(char *ret, size_t cap_bytes);
/* Kill all in a leaf and remove it. -EBUSY while something is left. */
int proc_cgroup_kill(const char *leaf);

#endif
