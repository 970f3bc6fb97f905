/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - the symbolic contents of a byte.
 *
 * A value is a pair (class, base): the byte at offset x of a buffer is byte x +
 * base of the class. A class is the initial contents of one buffer of one rank,
 * or a reduction of such contents. Copying bytes from offset x to offset y adds
 * x - y to base. Equal reductions have the same class, in whatever order they
 * were computed, so that a proof of a sum compares two numbers. Sums are taken
 * as commutative and associative. An input that is counted twice makes another
 * sum.
 *
 * A reduction is a sorted list of runs: ranks lo to hi - 1, all with the same
 * buffer, the same shift and the same number of occurrences. A sum over
 * consecutive ranks is one run.
 */
#ifndef PROBES_PLAN_VALUE_H
#define PROBES_PLAN_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "probes/plan/plan.h"
#include "probes/plan/spanmap.h"

#define VALUE_UNWRITTEN 0u /* the class of bytes that no rank has written */

/* All classes of a plan. The caller frees the table. */
struct value_table;

struct value_table *value_table_new(uint32_t ranks, uint32_t bufs);
void value_table_free(struct value_table *vt); /* vt can be NULL */

/* Return the class of the initial contents of a buffer. */
uint32_t value_initial(const struct value_table *vt, uint32_t rank,
    uint16_t buf);

/* Return the value of op over the inputs, none of which is unwritten. The bases
 * of the inputs and of the result refer to the same offset. */
struct spanmap_item value_reduce(struct value_table *vt, enum plan_op op,
    enum plan_type type, const struct spanmap_item *inputs, size_t count);

/* Return the value that a promise demands, at the offset to_off of its
 * target. */
struct spanmap_item value_promised(struct value_table *vt,
    const struct plan_promise *m, const struct plan_source *sources);

/* Write a description, such as "send+16 of rank 3" or "sum of 12 inputs, ranks
 * 0-11". item.base must refer to offset 0: the caller adds the offset that it
 * asks about. A text longer than cap_bytes is cut. */
void value_format(const struct value_table *vt, const struct plan *p,
    struct spanmap_item item, char *ret, size_t cap_bytes);

#endif
