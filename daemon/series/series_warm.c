/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_warm.c - the last finished runs, the oldest first, so the newest wins;
 * one run at a time, because the store's answers are whole runs in memory.
 */
#include "daemon/series/series_warm.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "schema/names.h"

#define RUNS 20 /* enough to have every campaign of a busy site */

struct warm {
	struct store *store;
	series_warm_cb *take;
	void *arg;
	json_t *runs; /* newest first; the last is taken next */
	json_t *run;  /* whose records were asked for */
};

static void next_run(struct warm *w);

static void
records_cb(int status, json_t *result, void *arg)
{
	struct warm *w = arg;
	const json_t *record;
	size_t i;

	if (status == 0)
		json_array_foreach (result, i, record)
			w->take(w->arg, member_text(w->run, "class"), record);
	json_decref(result);
	next_run(w);
}

static void
next_run(struct warm *w)
{
	size_t left = json_array_size(w->runs);
	json_t *args;

	json_decref(w->run);
	w->run = NULL;
	if (left == 0) {
		json_decref(w->runs);
		free(w);
		return;
	}
	w->run = json_incref(json_array_get(w->runs, left - 1));
	json_array_remove(w->runs, left - 1);
	/* The mesh's records are many, large and soon renewed; the six nodes
	 * of a confirmation run, one of them slow, are not how the cluster
	 * is. */
	if (strcmp(member_text(w->run, "campaign"), "mesh") == 0 ||
	    strcmp(member_text(w->run, "campaign"), NAMES_PASS_CAMPAIGN) == 0) {
		next_run(w);
		return;
	}
	args = json_pack("{s:O,s:i}", "run", json_object_get(w->run, "run"),
	    "limit", 1000);
	store_ask(w->store, STORE_RECORDS, args, records_cb, w);
	json_decref(args);
}

static void
runs_cb(int status, json_t *result, void *arg)
{
	struct warm *w = arg;

	w->runs = status == 0 ? result : json_array();
	log_debug("series: %zu runs of before", json_array_size(w->runs));
	next_run(w);
}

void
series_warm(struct store *store, series_warm_cb *take, void *arg)
{
	struct warm *w = xcalloc(1, sizeof(*w));
	json_t *args = json_pack("{s:s,s:i}", "state", "finished", "limit",
	    RUNS);

	w->store = store;
	w->take = take;
	w->arg = arg;
	store_ask(store, STORE_RUNS, args, runs_cb, w);
	json_decref(args);
}
