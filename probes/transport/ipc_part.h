/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_part.h - the internals of transport ipc: ipc_make.c prepares it, ipc.c
 * runs the transfers. Of the two ranks of a transfer, the worker copies.
 */
#ifndef PROBES_TRANSPORT_IPC_PART_H
#define PROBES_TRANSPORT_IPC_PART_H

#include "common/err.h"
#include "probes/transport/doorbell.h"
#include "probes/transport/transport.h"

#define IPC_STREAMS_MAX 16
#define IPC_LINE_BYTES  64

/* One end of a transfer, on the board of the rank that is not the worker. Two
 * words count iterations: the owner writes ready when its memory is ready, the
 * worker writes done when it has copied. Each writer has a cache line of its
 * own. */
struct board_slot {
	uint32_t peer, tag;
	uint64_t off, bytes;
	uint32_t receive, on_host;
	_Alignas(IPC_LINE_BYTES) atomic_uint ready; /* written by the owner */
	_Alignas(IPC_LINE_BYTES) atomic_uint done;  /* written by the worker */
};

/* The shared state of a rank in host memory, which the other ranks of its node
 * map. */
struct board {
	uint32_t slots_count;
	struct doorbell ready; /* workers sleep on it */
	struct doorbell done;  /* its owner sleeps on it */
	_Alignas(IPC_LINE_BYTES) struct board_slot
	    slots[]; /* sorted by peer, receive, tag */
};

/* Another rank of the node, with its board and memory mapped here. */
struct peer {
	int rank;
	struct board *board;
	char *memory, *host_memory;
};

/* The state of one end of this rank. */
struct work {
	struct board *board; /* this rank's own, or the peer's */
	struct board_slot *slot;
	uint32_t count;  /* number of iterations that were started */
	int worker;      /* 1: this rank copies */
	char *theirs;    /* if worker: memory of the other end */
	uint32_t stream; /* number of the stream for its peer */
	struct device_event *event;
};

/* The state of transport ipc on one rank, for one plan. */
struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	struct device *host; /* the device that owns the boards */
	struct board *board;
	struct peer *peers;
	uint32_t peers_count;
	struct work *works; /* by end */
	struct device_stream *streams[IPC_STREAMS_MAX];
	uint32_t streams_count;
	/* Lists of ends: worker ends that wait for the peer, worker ends whose
	 * copy is active, and other ends that wait for their worker. */
	uint32_t *blocked, *copying, *passive;
	uint32_t blocked_count, copying_count, passive_count;
	int sleeps;     /* 1: ranks share cores, so that waiters sleep */
	uint32_t looks; /* polls since one found progress */
	/* Rings of the own board when its ends were last polled. */
	unsigned int rings;
};

/* Implement prepare and release of transport_ops. */
int ipc_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err);
void ipc_release(struct transport *t);

#endif
