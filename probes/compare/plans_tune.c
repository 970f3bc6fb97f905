/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans_tune.c - tune = auto where plans are run: what is good by prediction
 * and what is near it is measured (climb.h), the fastest is taken, and
 * remembered with the evidence.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/predict/expectation.h"
#include "probes/collective/tune.h"
#include "probes/tune/tune_search.h"
#include "probes/compare/plans_part.h"
#include "probes/tune/tune_cache.h"
#include "schema/record.h"

#define TIMES    3  /* a shape is measured */
#define KEPT_MAX 16 /* shapes in the record that were only predicted */

/* Bytes of a block for every rank. */
static double
data_of(const struct plans *ps)
{
	const struct conf *c = ps->conf;

	return (double)conf_int(c, PLANS_COLLECTIVE, "count") *
	    plan_types[plan_type_find(conf_string(c, PLANS_COLLECTIVE, "type"))]
		.bytes *
	    ps->world->size;
}

/* Seconds of a plan, NAN when it cannot run here. Takes p. */
static double
measure(struct plans *ps, struct plan *p)
{
	if (plans_prove(ps, PLANS_COLLECTIVE, p) < 0) {
		plan_free(p);
		return NAN;
	}
	ps->median_s = NAN;
	ps->trying = TIMES;
	plans_send(ps, PLANS_TRIED, p);
	ps->trying = 0;
	return ps->median_s;
}

/* NAN: its length is given in ret_bytes all the same. */
static double
attempt(struct plans *ps, const char *words, uint64_t *ret_bytes)
{
	struct err err;
	struct plan *p;

	*ret_bytes = 0;
	if (tune_plan(ps->conf, words, (uint32_t)ps->world->size, &p, &err) < 0)
		return NAN;
	*ret_bytes = plans_largest(p);
	return measure(ps, p);
}

static void
keep(json_t *tried, const char *words, double predicted_s, double seconds)
{
	json_array_append_new(tried,
	    json_pack("{s:s, s:o, s:o}", "words", words, "predicted",
		record_number(predicted_s), "seconds", record_number(seconds)));
}

/* Was it measured? */
static int
is_tried(const struct tune_search *c, const char *words)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (strcmp(c->tries[i].words, words) == 0)
			return 1;
	return 0;
}

/* All that was measured, in its order, and the best that were not. */
static void
keep_all(const struct tune_search *c, const struct tune *t, json_t *tried)
{
	for (uint32_t i = 0; i < c->count; i++)
		keep(tried, c->tries[i].words, c->tries[i].predicted_s,
		    c->tries[i].seconds);
	for (uint32_t i = 0; i < t->count && i < KEPT_MAX; i++)
		if (!is_tried(c, t->rows[i].words))
			keep(tried, t->rows[i].words, t->rows[i].time_s, NAN);
}

/* What is fastest, into the record; 0 where none could run. */
static int
measure_all(struct plans *ps, const struct tune *t, json_t *record)
{
	struct tune_search c;
	const char *words;
	int ran;

	tune_search_open(&c, t,
	    !conf_given(ps->conf, PLANS_COLLECTIVE, "piece"));
	while ((words = tune_search_next(&c)) != NULL) {
		uint64_t bytes;
		double seconds = attempt(ps, words, &bytes);

		tune_search_tell(&c, seconds, bytes);
	}
	keep_all(&c, t, json_object_get(record, "tried"));
	ran = c.best != NULL;
	json_object_set_new(record, "choice",
	    json_string(ran ? c.best->words : t->rows[0].words));
	tune_search_close(&c);
	return ran;
}

static int
choose(struct plans *ps, const struct tune_cache_key *key, const char *path,
    json_t **ret, struct err *err)
{
	json_t *record;
	struct tune t;
	int rc = tune_choose(ps->conf, key->ranks, &t, err);

	if (rc < 0)
		return rc;
	record = tune_cache_record(key, data_of(ps));
	if (!measure_all(ps, &t, record))
		json_object_set_new(record, "why", json_string("predicted"));
	else if (path[0] != '\0')
		rc = tune_cache_keep(path, record, err);
	tune_clear(&t);
	if (rc < 0)
		json_decref(record);
	else
		*ret = record; /* handed over */
	return rc;
}

static const char *
machine_of(const struct plans *ps)
{
	const char *name = conf_string(ps->conf, PLANS_COLLECTIVE, "machine");

	if (name[0] != '\0')
		return name;
	return ps->machine != NULL ? ps->machine->name : "this machine";
}

int
plans_tune(struct plans *ps, struct plan **ret, struct err *err)
{
	const char *path = conf_string(ps->conf, PLANS_COLLECTIVE, "table");
	char *asked = tune_asked(ps->conf);
	struct tune_cache_key key = { machine_of(ps), asked,
		(uint32_t)ps->world->size, tune_cache_class(data_of(ps)) };
	json_t *record = NULL;
	int rc = 0;

	if (path[0] != '\0')
		rc = tune_cache_find(path, &key, &record, err);
	if (record != NULL)
		json_object_set_new(record, "why", json_string("remembered"));
	else if (rc == 0)
		rc = choose(ps, &key, path, &record, err);
	if (rc == 0)
		rc = tune_plan(ps->conf,
		    json_string_value(json_object_get(record, "choice")),
		    key.ranks, ret, err);
	free(asked);
	if (rc < 0) {
		json_decref(record);
		return rc;
	}
	json_object_del(record, "run"); /* of the table */
	json_object_del(record, "seq");
	emit_put(ps->emit, record);
	return 0;
}
