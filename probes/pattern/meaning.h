/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meaning.h - what a composition promises, found by carrying it out the
 * simplest way: block by block, one primitive after the other, on symbols.
 *
 * Between two fences all primitives are at once: none may write a block that
 * another one of them reads or writes.
 */
#ifndef PROBES_PATTERN_MEANING_H
#define PROBES_PATTERN_MEANING_H

#include <stddef.h>
#include <stdint.h>

#include "probes/plan/plan.h"

struct meaning;

/* A block has block_bytes; buffers are those that p has now, of the same size
 * on all ranks; op is that of all reductions. p is kept by reference. NULL if
 * the blocks of all ranks are too many. */
struct meaning *meaning_new(struct plan *p, uint64_t block_bytes,
    enum plan_op op, enum plan_type type);
void meaning_free(struct meaning *m); /* NULL is allowed */

struct meaning_place {
	uint16_t buf;
	uint64_t block;
};

/* In range, leaves ascending. 0, or -EINVAL and why. */
int meaning_multicast(struct meaning *m, uint32_t root,
    struct meaning_place from, struct meaning_place to, uint64_t blocks,
    const uint32_t *leaves, uint32_t leaves_count, char *why, size_t why_bytes);
int meaning_reduce(struct meaning *m, const uint32_t *leaves,
    uint32_t leaves_count, struct meaning_place from, uint32_t root,
    struct meaning_place to, uint64_t blocks, char *why, size_t why_bytes);
void meaning_fence(struct meaning *m);

/* Add to the plan what its buffers in and out hold at the end. */
void meaning_promise(struct meaning *m);

#endif
