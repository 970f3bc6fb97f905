/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.h - all builders, by name.
 */
#ifndef PROBES_CATALOG_PATTERNS_H
#define PROBES_CATALOG_PATTERNS_H

#include "probes/pattern/pattern.h"

extern const struct pattern *const patterns[];         /* ends with NULL */
const struct pattern *patterns_find(const char *name); /* NULL: none */
/* Words to a plan in one go. */
int patterns_plan(const char *name, char *const *words, int count,
    uint32_t ranks, struct plan **ret, struct err *err);

#endif
