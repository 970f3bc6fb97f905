/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - the symbolic contents of a byte.
 *
 * A value is (class, base): the byte at offset x of a buffer is byte x + base
 * of the class. A class is the initial contents of one buffer of one rank, or a
 * reduction of those. Copying bytes from offset x to offset y adds x - y to
 * base. Equal reductions have the same class, whatever their order, so a proof
 * of a sum is a comparison of two numbers. Sums are taken as commutative and
 * associative; an input that is counted twice is another sum.
 *
 * A reduction is a sorted list of runs: ranks lo..hi-1, all with the same
 * buffer, shift and number of times. Sums over consecutive ranks are one run.
 */
#ifndef PROBES_PLAN_VALUE_H
#define PROBES_PLAN_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "probes/plan/plan.h"
#include "probes/plan/spanmap.h"

#define VALUE_UNWRITTEN 0u

struct value_table;

struct value_table *value_table_new(uint32_t ranks, uint32_t bufs);
void value_table_free(struct value_table *vt); /* NULL is allowed */

/* The initial contents of a buffer. */
uint32_t value_initial(const struct value_table *vt, uint32_t rank,
    uint16_t buf);

/* op over inputs, none of them unwritten; base is as seen from the same
 * offset as the inputs' bases. */
struct spanmap_item value_reduce(struct value_table *vt, enum plan_op op,
    enum plan_type type, const struct spanmap_item *inputs, size_t count);

/* The same for the sources of a promise whose target starts at to_off. */
struct spanmap_item value_promised(struct value_table *vt,
    const struct plan_promise *m, const struct plan_source *sources);

/* "send+16 of rank 3", "sum of 12 inputs, ranks 0-11"; base is as seen from
 * offset 0: the offset asked about is added. */
void value_format(const struct value_table *vt, const struct plan *p,
    struct spanmap_item item, char *ret, size_t cap_bytes);

#endif
