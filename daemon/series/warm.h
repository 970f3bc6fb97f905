/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.h - fill latest from the store after a start, so that /metrics and the
 * page do not begin empty.
 */
#ifndef DAEMON_SERIES_WARM_H
#define DAEMON_SERIES_WARM_H

#include "daemon/series/latest.h"
#include "daemon/store/store.h"

/* Asks the store; latest is filled on later turns of the loop and must live
 * until the store is closed. */
void warm_latest(struct store *store, struct latest *latest);

#endif
