/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spines.h - stages of switches above leaves (schema/stages.h), by the current
 * topology.
 */
#ifndef DAEMON_DIAGNOSIS_SPINES_H
#define DAEMON_DIAGNOSIS_SPINES_H

#include <stdint.h>

#include "schema/stages.h"

struct diagnosis;
struct diagnosis_series;

#define STAGE_K 1.0 /* k of the cumulative sums of a stage (drift.h) */

/* Update d->stages and d->stage_of from the current topology and leaves. */
const struct stages *spines_map(struct diagnosis *d);
/* Return the stage of these switches; STAGE_NONE: not found. */
uint32_t spines_find_switches(const struct stages *all, const char *switches);
uint32_t spines_find(struct diagnosis *d, const char *switches);
/* Allocate the state of stages. */
void spines_room(struct diagnosis *d, struct diagnosis_series *s);
/* Return the number of leaves below a stage. */
uint32_t spines_leaves(const struct diagnosis *d, uint32_t stage);

#endif
