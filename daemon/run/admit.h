/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - which nodes a run gets, and when.
 */
#ifndef DAEMON_RUN_ADMIT_H
#define DAEMON_RUN_ADMIT_H

#include <jansson.h>
#include <stddef.h>

struct node;
struct run;

void admit_tick(struct run *r);
/* 1: its nodes have to be idle in Slurm too. */
int admit_asks_slurm(const struct run *r);
void admit_let_go(struct run *r, struct node *n);
void admit_release(struct run *r); /* of all nodes */
/* What a run costs: at its counters, and at its end. */
void cost_counters(struct run *r, size_t index, const json_t *nics);
void cost_end(struct run *r);
/* Names in place of a selection that an earlier collector made. */
void admit_restore(struct run *r, const json_t *names);

#endif
