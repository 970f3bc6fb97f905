/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool.h - counters of Ethernet links that the kernel reports only by
 * netlink: forward error correction (FEC), pause frames, and pause frames of
 * priorities (PFC), with the mask of priorities that send them, pfc_enabled.
 */
#ifndef AGENTS_SENSOR_ETHTOOL_H
#define AGENTS_SENSOR_ETHTOOL_H

#include <jansson.h>
#include <stddef.h>

/* Add the counters to the rows of their devices, as far as the kernel has
 * them. */
void ethtool_read(json_t *nics);
/* Process one datagram that answers a request. Return 1 if it was the last, 0
 * if not. */
int ethtool_take(const void *bytes, size_t len_bytes, json_t *nics);

#endif
