/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - read a node's counters at the border of a phase as evidence.
 */
#ifndef DAEMON_EVIDENCE_COUNTERS_H
#define DAEMON_EVIDENCE_COUNTERS_H

#include <jansson.h>
#include <stdint.h>

/* The counters of the NIC that carried the most bytes. */
struct nic_counters {
	char nic[16];
	int64_t drops; /* drops, discards and errors */
};

/* Read nics, [{nic, counters}] of a counters message. Return 0, or -ENOENT if
 * it has no NIC. */
int counters_read(const json_t *nics, struct nic_counters *ret);

#endif
