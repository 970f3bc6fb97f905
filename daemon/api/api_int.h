/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_int.h - how main makes the api and keeps it up to date.
 */
#ifndef DAEMON_API_API_INT_H
#define DAEMON_API_API_INT_H

#include "daemon/api/api.h"

struct scheduler;
struct campaigns;
struct costs;
struct enroll;
struct collector;
struct series;
struct run;
struct store;

/* The parts that the api reads. All of them must outlive it. */
struct api_parts {
	struct collector *collector;
	struct campaigns *campaigns;
	struct scheduler *scheduler;
	struct store *store;
	struct costs *costs;
	const struct series *series;
	struct enroll *enroll;  /* NULL: none */
	struct events *events;  /* NULL: no sinks */
	const char *cluster;    /* its name, or "" */
	const char *who;        /* name of this collector, for people */
	const char *url, *page; /* addresses of its API and its page, or "" */
};

/* The state of the api. */
struct api {
	struct api_parts p;
	struct api_run_count *counts;
	size_t count;
	uint64_t silence[RUN_STATE_MAX][CAUSE_MAX]; /* runs that failed */
	struct api_node *nodes; /* for api_node_list, kept between calls */
	size_t nodes_cap;
	/* The last comparison of settings, its time, and how long it took. */
	json_t *differences;
	uint64_t differences_ns, differences_took_ns;
	uint64_t born_unix_ns;
	uint64_t born_ns;
};

/* Runs that did not start or timed out are reported for this long, or until a
 * later run of their campaign is good; those within this time of each other are
 * counted together. */
#define API_NEWS_NS (3600 * CLK_NS_PER_S)

/* Return the api, which the caller frees. parts is copied. */
struct api *api_new(const struct api_parts *parts);
void api_free(struct api *api); /* NULL is allowed */
/* Callback for collector_set_changed; arg: the api. */
void api_run_changed(void *arg, const struct run *r);
/* Load the last runs and successes from the answer of STORE_RUNS at the start,
 * newest first. */
void api_load(struct api *api, const json_t *runs);

#endif
