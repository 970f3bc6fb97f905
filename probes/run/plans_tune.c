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

#define MEASURED_MAX 3   /* of the shapes that were predicted */
#define RIVAL_MAX    1.1 /* of the best's prediction */
#define KEPT_MAX     16  /* of them in the record */
/* Below what most MPIs send on TCP without a rendezvous, whose answers would
 * stand in the socket behind data that goes the same way. */
#define SHORT_BYTES (60ULL << 10)
#define SHORT_WORD  " piece=60K"

/* For the fastest. */
struct search {
	json_t *tried; /* of the record */
	char *choice;  /* its words; NULL: none could run */
	double best_s;
};

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
	ps->trying = 1;
	plans_send(ps, PLANS_TRIED, p);
	ps->trying = 0;
	return ps->median_s;
}

static void
keep(struct search *s, const char *words, double predicted_s, double seconds)
{
	json_array_append_new(s->tried,
	    json_pack("{s:s, s:f, s:o}", "words", words, "predicted",
		predicted_s, "seconds",
		isfinite(seconds) ? json_real(seconds) : json_null()));
	if (!(seconds < s->best_s))
		return;
	s->best_s = seconds;
	free(s->choice);
	s->choice = xstrdup(words);
}

/* Is it the fastest so far? */
static int
attempt(struct plans *ps, struct search *s, const struct tune_row *row,
    const char *more)
{
	char why[PATTERN_WHY_BYTES];
	char *words = xasprintf("%s%s", row->words, more);
	double before_s = s->best_s, seconds = NAN;
	struct plan *p;

	if (tune_plan(ps->conf, words, (uint32_t)ps->world->size, &p, why,
		sizeof(why)) == 0)
		seconds = measure(ps, p);
	keep(s, words, row->time_s, seconds);
	free(words);
	return s->best_s < before_s;
}

/* Are there messages that short pieces would be made of? */
static int
may_cut(const struct plans *ps, const char *words)
{
	char why[PATTERN_WHY_BYTES];
	struct plan *p;
	int is;

	if (conf_given(ps->conf, PLANS_COLLECTIVE, "piece") ||
	    tune_plan(ps->conf, words, (uint32_t)ps->world->size, &p, why,
		sizeof(why)) < 0)
		return 0;
	is = plans_largest(p) > SHORT_BYTES;
	plan_free(p);
	return is;
}

static int
same_ring(const char *a, const char *b)
{
	const char *x = strstr(a, "ring="), *y = strstr(b, "ring=");
	size_t n;

	if (x == NULL || y == NULL)
		return 1; /* it was asked for */
	n = strcspn(x, " ");
	return n == strcspn(y, " ") && memcmp(x, y, n) == 0;
}

/* What prediction knows least is how rings compare with trees: of those that
 * are measured the last is the best of the other kind, if it comes near. */
static uint32_t
last_measured(const struct tune *t)
{
	const struct tune_row *row = t->rows;

	for (uint32_t i = MEASURED_MAX - 1; i < t->count && i < KEPT_MAX; i++)
		if (row[i].time_s <= RIVAL_MAX * row[0].time_s &&
		    !same_ring(row[0].words, row[i].words))
			return i;
	return MEASURED_MAX - 1;
}

/* All of them into the record. The first also in short pieces: where those
 * are faster, they are for the others too. */
static void
measure_all(struct plans *ps, const struct tune *t, struct search *s)
{
	uint32_t last = last_measured(t);
	const char *more = "";

	for (uint32_t i = 0; i < t->count && i < KEPT_MAX; i++) {
		const struct tune_row *row = &t->rows[i];

		if (i >= MEASURED_MAX - 1 && i != last) {
			keep(s, row->words, row->time_s, NAN);
			continue;
		}
		attempt(ps, s, row, more);
		if (i == 0 && may_cut(ps, row->words) &&
		    attempt(ps, s, row, SHORT_WORD))
			more = SHORT_WORD;
	}
}

static int
choose(struct plans *ps, const struct shapes_key *key, const char *path,
    json_t **ret, char *why, size_t why_bytes)
{
	struct search s = { .best_s = INFINITY };
	json_t *record;
	struct tune t;
	int rc = tune_choose(ps->conf, key->ranks, &t, why, why_bytes);

	if (rc < 0)
		return rc;
	record = shapes_record(key, data_of(ps));
	s.tried = json_object_get(record, "tried");
	measure_all(ps, &t, &s);
	json_object_set_new(record, "choice",
	    json_string(s.choice != NULL ? s.choice : t.rows[0].words));
	if (s.choice == NULL)
		json_object_set_new(record, "why", json_string("predicted"));
	else if (path[0] != '\0')
		rc = shapes_keep(path, record, why, why_bytes);
	free(s.choice);
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
