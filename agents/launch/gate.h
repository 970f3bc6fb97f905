/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the script of a batch system's job. It reports that the job has its
 * nodes, and runs until the ranks, which the agents start, have ended.
 */
#ifndef AGENTS_LAUNCH_GATE_H
#define AGENTS_LAUNCH_GATE_H

#include <event2/event.h>
#include <stdint.h>

struct gate;

/* Create the pipes "begin" and "hold" and the file "script" in dir, for group
 * gid (-1: only the owner). cb is called once, when the script runs. Return
 * NULL after logging the reason if that fails. */
struct gate *gate_open(struct event_base *base, const char *dir, int64_t gid,
    void (*cb)(void *arg), void *arg);
/* End the script. g can be NULL. */
void gate_close(struct gate *g);

#endif
