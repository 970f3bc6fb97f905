/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diags.h - health checks of the collector and its cluster.
 */
#ifndef DAEMON_DIAGS_DIAGS_H
#define DAEMON_DIAGS_DIAGS_H

#include <jansson.h>

struct api;

/* Return the problems found, each with its remedy:
 * [{severity text remedy}]. */
json_t *diags_json(struct api *api);

#endif
