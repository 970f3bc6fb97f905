/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve_run.h - the probe multipath on links that are not there, in real time:
 * one rank, real bytes, a record for each size.
 */
#ifndef PROBES_MULTIPATH_CURVE_RUN_H
#define PROBES_MULTIPATH_CURVE_RUN_H

#include <jansson.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/err.h"

struct curve_out {
	void (*record)(void *arg, json_t *record); /* takes it */
	void (*line)(void *arg, const char *text); /* for people */
	void *arg;
};

/* Sizes from 64 KiB, or the message itself where it is smaller, to multipath
 * bytes. 0; -EINVAL for wrong options, -ESTALE for another machine's table,
 * -EBADMSG when a wrong byte came, each with why. */
int curve_run(const struct conf *c, const struct curve_out *out,
    struct err *err);

#endif
