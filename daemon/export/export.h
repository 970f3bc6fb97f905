/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - what others are told: the page for Prometheus, and alerts.
 *
 * metrics.c: the text format 0.0.4, written from memory.
 * No labels without bound: no run ids, no pairs of nodes; histograms by class
 * of campaign, never by node.
 */
#ifndef DAEMON_EXPORT_EXPORT_H
#define DAEMON_EXPORT_EXPORT_H

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

/*
 * alarm.c: tells as events what Prometheus' alerts would say, for sites without
 * Prometheus: outliers, agents lost, what the collector complains of.
 */
struct alarm;
struct events;

/* NULL without events: nobody would hear it. page: address of the page for
 * links, or "". events and api outlive it. */
struct alarm *alarm_open(struct events *events, const char *page,
    struct api *api);
/* Now and then: look, and tell what has changed. NULL is allowed. */
void alarm_tick(struct alarm *a);
void alarm_close(struct alarm *a); /* NULL is allowed */

#endif
