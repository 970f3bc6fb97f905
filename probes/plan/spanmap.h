/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spanmap.h - the contents of every byte of one buffer, stored as ranges of
 * equal contents.
 *
 * The ranges always cover the buffer [0, bytes); adjacent ranges with equal
 * contents are merged. The ranges are in a gap buffer, like the text of an
 * editor: consecutive writes, upwards or downwards, need no moves, and blocks
 * arrive in that order. Memory: 24 to 48 bytes per range.
 */
#ifndef PROBES_PLAN_SPANMAP_H
#define PROBES_PLAN_SPANMAP_H

#include <stdint.h>

/* The contents of a range; the caller defines the members. check.c stores the
 * shift of a value in base, its class (value.h) in tag, and in mark whether it
 * was read. order.c stores the times of the last write and of the last read. */
struct spanmap_item {
	int64_t base;
	uint32_t tag;
	uint32_t mark;
};

/* A range from lo to the beginning of the next one. */
struct spanmap_range {
	uint64_t lo;
	struct spanmap_item item;
};

/* The contents of one buffer. */
struct spanmap {
	struct spanmap_range *ranges; /* used: [0, gap) and [gap_end, cap) */
	uint32_t gap, gap_end, cap;
	uint64_t bytes;
};

/* Begin with one range of the whole buffer. */
void spanmap_init(struct spanmap *m, uint64_t bytes, struct spanmap_item item);
void spanmap_clear(struct spanmap *m); /* frees the ranges */

/* Set the contents of the bytes [lo, hi) to item; lo < hi <= bytes. */
void spanmap_set(struct spanmap *m, uint64_t lo, uint64_t hi,
    struct spanmap_item item);

/* Return the index of the range that contains the byte at this offset. */
uint32_t spanmap_find(const struct spanmap *m, uint64_t at);
/* Return the number of ranges, and a range by its number. The pointer is valid
 * until the map changes. */
uint32_t spanmap_count(const struct spanmap *m);
const struct spanmap_range *spanmap_get(const struct spanmap *m, uint32_t i);
/* Return the offset behind the last byte of range i. */
uint64_t spanmap_end(const struct spanmap *m, uint32_t i);

#endif
