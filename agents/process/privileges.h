/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - be the children's user, or in their group, for a moment.
 *
 * Confined, root may change who it is but neither give files away nor read
 * what is another user's, processes included. So what is to be theirs is made
 * as them, and what is theirs is looked at and removed as them.
 */
#ifndef AGENTS_PROCESS_PRIVILEGES_H
#define AGENTS_PROCESS_PRIVILEGES_H

#include <stdint.h>

/* uid or gid -1: stay. Until privileges_back; calls do not nest. */
void privileges_take(int64_t uid, int64_t gid);
void privileges_back(void);

#endif
