/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h - one message over several ways, as rows of a plan.
 *
 * The message is cut by shares, staged ways first, in their order; the rest
 * goes directly and is the end of the message. A staged way stores its bytes
 * at an owner: the sender, in memory of its host, or a relay, on its device.
 * It is cut into chunks; chunk i is brought in at step i and out at step
 * i + 1, in slot i mod slots of the owner's buffer and in the channel of that
 * slot, so that both stages are busy and a slot is filled again only once it
 * has been emptied. With one slot nothing overlaps.
 */
#ifndef PROBES_MULTIPATH_CHUNKS_H
#define PROBES_MULTIPATH_CHUNKS_H

#include "probes/plan/order.h"
#include "probes/multipath/paths.h"
#include "probes/plan/plan.h"

/* Channels that a way takes at most. */
#define CHUNKS_SLOTS_MAX 64

struct chunks_message {
	uint32_t src, dst;
	uint16_t from, to;
	uint64_t from_off, to_off, bytes;
	uint64_t unit;   /* cuts lie at multiples of it */
	uint32_t step;   /* its first, or where order allows it */
	uint8_t vias[3]; /* direct, in, out */
};

struct chunks_staged {
	uint32_t owner;
	uint16_t buf;     /* enlarged as needed */
	uint64_t off;     /* of the first slot in it */
	uint32_t chunks;  /* >= 1 */
	uint32_t slots;   /* >= 1 */
	uint16_t channel; /* first of min(slots, chunks) */
	uint64_t share;   /* of CHUNKS_SHARES */
};
/* Shares are whole numbers, so that all ranks cut alike. */
#define CHUNKS_SHARES 1000000000ULL

uint64_t chunks_share(double share); /* 0 to 1 */

/* Bytes [lo, hi) of a message. */
struct chunks_range {
	uint64_t lo, hi;
};
/* What staged way i of count carries, for their shares; i == count: the direct
 * one. */
struct chunks_range chunks_range(uint64_t bytes, uint64_t unit,
    const uint64_t *shares, uint32_t count, uint32_t i);
/* Chunk i of such a range; may be empty. */
struct chunks_range chunks_chunk(struct chunks_range r, uint64_t unit,
    uint32_t chunks, uint32_t i);
/* The longest chunk: what a slot must hold. */
uint64_t chunks_slot_bytes(struct chunks_range r, uint64_t unit,
    uint32_t chunks);

/* Rows of all ways; the direct one in `channel`. o may be NULL; else rows come
 * when it lets them. *ret_direct_bytes: what goes directly. */
void chunks_add(struct plan *p, struct order *o, const struct chunks_message *m,
    uint16_t channel, const struct chunks_staged *ways, uint32_t count,
    uint64_t *ret_direct_bytes);

/* Bytes of memory that a staged way takes at its owner for this message. */
uint64_t chunks_memory(const struct chunks_message *m,
    const struct chunks_staged *ways, uint32_t count, uint32_t i);

#endif
