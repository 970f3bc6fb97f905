/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - records from the rank that made them to the one that writes them.
 *
 * Only rank 0 writes. The roots of canaries and congestors send it their
 * records as JSON text. Rank 0 receives them while it waits, or between two
 * batches of traffic, numbers them and writes them.
 */
#ifndef PROBES_JOB_RELAY_H
#define PROBES_JOB_RELAY_H

#include <jansson.h>

#include "probes/job/world.h"

/* What rank 0 does with a record, its own or another's; takes it. */
typedef void relay_sink(void *arg, json_t *record);

void relay_open(struct world *w, relay_sink *sink, void *arg);
void relay_close(void);
/* Takes record. Returns once rank 0 has it, or will. */
void relay_put(json_t *record);
/* The same for records that may be lost: dropped while the previous one is
 * still being sent. */
void relay_put_soon(json_t *record);
/* At rank 0: receive pending records; cheap, at most every 50 ms. */
void relay_poll(void);
/* All ranks together: everything that root put so far is with rank 0. */
void relay_turn(int root);

#endif
