/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.h - give files of the agent to the user that agent.user names, or back to
 * root when agent.user is empty again.
 */
#ifndef AGENTS_PROCESS_OWN_H
#define AGENTS_PROCESS_OWN_H

#include <sys/types.h>

/* Make uid and gid the owner of the directory path, and of the entries below it
 * that belong to the previous owner of path or, if uid owns path already, to
 * root. Links, files with several names and files of other users keep their
 * owner. Return 0, or -errno if path itself cannot be changed. */
int own_tree(const char *path, uid_t uid, gid_t gid);
/* Make uid and gid the owner of the file path, if root owns it or this process
 * cannot read it. Nothing happens if it does not exist, is a link or has
 * several names. */
void own_file(const char *path, uid_t uid, gid_t gid);
/* Give up the capability to change owners. */
void own_end(void);

#endif
