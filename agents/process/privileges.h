/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - act as the children's user, or in their group, for a moment.
 *
 * Under confinement root may change its user, but may neither change the owner
 * of files nor read other users' files and processes. So the agent creates the
 * children's files as their user, and inspects and removes them as that user.
 */
#ifndef AGENTS_PROCESS_PRIVILEGES_H
#define AGENTS_PROCESS_PRIVILEGES_H

#include <stdint.h>

/* uid or gid -1: unchanged. In effect until privileges_back; calls do not nest.
 */
void privileges_take(int64_t uid, int64_t gid);
void privileges_back(void);

#endif
