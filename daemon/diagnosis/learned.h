/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.h - store the learned values of a series for leaves, stages, members
 * of bonds and the fleet.
 */
#ifndef DAEMON_DIAGNOSIS_LEARNED_H
#define DAEMON_DIAGNOSIS_LEARNED_H

#include <jansson.h>

struct diagnosis;
struct diagnosis_series;

/* Write the learned values of leaves, stages, members and the fleet to the
 * series' record of the recent weeks, and load them. */
void learned_put(const struct diagnosis *d, const struct diagnosis_series *s,
    json_t *record);
void learned_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record);

#endif
