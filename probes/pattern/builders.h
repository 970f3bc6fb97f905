/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.h - the rows of pattern.h's table, one builder a file, and what
 * builders need of options.
 */
#ifndef PROBES_PATTERN_BUILDERS_H
#define PROBES_PATTERN_BUILDERS_H

#include "probes/pattern/pattern.h"

/* Every builder, in the order in which a campaign runs them. */
#define PATTERN_ROWS(X)                                                        \
	X(group)                                                               \
	X(stripe)                                                              \
	X(self)                                                                \
	X(pairs)                                                               \
	X(binding)                                                             \
	X(sparse)                                                              \
	X(moe)                                                                 \
	X(kv)                                                                  \
	X(pipeline)                                                            \
	X(collective)                                                          \
	X(compose)                                                             \
	X(neighbor)                                                            \
	X(multipath)                                                           \
	X(allreduce)

#define PATTERN_EXTERN(name) extern const struct pattern pattern_##name;
PATTERN_ROWS(PATTERN_EXTERN)

/* Complain about one option; -EINVAL. fmt says what is
 * allowed. */
int pattern_refuse(const struct conf *c, const char *section, const char *key,
    struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* need ranks of those that there are: ranks, or need where that is 0. */
int pattern_ranks(const struct conf *c, const char *section, const char *key,
    uint64_t need, uint32_t *ranks, struct err *err);
/* Refuse a plan of more transfers than memory is for. */
int pattern_transfers(const struct conf *c, const char *section,
    const char *key, uint64_t transfers, struct err *err);
/* Transports of count steps: one word for all of them, or one for each. */
int pattern_vias(const struct conf *c, const char *section, uint32_t count,
    uint8_t *ret, struct err *err);
/* The options of a section as a plan's title; the caller frees. */
char *pattern_title(const struct conf *c, const char *section);
/* An empty plan with that title. */
struct plan *pattern_begin(const struct conf *c, const char *section,
    uint32_t ranks);

/* ---- what other folders ask of a builder ---- */

/* The message of a plan of stripe, sent at once by the transport that its
 * stripes take between the nodes. The caller ends it with plan_free. */
struct plan *stripe_direct(const struct plan *p);

/* The steps of binding are measurements, each timed separately; together they
 * show which NIC serves which device (predict/model.h).
 *
 * Two groups of g ranks. First every device of the first group sends to its
 * partner alone; then the first 2, 3, ... g at once (rail); then the first 1,
 * 2, ... g each to all of the other group (asymmetric); and finally all with
 * all, in both directions. Each sends `bytes` in every step. */
enum binding_part {
	BINDING_ALONE,
	BINDING_RAIL,
	BINDING_ASYMMETRIC,
	BINDING_BOTH,
	BINDING_PART_MAX
};
extern const char *const binding_parts[BINDING_PART_MAX];

/* What step of a plan for g devices is: device k - 1 alone, or the first k.
 * 0 <= step < 3 g. */
enum binding_part binding_step(uint32_t g, uint32_t step, uint32_t *ret_k);
/* The step of a part; k as above. */
uint32_t binding_step_of(uint32_t g, enum binding_part part, uint32_t k);

#endif
