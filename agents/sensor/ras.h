/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ras.h - the progress of the communicators of this node's jobs, as NCCL's RAS
 * (reliability, availability, serviceability) interface reports it.
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
 * list}] of ras_read.h, one for each job that was read since the last call: a
 * new reference; NULL: none. addrs: the addresses of the network namespace, if
 * it is not the node's. */
json_t *ras_take(struct ras *r);

#endif
