/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_warm.h - records of the last finished runs after a start, so that
 * /metrics and the page do not begin empty.
 */
#ifndef DAEMON_SERIES_SERIES_WARM_H
#define DAEMON_SERIES_SERIES_WARM_H

#include "daemon/store/store.h"

/* A record, of a run of a campaign of that class; the oldest run first. */
typedef void series_warm_cb(void *arg, const char *class, const json_t *record);

/* Asks the store; the records come on later turns of the loop. */
void series_warm(struct store *store, series_warm_cb *take, void *arg);

#endif
