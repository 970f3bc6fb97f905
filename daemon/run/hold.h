/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - resources of a live run: its nodes, and its share of the budget.
 *
 * A node is held by one exclusive run, or by any number of background runs
 * (node.exclusive, node.shared). The budget is reserved at admission; at the
 * end of the run the real usage replaces the reservation.
 */
#ifndef DAEMON_RUN_HOLD_H
#define DAEMON_RUN_HOLD_H

#include <jansson.h>
#include <stddef.h>

struct launcher;
struct node;
struct run;
struct runs;

/* Return 1 if the nodes of a run must be idle in Slurm, too. launcher NULL: any
 * except Slurm's. */
int hold_needs_idle(const struct runs *rs, const struct launcher *launcher,
    int exclusive);
/* Return 1 if the nodes of run r must be idle in Slurm, too. */
int hold_asks_slurm(const struct run *r);
/* Mark a node as held by r. */
void hold_node(struct run *r, struct node *n);
/* Release one node of r. */
void hold_let_go(struct run *r, struct node *n);
/* Release all nodes of r; nothing to do while r waits for admission. */
void hold_release(struct run *r);
/* Give r the nodes of these names, an array of strings, after a restart of the
 * collector; r holds them. Names that the roster lacks are skipped. */
void hold_restore(struct run *r, const json_t *names);
/* Add the counters of the NICs of node number index of r, at a border of a
 * phase. */
void hold_counters(struct run *r, size_t index, const json_t *nics);
/* Replace the reservation of r in the budget by what its nodes have sent. */
void hold_cost_end(struct run *r);

#endif
