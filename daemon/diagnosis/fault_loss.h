/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_loss.h - a node or leaf that loses echoes of the mesh.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_LOSS_H
#define DAEMON_DIAGNOSIS_FAULT_LOSS_H

#include "daemon/diagnosis/incident.h"

/* Process pairs with losses, for sums over many epochs. A raised node or leaf
 * is an outlier in both kinds of rounds, each time again. */
void fault_loss_hear(struct diagnosis *d, const struct round *round, int far);
/* After an epoch: conclude which part loses, for all cases. */
void fault_loss_conclude(struct diagnosis *d);

#endif
