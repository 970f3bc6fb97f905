/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_int.h - what the mesh of an agent is made of: sockets, the side that
 * answers echo requests of other nodes' agents, and the side that asks them.
 */
#ifndef AGENTS_MESH_MESH_INT_H
#define AGENTS_MESH_MESH_INT_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hist.h"
#include "schema/mesh.h"

/* ---- mesh_sock.c: UDP sockets that know when the kernel saw a datagram ----
 *
 * All of them are IPv6 sockets or IPv4 ones by the address they are bound to;
 * addresses come and go in the mapped form of schema/mesh.h. */

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

/* Bind to addr and port (0: any). A descriptor that does not block, or -errno.
 */
int mesh_sock_open(const struct in6_addr *addr, uint16_t port);
/* The next datagram of the right size and padding, others are skipped: 1, or 0
 * when there is none. ret_drops: how many the kernel has thrown away since the
 * socket was opened, because we did not read in time; only written when it says
 * so. */
int mesh_sock_get(int fd, struct mesh_got *ret, uint32_t *ret_drops);
/* A packet and zeros after it, len_bytes in all, never in fragments. 0 or
 * -errno: then nothing was sent; -EMSGSIZE: the way is known to carry less. */
int mesh_sock_put(int fd, const struct mesh_peer *to,
    const uint8_t raw[MESH_PACKET_BYTES], size_t len_bytes);

/* HMAC-SHA256; the first bytes of it. */
void mesh_mac(const uint8_t key[MESH_KEY_BYTES], const uint8_t *data,
    size_t len_bytes, uint8_t *ret, size_t ret_bytes);
/* Signs a packet; tells whether the MAC of a packet is right. */
void mesh_sign(uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);
int mesh_signed(const uint8_t raw[MESH_PACKET_BYTES],
    const uint8_t token[MESH_KEY_BYTES]);

/* ---- mesh_echo.c: answers ----
 *
 * Only a request with the MAC of a token that the collector made for the
 * sender's address is answered, to that address, with as many bytes, or with 64
 * where the way is known to carry no more; all else is dropped in silence and
 * counted. It keeps no table of peers.
 */
struct mesh_echo;

struct mesh_echo_counts {
	uint64_t answered;
	uint64_t refused; /* no or a wrong MAC, an old epoch, malformed */
	uint64_t limited; /* right, but too many in a second */
	uint64_t unsent;  /* our own host refused to send */
	uint64_t drops;   /* the kernel's, because we did not read in time */
};

/* NULL and why (strerror) in *ret_errno when the port cannot be had. */
struct mesh_echo *mesh_echo_open(struct event_base *base,
    const struct in6_addr *addr, uint16_t port, int *ret_errno);
void mesh_echo_close(struct mesh_echo *e); /* NULL is allowed */
uint16_t mesh_echo_port(const struct mesh_echo *e);
/* The key that tokens are made under; the one before it goes on being good,
 * because others hold tokens of it until their next order. */
void mesh_echo_key(struct mesh_echo *e, const uint8_t key[MESH_KEY_BYTES]);
/* Requests of this epoch and its neighbours are answered. */
void mesh_echo_epoch(struct mesh_echo *e, uint64_t epoch);
/* Counts and the time our host took, since the last call. */
void mesh_echo_take(struct mesh_echo *e, struct mesh_echo_counts *ret,
    struct hist *ret_turn_s);

/* ---- mesh_probe.c: asks, in bursts, and counts ----
 *
 * Bursts go round the targets in an order drawn by the seed, each after a
 * jittered pause. No more than rate datagrams a second leave, and no more than
 * target_rate for one target, whatever else is wished; under local pressure
 * the pauses grow, and never become endless. Memory is constant in time.
 *
 * A round trip is measured as
 *   (t4 - t1) - (t4 - k4) - (t3 - t2)
 * where t1 is just before the send, k4 when the kernel had the answer, t4 when
 * we read it, all of our host, and t3 - t2 is what the responder says its host
 * took. So neither host's scheduling is taken for the network's.
 *
 * A datagram is lost when it was sent, its answer had not reached our kernel
 * in time, and nothing says that a host was the reason: an answer that our
 * kernel dropped, or that the responder kept for too long, is unknown.
 *
 * The last datagram of a burst to a target that takes large ones is large, of
 * bursts of one every fourth. They are counted apart: who says that one is too
 * large, a host or a router, is an answer as well, and only silence a loss.
 */
#define MESH_SAMPLES   32 /* kept of a target, for its median */
#define MESH_BURST_MAX 64

struct mesh_target {
	struct mesh_peer peer;
	uint8_t token[MESH_KEY_BYTES];
	enum mesh_class class;
	char *node;
	uint32_t large_bytes; /* of a large datagram; 0: none */
	/* since the last take */
	uint32_t answered, lost, unknown, unsent;
	uint32_t large_answered, large_lost, large_unsent;
	uint32_t bursts;
	float rtt_s[MESH_SAMPLES]; /* of the answered: a fair sample */
	uint64_t last_ns;          /* of its newest burst; 0: none yet */
};

struct mesh_pace {
	uint64_t round_ns; /* once round all targets, if the rates allow */
	uint64_t timeout_ns;
	unsigned burst;     /* datagrams to one target, back to back */
	double rate;        /* datagrams a second, at most */
	double target_rate; /* for one target */
};

struct mesh_tally {
	uint64_t answered, lost, unknown, unsent;
	struct hist rtt_s;
};

struct mesh_probe;

/* pressure: how much longer pauses are now, 1 for not at all; asked before
 * each burst. NULL and *ret_errno when there is no socket to be had. */
struct mesh_probe *mesh_probe_open(struct event_base *base,
    const struct in6_addr *addr, double (*pressure)(void *arg), void *arg,
    int *ret_errno);
void mesh_probe_close(struct mesh_probe *p); /* NULL is allowed */
/* Go on with these targets instead; takes the array and its names. What is
 * still on its way is forgotten: neither answered nor lost. */
void mesh_probe_aim(struct mesh_probe *p, struct mesh_target *targets,
    size_t count, uint64_t epoch, uint64_t seed, const struct mesh_pace *pace);
size_t mesh_probe_targets(const struct mesh_probe *p,
    const struct mesh_target **ret);
/* Settle what can be settled, then give and clear the tally of a class;
 * targets keep theirs until mesh_probe_aim. */
void mesh_probe_take(struct mesh_probe *p, enum mesh_class class,
    struct mesh_tally *ret);
/* Own host: how long answers lay in our socket. Given and cleared. */
void mesh_probe_take_waits(struct mesh_probe *p, struct hist *ret_s);
/* The median of a target's kept round trips; NAN without one. */
double mesh_target_median_s(const struct mesh_target *t);
/* "spine" and the names of targets, freed with the array. */
void mesh_targets_free(struct mesh_target *targets, size_t count);

#endif
