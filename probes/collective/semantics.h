/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semantics.h - what a composition promises, found by carrying it out the
 * simplest way: block by block, one primitive after the other, on symbols.
 *
 * Between two fences all primitives are at once: none may write a block that
 * another one of them reads or writes.
 */
#ifndef PROBES_COLLECTIVE_SEMANTICS_H
#define PROBES_COLLECTIVE_SEMANTICS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/plan/plan.h"

struct semantics;

/* A block has block_bytes; buffers are those that p has now, of the same size
 * on all ranks; op is that of all reductions. p is kept by reference. NULL if
 * the blocks of all ranks are too many. */
struct semantics *semantics_new(struct plan *p, uint64_t block_bytes,
    enum plan_op op, enum plan_type type);
void semantics_free(struct semantics *m); /* NULL is allowed */

struct semantics_place {
	uint16_t buf;
	uint64_t block;
};

/* In range, leaves ascending. 0, or -EINVAL and why. */
int semantics_multicast(struct semantics *m, uint32_t root,
    struct semantics_place from, struct semantics_place to, uint64_t blocks,
    const uint32_t *leaves, uint32_t leaves_count, struct err *err);
int semantics_reduce(struct semantics *m, const uint32_t *leaves,
    uint32_t leaves_count, struct semantics_place from, uint32_t root,
    struct semantics_place to, uint64_t blocks, struct err *err);
void semantics_fence(struct semantics *m);

/* Add to the plan what its buffers in and out hold at the end. */
void semantics_promise(struct semantics *m);

#endif
