/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_board.h - what a rank shows its neighbours of its ends (ipc.c).
 *
 * A board lies in memory of the host that they map. It lists the ends that wait
 * for a worker, each with two words that count iterations: the owner says that
 * it is ready, the worker that it is done. Each word has a doorbell.
 */
#ifndef PROBES_TRANSPORT_IPC_BOARD_H
#define PROBES_TRANSPORT_IPC_BOARD_H

#include <stdint.h>

#include "probes/transport/doorbell.h"
#include "probes/transport/transport.h"

#define BOARD_LINE_BYTES 64

/* An end that waits. One cache line for each writer. */
struct board_slot {
	uint32_t peer, tag;
	uint64_t off, bytes;
	uint32_t receive;
	_Alignas(BOARD_LINE_BYTES) atomic_uint ready; /* by its owner */
	_Alignas(BOARD_LINE_BYTES) atomic_uint done;  /* by the worker */
};

struct board {
	uint32_t slots_count;
	struct doorbell ready; /* workers sleep */
	struct doorbell done;  /* its owner sleeps */
	_Alignas(BOARD_LINE_BYTES) struct board_slot
	    slots[]; /* by peer, receive, tag */
};

/* Who copies: put is done by the sender, get by the receiver. */
int board_is_worker(const struct transport_end *e);

/* Of these ends those that wait, in memory of this device of the host; freed by
 * its free. 0 or -ENOMEM. */
int board_new(struct device *host, const struct transport_share *share,
    struct board **ret);
/* The slot of an end as its owner has it; NULL: there is none. */
struct board_slot *board_find(struct board *b, const struct transport_end *e);

#endif
