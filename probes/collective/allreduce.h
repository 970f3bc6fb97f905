/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce.h - the common part of two forms of an all-reduce among the devices
 * of nodes: flat, and hierarchical (a tree over sockets and nodes).
 *
 * Ranks are placed on nodes and sockets in order, so that a socket has the
 * ranks lo to hi - 1. The elements are cut into chunks, and a chunk into the
 * pieces of the form. A chunk is one stage of a pipeline and has its own
 * channels. Steps follow from the dependencies (plan/order.h).
 */
#ifndef PROBES_COLLECTIVE_ALLREDUCE_H
#define PROBES_COLLECTIVE_ALLREDUCE_H

#include "probes/multipath/paths.h"
#include "probes/plan/plan.h"

#define ALLREDUCE_SECTION   "allreduce"
#define ALLREDUCE_RANKS_MAX 1024

/* When transfers inside a socket use several paths, the direct one and one
 * through the host: never, while no data moves between sockets, or always. */
enum allreduce_ways { WAYS_NONE, WAYS_IDLE, WAYS_SOCKET };

/* A socket and its ranks. */
struct allreduce_socket {
	uint32_t lo, hi; /* ranks lo to hi - 1 */
	uint32_t node;
	/* The rank of the socket that exchanges with other sockets. */
	uint32_t leader;
};

/* An all-reduce under construction. */
struct allreduce {
	struct plan *p;
	struct order *o;
	uint32_t ranks, nodes, sockets_count;
	struct allreduce_socket *sockets;
	uint32_t *socket_of; /* by rank */
	uint64_t count;      /* number of elements */
	unsigned size;       /* bytes of an element */
	uint8_t type, op;
	uint32_t chunks;
	enum allreduce_ways ways;
	/* Share of a message that goes through the host if several paths are
	 * used, from 0 to 1. */
	double share;
	/* Transports between devices, and to and from the host. */
	uint8_t vias[2];
	/* Buffers by their numbers. from == to: the all-reduce is in place. */
	uint16_t from, to;
	uint16_t work;    /* for contributions that other ranks send */
	uint16_t host;    /* staging memory on the host */
	uint64_t *worked; /* bytes of work used so far, by rank */
	uint64_t *hosted; /* bytes of host used so far, by rank */
	uint32_t chunk;   /* the chunk that is being built */
};

/* The elements lo to hi - 1. */
struct allreduce_piece {
	uint64_t lo, hi;
};
/* Return part i if a piece is cut into this many parts. */
struct allreduce_piece allreduce_cut(struct allreduce_piece whole, uint64_t i,
    uint64_t parts);

/* Reserve room for a piece in the buffer work of a rank. Return the place;
 * every call returns another one. */
struct plan_place allreduce_room(struct allreduce *ar, uint32_t rank,
    struct allreduce_piece piece);
/* Return the place of a piece in a buffer that holds all elements. */
struct plan_place allreduce_at(const struct allreduce *ar, uint16_t buf,
    struct allreduce_piece piece);

/* Add rows that send a piece, over several paths if `several` is 1. */
void allreduce_send(struct allreduce *ar, uint32_t src, struct plan_place from,
    uint32_t dst, struct plan_place to, struct allreduce_piece piece,
    int several);
/* Add the row that reduces the pieces at inputs, in this order, into `to`. */
void allreduce_fold(struct allreduce *ar, uint32_t rank,
    const struct plan_place *inputs, uint32_t count, struct plan_place to,
    struct allreduce_piece piece);

/* Add all rows of the current chunk: flat form, or tree over sockets and
 * nodes. */
void allreduce_flat(struct allreduce *ar);
void allreduce_tree(struct allreduce *ar);

#endif
