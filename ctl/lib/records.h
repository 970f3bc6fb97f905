/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - a run's records, and the questions that reports ask of them.
 */
#ifndef CTL_LIB_RECORDS_H
#define CTL_LIB_RECORDS_H

#include <jansson.h>

#include "common/hist.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/ratio.h"

/* Get all records of a run as an array; rounds only with --raw. Return 0 or an
 * exit code. */
int records_get(struct ctl *c, const char *run, json_t **ret);
/* Return 1 if it is of that probe, and of that part ("whole", "step"). NULL:
 * any. */
int records_is(const json_t *record, const char *probe, const char *of);
/* Return 1 for a plan that has no special table. */
int records_is_plan(const json_t *record);
/* A speed-up over a baseline that has none. */
int records_is_beside(const json_t *record);
/* Return 1 for a record of a node's rate with a number of others. */
int records_is_scale(const json_t *record);
/* Return a record's rate in bytes per second; NAN if it has none. */
double records_rate(const json_t *record);
/* The name of the phase without congestors. */
const char *records_quiet_phase(const json_t *records);
/* The record of that probe, test and phase (phase NULL: any), or NULL. */
json_t *records_find(const json_t *records, const char *probe, const char *test,
    const char *phase);
/* The impact record of a test, of "mean" or "p99", or NULL. */
json_t *records_impact(const json_t *records, const char *test, const char *of);
/* The headline of a canary or congestor record, or the value of an impact.
 * record may be NULL. */
struct estimate records_estimate(const json_t *record);
/* The median of a canary's record, for one whose headline has no interval. */
struct estimate records_median(const json_t *record);
/* A statistic by its name, "mean" or "p99": as the record says, else the
 * quantile q of its histogram; NAN where there is neither. */
double records_statistic(const json_t *record, const char *name, double q);
/* 0, or -ENODATA where the record has no samples. */
int records_hist(const json_t *record, struct hist *ret);

#endif
