/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.h - the probe "multipath" with tune = yes: one path against several,
 * over sizes, on streams of a device within one rank (turns.h).
 */
#ifndef PROBES_MULTIPATH_TUNED_H
#define PROBES_MULTIPATH_TUNED_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"

struct tuned_out {
	void (*record)(void *arg, json_t *record); /* takes it */
	void (*line)(void *arg, const char *text); /* for people */
	void *arg;
};

/* Return 1 when the campaign asks for this measurement and not for the plan. */
int tuned_wanted(const struct conf *c);
/* Measure sizes from 64 KiB, or the message itself where it is smaller, to
 * multipath.bytes, with a record for each. Returns 0; -EINVAL for wrong
 * options, -ENODEV where the device is missing, -ESTALE for the table of
 * another machine, -EBADMSG for a wrong byte; err has the reason. */
int tuned_run(const struct conf *c, const struct tuned_out *out,
    struct err *err);

#endif
