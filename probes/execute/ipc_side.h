/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_side.h - which of two ranks of a node copies what passes between them.
 *
 * A transfer by ipc alone leaves that open. Where each rank has a core the work
 * is best spread: of a rank that sends to many in one step the receivers fetch,
 * and many put what one rank is to receive. Where ranks share cores, short
 * pieces are copied by the one instead, which is awake anyway: to wake up one
 * of the many for a piece takes longer than to copy it, and takes its core from
 * those who serve the network.
 */
#ifndef PROBES_EXECUTE_IPC_SIDE_H
#define PROBES_EXECUTE_IPC_SIDE_H

#include <stdint.h>

#include "probes/plan/plan.h"

/* By row of the plan, whatever its transport: 1 if the receiver gets, 0 if the
 * sender puts. Made from all rows, so that both ends decide alike. The caller
 * frees it. */
uint8_t *ipc_side_choose(const struct plan *p, int cores_are_shared);

#endif
