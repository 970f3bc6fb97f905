/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nics.h - counters of this node's network devices.
 *
 * All counters are since boot; a rate is the difference of two readings. Names
 * are the device's own, except for two that the collector reads for every
 * device: rx_bytes and tx_bytes.
 */
#ifndef AGENTS_SENSOR_NICS_H
#define AGENTS_SENSOR_NICS_H

#include <jansson.h>

/* Return {"nic": name, "counters": {...}} for every device in the tree below
 * root ("" for this machine), as the nics of a counters message: a new
 * reference. */
json_t *nics_read(const char *root);

#endif
