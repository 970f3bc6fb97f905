/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - is this host itself in trouble? What the collector needs to tell a
 * slow host from a slow network.
 */
#ifndef AGENTS_SENSOR_HOST_H
#define AGENTS_SENSOR_HOST_H

#include <jansson.h>
#include <stdint.h>

/* The last readings; zeroed before the first look. */
struct host_look {
	uint64_t ticks, steal_ticks; /* of /proc/stat */
	uint64_t wait_ns, slices;    /* of our own /proc/self/schedstat */
};

/* {cpu, steal: shares of the time since the last look, wait_s: how long we
 * waited for a core before each turn since then}; what the kernel does not
 * tell is left out. root: "" for the machine's own. */
json_t *host_read(const char *root, struct host_look *last);

#endif
