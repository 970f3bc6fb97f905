/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - how to distribute one message over several paths to one device, and
 * how to cut it: into rows of a plan here, into copies in copier.h.
 *
 * The direct path takes a_D + x / B_D for x bytes. A staged path stores the
 * bytes in between, in pinned memory of the host or on another device. It
 * passes them on in c chunks, so that its two stages overlap:
 *
 * T(x, c) = a_H + (c + 1) a + x bmax + x bmin / c
 *
 * Here a is the cost of a chunk on each stage, and bmax and bmin are the times
 * of a byte on the slower and on the faster stage. The best c is sqrt(x bmin /
 * a). Concurrent paths are used best if all end at the same time (Temucin and
 * others, "Accelerating Deep Learning using Interconnect-Aware UCX
 * Communication", gives the mechanism; the closed form is derived in
 * docs/algorithms-neighbor-multipath.md, section 4.1).
 *
 * The message is cut by shares: first the staged paths in their order, then the
 * direct path with the end of the message. A staged path stores its bytes at an
 * owner: the sender, in memory of its host, or a relay, on its device. In a
 * plan, chunk i is copied in at step i and out at step i + 1. It uses slot i
 * mod slots of the owner's buffer and the channel of that slot. Thus both
 * stages are busy, and a slot is filled again only after it has been emptied.
 * With one slot nothing overlaps.
 *
 * Times are in seconds, rates in bytes per second. The functions are pure.
 */
#ifndef PROBES_MULTIPATH_PATHS_H
#define PROBES_MULTIPATH_PATHS_H

#include <stdint.h>

#include "common/conf.h"
#include "probes/plan/plan.h"

struct order;

#define PATHS_STAGED_MAX 64
#define PATHS_CHUNKS_MAX 4096
#define PATHS_SLOTS_MAX  64 /* largest number of channels of a path */

/* The parameters of the direct path. */
struct paths_direct {
	double setup_s;     /* a_D */
	double bytes_per_s; /* B_D > 0 */
};

/* The parameters of a staged path. */
struct paths_staged {
	double setup_s; /* a_H */
	double chunk_s; /* a: cost of one chunk on one stage */
	/* Rate into the place where the bytes are stored; > 0. */
	double in_per_s;
	double out_per_s; /* rate out of that place; > 0 */
};

/* The parameters of all paths between two devices. */
struct paths_links {
	struct paths_direct direct;
	struct paths_staged staged[PATHS_STAGED_MAX];
	uint32_t count; /* number of staged paths */
	uint32_t host;  /* 1: the first staged path is through the host */
};

/* The share of each path. Shares are parts of the message, 0 to 1. A staged
 * path with share 0 has 0 chunks. */
struct paths_split {
	double staged[PATHS_STAGED_MAX]; /* share of each staged path */
	uint32_t chunks[PATHS_STAGED_MAX];
	double share;    /* sum of staged */
	double time_s;   /* time of the whole message */
	double direct_s; /* time if the direct path carried all */
};

/* Read the parameters of the paths from the options of a probe with this
 * section: the path through the host first, then the relays. */
void paths_read(const struct conf *c, const char *section,
    struct paths_links *ret);

/* ---- the model ---- */

/* Return the time of this many bytes on the direct path. */
double paths_direct_s(const struct paths_direct *d, double bytes);

/* Return the best number of chunks for this many bytes on a staged path, from 1
 * to chunks_max. */
uint32_t paths_chunks(const struct paths_staged *h, double bytes,
    uint32_t chunks_max);

/* Return the cost of a staged path with this many chunks as a fixed cost and a
 * rate. */
struct paths_direct paths_line(const struct paths_staged *h, uint32_t chunks);

/* Distribute bytes over paths with linear costs, so that all paths that are
 * worth starting end at the same time (water-filling). Return this time;
 * ret_bytes: the bytes of each path. count >= 1. */
double paths_fill(const struct paths_direct *lines, uint32_t count,
    double bytes, double *ret_bytes);

/* Split a message over the staged paths and the direct one. The number of
 * chunks of each path is computed for the time at which all paths, with their
 * best chunks, would end together. With this number the cost of a path is
 * linear, and the shares follow from paths_fill. Only the direct path is used
 * (share 0) unless that would be slower. 1 <= chunks_max <=
 * PATHS_CHUNKS_MAX. */
void paths_split(const struct paths_links *l, double bytes, uint32_t chunks_max,
    struct paths_split *ret);

/* Return the time of the slowest path for the shares and chunks of s. */
double paths_time_s(const struct paths_links *l, double bytes,
    const struct paths_split *s);

/* ---- cuts ---- */

/* In cuts, shares are integers from 0 to PATHS_SHARES, so that all ranks cut at
 * the same places. paths_share_of converts a share from 0 to 1. */
#define PATHS_SHARES 1000000000ULL
uint64_t paths_share_of(double share);

/* The bytes lo to hi - 1 of a message. */
struct paths_range {
	uint64_t lo, hi;
};
/* Return what staged path i of count carries with these shares; i == count:
 * what the direct path carries. */
struct paths_range paths_range(uint64_t bytes, uint64_t unit,
    const uint64_t *shares, uint32_t count, uint32_t i);
/* Return chunk i of such a range, which can be empty. */
struct paths_range paths_chunk(struct paths_range r, uint64_t unit,
    uint32_t chunks, uint32_t i);
/* Return the bytes of the longest chunk, which is the size of a slot. */
uint64_t paths_slot_bytes(struct paths_range r, uint64_t unit, uint32_t chunks);

/* ---- rows of a plan ---- */

/* A staged path in a plan. */
struct paths_stage {
	uint32_t owner;
	uint16_t buf;     /* enlarged as needed */
	uint64_t off;     /* offset of the first slot in buf */
	uint32_t chunks;  /* >= 1 */
	uint32_t slots;   /* >= 1 */
	uint16_t channel; /* the first of min(slots, chunks) channels */
	uint64_t share;   /* of PATHS_SHARES */
};

/* A message in a plan. */
struct paths_message {
	uint32_t src, dst;
	uint16_t from, to;
	uint64_t from_off, to_off, bytes;
	uint64_t unit; /* cuts are only at multiples of this many bytes */
	/* First step of the message, or a later one if order requires it. */
	uint32_t step;
	uint16_t channel; /* channel of the direct path */
	uint8_t vias[3];  /* transports: direct, in, out */
	const struct paths_stage *stages;
	uint32_t stages_count;
};

/* Add the rows of all paths to the plan. Return the bytes that the direct path
 * carries. o: if not NULL, delays rows as dependencies require. */
uint64_t paths_add(struct plan *p, struct order *o,
    const struct paths_message *m);

/* Return the bytes of memory that staged path i needs at its owner for this
 * message. */
uint64_t paths_memory(const struct paths_message *m, uint32_t i);

#endif
