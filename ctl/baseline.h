/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - nodes against the three baselines: a pinned one, their own last
 * weeks, their peers now.
 */
#ifndef CTL_BASELINE_H
#define CTL_BASELINE_H

#include <jansson.h>
#include <stddef.h>

#include "common/table.h"

#define BASELINE_NODES                                                         \
	"node|test|>times baseline|>its peers|>times own weeks|>peers now"

/* Records of one test: the pinned one, the recent weeks' and the one of now;
 * the first two may be NULL. A line of BASELINE_NODES for each node that got
 * worse by margin more than its peers did; how many. */
size_t baseline_nodes(struct table *t, const json_t *was, const json_t *recent,
    const json_t *is, double margin);

#endif
