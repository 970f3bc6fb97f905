/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_intermittent.h - a node that is slow again and again, and as fast as
 * its peers whenever a confirmation run measures it.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_INTERMITTENT_H
#define DAEMON_DIAGNOSIS_FAULT_INTERMITTENT_H

#include "daemon/diagnosis/incident.h"

/* Note that a node has recovered although the cause was not removed. Return 1
 * if that was frequent enough to call the fault intermittent, 0 if not. */
int fault_intermittent_note(struct diagnosis *d, struct incident *k,
    double effect);
/* Note the same after a confirmation run has dismissed the incident, but only
 * for a large effect. Return 1 or 0 as fault_intermittent_note does. */
int fault_intermittent_dispelled(struct diagnosis *d, struct incident *k);
/* Measure the node again, because a judge has found it slow again. */
void fault_intermittent_again(struct incident *k, struct diagnosis_series *s,
    const struct diagnosis_source *from);

#endif
