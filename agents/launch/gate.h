/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the script of a batch system's job: it reports that the job has its
 * nodes, and stays until the ranks, which the agents start, have ended.
 */
#ifndef AGENTS_LAUNCH_GATE_H
#define AGENTS_LAUNCH_GATE_H

#include <event2/event.h>
#include <stdint.h>

struct gate;

/* Make pipes "begin" and "hold" and the file "script" in dir, for group gid
 * (-1: only the owner). cb is called once, when the script runs. On failure log
 * the reason and return NULL. */
struct gate *gate_open(struct event_base *base, const char *dir, int64_t gid,
    void (*cb)(void *arg), void *arg);
/* End the script. NULL is allowed. */
void gate_close(struct gate *g);

#endif
