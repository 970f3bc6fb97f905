/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - which nodes of this job are slow.
 */
#ifndef PROBES_SCAN_SCAN_H
#define PROBES_SCAN_SCAN_H

#include <jansson.h>

#include "common/conf.h"
#include "probes/job/world.h"

/* Exit codes, those of coalctl preflight. */
enum scan_status {
	SCAN_FIT,
	SCAN_NAMED,  /* nodes or paths */
	SCAN_OPEN,   /* undetermined, or not in time */
	SCAN_UNKNOWN /* nothing was measured */
};

/* Measure, on all ranks together. c: options_scan at rank 0, else NULL;
 * expect_per_s: promised rate of a node, bytes per second each way; 0: none.
 * Rank 0 gets the result, which the caller ends, other ranks NULL. */
json_t *scan_run(struct world *w, const struct conf *c, double expect_per_s);

/* The status that the result says. */
enum scan_status scan_status_of(const json_t *result);
/* The carried member of the begin record as one line. */
void scan_print_fabric(const json_t *carried, const struct world *w);
void scan_print(const json_t *result);

#endif
