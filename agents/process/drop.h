/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop.h - give up root for the rest of the life of this process.
 */
#ifndef AGENTS_PROCESS_DROP_H
#define AGENTS_PROCESS_DROP_H

#include <sys/types.h>

/* Become user uid with its groups, without capabilities, and deny system calls
 * that start programs, read other processes or change namespaces. The group of
 * children can still be taken (privileges_take). The program ends if a step
 * fails. */
void drop_privileges(const char *user, uid_t uid, gid_t gid, gid_t children);

#endif
