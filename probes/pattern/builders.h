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
/* Transports of count steps: one word for all of them, or one for each. */
int pattern_vias(const struct conf *c, const char *section, uint32_t count,
    uint8_t *ret, struct err *err);
/* The options of a section as a plan's title; the caller frees. */
char *pattern_title(const struct conf *c, const char *section);
/* An empty plan with that title. */
struct plan *pattern_begin(const struct conf *c, const char *section,
    uint32_t ranks);

#endif
