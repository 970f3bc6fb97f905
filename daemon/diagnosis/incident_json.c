/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident_json.c - a case as others see it: in words, as JSON, and in lists.
 */
#include "daemon/diagnosis/diagnosis_int.h"

#include <math.h>

#include "daemon/cluster/roster.h"

static const char *
kind_name(enum judge_kind kind)
{
	return kind == JUDGE_NODE ? "node" : "leaf";
}

static const struct judge_track *
track_of(const struct incident *k)
{
	return judge_track(k->series->judge, k->kind, k->index);
}

static const struct drift *
drift_of(const struct incident *k)
{
	return series_drift_of(k->series, k->index);
}

static void
put_partners(const struct diagnosis *c, const struct incident *k,
    struct verdict_text_case *w)
{
	const struct diagnosis_node *cn;

	if (k->passed && k->report.partners > 0) {
		w->partners = k->report.partners;
		w->slow_partners = k->report.slow_partners;
		w->partners_normal = k->report.pairs_fine;
		return;
	}
	if (k->index >= c->node_count)
		return;
	cn = &c->nodes[k->index];
	w->partners = cn->partners;
	w->slow_partners = cn->slow_partners;
	/* The only one: all others are within their peers' scatter. */
	w->partners_normal = TAILQ_FIRST(&c->cases) == k &&
	    TAILQ_NEXT(k, link) == NULL;
}

static void
write_drift(const struct diagnosis *c, struct incident *k)
{
	const struct drift *d = drift_of(k);
	struct series_kind sort = series_kind(k->series->sort);
	struct verdict_text_case w = { .what = k->what,
		.subject = k->subject,
		.effect = drift_shift(d),
		.is_rate = sort.is_rate,
		.test = sort.name,
		.rounds = drift_rounds(d),
		.past = d->from == DRIFT_PINNED ? c->o.baseline : "" };

	verdict_text_write(&w, k->text);
}

static void
write_promise(struct incident *k)
{
	struct verdict_text_case w = { .what = k->what,
		.subject = k->subject,
		.effect = -log(k->promised.ratio),
		.partners = k->promised.met,
		.places = k->kind == JUDGE_LEAF,
		.past = k->promised.machine };

	verdict_text_write(&w, k->text);
}

static void
write_judged(const struct diagnosis *c, struct incident *k)
{
	const struct judge_track *t = track_of(k);
	struct series_kind sort = series_kind(k->series->sort);
	struct verdict_text_case w = { .what = k->what,
		.subject = k->subject,
		.effect = judge_effect(k->series->judge, t),
		.is_rate = sort.is_rate,
		.test = sort.name,
		.rounds = t->rounds,
		.nic = "",
		.host = k->host,
		.is_loss = sort.is_loss,
		.passed = k->passed,
		.finding = k->finding };

	if (k->kind == JUDGE_LEAF) {
		w.places = t->places;
		w.slow_places = t->slow_places;
	} else {
		put_partners(c, k, &w);
		if (k->index < c->node_count) {
			w.nic = c->nodes[k->index].nic;
			w.nic_drops = c->nodes[k->index].drops -
			    c->nodes[k->index].drops_first;
		}
	}
	verdict_text_write(&w, k->text);
}

void
incident_write(const struct diagnosis *c, struct incident *k)
{
	if (k->what == WHAT_DRIFT)
		write_drift(c, k);
	else if (k->what == WHAT_PREDICTION)
		write_promise(k);
	else
		write_judged(c, k);
}

static void
put_promise(json_t *o, const struct incident *k)
{
	json_object_set_new(o, "effect", json_real(-log(k->promised.ratio)));
	json_object_set_new(o, "ratio", json_real(k->promised.ratio));
	json_object_set_new(o, "met",
	    json_integer((json_int_t)k->promised.met));
	json_object_set_new(o, "machine", json_string(k->promised.machine));
}

static void
put_drift(json_t *o, const struct incident *k)
{
	const struct drift *d = drift_of(k);

	json_object_set_new(o, "effect",
	    json_real(d == NULL ? 0 : drift_shift(d)));
	json_object_set_new(o, "rounds",
	    json_integer(d == NULL ? 0 : drift_rounds(d)));
}

static void
put_track(json_t *o, const struct incident *k)
{
	const struct judge_track *t = track_of(k);

	json_object_set_new(o, "effect",
	    json_real(judge_effect(k->series->judge, t)));
	json_object_set_new(o, "rounds", json_integer(t->rounds));
	json_object_set_new(o, "clean_rounds", json_integer(t->clean));
	if (!k->passed)
		return;
	json_object_set_new(o, "confirmation",
	    json_pack("{s:s, s:s, s:f, s:I, s:I}", "finding",
		confirm_findings[k->finding], "run", k->pass_run, "effect",
		isfinite(k->report.effect) ? k->report.effect : 0.0, "partners",
		(json_int_t)k->report.partners, "slow_partners",
		(json_int_t)k->report.slow_partners));
}

json_t *
incident_json(const struct diagnosis *c, const struct incident *k)
{
	enum verdict verdict = k->verdict;
	json_t *o;

	if (k->kind == JUDGE_NODE && !k->over)
		verdict = diagnosis_of_node(c,
		    roster_by_id(c->roster, k->index));
	o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:s, "
		      "s:s}",
	    "kind", kind_name(k->kind), "subject", k->subject, "verdict",
	    names_verdicts[verdict], "what", names_whats[k->what],
	    "since_unix_ns", (json_int_t)k->since_unix_ns, "at_unix_ns",
	    (json_int_t)k->at_unix_ns, "text", k->text, "test",
	    series_kind(k->series->sort).name, "class", k->series->class, "run",
	    k->run, "mpi", k->mpi != NULL ? k->mpi : "", "launcher",
	    k->launcher != NULL ? k->launcher : "");
	if (k->slurm != NULL)
		json_object_set(o, "slurm", k->slurm);
	if (k->kind == JUDGE_NODE)
		json_object_set_new(o, "node", json_string(k->subject));
	json_object_set_new(o, "partners",
	    json_string(names_partners[k->series->partners]));
	if (k->what == WHAT_DRIFT)
		put_drift(o, k);
	else if (k->what == WHAT_PREDICTION)
		put_promise(o, k);
	else
		put_track(o, k);
	return o;
}

static json_t *
plain_json(const char *subject, enum verdict verdict)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "kind", "node", "subject",
	    subject, "node", subject, "verdict", names_verdicts[verdict]);
}

json_t *
diagnosis_json(const struct diagnosis *c, int all)
{
	json_t *list = json_array();
	const struct incident *k;

	for (int bad = 1; bad >= 0; bad--)
		TAILQ_FOREACH (k, &c->cases, link)
			if ((k->verdict == VERDICT_BAD) == bad)
				json_array_append_new(list,
				    incident_json(c, k));
	for (size_t i = 0; all && i < roster_count(c->roster); i++) {
		const struct node *n = roster_at(c->roster, i);

		if (incident_find(c, JUDGE_NODE, (uint32_t)n->id) == NULL)
			json_array_append_new(list,
			    plain_json(n->name, diagnosis_of_node(c, n)));
	}
	return list;
}

json_t *
diagnosis_node_json(const struct diagnosis *c, const struct node *n)
{
	const struct incident *k = incident_find(c, JUDGE_NODE,
	    (uint32_t)n->id);

	return k == NULL ? NULL : incident_json(c, k);
}

size_t
diagnosis_open_cases(const struct diagnosis *c, struct diagnosis_open *ret,
    size_t cap)
{
	const struct incident *k;
	size_t n = 0;

	TAILQ_FOREACH (k, &c->cases, link) {
		if (n == cap)
			break;
		ret[n].kind = kind_name(k->kind);
		ret[n].what = k->what;
		ret[n].subject = k->subject;
		ret[n++].verdict = k->verdict;
	}
	return n;
}
