/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meet.h - where the ranks of a team wait for each other, before and after
 * what is timed.
 */
#ifndef PROBES_RUN_MEET_H
#define PROBES_RUN_MEET_H

#include "probes/transport/transport.h"

/* All are here. Who waits long sleeps, and goes on late. */
void meet(const struct transport_team *team);
/* Likewise, and all go on together: who slept would be waited for in the timed
 * part. */
void meet_to_start(const struct transport_team *team);

#endif
