/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans_tune.c - tune = auto where plans are run: what is best by prediction
 * is measured, the fastest is taken, and remembered with the evidence.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "probes/pattern/outlook.h"
#include "probes/pattern/tune.h"
#include "probes/run/plans_part.h"
#include "probes/run/shapes.h"

#define MEASURED_MAX 3  /* of the shapes that were predicted */
#define KEPT_MAX     16 /* in the record */

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

/* Seconds of one shape, NAN when it cannot run here. */
static double
measure(struct plans *ps, const char *words)
{
	char why[PATTERN_WHY_BYTES];
	struct plan *p;

	if (tune_plan(ps->conf, words, (uint32_t)ps->world->size, &p, why,
		sizeof(why)) < 0)
		return NAN;
	if (plans_prove(ps, PLANS_COLLECTIVE, p) < 0) {
		plan_free(p);
		return NAN;
	}
	ps->median_s = NAN;
	ps->trying = 1;
	plans_send(ps, PLANS_TRIED, p);
	ps->trying = 0;
	return ps->median_s;
}

/* All of them into the record; the words of the fastest, or NULL. */
static const char *
measure_all(struct plans *ps, const struct tune *t, json_t *record)
{
	json_t *tried = json_object_get(record, "tried");
	const char *choice = NULL;
	double best = INFINITY;

	for (uint32_t i = 0; i < t->count && i < KEPT_MAX; i++) {
		double s = i < MEASURED_MAX ? measure(ps, t->rows[i].words)
					    : NAN;

		if (s < best) {
			best = s;
			choice = t->rows[i].words;
		}
		json_array_append_new(tried,
		    json_pack("{s:s, s:f, s:o}", "words", t->rows[i].words,
			"predicted", t->rows[i].time_s, "seconds",
			isfinite(s) ? json_real(s) : json_null()));
	}
	return choice;
}

static int
choose(struct plans *ps, const struct shapes_key *key, const char *path,
    json_t **ret, char *why, size_t why_bytes)
{
	json_t *record;
	const char *choice;
	struct tune t;
	int rc = tune_choose(ps->conf, key->ranks, &t, why, why_bytes);

	if (rc < 0)
		return rc;
	record = shapes_record(key, data_of(ps));
	choice = measure_all(ps, &t, record);
	json_object_set_new(record, "choice",
	    json_string(choice != NULL ? choice : t.rows[0].words));
	if (choice == NULL)
		json_object_set_new(record, "why", json_string("predicted"));
	else if (path[0] != '\0')
		rc = shapes_keep(path, record, why, why_bytes);
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
plans_tune(struct plans *ps, struct plan **ret, char *why, size_t why_bytes)
{
	const char *path = conf_string(ps->conf, PLANS_COLLECTIVE, "table");
	char *asked = tune_asked(ps->conf);
	struct shapes_key key = { machine_of(ps), asked,
		(uint32_t)ps->world->size, shapes_class(data_of(ps)) };
	json_t *record = NULL;
	int rc = 0;

	if (path[0] != '\0')
		rc = shapes_find(path, &key, &record, why, why_bytes);
	if (record != NULL)
		json_object_set_new(record, "why", json_string("remembered"));
	else if (rc == 0)
		rc = choose(ps, &key, path, &record, why, why_bytes);
	if (rc == 0)
		rc = tune_plan(ps->conf,
		    json_string_value(json_object_get(record, "choice")),
		    key.ranks, ret, why, why_bytes);
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
