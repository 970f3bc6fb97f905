/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connects.h - TCP connections of this node that wait for their first answer,
 * and its open ports.
 *
 * A firewall that drops packets causes such connections. They show the blocked
 * peer, port and direction. Other nodes try the open ports (tries.h).
 */
#ifndef AGENTS_SENSOR_CONNECTS_H
#define AGENTS_SENSOR_CONNECTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTS_MAX 16 /* reported connections */

/* Return {"addr": text, "port": n} for each peer that a socket of user uid
 * tries to connect to, each peer once: a new reference. The sockets are read
 * from the tree below root ("" for this machine). */
json_t *connects_unanswered(const char *root, uint32_t uid);

/* The same for each address on which a socket of user uid accepts connections
 * of other nodes; 0.0.0.0 and :: are all addresses. */
json_t *connects_listening(const char *root, uint32_t uid);

/* Read the address at the start of hex, as the kernel prints it in
 * /proc/net/tcp and tcp6, up to a colon or the end of the text: words of 32
 * bits of the address in memory order, each as a number of this machine. Return
 * the number of words, 1 or 4; 0: malformed. */
size_t connects_words(const char *hex, uint32_t ret[4]);

#endif
