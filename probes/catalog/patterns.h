/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns.h - all builders of plans, by name.
 */
#ifndef PROBES_CATALOG_PATTERNS_H
#define PROBES_CATALOG_PATTERNS_H

#include "probes/pattern/pattern.h"

extern const struct pattern *const patterns[]; /* ends with NULL */
/* Return the builder with this name, or NULL. */
const struct pattern *patterns_find(const char *name);
/* Build the plan of a probe from words "option=value". ranks: the number of
 * ranks; 0: as many as the probe needs. Return 0 and the plan, which the caller
 * frees with plan_free; or -EINVAL with the reason in err. */
int patterns_plan(const char *name, char *const *words, int count,
    uint32_t ranks, struct plan **ret, struct err *err);

#endif
