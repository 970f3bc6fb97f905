/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - process records, progress and counters of runs, as agents send
 * them.
 */
#ifndef DAEMON_RUN_INTAKE_H
#define DAEMON_RUN_INTAKE_H

#include <jansson.h>

#include "common/err.h"

struct node;
struct run;
struct runs;
struct strict_lines;

/* Process a records message of a node: check the records, store them, and
 * acknowledge them after the commit. lines: the lines of these records, or
 * NULL. Return 0, or -EPROTO with err for contents that no correct agent sends.
 */
int intake_records(struct runs *rs, struct node *n, const json_t *msg,
    const struct strict_lines *lines, struct err *err);
/* Store a progress record in the run, for lists. Return 0. */
int intake_progress(struct run *r, const json_t *msg);
/* Store the counters of a node at a border of a phase. Return 0. */
int intake_counters(struct run *r, struct node *n, const json_t *msg);
/* Finish the run if its end record is in the store; call it after a restart of
 * the collector. */
void intake_resume(struct run *r);
/* Call it several times a second. When the store works again after a failure,
 * agents that hold unacknowledged records have to reconnect. */
void intake_tick(struct runs *rs);

#endif
