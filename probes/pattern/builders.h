/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.h - the rows of pattern.h's table, one builder a file.
 */
#ifndef PROBES_PATTERN_BUILDERS_H
#define PROBES_PATTERN_BUILDERS_H

#include "probes/pattern/pattern.h"

extern const struct pattern pattern_group;
extern const struct pattern pattern_stripe;
extern const struct pattern pattern_self;
extern const struct pattern pattern_pairs;
extern const struct pattern pattern_binding;
extern const struct pattern pattern_sparse;
extern const struct pattern pattern_collective;
extern const struct pattern pattern_compose;
extern const struct pattern pattern_neighbor;
extern const struct pattern pattern_multipath;
extern const struct pattern pattern_allreduce;

#endif
