/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - act for a short time as the user of the child processes, or in
 * their group.
 *
 * Under confinement root can change its user, but can neither change the owner
 * of files nor read other users' files and processes. Therefore the agent
 * creates the children's files as their user, and also inspects and removes
 * them as that user.
 */
#ifndef AGENTS_PROCESS_PRIVILEGES_H
#define AGENTS_PROCESS_PRIVILEGES_H

#include <stdint.h>

/* Change the effective user and group until privileges_back; uid or gid -1:
 * unchanged. Calls do not nest. */
void privileges_take(int64_t uid, int64_t gid);
void privileges_back(void);

#endif
