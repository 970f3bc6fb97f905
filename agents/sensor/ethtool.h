/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool.h - counters of Ethernet links that the kernel reports by netlink
 * alone: FEC, pause frames, and those of priorities (PFC).
 */
#ifndef AGENTS_SENSOR_ETHTOOL_H
#define AGENTS_SENSOR_ETHTOOL_H

#include <jansson.h>
#include <stddef.h>

/* Add them to the rows of their devices, as far as the kernel has them. */
void ethtool_read(json_t *nics);
/* Process one datagram that answers a request; return 1 if it was the last. */
int ethtool_take(const void *bytes, size_t len_bytes, json_t *nics);

#endif
