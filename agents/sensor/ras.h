/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ras.h - progress of the communicators of this node's jobs, by NCCL's RAS.
 */
#ifndef AGENTS_SENSOR_RAS_H
#define AGENTS_SENSOR_RAS_H

#include <jansson.h>

struct event_base;
struct ras;

/* Search every 30 s for processes that listen on port, in the network
 * namespaces of all processes that the agent may see, and read one reply in
 * each namespace at a time. Return NULL if port is 0. */
struct ras *ras_new(struct event_base *base, int port);
void ras_free(struct ras *r); /* NULL is allowed, here and below */
/* Return [{job uid addrs error}] or [{job uid addrs version comms launched
 * list}] of ras_read.h, one for each job with a look since the last
 * call; NULL: none. addrs: addresses of a namespace that is not the node's. */
json_t *ras_take(struct ras *r);

#endif
