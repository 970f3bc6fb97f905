/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h - lost datagrams as a number that a judge understands. Pure.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_LOSS_H
#define DAEMON_DIAGNOSIS_JUDGE_LOSS_H

#include <stdint.h>

#include "daemon/diagnosis/judge/confirm.h"
#include "daemon/diagnosis/judge/judge.h"

/* One per cent of loss weighs as 10 % of time: a stream that loses it runs at
 * a fraction of its rate. */
#define LOSS_WEIGHT 10.0

/* The share that is surely lost: the lower end of a one-sided 95 % interval
 * (Wilson 1927), so that a few datagrams accuse nobody. 0 of 0 is 0. */
double loss_share(uint64_t lost, uint64_t sent);
/* A logarithm that grows with trouble, as score.h wants it, and back. */
double loss_number(double share);
double loss_of_number(double x);
/* What the mesh itself tells of a place or leaf that loses: near, within its
 * leaf; far, between leaves: suspect 1, not 0, too little is known -1. */
enum confirm_finding loss_finding(enum judge_kind kind, int near, int far);

#endif
