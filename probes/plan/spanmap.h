/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spanmap.h - the contents of every byte of one buffer, stored as ranges.
 *
 * The buffer [0, bytes) is always covered; adjacent equal contents are one
 * range. The ranges are in a gap buffer, like the text of an editor:
 * consecutive writes, upwards or downwards, need no moves, and blocks arrive in
 * that order. Memory: 24 bytes a range, up to twice that.
 */
#ifndef PROBES_PLAN_SPANMAP_H
#define PROBES_PLAN_SPANMAP_H

#include <stdint.h>

/* For check.h: class of value and shift (check_int.h), and whether it was read.
 * For order.c: time of the last write and of the last read. */
struct spanmap_item {
	int64_t base;
	uint32_t tag;
	uint32_t mark;
};

struct spanmap_range {
	uint64_t lo;
	struct spanmap_item item;
};

struct spanmap {
	struct spanmap_range *ranges; /* [0, gap) and [gap_end, cap) */
	uint32_t gap, gap_end, cap;
	uint64_t bytes;
};

void spanmap_init(struct spanmap *m, uint64_t bytes, struct spanmap_item item);
void spanmap_clear(struct spanmap *m); /* frees */

/* Let [lo, hi) hold item; lo < hi <= bytes. */
void spanmap_set(struct spanmap *m, uint64_t lo, uint64_t hi,
    struct spanmap_item item);

/* Number of the range with byte at in it, for spanmap_get. */
uint32_t spanmap_find(const struct spanmap *m, uint64_t at);
uint32_t spanmap_count(const struct spanmap *m);
const struct spanmap_range *spanmap_get(const struct spanmap *m, uint32_t i);
/* One past the last byte of range i. */
uint64_t spanmap_end(const struct spanmap *m, uint32_t i);

#endif
