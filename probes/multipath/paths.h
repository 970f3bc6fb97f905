/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - how to share one message among several paths to one device, and how
 * it is cut: into rows of a plan here, into copies in copier.h.
 *
 * The direct path takes a_D + x / B_D for x bytes. A staged path stores the
 * bytes in between, in pinned memory of the host or on another device, and
 * passes them on in c chunks, so that its two stages overlap:
 *
 * T(x, c) = a_H + (c + 1) a + x bmax + x bmin / c
 *
 * where a is the cost of a chunk on each stage, and bmax and bmin are the times
 * of a byte on the slower and on the faster stage. The best c is sqrt(x bmin /
 * a). Concurrent paths are best used when all end at once (Temucin and others,
 * "Accelerating Deep Learning using Interconnect-Aware UCX Communication",
 * gives the mechanism; the closed form is derived in
 * docs/algorithms-neighbor-multipath.md, section 4.1).
 *
 * The message is cut by shares: first the staged paths in their order, then the
 * direct path with the end of the message. A staged path stores its bytes at an
 * owner: the sender, in memory of its host, or a relay, on its device. In a
 * plan chunk i is brought in at step i and out at step i + 1, in slot i mod
 * slots of the owner's buffer and in the channel of that slot, so that both
 * stages are busy and a slot is filled again only once it has been emptied.
 * With one slot nothing overlaps.
 *
 * Seconds, and bytes per second; pure.
 */
#ifndef PROBES_MULTIPATH_PATHS_H
#define PROBES_MULTIPATH_PATHS_H

#include <stdint.h>

#include "common/conf.h"
#include "probes/plan/plan.h"

struct order;

#define PATHS_STAGED_MAX 64
#define PATHS_CHUNKS_MAX 4096
#define PATHS_SLOTS_MAX  64 /* channels that a path takes at most */

struct paths_direct {
	double setup_s;     /* a_D */
	double bytes_per_s; /* B_D > 0 */
};

struct paths_staged {
	double setup_s;   /* a_H */
	double chunk_s;   /* a: of one chunk on one stage */
	double in_per_s;  /* > 0: to where it is stored */
	double out_per_s; /* > 0: from there */
};

/* The parameters of all paths between two devices. */
struct paths_links {
	struct paths_direct direct;
	struct paths_staged staged[PATHS_STAGED_MAX];
	uint32_t count; /* of staged */
	uint32_t host;  /* 1: the first of them is through the host */
};

/* What each path carries. share is of the message; staged paths with share 0
 * have chunks 0. */
struct paths_split {
	double staged[PATHS_STAGED_MAX]; /* shares */
	uint32_t chunks[PATHS_STAGED_MAX];
	double share;    /* sum of staged */
	double time_s;   /* of the whole message */
	double direct_s; /* time if all went directly */
};

/* Read the options of a probe of this name: the path through the host, then the
 * relays. */
void paths_read(const struct conf *c, const char *section,
    struct paths_links *ret);

/* ---- the model ---- */

double paths_direct_s(const struct paths_direct *d, double bytes);

/* Return the best number of chunks for this many bytes on the path: 1 to
 * chunks_max. */
uint32_t paths_chunks(const struct paths_staged *h, double bytes,
    uint32_t chunks_max);

/* Return the linear cost of a staged path with this many chunks. */
struct paths_direct paths_line(const struct paths_staged *h, uint32_t chunks);

/* Water-filling over paths that are straight lines: the time at which all that
 * are worth starting end together, and what each carries. count >= 1. */
double paths_fill(const struct paths_direct *lines, uint32_t count,
    double bytes, double *ret_bytes);

/* Split a message over any number of staged paths and the direct one. The
 * number of chunks of each is computed for the time at which all paths with
 * their best chunks would end together; with it the cost of a path is linear,
 * and the shares are filled. The direct path alone is used (share 0) unless it
 * is slower. 1 <= chunks_max <= PATHS_CHUNKS_MAX. */
void paths_split(const struct paths_links *l, double bytes, uint32_t chunks_max,
    struct paths_split *ret);

/* Time of the slowest path for given shares and chunks. */
double paths_time_s(const struct paths_links *l, double bytes,
    const struct paths_split *s);

/* ---- cuts ---- */

/* Shares are whole numbers, so that all ranks cut alike. */
#define PATHS_SHARES 1000000000ULL
uint64_t paths_share_of(double share); /* 0 to 1 */

/* Bytes [lo, hi) of a message. */
struct paths_range {
	uint64_t lo, hi;
};
/* What staged path i of count carries, for their shares; i == count: the
 * direct one. */
struct paths_range paths_range(uint64_t bytes, uint64_t unit,
    const uint64_t *shares, uint32_t count, uint32_t i);
/* Chunk i of such a range; may be empty. */
struct paths_range paths_chunk(struct paths_range r, uint64_t unit,
    uint32_t chunks, uint32_t i);
/* Return the longest chunk: the size of a slot. */
uint64_t paths_slot_bytes(struct paths_range r, uint64_t unit, uint32_t chunks);

/* ---- rows of a plan ---- */

/* A staged path of a plan. */
struct paths_stage {
	uint32_t owner;
	uint16_t buf;     /* enlarged as needed */
	uint64_t off;     /* of the first slot in it */
	uint32_t chunks;  /* >= 1 */
	uint32_t slots;   /* >= 1 */
	uint16_t channel; /* first of min(slots, chunks) */
	uint64_t share;   /* of PATHS_SHARES */
};

struct paths_message {
	uint32_t src, dst;
	uint16_t from, to;
	uint64_t from_off, to_off, bytes;
	uint64_t unit;    /* cuts lie at multiples of it */
	uint32_t step;    /* its first, or where order allows it */
	uint16_t channel; /* of the direct path */
	uint8_t vias[3];  /* direct, in, out */
	const struct paths_stage *stages;
	uint32_t stages_count;
};

/* Rows of all paths; the bytes that go directly. o may be NULL; else rows come
 * when it lets them. */
uint64_t paths_add(struct plan *p, struct order *o,
    const struct paths_message *m);

/* Bytes of memory that staged path i takes at its owner for this message. */
uint64_t paths_memory(const struct paths_message *m, uint32_t i);

#endif
