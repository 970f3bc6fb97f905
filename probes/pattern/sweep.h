/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - all that a campaign asks of a probe: measure.vary sets one of its
 * options to every value, and measure.sizes its message size within each.
 */
#ifndef PROBES_PATTERN_SWEEP_H
#define PROBES_PATTERN_SWEEP_H

#include "common/err.h"
#include "probes/pattern/pattern.h"

/* c is now that of one of them. */
typedef void (*sweep_cb)(const struct pattern *pt, void *arg);

/* Each in turn; once where nothing varies. The options in c stay those of the
 * last. -EINVAL and why, perhaps after some. */
int sweep_each(struct conf *c, const struct pattern *pt, sweep_cb use,
    void *arg, struct err *err);

#endif
