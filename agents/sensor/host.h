/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - is this host itself in trouble? What the collector needs to tell a
 * slow host from a slow network.
 */
#ifndef AGENTS_SENSOR_HOST_H
#define AGENTS_SENSOR_HOST_H

#include <jansson.h>
#include <stdint.h>

#include "agents/sensor/device.h"

#define HOST_LINKS_MAX 128

/* The last readings; zeroed before the first look. */
struct host_look {
	uint64_t ticks, steal_ticks; /* of /proc/stat */
	uint64_t wait_ns, slices;    /* of our own /proc/self/schedstat */
	uint64_t taken_ns, quota_ns; /* when, and in all until then */
	int64_t hot_ms;
	uint64_t at_ns; /* of links */
	struct host_link {
		char name[DEVICE_NAME_BYTES];
		int64_t rx_bytes, tx_bytes;
	} links[HOST_LINKS_MAX];
	size_t link_count;
};

/* {cpu, steal, throttled (by a quota of our control group), hot (slower, to
 * cool down): shares of the time since the last look, the last two where there
 * was any; wait_s: how long we waited for a core before each turn since then,
 * net_bps: what the busiest
 * network device moved one way since then, net: the same as a share of its
 * rate, where the device is hardware and tells one}; what the kernel does not
 * tell is left out. root: "" for the machine's own. */
json_t *host_read(const char *root, struct host_look *last);

/* How much slower background work should go: 1 not at all, 2, 4, 8. From the
 * kernel's pressure stall information below root ("" for the machine's own)
 * where there is any, else from load (below 0: unknown) per core. */
double psi_stretch(const char *root, double load_per_core);
/* Share of time in which some task waited for a processor, over 10 s; NAN
 * where the kernel does not say. */
double psi_cpu_some(const char *root);

#endif
