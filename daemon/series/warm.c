/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.c - the last finished runs, the oldest first, so the newest wins.
 */
#include "daemon/series/warm.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "common/member.h"

#define RUNS 20 /* enough to have every campaign of a busy site */

struct warm {
	struct store *store;
	struct latest *latest;
	json_t *runs; /* newest first; the last is taken next */
	json_t *run;  /* whose records were asked for */
};

static void next_run(struct warm *w);

static void
take_probe(struct warm *w, const json_t *records)
{
	const json_t *record;
	size_t i;

	json_array_foreach (records, i, record)
		latest_record_old(w->latest, member_text(w->run, "campaign"),
		    member_text(w->run, "class"), record);
}

static void
records_cb(int status, json_t *result, void *arg)
{
	struct warm *w = arg;

	if (status == 0)
		take_probe(w, result);
	json_decref(result);
	next_run(w);
}

/* Its records are many, large and soon renewed. */
static int
is_mesh(const json_t *run)
{
	return strcmp(member_text(run, "campaign"), "mesh") == 0;
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
	if (is_mesh(w->run)) {
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
	log_debug("warm: %zu runs", json_array_size(w->runs));
	next_run(w);
}

void
warm_latest(struct store *store, struct latest *latest)
{
	struct warm *w = xcalloc(1, sizeof(*w));
	json_t *args = json_pack("{s:s,s:i}", "state", "finished", "limit",
	    RUNS);

	w->store = store;
	w->latest = latest;
	store_ask(store, STORE_RUNS, args, runs_cb, w);
	json_decref(args);
}
