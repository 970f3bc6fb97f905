/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - write the page for Prometheus: text format 0.0.4, made from
 * memory. The number of values of every label is limited: no run ids and no
 * pairs of nodes are labels; histograms are by class of campaign, never by
 * node.
 */
#ifndef DAEMON_EXPORT_METRICS_H
#define DAEMON_EXPORT_METRICS_H

#include <stdint.h>

#include "common/err.h"
#include "common/str.h"
#include "daemon/store/store.h"
#include "daemon/api/api.h"

#define METRICS_TYPE     "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_HTTP_MAX 256

/* Number of HTTP answers by route and status. */
struct metrics_http {
	struct {
		const char *name; /* static */
		int status;
		uint64_t count;
	} row[METRICS_HTTP_MAX];
	size_t count;
};
/* Count an answer. name must be static. */
void metrics_http_count(struct metrics_http *m, const char *name, int status);

/* The sources of the page. */
struct metrics_in {
	struct api *api;
	const struct store_health *health;
	const struct metrics_http *http;
	int http_connections;
};
/* Append the whole page. */
void metrics_render(const struct metrics_in *in, struct strbuf *to);

#endif
