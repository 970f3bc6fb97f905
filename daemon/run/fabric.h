/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - the devices that a campaign requires, and the turns of rails.
 */
#ifndef DAEMON_RUN_FABRIC_H
#define DAEMON_RUN_FABRIC_H

#include <jansson.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/err.h"

struct node;
struct run;

/* Return 1 with the reason in err if the node reports that it lacks a device
 * that the campaign requires. If it does not report devices, the run itself
 * checks. */
int fabric_lacks(const struct conf *c, const struct node *n, struct err *err);
/* Note the nodes that have an active device of a fabric although TCP carried
 * the bytes of the run and the campaign did not require TCP. carried: the
 * devices that carried the bytes, of the begin record. ret_text: "" or
 * "measured over tcp although mlx5_0 of n1 is up". */
void fabric_unused_note(struct run *r, const json_t *carried, char *ret_text,
    size_t cap_bytes);
/* Set mpi.devices to the rail of this run and remove mpi.rails, which nothing
 * else uses, if the rails of the campaign take turns. */
void fabric_turn(struct run *r);
/* Use the rail of this run for the next run, because this one did not start in
 * time. */
void fabric_turn_back(struct run *r);

#endif
