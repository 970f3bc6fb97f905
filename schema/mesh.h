/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - the mesh's datagrams: an echo request and its answer, both of
 * MESH_PACKET_BYTES, or large: the same with zeros up to the size that a path
 * should carry. An answer is never larger than its request.
 *
 *   0  magic "CMm1"          4  kind, 1 request, 2 answer     5..7  zero
 *   8  epoch                16  seq, chosen by the requester
 *  24  turn_ns, in an answer: how long the responder's host kept it
 *  32  zero                 48  MAC, 16 bytes
 *
 * Numbers are big endian. The MAC is HMAC-SHA256 over the bytes before it, cut
 * to 16, under the pair's token. A token is HMAC-SHA256 over mesh_token_input
 * under the responder's key of this session, which only it and the collector
 * know. So a request is answered only at the address for which the collector
 * made the token, and the responder needs no table of tokens: a forged source
 * address fails, and only nodes of the roster have tokens.
 */
#ifndef SCHEMA_MESH_H
#define SCHEMA_MESH_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define MESH_PACKET_BYTES 64
#define MESH_LARGE_MIN    1200 /* a large one's bytes; less proves little */
#define MESH_LARGE_MAX    9216
#define MESH_MAC_AT       48
#define MESH_MAC_BYTES    16
#define MESH_KEY_BYTES    32
#define MESH_HEX_BYTES    (2 * MESH_KEY_BYTES + 1)
#define MESH_TOKEN_INPUT  32 /* bytes of mesh_token_input */
#define MESH_TARGETS_MAX  4096

/* Level by level: the own leaf, then across the spine. */
enum mesh_class { MESH_LEAF, MESH_SPINE, MESH_CLASS_MAX };
extern const char *const mesh_classes[MESH_CLASS_MAX];
int mesh_class_find(const char *name); /* index or -ENOENT */

/* What an epoch has found of one pair: ids of nodes, counts of datagrams. */
struct mesh_path {
	uint32_t a, b; /* addresses of the requester and the responder */
	uint32_t answered, lost;
	/* Large ones; a host or the network said that these are too large. */
	uint32_t large_answered, large_lost, large_unsent;
	uint32_t large_bytes; /* 0: none were asked for */
	uint32_t mtu;         /* that large ones need: with the IP header */
	double p50_s;         /* of answers; NAN: none */
};

enum mesh_kind { MESH_REQUEST = 1, MESH_ANSWER = 2 };

struct mesh_packet {
	enum mesh_kind kind;
	uint64_t epoch, seq, turn_ns;
};

/* Everything but the MAC. */
void mesh_packet_put(uint8_t raw[MESH_PACKET_BYTES],
    const struct mesh_packet *p);
/* -EPROTO for anything that put could not have made. */
int mesh_packet_get(const uint8_t raw[MESH_PACKET_BYTES],
    struct mesh_packet *ret);

/* IPv4 addresses are mapped into IPv6, so a family has one form. */
void mesh_token_input(const struct in6_addr *asker,
    uint8_t ret[MESH_TOKEN_INPUT]);
/* A numeric address of either family, mapped. -EINVAL */
int mesh_addr_parse(const char *text, struct in6_addr *ret);
/* "10.1.0.0/16"; bits count in the mapped form. -EINVAL */
struct mesh_net {
	struct in6_addr addr;
	unsigned bits;
};
int mesh_net_parse(const char *text, struct mesh_net *ret);
/* The network alone: "10.1.0.0/16". */
void mesh_net_format(const struct mesh_net *net, char *ret, size_t cap_bytes);
int mesh_net_has(const struct mesh_net *net, const struct in6_addr *addr);

void mesh_hex_put(const uint8_t key[MESH_KEY_BYTES], char ret[MESH_HEX_BYTES]);
int mesh_hex_get(const char *hex, uint8_t ret[MESH_KEY_BYTES]); /* -EINVAL */

#endif
