/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the page for Prometheus: the text format 0.0.4, written from
 * memory.
 * No labels without bound: no run ids, no pairs of nodes; histograms by class
 * of campaign, never by node.
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

/* Answers by route and status. */
struct metrics_http {
	struct {
		const char *name; /* static */
		int status;
		uint64_t count;
	} row[METRICS_HTTP_MAX];
	size_t count;
};
void metrics_http_count(struct metrics_http *m, const char *name, int status);

struct metrics_in {
	struct api *api;
	const struct store_health *health;
	const struct metrics_http *http;
	int http_connections;
};
/* Appends the whole page. */
void metrics_render(const struct metrics_in *in, struct strbuf *to);

#endif
