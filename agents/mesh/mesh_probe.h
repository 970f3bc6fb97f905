/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh_probe.h - send echo requests in bursts, and count the answers.
 *
 * Bursts visit the targets in an order drawn by the seed, each after a jittered
 * pause. At most rate datagrams a second are sent, and at most target_rate to
 * one target. Under local load the pauses grow up to a limit. Memory is
 * constant in time.
 *
 * A round trip is measured as
 *   (t4 - t1) - (t4 - k4) - (t3 - t2)
 * where t1 is just before the send, k4 when the kernel received the answer, t4
 * when it was read, all by the local clock, and t3 - t2 is the time in the
 * responder's host, from its answer. So scheduling delays of either host are
 * not counted as network latency.
 *
 * A datagram is lost if it was sent, its answer did not reach the local kernel
 * in time, and no host explains it: an answer that the local kernel dropped, or
 * that the responder delayed for too long, counts as unknown.
 *
 * The last datagram of a burst is large if the target accepts large ones; with
 * bursts of one, every fourth datagram is. Large datagrams are counted
 * separately: a "too large" error from a host or a router counts as an answer,
 * and only silence as a loss.
 */
#ifndef AGENTS_MESH_MESH_PROBE_H
#define AGENTS_MESH_MESH_PROBE_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/mesh/mesh_sock.h"
#include "common/hist.h"
#include "schema/mesh.h"

#define MESH_SAMPLES   32 /* round-trip times kept of a target */
#define MESH_BURST_MAX 64

/* A target, with its results since mesh_probe_aim. */
struct mesh_target {
	struct mesh_peer peer;
	uint8_t token[MESH_KEY_BYTES];
	enum mesh_class class;
	char *node;
	uint32_t large_bytes; /* size of a large datagram; 0: none */
	/* Number of datagrams since mesh_probe_aim. */
	uint32_t answered, lost, unknown, unsent;
	uint32_t large_answered, large_lost, large_unsent;
	uint32_t bursts;
	float rtt_s[MESH_SAMPLES]; /* a fair sample of the round-trip times */
	uint64_t last_ns;          /* time of its newest burst; 0: none yet */
};

/* How fast datagrams are sent. */
struct mesh_pace {
	uint64_t round_ns; /* one pass over all targets, if the rates permit */
	uint64_t timeout_ns;
	unsigned burst;     /* datagrams to one target, back to back */
	double rate;        /* datagrams a second, at most */
	double target_rate; /* datagrams a second to one target, at most */
};

/* The results of a class. */
struct mesh_tally {
	uint64_t answered, lost, unknown, unsent;
	struct hist rtt_s;
};

struct mesh_probe;

/* Open the socket. pressure: returns the factor by which pauses are longer at
 * present, 1 for none; it is called before each burst. Return NULL with
 * *ret_errno if no socket can be opened. */
struct mesh_probe *mesh_probe_open(struct event_base *base,
    const struct in6_addr *addr, double (*pressure)(void *arg), void *arg,
    int *ret_errno);
void mesh_probe_close(struct mesh_probe *p); /* NULL is allowed */
/* Use these targets from now on; takes the array and its names. Pending echoes
 * count as neither answered nor lost. */
void mesh_probe_aim(struct mesh_probe *p, struct mesh_target *targets,
    size_t count, uint64_t epoch, uint64_t seed, const struct mesh_pace *pace);
/* Return the targets in *ret, and their number. */
size_t mesh_probe_targets(const struct mesh_probe *p,
    const struct mesh_target **ret);
/* Classify pending echoes as far as possible, then return the tally of a class
 * and clear it. The results of targets are kept until mesh_probe_aim. */
void mesh_probe_take(struct mesh_probe *p, enum mesh_class class,
    struct mesh_tally *ret);
/* Return the times in seconds that answers waited in this host's socket, and
 * clear them. */
void mesh_probe_take_waits(struct mesh_probe *p, struct hist *ret_s);
/* Return the median of a target's kept round trips in seconds; NAN without
 * any. */
double mesh_target_median_s(const struct mesh_target *t);
/* Free an array of targets with their names. */
void mesh_targets_free(struct mesh_target *targets, size_t count);

#endif
