/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.h - the rows of pattern.h's table, one builder a file.
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

#endif
