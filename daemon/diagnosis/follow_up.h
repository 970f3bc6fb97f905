/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_up.h - immediate further rounds after one large effect.
 */
#ifndef DAEMON_DIAGNOSIS_FOLLOW_UP_H
#define DAEMON_DIAGNOSIS_FOLLOW_UP_H

#include "daemon/diagnosis/incident.h"

/* Look for large effects in a round after the judge; its distances are in
 * d->obs. */
void follow_up_look(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from);
/* Return the follow-up to be measured now, or NULL. */
struct incident *follow_up_due(struct diagnosis *d);
/* Process the result of a run on k, which may free k. */
void follow_up_heard(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r);
void follow_up_free(struct diagnosis *d);

#endif
