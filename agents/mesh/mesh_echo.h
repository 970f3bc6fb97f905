/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_echo.h - answer the echo requests (UDP datagrams) that other nodes send
 * to this node.
 *
 * A request ends with a tag: an HMAC-SHA256 of the datagram under a token, a
 * secret that the collector made for the sender's address. The responder
 * computes the token again from that address and its own key, so it keeps no
 * table of peers. It answers only a request with the right tag, to the same
 * address, with as many bytes as the request, or with 64 if the path is known
 * to carry no more. Other datagrams are dropped silently and counted.
 * schema/mesh.h has the format.
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
	/* No tag, a wrong tag, an epoch that is not answered, or malformed. */
	uint64_t refused;
	uint64_t limited; /* valid, but too many in this second */
	uint64_t unsent;  /* rejected by this host when they were sent */
	/* Dropped by the kernel, because they were not read in time. */
	uint64_t drops;
};

/* Bind a UDP socket to addr and port, and answer requests from then on. Return
 * the responder, which mesh_echo_close frees; NULL with *ret_errno if the
 * socket cannot be opened. */
struct mesh_echo *mesh_echo_open(struct event_base *base,
    const struct in6_addr *addr, uint16_t port, int *ret_errno);
void mesh_echo_close(struct mesh_echo *e); /* NULL is allowed */
/* Return the port, which is the kernel's choice if 0 was given. */
uint16_t mesh_echo_port(const struct mesh_echo *e);
/* Set the key of this node, from which tokens are computed. The previous key
 * stays valid, because other nodes use its tokens until their next order. */
void mesh_echo_key(struct mesh_echo *e, const uint8_t key[MESH_KEY_BYTES]);
/* Set the number of the current epoch (mesh.h). Requests of this epoch, of the
 * one before and of the one after are answered, because the nodes receive the
 * orders of an epoch at different times. */
void mesh_echo_epoch(struct mesh_echo *e, uint64_t epoch);
/* Return the counts since the last call, and the times in seconds that this
 * host took to answer. */
void mesh_echo_take(struct mesh_echo *e, struct mesh_echo_counts *ret,
    struct hist *ret_turn_s);

#endif
