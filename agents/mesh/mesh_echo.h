/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_echo.h - answers to echo requests.
 *
 * Only a request with the MAC of a token that the collector made for the
 * sender's address is answered, to that address, with as many bytes, or with 64
 * if the path is known to carry no more. Other datagrams are silently dropped
 * and counted. It keeps no table of peers.
 */
#ifndef AGENTS_MESH_MESH_ECHO_H
#define AGENTS_MESH_MESH_ECHO_H

#include <event2/event.h>
#include <netinet/in.h>
#include <stdint.h>

#include "common/hist.h"
#include "schema/mesh.h"

struct mesh_echo;

struct mesh_echo_counts {
	uint64_t answered;
	uint64_t refused; /* no or a wrong MAC, an old epoch, malformed */
	uint64_t limited; /* valid, but too many in a second */
	uint64_t unsent;  /* our own host refused to send */
	uint64_t drops;   /* the kernel's, because we did not read in time */
};

/* Return NULL with *ret_errno if the port cannot be opened. */
struct mesh_echo *mesh_echo_open(struct event_base *base,
    const struct in6_addr *addr, uint16_t port, int *ret_errno);
void mesh_echo_close(struct mesh_echo *e); /* NULL is allowed */
uint16_t mesh_echo_port(const struct mesh_echo *e);
/* Set the key under which tokens are made. The previous key stays valid,
 * because other nodes use tokens of it until their next order. */
void mesh_echo_key(struct mesh_echo *e, const uint8_t key[MESH_KEY_BYTES]);
/* Requests of this epoch and its neighbours are answered. */
void mesh_echo_epoch(struct mesh_echo *e, uint64_t epoch);
/* Return the counts and the delay of our host since the last call. */
void mesh_echo_take(struct mesh_echo *e, struct mesh_echo_counts *ret,
    struct hist *ret_turn_s);

#endif
