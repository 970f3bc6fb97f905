/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - records, progress and counters of runs, as agents send them.
 */
#ifndef DAEMON_RUN_INTAKE_H
#define DAEMON_RUN_INTAKE_H

#include <jansson.h>

#include "common/err.h"

struct node;
struct run;
struct runs;
struct strict_lines;

int intake_records(struct runs *rs, struct node *n, const json_t *msg,
    const struct strict_lines *lines, struct err *err);
int intake_progress(struct run *r, const json_t *msg);
int intake_counters(struct run *r, struct node *n, const json_t *msg);
void intake_resume(struct run *r);
void intake_tick(struct runs *rs);

#endif
