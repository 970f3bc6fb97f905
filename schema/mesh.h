/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - the UDP datagrams of the mesh. In the mesh the agents measure the
 * network between them all the time: one sends an echo request, the other
 * answers. Both have MESH_PACKET_BYTES. A large request or answer is followed
 * by zeros, up to the size that the path should carry. An answer is never
 * larger than its request.
 *
 *   0  magic "CMm1"          4  kind, 1 request, 2 answer     5..7  zero
 *   8  epoch                16  seq, chosen by the requester
 *  24  turn_ns, in an answer: how long the responder's host kept it
 *  32  zero                 48  MAC, 16 bytes
 *
 * Offsets are bytes; numbers are big endian. An epoch is one interval of the
 * mesh, at the end of which the agents report. The MAC (message authentication
 * code) is HMAC-SHA256 over the 48 bytes before it, cut to 16 bytes. Its key is
 * the token of the pair. A token is HMAC-SHA256 over mesh_token_input under the
 * responder's key of this session, which only the responder and the collector
 * know. The collector makes a token for one address of a requester. The
 * responder recomputes the token from the address that a request comes from. It
 * therefore needs no table of tokens, a request with a forged source address
 * fails, and only nodes of the roster have tokens.
 */
#ifndef SCHEMA_MESH_H
#define SCHEMA_MESH_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define MESH_PACKET_BYTES 64
/* Bytes of a large datagram; smaller ones prove little. */
#define MESH_LARGE_MIN 1200
#define MESH_LARGE_MAX 9216 /* bytes */
#define MESH_MAC_AT    48   /* offset of the MAC */
#define MESH_MAC_BYTES 16
#define MESH_KEY_BYTES 32
/* A key as hexadecimal text, with the NUL. */
#define MESH_HEX_BYTES   (2 * MESH_KEY_BYTES + 1)
#define MESH_TOKEN_INPUT 32   /* bytes of mesh_token_input */
#define MESH_TARGETS_MAX 4096 /* targets of one node in an epoch */

/* The class of a pair of nodes: both below one leaf switch, or below two
 * leaves, so that the path crosses a spine switch. */
enum mesh_class { MESH_LEAF, MESH_SPINE, MESH_CLASS_MAX };
extern const char *const mesh_classes[MESH_CLASS_MAX];
/* Return the class with this name, or -ENOENT. */
int mesh_class_find(const char *name);

/* The result of one epoch for one pair of nodes. Numbers without a unit in
 * their name are counts of datagrams. */
struct mesh_path {
	uint32_t a, b; /* roster ids of the requester and the responder */
	uint32_t answered, lost; /* small datagrams */
	/* Large datagrams. Unsent are those that this host or the network
	 * rejected as too large, and those that the responder could answer only
	 * with a small datagram. */
	uint32_t large_answered, large_lost, large_unsent;
	uint32_t large_bytes; /* size of the large ones; 0: none were sent */
	uint32_t mtu; /* bytes of a large one's IP packet, with headers */
	double p50_s; /* median round-trip time of small ones; NAN: none */
};

enum mesh_kind { MESH_REQUEST = 1, MESH_ANSWER = 2 };

/* A datagram, without its MAC. */
struct mesh_packet {
	enum mesh_kind kind;
	/* The epoch, the requester's number of the request, and the nanoseconds
	 * during which the responder's host kept the request (0 in a
	 * request). */
	uint64_t epoch, seq, turn_ns;
};

/* Write the datagram p to raw, except for its MAC, which stays zero. */
void mesh_packet_put(uint8_t raw[MESH_PACKET_BYTES],
    const struct mesh_packet *p);
/* Parse a datagram without checking its MAC. Return 0, or -EPROTO for anything
 * that mesh_packet_put could not have made. */
int mesh_packet_get(const uint8_t raw[MESH_PACKET_BYTES],
    struct mesh_packet *ret);

/* Write the input from which the responder's key makes the token of one
 * requester. asker: the requester's address; an IPv4 address is mapped into
 * IPv6, so that an address has one form. */
void mesh_token_input(const struct in6_addr *asker,
    uint8_t ret[MESH_TOKEN_INPUT]);
/* Parse a numeric IPv4 or IPv6 address; an IPv4 address is mapped into IPv6.
 * Return 0 or -EINVAL. */
int mesh_addr_parse(const char *text, struct in6_addr *ret);
/* A network such as "10.1.0.0/16". bits is the length of the prefix of the IPv6
 * form: an IPv4 network has 96 more than its text. */
struct mesh_net {
	struct in6_addr addr;
	unsigned bits;
};
/* Parse a network. Return 0 or -EINVAL. */
int mesh_net_parse(const char *text, struct mesh_net *ret);
/* Write the network with the bits of the host cleared: "10.1.0.0/16". A text
 * longer than cap_bytes is cut. */
void mesh_net_format(const struct mesh_net *net, char *ret, size_t cap_bytes);
/* Return 1 if the network contains the address, 0 if not. */
int mesh_net_has(const struct mesh_net *net, const struct in6_addr *addr);

/* Convert a key to hexadecimal text with a NUL, and back. mesh_hex_get returns
 * 0 or -EINVAL. */
void mesh_hex_put(const uint8_t key[MESH_KEY_BYTES], char ret[MESH_HEX_BYTES]);
int mesh_hex_get(const char *hex, uint8_t ret[MESH_KEY_BYTES]);

#endif
