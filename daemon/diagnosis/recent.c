/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.c - the baselines with which nodes are compared, in each class and
 * test. The learned values of the recent weeks are themselves a baseline,
 * "recent", which is stored every hour; another one can be pinned.
 */
#include "daemon/diagnosis/recent.h"

#include <math.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/learned.h"
#include "daemon/diagnosis/rounds.h"
#include "daemon/store/store.h"

/* The learned state is stored this often, and at the end. */
#define KEEP_NS (3600 * CLK_NS_PER_S)

void
recent_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct round *round)
{
	if (round->p50 > 0) {
		s->level_n += s->level_n < DRIFT_MEMORY;
		s->level += (log(round->p50) - s->level) / s->level_n;
	}
	d->learned = 1;
}

/* ---- the pinned baseline ---- */

/* Return the number of rounds in a node's value. */
static double
recent_rounds_of(const struct round *round, uint32_t node)
{
	for (size_t i = 0; i < round->row_count; i++)
		if (round->rows[i].node->id == node)
			return round->rows[i].rounds;
	return 1;
}

static void
recent_pin_record(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record)
{
	const struct score_leaf *leaves;
	struct round round;
	size_t count;

	round_read(d->roster, record, &round);
	count = diagnosis_observe(d, &round, s->sort, 0);
	if (d->score == NULL)
		d->score = score_new();
	score_round(d->score, d->obs, count, d->o.judge.effect_min, &leaves);
	for (size_t i = 0; i < count; i++)
		if (!isnan(d->obs[i].effect))
			drift_pin(series_drift_need(s, d->obs[i].place),
			    d->obs[i].effect,
			    recent_rounds_of(&round, d->obs[i].place));
	round_clear(&round);
}

void
recent_begin(struct diagnosis *d, struct diagnosis_series *s)
{
	const json_t *r;
	size_t i;

	if (s->drift_begun)
		return;
	s->drift_begun = 1;
	member_foreach (d->pinned, "records", i, r)
		if (series_kind_find(member_text(r, "test")) == s->sort &&
		    strcmp(member_text(r, "rail"), s->rail) == 0 &&
		    strcmp(member_text(r, "device"), s->device) == 0 &&
		    (uint32_t)member_unsigned(r, "bytes") == s->bytes &&
		    strcmp(member_text(r, "phase"),
			names_phases[PHASE_CONGESTED]) != 0)
			recent_pin_record(d, s, r);
}

static void
recent_pin(struct diagnosis *d, const json_t *body)
{
	json_decref(d->pinned);
	d->pinned = json_deep_copy(body);
	for (size_t i = 0; i < d->series_count; i++) {
		for (size_t k = 0; k < d->series[i].drift_count; k++)
			drift_pin(&d->series[i].drifts[k], NAN, 1);
		d->series[i].drift_begun = 0;
		recent_begin(d, &d->series[i]);
	}
}

void
diagnosis_pin(struct diagnosis *d, const char *name, const json_t *body)
{
	if (strcmp(name, d->o.baseline) != 0)
		return;
	recent_pin(d, body);
	/* Its owner takes today for normal: so does the fleet, which has no
	 * value in a baseline. */
	for (size_t i = 0; body != NULL && i < d->series_count; i++)
		series_fleet_begin(&d->series[i]);
}

/* ---- the recent weeks as a baseline ---- */

static json_t *
recent_sums_json(const struct cusum *s)
{
	return json_pack("[f, i, f, i]", s->up, (int)s->up_rounds, s->down,
	    (int)s->down_rounds);
}

static void
recent_sums_read(const json_t *a, struct cusum *ret)
{
	ret->up = json_number_value(json_array_get(a, 0));
	ret->up_rounds = (unsigned)json_integer_value(json_array_get(a, 1));
	ret->down = json_number_value(json_array_get(a, 2));
	ret->down_rounds = (unsigned)json_integer_value(json_array_get(a, 3));
}

/* Return a node's level in the unit of the series; it is stored relative to the
 * fleet's level. */
static double
recent_level(const struct diagnosis_series *s, const struct drift *node)
{
	double level = node->level + s->fleet.level;

	return exp(series_kind(s->sort).is_rate ? -level : level);
}

static json_t *
recent_series_json(const struct diagnosis *d, const struct diagnosis_series *s)
{
	struct series_kind sort = series_kind(s->sort);
	json_t *nodes = json_array(), *record;

	for (size_t i = 0; i < s->drift_count; i++) {
		const struct drift *one = &s->drifts[i];

		if (one->n == 0)
			continue;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:I, s:f, s:f, s:f, s:o, s:o, s:i}",
			"node", roster_by_id(d->roster, i)->name,
			sort.is_rate ? "q75" : "q25", recent_level(s, one),
			"rounds", (json_int_t)one->n, "distance", one->mean,
			"now", one->now, "sigma", sqrt(one->var), "sums",
			recent_sums_json(&one->sums), "pinned_sums",
			recent_sums_json(&one->pinned_sums), "from",
			(int)one->from));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s*, s:s*, s:I, "
			   "s:f, s:o}",
	    "probe", s->sort < CANARY_MAX ? "canary" : "mesh", "test",
	    sort.name, "phase", names_phases[PHASE_PRODUCTION], "class",
	    s->class, "partners", names_partners[s->partners], "unit",
	    sort.unit, "rail", s->rail[0] != '\0' ? s->rail : NULL, "device",
	    s->device[0] != '\0' ? s->device : NULL, "n",
	    (json_int_t)s->level_n, "p50", exp(s->level), "nodes", nodes);
	if (s->bytes > 0)
		json_object_set_new(record, "bytes", json_integer(s->bytes));
	learned_put(d, s, record);
	return record;
}

json_t *
diagnosis_recent(const struct diagnosis *d)
{
	json_t *records = json_array();

	for (size_t i = 0; i < d->series_count; i++)
		if (d->series[i].level_n > 0 || d->series[i].drift_count > 0)
			json_array_append_new(records,
			    recent_series_json(d, &d->series[i]));
	return json_pack("{s:s, s:o}", "run", "", "records", records);
}

static void
recent_row_load(const struct diagnosis *d, struct diagnosis_series *s,
    const json_t *o)
{
	const struct node *n = roster_find(d->roster, member_text(o, "node"));
	double q = member_number(o,
	    series_kind(s->sort).is_rate ? "q75" : "q25");
	double mean = member_number(o, "distance"), sigma;
	json_int_t rounds = member_int(o, "rounds");
	struct drift *drift;

	sigma = member_number(o, "sigma");
	if (n == NULL || !(q > 0) || !isfinite(mean) || !(sigma >= 0) ||
	    rounds < 1 || rounds > DRIFT_MEMORY)
		return;
	drift = series_drift_need(s, (uint32_t)n->id);
	drift->mean = mean;
	drift->var = sigma * sigma;
	drift->now = member_number(o, "now");
	if (!isfinite(drift->now))
		drift->now = mean;
	drift->n = (uint32_t)rounds;
	drift->level = (series_kind(s->sort).is_rate ? -log(q) : log(q)) -
	    s->fleet.level;
	recent_sums_read(json_object_get(o, "sums"), &drift->sums);
	recent_sums_read(json_object_get(o, "pinned_sums"),
	    &drift->pinned_sums);
	drift->from = (uint8_t)member_int(o, "from");
}

static void
recent_load(struct diagnosis *d, const json_t *body)
{
	const json_t *r, *o;
	size_t i, k;

	member_foreach (body, "records", i, r) {
		double p50 = member_number(r, "p50");
		struct diagnosis_series *s = diagnosis_series_stored(d, r);

		if (s == NULL || !(p50 > 0))
			continue;
		recent_begin(d, s);
		s->level = log(p50);
		s->level_n = (uint32_t)member_int(r, "n");
		learned_load(d, s, r);
		member_foreach (r, "nodes", k, o)
			recent_row_load(d, s, o);
	}
}

void
diagnosis_load_baselines(struct diagnosis *d, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const json_t *body = json_object_get(row, "body");
		const char *name = member_text(row, "name");

		if (strcmp(name, DIAGNOSIS_RECENT) == 0)
			recent_load(d, body);
		else if (strcmp(name, d->o.baseline) == 0)
			recent_pin(d, body);
	}
}

void
diagnosis_keep(struct diagnosis *d)
{
	json_t *body;

	if (!d->learned)
		return;
	body = diagnosis_recent(d);
	store_put_baseline(d->store, DIAGNOSIS_RECENT, body);
	json_decref(body);
	d->learned = 0;
	d->kept_ns = clk_ns();
}

void
recent_tick(struct diagnosis *d)
{
	if (d->kept_ns == 0 || clk_ns() - d->kept_ns >= KEEP_NS)
		diagnosis_keep(d);
}
