/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_part.h - inside of ipc: ipc_make.c makes it ready, ipc.c replays.
 */
#ifndef PROBES_TRANSPORT_IPC_PART_H
#define PROBES_TRANSPORT_IPC_PART_H

#include "common/err.h"
#include "probes/transport/doorbell.h"
#include "probes/transport/transport.h"

#define IPC_STREAMS_MAX 16
#define IPC_LINE_BYTES  64

/* An end that waits for a worker, with two words that count iterations: its
 * owner says that it is ready, the worker that it is done. One cache line for
 * each writer. */
struct board_slot {
	uint32_t peer, tag;
	uint64_t off, bytes;
	uint32_t receive, on_host;
	_Alignas(IPC_LINE_BYTES) atomic_uint ready; /* by its owner */
	_Alignas(IPC_LINE_BYTES) atomic_uint done;  /* by the worker */
};

/* The shared state of a rank in host memory, mapped by the others of its
 * node. */
struct board {
	uint32_t slots_count;
	struct doorbell ready; /* workers sleep */
	struct doorbell done;  /* its owner sleeps */
	_Alignas(IPC_LINE_BYTES) struct board_slot
	    slots[]; /* by peer, receive, tag */
};

struct peer {
	int rank;
	struct board *board;
	char *memory, *host_memory;
};

/* One end of this rank. */
struct work {
	struct board *board; /* mine, or the peer's */
	struct board_slot *slot;
	uint32_t count; /* iterations started */
	int worker;
	char *theirs;    /* of a worker: the other end */
	uint32_t stream; /* of its peer */
	struct device_event *event;
};

struct transport {
	const struct transport_team *team;
	const struct transport_share *share;
	struct device *host; /* of boards */
	struct board *board;
	struct peer *peers;
	uint32_t peers_count;
	struct work *works; /* by end */
	struct device_stream *streams[IPC_STREAMS_MAX];
	uint32_t streams_count;
	/* Ends: waiting for a peer, being copied, waiting for a worker. */
	uint32_t *blocked, *copying, *passive;
	uint32_t blocked_count, copying_count, passive_count;
	int sleeps;         /* ranks share cores */
	uint32_t looks;     /* since one found something */
	unsigned int rings; /* of the own board, when its ends were looked at */
};

/* As in transport_ops. */
int ipc_prepare(const struct transport_team *team,
    const struct transport_share *share, struct transport **ret,
    struct err *err);
void ipc_release(struct transport *t);

#endif
