/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc.h - find processes through /proc, and end them.
 *
 * Process groups and sessions are not sufficient: every MPI rank creates its
 * own. Reliable criteria are the parent (the keeper is a subreaper), the
 * initial environment of a process, and a cgroup if one can be created.
 */
#ifndef AGENTS_PROCESS_PROC_H
#define AGENTS_PROCESS_PROC_H

#include <stddef.h>
#include <sys/types.h>

/* Send sig to every descendant of process root, but not to root. Return how
 * many were alive. */
int proc_kill_below(pid_t root, int sig);
/* Send sig to every process whose environment has the line "NAME=value", except
 * the caller. Processes whose environment is not readable belong to other
 * users. Return how many got it. */
int proc_kill_marked(const char *marker, int sig);

/*
 * Find a writable cgroup v2 directory for leaves: "/sys/fs/cgroup/...", or the
 * one of the hybrid layout. Return 0, or -ENOENT if no such directory exists.
 */
int proc_cgroup_home(char *ret, size_t cap_bytes);
/* Kill all processes in a leaf and remove it. Return 0, or -EBUSY while any
 * remain. */
int proc_cgroup_kill(const char *leaf);

#endif
