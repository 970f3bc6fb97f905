/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_loss.h - a node or leaf that loses echoes of the mesh.
 */
#ifndef DAEMON_DIAGNOSIS_FAULT_LOSS_H
#define DAEMON_DIAGNOSIS_FAULT_LOSS_H

#include "daemon/diagnosis/incident.h"

/* Process the pairs of an epoch that lost echoes (loss.h). far: 0: within
 * leaves, 1: between leaves. A node or leaf that is raised is an outlier in
 * both kinds of rounds, in every epoch until it is no longer raised. */
void fault_loss_hear(struct diagnosis *d, const struct round *round, int far);
/* Decide for all cases which part loses, after an epoch. */
void fault_loss_conclude(struct diagnosis *d);
/* A spine carries nothing: end the cases of leaves, and forget their losses. */
void fault_loss_forget_leaves(struct diagnosis *d);

#endif
