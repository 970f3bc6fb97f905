/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_sock.h - UDP sockets that know when the kernel saw a datagram.
 *
 * All of them are IPv6 sockets or IPv4 ones by the address they are bound to;
 * addresses come and go in the mapped form of schema/mesh.h.
 */
#ifndef AGENTS_MESH_MESH_SOCK_H
#define AGENTS_MESH_MESH_SOCK_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"

struct mesh_peer {
	struct in6_addr addr; /* IPv4 mapped */
	uint16_t port;        /* of the host's byte order */
};

struct mesh_got {
	struct mesh_peer from;
	uint8_t raw[MESH_PACKET_BYTES];
	size_t len_bytes; /* with the zeros that follow */
	/* How long it lay in our socket: our host's delay, not the network's.
	 * 0 where the kernel gives no time stamp. */
	uint64_t waited_ns;
};

/* Bind to addr and port (0: any). Return a non-blocking descriptor, or -errno.
 */
int mesh_sock_open(const struct in6_addr *addr, uint16_t port);
/* Read the next datagram of the right size and padding; others are skipped.
 * Return 1, or 0 without one. ret_drops: datagrams that the kernel dropped
 * since the socket was opened because they were not read in time; written only
 * if the kernel reports it. */
int mesh_sock_get(int fd, struct mesh_got *ret, uint32_t *ret_drops);
/* A packet and zeros after it, len_bytes in all, never in fragments. 0 or
 * -errno: then nothing was sent; -EMSGSIZE: the way is known to carry less. */
int mesh_sock_put(int fd, const struct mesh_peer *to,
    const uint8_t raw[MESH_PACKET_BYTES], size_t len_bytes);

/* HMAC-SHA256; the first bytes of it. */
void mesh_mac(const uint8_t key[MESH_KEY_BYTES], const uint8_t *data,
    size_t len_bytes, uint8_t *ret, size_t ret_bytes);
/* Sign a packet; check the MAC of a packet. */
void mesh_sign(uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);
int mesh_signed(const uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);

#endif
