/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_barrier.h - where the ranks of a team wait for each other, before and
 * after what is timed.
 */
#ifndef PROBES_EXECUTE_TEAM_BARRIER_H
#define PROBES_EXECUTE_TEAM_BARRIER_H

#include "probes/transport/transport.h"

/* All are here. Who waits long sleeps, and goes on late. */
void meet(const struct transport_team *team);
/* Likewise, and all go on together: who slept would be waited for in the timed
 * part. */
void team_barrier_to_start(const struct transport_team *team);

#endif
