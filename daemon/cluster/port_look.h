/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_look.h - errors that a node's ports and GPUs have counted since the
 * agent's previous reading: member "links" of a heartbeat.
 */
#ifndef DAEMON_CLUSTER_PORT_LOOK_H
#define DAEMON_CLUSTER_PORT_LOOK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct link_counter;

/* Errors of one counter. */
struct port_counter {
	const struct link_counter *counter;
	uint64_t errors; /* since the previous reading; above 0 */
};

/* The errors of one port. */
struct port_counters {
	char *name; /* name of the port; never "" */
	struct port_counter *list;
	size_t count;
};

/* One reading of all ports of a node. */
struct port_look {
	int64_t span_s; /* since the previous reading */
	struct port_counters *ports;
	size_t count;
};

/* Read links, {span_s, ports: [{port, counters}]} of a heartbeat. Unknown
 * counters and impossibly high counts are skipped. Return the result, never
 * NULL, which the caller frees. */
struct port_look *port_look_read(const json_t *links);
void port_look_free(struct port_look *look); /* NULL is allowed */

#endif
