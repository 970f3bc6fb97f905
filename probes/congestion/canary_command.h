/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_command.h - the test `command`: runs of a program instead of rounds
 * of operations. Every run is a record, and its time a sample of the test,
 * whose canary and impact records are like all others.
 */
#ifndef PROBES_CONGESTION_CANARY_COMMAND_H
#define PROBES_CONGESTION_CANARY_COMMAND_H

#include "probes/congestion/canary_loop.h"

/* All repetitions of one visit; all canaries together. A run that fails ends
 * the test in this phase, and its cell has the cause. */
void measure_command(struct canary_loop *m, int test, enum phase phase,
    int visit);

#endif
