/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_echo.h - answer echo requests of other nodes.
 *
 * A request is answered only if it has the MAC of a token that the collector
 * made for the sender's address. The answer goes to that address, with as many
 * bytes as the request, or with 64 if the path is known to carry no more. Other
 * datagrams are dropped silently and counted. There is no table of peers.
 */
#ifndef AGENTS_MESH_MESH_ECHO_H
#define AGENTS_MESH_MESH_ECHO_H

#include <event2/event.h>
#include <netinet/in.h>
#include <stdint.h>

#include "common/hist.h"
#include "schema/mesh.h"

struct mesh_echo;

/* Numbers of datagrams since the last mesh_echo_take. */
struct mesh_echo_counts {
	uint64_t answered;
	/* No MAC or a wrong one, an old epoch, or malformed. */
	uint64_t refused;
	uint64_t limited; /* valid, but too many in a second */
	uint64_t unsent;  /* rejected by this host when they were sent */
	/* Dropped by the kernel, because they were not read in time. */
	uint64_t drops;
};

/* Open the port. Return NULL with *ret_errno if that fails. */
struct mesh_echo *mesh_echo_open(struct event_base *base,
    const struct in6_addr *addr, uint16_t port, int *ret_errno);
void mesh_echo_close(struct mesh_echo *e); /* NULL is allowed */
/* Return the port, which is the kernel's choice if 0 was given. */
uint16_t mesh_echo_port(const struct mesh_echo *e);
/* Set the key under which tokens are made. The previous key stays valid,
 * because other nodes use tokens of it until their next order. */
void mesh_echo_key(struct mesh_echo *e, const uint8_t key[MESH_KEY_BYTES]);
/* Set the epoch: requests of this epoch and its neighbours are answered. */
void mesh_echo_epoch(struct mesh_echo *e, uint64_t epoch);
/* Return the counts since the last call, and the times in seconds that this
 * host took to answer. */
void mesh_echo_take(struct mesh_echo *e, struct mesh_echo_counts *ret,
    struct hist *ret_turn_s);

#endif
