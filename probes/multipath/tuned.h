/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.h - the probe "multipath" with tune = yes: compare one path with
 * several, over message sizes, on streams of a device within one rank
 * (turns.h).
 */
#ifndef PROBES_MULTIPATH_TUNED_H
#define PROBES_MULTIPATH_TUNED_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"

/* The receiver of the results. */
struct tuned_out {
	void (*record)(void *arg, json_t *record); /* takes the reference */
	void (*line)(void *arg, const char *text); /* a line for people */
	void *arg;
};

/* Return 1 if the campaign requests this measurement instead of the plan, 0 if
 * not. */
int tuned_wanted(const struct conf *c);
/* Measure sizes from 64 KiB to multipath.bytes, or only the latter if it is
 * smaller, with a record for each size. Return 0; -EINVAL for invalid options;
 * -ENODEV if the device is missing; -ESTALE if the table of shares belongs to
 * another machine; -EBADMSG for a wrong byte. err has the reason. */
int tuned_run(const struct conf *c, const struct tuned_out *out,
    struct err *err);

#endif
