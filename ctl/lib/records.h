/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the records of a run, and functions with which reports search in
 * them.
 */
#ifndef CTL_LIB_RECORDS_H
#define CTL_LIB_RECORDS_H

#include <jansson.h>

#include "common/hist.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/ratio.h"

/* Get all records of a run as an array, which the caller decrefs; records of
 * rounds only with --raw. Return 0 or an exit code. */
int records_get(struct ctl *c, const char *run, json_t **ret);
/* Return 1 if the record is of this probe and part ("whole", "step"), 0 if not.
 * NULL: any. */
int records_is(const json_t *record, const char *probe, const char *of);
/* Return 1 for a record of a plan without a separate table, 0 if not. */
int records_is_plan(const json_t *record);
/* Return 1 for a speed-up over a baseline without a separate table, 0 if
 * not. */
int records_is_beside(const json_t *record);
/* Return 1 for a record of a node's rate with a number of other nodes, 0 if
 * not. */
int records_is_scale(const json_t *record);
/* Return a record's rate in bytes per second; NAN if it has none. */
double records_rate(const json_t *record);
/* Return the name of the phase without congestors. */
const char *records_quiet_phase(const json_t *records);
/* Return the record of this probe, test and phase (phase NULL: any), or NULL.
 * It belongs to records. */
json_t *records_find(const json_t *records, const char *probe, const char *test,
    const char *phase);
/* Return the impact record of a test. of: "mean" or "p99". Return NULL without
 * one. */
json_t *records_impact(const json_t *records, const char *test, const char *of);
/* Return the main result of a canary or congestor record, or the value of an
 * impact. record can be NULL. */
struct estimate records_estimate(const json_t *record);
/* Return the median of a canary's record, if its main result has no
 * interval. */
struct estimate records_median(const json_t *record);
/* Return a statistic, "mean" or "p99": the member of the record with this name,
 * otherwise the quantile q of its histogram; NAN if it has neither. */
double records_statistic(const json_t *record, const char *name, double q);
/* Read the histogram of a record. Return 0, or -ENODATA if it has no
 * samples. */
int records_hist(const json_t *record, struct hist *ret);

#endif
