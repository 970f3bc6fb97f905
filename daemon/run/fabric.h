/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - the devices that a campaign demands, and the turns of rails.
 */
#ifndef DAEMON_RUN_FABRIC_H
#define DAEMON_RUN_FABRIC_H

#include "common/conf.h"
#include "common/err.h"

struct node;
struct run;

/* 1 and why, when the node says that it lacks a device that the
 * campaign demands. One that says nothing is asked by the run itself. */
int fabric_lacks(const struct conf *c, const struct node *n, struct err *err);
/* Where the campaign lets rails take turns: mpi.devices is the one of this
 * run. mpi.rails is gone then, for nobody else has business with it. */
void fabric_turn(struct run *r);
/* It did not come to run for want of time, not of nodes: that rail is next. */
void fabric_turn_back(struct run *r);

#endif
