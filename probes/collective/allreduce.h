/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce.h - the common part of the two all-reduces among the devices of
 * nodes.
 *
 * Ranks are placed on nodes and sockets, in order, so that a socket is ranks lo
 * to hi - 1. Elements are cut into chunks, and chunks into the pieces of each
 * design. A chunk is one stage of a pipeline and has its own channels. Steps
 * follow from the dependencies (plan/plan.h).
 */
#ifndef PROBES_COLLECTIVE_ALLREDUCE_H
#define PROBES_COLLECTIVE_ALLREDUCE_H

#include "probes/multipath/paths.h"
#include "probes/plan/plan.h"

#define ALLREDUCE_SECTION   "allreduce"
#define ALLREDUCE_RANKS_MAX 1024

enum allreduce_ways { WAYS_NONE, WAYS_IDLE, WAYS_SOCKET };

struct allreduce_socket {
	uint32_t lo, hi; /* ranks */
	uint32_t node;
	uint32_t leader; /* rank: the one next to the other sockets */
};

struct allreduce {
	struct plan *p;
	struct order *o;
	uint32_t ranks, nodes, sockets_count;
	struct allreduce_socket *sockets;
	uint32_t *socket_of; /* by rank */
	uint64_t count;      /* elements */
	unsigned size;       /* of one, bytes */
	uint8_t type, op;
	uint32_t chunks;
	enum allreduce_ways ways;
	double share;    /* through the host, if several paths are used */
	uint8_t vias[2]; /* between devices, to and from the host */
	/* from == to: in place */
	uint16_t from, to;
	uint16_t work;    /* contributions of others, wherever they meet */
	uint16_t host;    /* where messages are staged */
	uint64_t *worked; /* bytes of work so far, by rank */
	uint64_t *hosted;
	uint32_t chunk; /* at work */
};

/* Elements [lo, hi). */
struct allreduce_piece {
	uint64_t lo, hi;
};
/* Part i of parts of a piece. */
struct allreduce_piece allreduce_cut(struct allreduce_piece whole, uint64_t i,
    uint64_t parts);

/* A place for a piece in work of a rank; each call another. */
struct plan_place allreduce_room(struct allreduce *ar, uint32_t rank,
    struct allreduce_piece piece);
struct plan_place allreduce_at(const struct allreduce *ar, uint16_t buf,
    struct allreduce_piece piece);

/* Send a piece, over several paths if `several`. */
void allreduce_send(struct allreduce *ar, uint32_t src, struct plan_place from,
    uint32_t dst, struct plan_place to, struct allreduce_piece piece,
    int several);
/* Reduce the data at inputs, in this order. */
void allreduce_fold(struct allreduce *ar, uint32_t rank,
    const struct plan_place *inputs, uint32_t count, struct plan_place to,
    struct allreduce_piece piece);

/* All rows of the chunk at work. */
void allreduce_flat(struct allreduce *ar);
void allreduce_tree(struct allreduce *ar);

#endif
