/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - the keys of promise files (coalmine-promise(5)), as rows of
 * options. A promise file states what a cluster should deliver, and coalctl
 * accept compares a cluster with it.
 */
#ifndef SCHEMA_PROMISE_H
#define SCHEMA_PROMISE_H

#include "common/conf.h"

/* The report of coalctl accept, which the collector reads for objectives. */
#define PROMISE_REPORT_KIND    "coalmine-acceptance"
#define PROMISE_REPORT_VERSION 5 /* earlier ones were never released */
/* The rate that links are expected to reach is this quantile of their measured
 * rates. */
#define PROMISE_EXPECTED 0.75

/* The rows of all keys. The last row has a NULL key. */
extern const struct conf_row options_promise[];

#endif
