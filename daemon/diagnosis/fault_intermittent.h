/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_intermittent.h - a node that is slow again and again, and as fast as
 * its peers whenever a confirmation run measures it.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_INTERMITTENT_H
#define DAEMON_DIAGNOSIS_FAULT_INTERMITTENT_H

#include "daemon/diagnosis/incident.h"

/* Note a recovery although the cause was not removed. Return 1 if that was
 * frequent enough to call it intermittent. */
int fault_intermittent_note(struct diagnosis *d, struct incident *k,
    double effect);
/* A confirmation run has dismissed it: as fault_intermittent_note, for a large
 * effect. */
int fault_intermittent_dispelled(struct diagnosis *d, struct incident *k);
/* A judge names it again. */
void fault_intermittent_again(struct incident *k, struct diagnosis_series *s,
    const struct diagnosis_source *from);

#endif
