/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_order.h - create and cancel runs.
 */
#ifndef DAEMON_RUN_RUN_ORDER_H
#define DAEMON_RUN_RUN_ORDER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "schema/names_run.h"

struct conf;
struct run;
struct runs;

/* Why a run was ordered. */
enum run_origin {
	RUN_BY_USER,
	RUN_BY_SCHEDULE,
	RUN_BY_CONFIRMATION,
	RUN_BY_AGAIN,  /* a scheduled run again, after stuck ranks */
	RUN_BY_SEARCH, /* for the pair of nodes at which ranks were stuck */
	RUN_ORIGIN_MAX
};

/* The order of a run. */
struct run_order {
	const char *campaign;
	const struct conf *conf; /* checked; copied */
	const json_t *overrides; /* {"section.key": "value"}, or NULL */
	const char *by;          /* origin as text: a user, "schedule" */
	enum run_origin origin;
	int attempt; /* number of the search run, from 1 (RUN_BY_SEARCH) */
	uint64_t margin_ns; /* maximum wait; 0: ordered by hand */
};
/* Return how many nodes of a campaign have ever had an agent. */
size_t runs_known_nodes(const struct runs *rs, const struct conf *campaign);
/* Create a run. Return 0, or -errno with err if no run was created. */
int runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    struct err *err);
/* Record a run as missed that was due and cannot be created. */
void runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by);
/* Cancel a run. Return 0; -ENOENT: unknown; -EALREADY: it has ended. */
int runs_cancel(struct runs *rs, const char *run, const char *by,
    struct err *err);
/* Cancel all live runs. Return their number. */
size_t runs_stop_all(struct runs *rs, const char *by);

/* Resume the runs in the answer of STORE_LIVE_RUNS; call it once, before agents
 * connect. */
void runs_resume(struct runs *rs, const json_t *live);

/* Order follow-up runs after a run that ended because ranks were stuck. A
 * scheduled run is repeated at once without one node of each pair. If no pair
 * is known, runs of pairs of its nodes search for it, three at most. */
void run_order_on(struct run *r);

#endif
