/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - the ranks of a job as a team that runs plans, each with a device.
 */
#ifndef PROBES_JOB_TEAM_H
#define PROBES_JOB_TEAM_H

#include "common/err.h"
#include "probes/job/world.h"
#include "probes/transport/transport.h"

/* Collective. device: a name for device_find; the nth rank of a node opens
 * its device n modulo their number. -errno and the same why on every rank. The
 * caller ends *ret with team_close. */
int team_open(const struct world *w, const char *device,
    struct transport_team **ret, struct err *err);
void team_close(struct transport_team *team); /* NULL is allowed */

#endif
