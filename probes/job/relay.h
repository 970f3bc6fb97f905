/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - send records from the rank that made them to the rank that writes
 * them.
 *
 * Only rank 0 writes. The roots of canaries and congestors send it their
 * records as JSON text. Rank 0 receives them while it waits, or between two
 * batches of traffic; it numbers and writes them.
 */
#ifndef PROBES_JOB_RELAY_H
#define PROBES_JOB_RELAY_H

#include <jansson.h>

#include "probes/job/world.h"

/* Called at rank 0 for each record, its own and those of others; takes
 * record. */
typedef void relay_sink(void *arg, json_t *record);

/* Begin and end relaying. w must live as long. */
void relay_open(struct world *w, relay_sink *sink, void *arg);
void relay_close(void);
/* Send a record; takes it. It returns when rank 0 has received the record, or
 * certainly will. */
void relay_put(json_t *record);
/* Send a record that may be lost; takes it. The record is dropped while the
 * previous one is still being sent. */
void relay_put_soon(json_t *record);
/* Receive pending records, at most every 50 ms; for rank 0. A call is cheap. */
void relay_poll(void);
/* Wait until rank 0 has everything that rank `root` has sent so far. Collective
 * over all ranks. */
void relay_turn(int root);

#endif
