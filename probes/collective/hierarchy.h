/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy.h - hierarchy = auto: derive the factors of a composition from the
 * wiring of a machine.
 */
#ifndef PROBES_COLLECTIVE_HIERARCHY_H
#define PROBES_COLLECTIVE_HIERARCHY_H

#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/collective/compose.h"
#include "probes/pattern/pattern.h"
#include "probes/topology/machine.h"

/* Compute the factors for this many ranks, outermost first: leaves, nodes of a
 * leaf, groups of devices that are nearer to each other than to all others.
 * Their product is ranks. */
void hierarchy_of(const struct machine *m, uint32_t ranks,
    uint32_t factors[COMPOSE_LEVELS_MAX], uint32_t *ret_levels);
/* Append a factor; a factor of 1 is ignored, and so is one beyond
 * COMPOSE_LEVELS_MAX. */
void hierarchy_add(uint32_t *factors, uint32_t *levels, uint32_t factor);
/* Set the factors and levels of *ret for hierarchy = auto in this section.
 * Return 0; -ENODATA if the number of ranks is not known; or another negative
 * error number. err has the reason. */
int hierarchy_auto(const struct conf *c, const char *section,
    const struct pattern_site *site, struct compose_shape *ret,
    struct err *err);
/* Return in *ret the machine for which section collective chooses: the one that
 * option machine names, the one of the site, or this machine. The caller frees
 * *ret_own, which can be NULL, with machine_free. Return 0, or -EINVAL with the
 * reason in err. */
int hierarchy_machine(const struct conf *c, const struct pattern_site *site,
    const struct machine **ret, struct machine **ret_own, struct err *err);

#endif
