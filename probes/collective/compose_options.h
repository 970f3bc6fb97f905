/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_options.h - the options that say how a composition is factorised:
 * ranks hierarchy stripe ring depth lean type op via, of whatever section.
 */
#ifndef PROBES_COLLECTIVE_COMPOSE_OPTIONS_H
#define PROBES_COLLECTIVE_COMPOSE_OPTIONS_H

#include "common/conf.h"
#include "common/err.h"
#include "probes/collective/compose.h"

/* *ranks: as many as there are, or 0; becomes as many as take part: as the
 * option says, else all, else the product of the factors. 0, or -EINVAL and
 * why. */
int compose_options(const struct conf *c, const char *section, uint32_t *ranks,
    struct compose_shape *ret, struct err *err);

#endif
