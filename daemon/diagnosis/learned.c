/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c - store the learned values of a series for leaves, stages, members
 * of bonds and the fleet, as rows of its record of the recent weeks, so that a
 * later collector continues with them.
 */
#include "daemon/diagnosis/learned.h"

#include <math.h>
#include <string.h>

#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/spines.h"

/* ---- one value against its own past ---- */

static json_t *
learned_drift_row(const struct drift *p)
{
	return json_pack("[f, f, f, f, i, f, i, f, i, i]", p->mean, p->var,
	    p->now, p->level, (int)p->n, p->sums.up, (int)p->sums.up_rounds,
	    p->sums.down, (int)p->sums.down_rounds, (int)p->from);
}

static double
learned_number_at(const json_t *a, size_t i)
{
	return json_number_value(json_array_get(a, i));
}

/* Return 0, or -1 for an invalid row. */
static int
learned_drift_read(const json_t *a, struct drift *p)
{
	json_int_t n = json_integer_value(json_array_get(a, 4));

	if (json_array_size(a) != 10 || n < 0 || n > DRIFT_MEMORY)
		return -1;
	for (size_t i = 0; i < 10; i++)
		if (!json_is_number(json_array_get(a, i)) ||
		    !isfinite(learned_number_at(a, i)))
			return -1;
	p->mean = learned_number_at(a, 0);
	p->var = fmax(0, learned_number_at(a, 1));
	p->now = learned_number_at(a, 2);
	p->level = learned_number_at(a, 3);
	p->n = (uint32_t)n;
	p->sums.up = learned_number_at(a, 5);
	p->sums.up_rounds = (unsigned)json_integer_value(json_array_get(a, 6));
	p->sums.down = learned_number_at(a, 7);
	p->sums.down_rounds = (unsigned)json_integer_value(
	    json_array_get(a, 8));
	n = json_integer_value(json_array_get(a, 9));
	p->from = (uint8_t)(n == DRIFT_OWN || n == DRIFT_PINNED ? n
								: DRIFT_NONE);
	return 0;
}

/* ---- leaves ---- */

/* Return the effect that a confirmation run dismissed, or NULL. */
static json_t *
learned_hold_row(const struct track *t)
{
	return t == NULL || t->hold == 0
	    ? NULL
	    : json_pack("[f, i]", (double)t->dismissed, (int)t->hold);
}

static void
learned_hold_load(struct diagnosis_series *s, enum judge_kind kind,
    uint32_t index, const json_t *a)
{
	json_int_t rounds = json_integer_value(json_array_get(a, 1));

	if (json_array_size(a) == 2 && rounds > 0 && rounds <= UINT16_MAX &&
	    isfinite(learned_number_at(a, 0)))
		judge_hold_restore(s->judge, kind, index,
		    learned_number_at(a, 0), (uint32_t)rounds);
}

static json_t *
learned_leaves_json(const struct diagnosis *d, const struct diagnosis_series *s)
{
	json_t *list = json_array();

	for (uint32_t l = 0; l < d->leaf_count; l++) {
		const struct track *t = judge_track(s->judge, JUDGE_LEAF, l);
		json_t *o = json_pack("{s:s}", "leaf", d->leaves[l]);
		json_t *hold = learned_hold_row(t);

		if (t != NULL && t->past_n > 0)
			json_object_set_new(o, "past",
			    json_pack("[f, i]", (double)t->past,
				(int)t->past_n));
		if (l < s->paths_count && s->paths[l].n > 0) {
			json_object_set_new(o, "paths",
			    learned_drift_row(&s->paths[l]));
			json_object_set_new(o, "jobs",
			    json_pack("[f, f, f, f]", s->paths_now[l],
				s->busy_now[l], s->jobs_slow[l],
				s->jobs_busy[l]));
		}
		if (hold != NULL)
			json_object_set_new(o, "hold", hold);
		if (json_object_size(o) > 1)
			json_array_append(list, o);
		json_decref(o);
	}
	return list;
}

static void
learned_leaf_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *o)
{
	uint32_t l = diagnosis_leaf(d, member_text(o, "leaf"));
	const json_t *past = json_object_get(o, "past");
	const json_t *jobs = json_object_get(o, "jobs");
	json_int_t n = json_integer_value(json_array_get(past, 1));

	if (l == SCORE_NO_LEAF)
		return;
	if (n > 0 && n <= UINT16_MAX && isfinite(learned_number_at(past, 0)))
		judge_leaf_restore(s->judge, l, learned_number_at(past, 0),
		    (uint32_t)n);
	learned_hold_load(s, JUDGE_LEAF, l, json_object_get(o, "hold"));
	series_room(d, s, d->leaf_count);
	if (learned_drift_read(json_object_get(o, "paths"), &s->paths[l]) < 0 ||
	    json_array_size(jobs) != 4)
		return;
	s->paths_now[l] = learned_number_at(jobs, 0);
	s->busy_now[l] = learned_number_at(jobs, 1);
	s->jobs_slow[l] = learned_number_at(jobs, 2);
	s->jobs_busy[l] = learned_number_at(jobs, 3);
}

/* ---- stages and members ---- */

static json_t *
learned_stages_json(const struct diagnosis *d, const struct diagnosis_series *s)
{
	json_t *list = json_array();

	for (uint32_t k = 0;
	     d->stages != NULL && k < s->stages_count && k < d->stages->count;
	     k++)
		if (s->stages[k].n > 0)
			json_array_append_new(list,
			    json_pack("{s:s, s:o}", "switches",
				d->stages->list[k].switches != NULL
				    ? d->stages->list[k].switches
				    : "",
				"paths", learned_drift_row(&s->stages[k])));
	return list;
}

static json_t *
learned_members_json(const struct diagnosis *d,
    const struct diagnosis_series *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->members_count && i < roster_ids(d->roster);
	     i++) {
		const struct member_sum *m = &s->members[i];

		if (m->sum > 0)
			json_array_append_new(list,
			    json_pack("{s:s, s:[f, f, f, i, i]}", "node",
				roster_by_id(d->roster, i)->name, "member",
				m->sum, m->share, m->rest, (int)m->rounds,
				(int)m->raised));
	}
	return list;
}

/* ---- the fleet ---- */

/* Return logarithms, null where one is not known. */
static json_t *
learned_list_json(const double *x, size_t count)
{
	json_t *a = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(a,
		    isnan(x[i]) ? json_null() : json_real(x[i]));
	return a;
}

static void
learned_list_read(const json_t *a, double *ret, size_t count)
{
	for (size_t i = 0; json_array_size(a) == count && i < count; i++)
		ret[i] = json_is_number(json_array_get(a, i))
		    ? learned_number_at(a, i)
		    : (double)NAN;
}

static json_t *
learned_fleet_json(const struct diagnosis_series *s)
{
	const struct rhythm *r = &s->rhythm;

	return json_pack("{s:o, s:o, s:f, s:I, s:f, s:o, s:o, s:o}", "level",
	    learned_drift_row(&s->fleet), "pinned",
	    learned_list_json(&s->fleet.pinned, 1), "opened", s->fleet.opened,
	    "hours", (json_int_t)r->hours, "var", r->var, "means",
	    learned_list_json(r->mean, RHYTHM_WEEK), "day",
	    learned_list_json(r->day, RHYTHM_DAY), "week",
	    learned_list_json(r->week, RHYTHM_WEEK));
}

static void
learned_fleet_load(struct diagnosis_series *s, const json_t *fleet)
{
	struct rhythm *r = &s->rhythm;
	double var = member_number(fleet, "var"), pinned = NAN;
	json_int_t hours = member_int(fleet, "hours");

	if (learned_drift_read(json_object_get(fleet, "level"), &s->fleet) < 0)
		return;
	learned_list_read(json_object_get(fleet, "pinned"), &pinned, 1);
	if (!isnan(pinned))
		drift_pin(&s->fleet, pinned, DRIFT_MEMORY);
	s->fleet.opened = fmax(0, member_number(fleet, "opened"));
	if (hours < 0 || hours > UINT32_MAX || !(var > 0))
		return;
	r->hours = (uint32_t)hours;
	r->var = var;
	learned_list_read(json_object_get(fleet, "means"), r->mean,
	    RHYTHM_WEEK);
	learned_list_read(json_object_get(fleet, "day"), r->day, RHYTHM_DAY);
	learned_list_read(json_object_get(fleet, "week"), r->week, RHYTHM_WEEK);
}

/* Return the wander of nodes and leaves. */
static json_t *
learned_wander_json(const struct diagnosis_series *s)
{
	json_t *a = json_pack("[f, i, f, f, i, f]", s->wander.var,
	    (int)s->wander.rounds, s->wander.nodes, s->paths_wander.var,
	    (int)s->paths_wander.rounds, s->paths_wander.nodes);
	struct judge_fleet f;

	judge_fleet(s->judge, &f);
	for (size_t i = 0; i < JUDGE_FLEET_NUMBERS; i++)
		json_array_append_new(a, json_real(f.number[i]));
	return a;
}

static struct wander
learned_wander_at(const json_t *a, size_t i)
{
	return (struct wander){ fmax(0, learned_number_at(a, i)),
		(uint32_t)json_integer_value(json_array_get(a, i + 1)),
		learned_number_at(a, i + 2) };
}

static void
learned_wander_load(struct diagnosis_series *s, const json_t *a)
{
	struct judge_fleet f;

	if (json_array_size(a) != JUDGE_FLEET_NUMBERS + 6)
		return;
	for (size_t i = 0; i < JUDGE_FLEET_NUMBERS; i++)
		f.number[i] = learned_number_at(a, i + 6);
	judge_fleet_restore(s->judge, &f);
	s->wander = learned_wander_at(a, 0);
	s->paths_wander = learned_wander_at(a, 3);
}

static json_t *
learned_holds_json(const struct diagnosis *d, const struct diagnosis_series *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < judge_count(s->judge, JUDGE_NODE); i++) {
		json_t *row = learned_hold_row(
		    judge_track(s->judge, JUDGE_NODE, i));

		if (row != NULL)
			json_array_append_new(list,
			    json_pack("{s:s, s:o}", "node",
				roster_by_id(d->roster, i)->name, "hold", row));
	}
	return list;
}

void
learned_put(const struct diagnosis *d, const struct diagnosis_series *s,
    json_t *record)
{
	json_object_set_new(record, "leaves", learned_leaves_json(d, s));
	json_object_set_new(record, "stages", learned_stages_json(d, s));
	json_object_set_new(record, "members", learned_members_json(d, s));
	json_object_set_new(record, "holds", learned_holds_json(d, s));
	json_object_set_new(record, "fleet", learned_fleet_json(s));
	json_object_set_new(record, "wander", learned_wander_json(s));
}

static void
learned_member_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *o)
{
	const struct node *n = roster_find(d->roster, member_text(o, "node"));
	const json_t *a = json_object_get(o, "member");
	struct member_sum *m;

	if (n == NULL || json_array_size(a) != 5)
		return;
	m = series_member(s, (uint32_t)n->id);
	m->sum = learned_number_at(a, 0);
	m->share = learned_number_at(a, 1);
	m->rest = learned_number_at(a, 2);
	m->rounds = (uint32_t)json_integer_value(json_array_get(a, 3));
	m->raised = json_integer_value(json_array_get(a, 4)) != 0;
}

void
learned_load(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record)
{
	const json_t *o;
	size_t i;

	learned_wander_load(s, json_object_get(record, "wander"));
	member_foreach (record, "leaves", i, o)
		learned_leaf_load(d, s, o);
	series_room(d, s, d->leaf_count);
	member_foreach (record, "stages", i, o) {
		uint32_t k = spines_find(d, member_text(o, "switches"));

		if (k != STAGE_NONE)
			(void)learned_drift_read(json_object_get(o, "paths"),
			    &s->stages[k]);
	}
	member_foreach (record, "members", i, o)
		learned_member_load(d, s, o);
	member_foreach (record, "holds", i, o) {
		const struct node *n = roster_find(d->roster,
		    member_text(o, "node"));

		if (n != NULL)
			learned_hold_load(s, JUDGE_NODE, (uint32_t)n->id,
			    json_object_get(o, "hold"));
	}
	learned_fleet_load(s, json_object_get(record, "fleet"));
}
