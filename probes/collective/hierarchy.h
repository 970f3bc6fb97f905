/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy.h - hierarchy = auto: the factors of a composition from the wiring
 * of a machine.
 */
#ifndef PROBES_COLLECTIVE_HIERARCHY_H
#define PROBES_COLLECTIVE_HIERARCHY_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/collective/compose.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"

/* Return the factors of this many ranks, outermost first: leaves, nodes of a
 * leaf, groups of devices that are nearer to each other than to all others.
 * Their product is ranks. */
void hierarchy_of(const struct machine *m, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels);
/* Append a factor above 1, if there is room. */
void hierarchy_add(uint32_t *factors, uint32_t *levels, uint32_t factor);
/* hierarchy = auto of a section: the factors and levels of *ret. */
int hierarchy_auto(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret,
    struct err *err);
/* The machine for which section collective chooses; the caller ends *ret_own
 * with machine_free. */
int hierarchy_machine(const struct conf *c, const struct pattern_site *site,
    const struct machine **ret, struct machine **ret_own, struct err *err);

#endif
