/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_sock.h - UDP sockets with the kernel's time stamps of datagrams.
 *
 * The address to which a socket is bound decides between IPv6 and IPv4;
 * arguments and results are addresses in the mapped form of schema/mesh.h.
 */
#ifndef AGENTS_MESH_MESH_SOCK_H
#define AGENTS_MESH_MESH_SOCK_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/mesh.h"

/* The address of a peer. */
struct mesh_peer {
	struct in6_addr addr; /* IPv4 mapped */
	uint16_t port;        /* in the host's byte order */
};

/* A datagram that was received. */
struct mesh_got {
	struct mesh_peer from;
	uint8_t raw[MESH_PACKET_BYTES];
	/* Bytes received, including the zeros that follow raw. */
	size_t len_bytes;
	/* Time that it waited in this host's socket, which is the host's delay
	 * and not the network's. 0 without a time stamp of the kernel. */
	uint64_t waited_ns;
};

/* Bind to addr and port (0: any). Return a non-blocking descriptor, or -errno.
 */
int mesh_sock_open(const struct in6_addr *addr, uint16_t port);
/* Read the next datagram of valid size and padding; others are skipped. Return
 * 1, or 0 without a datagram. ret_drops: number of datagrams that the kernel
 * dropped since the socket was opened because they were not read in time; it is
 * only written if the kernel reports it. */
int mesh_sock_get(int fd, struct mesh_got *ret, uint32_t *ret_drops);
/* Send a packet and zeros after it, len_bytes in total, without fragmentation.
 * Return 0, or -errno if nothing was sent; -EMSGSIZE: the path is known to
 * carry less. */
int mesh_sock_put(int fd, const struct mesh_peer *to,
    const uint8_t raw[MESH_PACKET_BYTES], size_t len_bytes);

/* Write the first ret_bytes bytes of the HMAC-SHA256 of data under key. */
void mesh_mac(const uint8_t key[MESH_KEY_BYTES], const uint8_t *data,
    size_t len_bytes, uint8_t *ret, size_t ret_bytes);
/* Write the tag (MAC, see schema/mesh.h) of a packet into it (mesh_sign), or
 * return 1 if the packet has the right one, 0 if not (mesh_signed). */
void mesh_sign(uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);
int mesh_signed(const uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);

#endif
