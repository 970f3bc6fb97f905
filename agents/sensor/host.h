/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - contention on this host: the values by which the collector
 * distinguishes a slow host from a slow network.
 */
#ifndef AGENTS_SENSOR_HOST_H
#define AGENTS_SENSOR_HOST_H

#include <jansson.h>
#include <stdint.h>

#include "agents/sensor/device.h"

#define HOST_LINKS_MAX 128

/* The previous readings. Begins as zeros. */
struct host_look {
	uint64_t ticks, steal_ticks; /* clock ticks in /proc/stat */
	uint64_t wait_ns, slices;    /* values of /proc/self/schedstat */
	/* Time of the reading, and the time throttled by a quota up to then. */
	uint64_t taken_ns, quota_ns;
	int64_t hot_ms;
	uint64_t at_ns; /* time when links was read */
	struct host_link {
		char name[DEVICE_NAME_BYTES];
		int64_t rx_bytes, tx_bytes;
	} links[HOST_LINKS_MAX];
	size_t link_count;
};

/* Return {cpu, steal, throttled (by a quota of this control group), hot
 * (throttled by temperature): shares of the time since the last look, the last
 * two only if any; wait_s: mean wait for a core before each turn since then;
 * net_bps: rate of the busiest network device in one direction since then; net:
 * the same as a share of the device's rate, for hardware that reports one}.
 * Values that the kernel does not provide are omitted. root: "" for the
 * machine's own. */
json_t *host_read(const char *root, struct host_look *last);

/* Return the factor by which background work should be slower: 1, 2, 4 or 8.
 * From the kernel's pressure stall information below root ("" for the machine's
 * own) if available, else from load (below 0: unknown) per core. */
double psi_stretch(const char *root, double load_per_core);
/* Return the share of time in which some task waited for a processor, over the
 * last 10 s; NAN if the kernel does not report it. */
double psi_cpu_some(const char *root);

#endif
