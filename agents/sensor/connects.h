/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connects.h - TCP connections of this node that wait for their first answer.
 *
 * A firewall that drops packets causes such connections. They show the blocked
 * peer, port and direction.
 */
#ifndef AGENTS_SENSOR_CONNECTS_H
#define AGENTS_SENSOR_CONNECTS_H

#include <jansson.h>
#include <stdint.h>

#define CONNECTS_MAX 16 /* reported connections */

/* Return {"addr": text, "port": n} for each peer that a socket of user uid
 * tries to connect to, each peer once: a new reference. The sockets are read
 * from the tree below root ("" for this machine). */
json_t *connects_unanswered(const char *root, uint32_t uid);

#endif
