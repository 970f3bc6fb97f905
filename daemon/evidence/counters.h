/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - a node's counters at the border of a phase as evidence.
 */
#ifndef DAEMON_EVIDENCE_COUNTERS_H
#define DAEMON_EVIDENCE_COUNTERS_H

#include <jansson.h>
#include <stdint.h>

/* The NIC that carried the most bytes. */
struct nic_counters {
	char nic[16];
	int64_t drops; /* drops, discards and errors */
};

/* nics: [{nic, counters}] of a counters message. -ENOENT: no NIC in it. */
int counters_read(const json_t *nics, struct nic_counters *ret);

#endif
