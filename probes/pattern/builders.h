/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.h - the table of builders (pattern.h), one builder per file, and
 * functions for options that the builders share.
 */
#ifndef PROBES_PATTERN_BUILDERS_H
#define PROBES_PATTERN_BUILDERS_H

#include "probes/pattern/pattern.h"

/* All builders, in the order in which a campaign runs them. */
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

/* Report an error in one option. fmt names the expected value. Return
 * -EINVAL. */
int pattern_refuse(const struct conf *c, const char *section, const char *key,
    struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Determine the number of ranks. *ranks: in, the existing ranks, or 0 if there
 * is no such limit; out, the ranks of the plan. need: the ranks that the
 * options require. Return 0, or -EINVAL with an error at this key if they are
 * too few. */
int pattern_ranks(const struct conf *c, const char *section, const char *key,
    uint64_t need, uint32_t *ranks, struct err *err);
/* Return 0, or -EINVAL with an error at this key if the plan would have more
 * transfers than memory allows. */
int pattern_transfers(const struct conf *c, const char *section,
    const char *key, uint64_t transfers, struct err *err);
/* Read the option via: one transport for all of count steps, or one for each.
 * Return 0 or -EINVAL. */
int pattern_vias(const struct conf *c, const char *section, uint32_t count,
    uint8_t *ret, struct err *err);
/* Return the options of a section as the title of a plan; the caller frees
 * it. */
char *pattern_title(const struct conf *c, const char *section);
/* Return an empty plan with this title; the caller frees it. */
struct plan *pattern_begin(const struct conf *c, const char *section,
    uint32_t ranks);

/* ---- functions of single builders that other folders use ---- */

/* Return a plan that sends the message of a plan of stripe as one transfer, by
 * the transport that its stripes use between the nodes. The caller frees it
 * with plan_free. */
struct plan *stripe_direct(const struct plan *p);

/* The steps of the probe binding are measurements that are timed separately;
 * together they show which NIC serves which device (predict/binding_fit.h).
 *
 * There are two groups of g ranks. First every device of the first group sends
 * to its partner alone. Then the first 2, 3, ... g devices send at once (rail).
 * Then the first 1, 2, ... g devices send to all devices of the other group
 * (asymmetric). Finally all send to all, in both directions. Each sender sends
 * `bytes` in every step. */
enum binding_part {
	BINDING_ALONE,
	BINDING_RAIL,
	BINDING_ASYMMETRIC,
	BINDING_BOTH,
	BINDING_PART_MAX
};
extern const char *const binding_parts[BINDING_PART_MAX];

/* Return the part to which a step belongs, for g devices, 0 <= step < 3 g.
 * *ret_k: device k - 1 sends alone, or the first k devices send. */
enum binding_part binding_step(uint32_t g, uint32_t step, uint32_t *ret_k);
/* Return the step of a part; k as in binding_step. */
uint32_t binding_step_of(uint32_t g, enum binding_part part, uint32_t k);

#endif
