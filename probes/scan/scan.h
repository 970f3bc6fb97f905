/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - find the slow nodes of this job.
 */
#ifndef PROBES_SCAN_SCAN_H
#define PROBES_SCAN_SCAN_H

#include <jansson.h>

#include "common/conf.h"
#include "probes/job/world.h"

/* Exit codes, the same as those of coalctl preflight. */
enum scan_status {
	SCAN_FIT,    /* no slow node */
	SCAN_NAMED,  /* slow nodes or paths are named */
	SCAN_OPEN,   /* undetermined, or not in time */
	SCAN_UNKNOWN /* nothing was measured */
};

/* Measure, on all ranks together. c: options_scan at rank 0, NULL on other
 * ranks. expect_per_s: promised rate of a node, in bytes per second and
 * direction; 0: none. Return the result at rank 0, which the caller decrefs,
 * and NULL on other ranks. */
json_t *scan_run(struct world *w, const struct conf *c, double expect_per_s);

#endif
