/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forecast.h - the starts that the schedule will order.
 */
#ifndef DAEMON_API_FORECAST_H
#define DAEMON_API_FORECAST_H

#include <jansson.h>
#include <stdint.h>

struct api;

/* Return the starts within span_ns from now in the order of time, with the
 * reason of those that do not fit: [{campaign due_unix_ns at_unix_ns duration_s
 * nodes node_seconds bytes answer (runs, waits, missed) why}]. */
json_t *forecast_json(struct api *api, uint64_t span_ns);

#endif
