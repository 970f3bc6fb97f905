/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - the devices that a campaign demands, and the turns of rails.
 */
#ifndef DAEMON_RUN_FABRIC_H
#define DAEMON_RUN_FABRIC_H

#include <jansson.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/err.h"

struct node;
struct run;

/* 1 and why, when the node says that it lacks a device that the
 * campaign demands. One that says nothing is asked by the run itself. */
int fabric_lacks(const struct conf *c, const struct node *n, struct err *err);
/* The begin record says what carried the run's bytes: carried. Note the nodes
 * that have an active device of a fabric while TCP carried them although
 * nothing demanded TCP. ret_text: "" or "measured over tcp although mlx5_0 of
 * n1 is ACTIVE". */
void fabric_unused_note(struct run *r, const json_t *carried, char *ret_text,
    size_t cap_bytes);
/* Where the campaign lets rails take turns: mpi.devices is the one of this
 * run. mpi.rails is gone then, for nobody else has business with it. */
void fabric_turn(struct run *r);
/* It did not come to run for want of time, not of nodes: that rail is next. */
void fabric_turn_back(struct run *r);

#endif
