/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident_show.c - output of incidents: the incident of a node or leaf, its
 * verdict, its text, its JSON, and lists. Only texts are changed.
 */
#include "daemon/diagnosis/incident_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/text.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"

struct incident *
incident_find(const struct diagnosis *d, enum judge_kind kind, uint32_t index)
{
	struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == kind && k->index == index && !k->over)
			return k;
	return NULL;
}

struct incident *
incident_between(const struct diagnosis *d, uint32_t leaf)
{
	struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_LEAF && !k->over && k->confirm.is_done &&
		    k->confirm.finding == CONFIRM_BETWEEN &&
		    (k->index == leaf || k->confirm.other == leaf))
			return k;
	return NULL;
}

struct incident *
incident_followed(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index)
{
	struct incident *k;

	TAILQ_FOREACH (k, &d->follows, link)
		if (k->kind == kind && k->index == index)
			return k;
	return NULL;
}

int
diagnosis_is_measured(const struct diagnosis *d, const struct node *n)
{
	const struct diagnosis_node *cn = node_known(d, n);

	/* A restart counts at once, not only from the next tick on. */
	return roster_is_up(n) && cn != NULL && cn->heard_ns != 0 &&
	    !diagnosis_is_new_boot(n, cn) &&
	    clk_ns() - cn->heard_ns <= d->o.stale_ns;
}

enum verdict
diagnosis_of_node(const struct diagnosis *d, const struct node *n)
{
	const struct incident *k = incident_find(d, JUDGE_NODE,
	    (uint32_t)n->id);
	const struct diagnosis_node *cn = node_known(d, n);

	if (!diagnosis_is_measured(d, n))
		return VERDICT_UNKNOWN;
	if (k == NULL &&
	    (node_missed(cn) >= MISSED_MANY || cn->judged_ns == 0 ||
		clk_ns() - cn->judged_ns > d->o.stale_ns))
		return VERDICT_UNKNOWN;
	return k != NULL ? k->verdict : VERDICT_OK;
}

void
diagnosis_why_unknown(const struct diagnosis *d, const struct node *n,
    struct err *err)
{
	const struct diagnosis_node *cn = node_known(d, n);
	char span[32];

	if (!roster_is_up(n)) {
		roster_why(n, err);
		return;
	}
	if (cn == NULL || cn->heard_ns == 0 || diagnosis_is_new_boot(n, cn)) {
		err_say(err, "%.80s: not measured since its agent started",
		    n->name);
		return;
	}
	if (clk_ns() - cn->heard_ns > d->o.stale_ns) {
		clk_span_format(clk_ns() - cn->heard_ns, span, sizeof(span));
		err_say(err, "%.80s: last measured %s ago", n->name, span);
		return;
	}
	if (node_missed(cn) >= MISSED_MANY)
		err_say(err,
		    "%.80s: not measured by the last %u runs; coalctl run list "
		    "shows why",
		    n->name, node_missed(cn));
	else
		err_say(err,
		    "%.80s: cannot be compared: too few nodes of its kind are "
		    "measured, and the node has too few earlier measurements",
		    n->name);
}

void
diagnosis_counts(const struct diagnosis *d, size_t ret[VERDICT_MAX])
{
	memset(ret, 0, VERDICT_MAX * sizeof(*ret));
	for (size_t i = 0; i < roster_count(d->roster); i++) {
		const struct node *n = roster_at(d->roster, i);

		if (n->state != AGENT_MAINTENANCE)
			ret[diagnosis_of_node(d, n)]++;
	}
}

/* ---- as text and as JSON ---- */

const char *
incident_kind_name(enum judge_kind kind)
{
	static const char *const names[] = { [JUDGE_NODE] = "node",
		[JUDGE_LEAF] = "leaf",
		[JUDGE_FLEET] = "fleet",
		[JUDGE_STAGE] = "spine" };

	return names[kind];
}

const struct track *
incident_track(const struct incident *k)
{
	return k->kind >= JUDGE_FLEET || k->fault->source == FAULT_FACT
	    ? NULL
	    : judge_track(k->series->judge, k->kind, k->index);
}

/* Return 1 if the judge names it; if either of two leaves is slow, one of them
 * is enough. */
static int
incident_show_is_named_by(const struct diagnosis_series *s,
    const struct incident *k)
{
	const struct track *t = judge_track(s->judge, k->kind, k->index);
	const struct track *other = k->confirm.is_done &&
		k->confirm.finding == CONFIRM_BETWEEN
	    ? judge_track(s->judge, k->kind, k->confirm.other)
	    : NULL;

	return (t != NULL && t->state >= JUDGE_OUTLIER) ||
	    (other != NULL && other->state >= JUDGE_OUTLIER);
}

struct diagnosis_series *
incident_naming(struct diagnosis *d, const struct incident *k)
{
	if (incident_track(k) != NULL &&
	    incident_show_is_named_by(k->series, k))
		return k->series;
	for (size_t i = 0; i < d->series_count; i++)
		if (incident_show_is_named_by(&d->series[i], k))
			return &d->series[i];
	return NULL;
}

int
incident_pending(const struct diagnosis *d, enum judge_kind kind,
    uint32_t index, char ret[DIAGNOSIS_PENDING_MAX])
{
	const struct incident *k = incident_followed(d, kind, index);
	const struct incident *open = incident_find(d, kind, index);
	const struct track *t;

	ret[0] = '\0';
	if (open != NULL) {
		t = incident_track(open);
		if (open->fault->is_judged && !open->fault->is_share &&
		    t != NULL && t->state >= JUDGE_OUTLIER && t->clean > 0)
			snprintf(ret, DIAGNOSIS_PENDING_MAX,
			    "recovering: normal in %d of %d rounds", t->clean,
			    d->o.judge.clean);
	} else if (k != NULL && !k->recovers) {
		t = judge_track(k->series->judge, k->kind, k->index);
		if (track_votes(t) < d->o.judge.votes)
			snprintf(ret, DIAGNOSIS_PENDING_MAX,
			    "slow in %d of %d rounds, confirmation pending",
			    track_votes(t), d->o.judge.votes);
		else
			snprintf(ret, DIAGNOSIS_PENDING_MAX,
			    "slow in %d rounds, confirmation pending",
			    track_votes(t));
	}
	return ret[0] != '\0';
}

int
diagnosis_pending(const struct diagnosis *d, const struct node *n,
    char ret[DIAGNOSIS_PENDING_MAX])
{
	return incident_pending(d, JUDGE_NODE, (uint32_t)n->id, ret);
}

json_t *
diagnosis_suspects(const struct diagnosis *d)
{
	char text[DIAGNOSIS_PENDING_MAX];
	json_t *list = json_array();
	const struct incident *k;

	TAILQ_FOREACH (k, &d->follows, link)
		if (!k->recovers &&
		    incident_pending(d, k->kind, k->index, text))
			json_array_append_new(list,
			    json_pack("{s:s, s:s, s:o}", "kind",
				incident_kind_name(k->kind), "subject",
				k->subject, "text", text_json(text)));
	return list;
}

int
incident_is_excused(const struct incident *k)
{
	return (int)(k->fault->excused >> k->what & 1);
}

const char *
incident_rail(const struct incident *k)
{
	if (k->what == WHAT_RAIL)
		return k->rail;
	return k->kind >= JUDGE_FLEET || k->what == WHAT_NODE ||
		incident_is_excused(k)
	    ? ""
	    : k->series->rail;
}

/* Write the next step and its time. */
void
incident_next_write(const struct diagnosis *d, const struct incident *k,
    char ret[VERDICT_NEXT_MAX])
{
	uint64_t now_ns = clk_ns();
	char at[40];

	ret[0] = '\0';
	if (k->confirm.is_done && k->confirm.finding != CONFIRM_UNCLEAR &&
	    !k->confirm.asks_way)
		return;
	if (!d->o.second_pass)
		return;
	if (d->pass.of == k && !d->pass.heard)
		snprintf(ret, VERDICT_NEXT_MAX, "in progress as run %s",
		    d->pass.run);
	else if (k->kind == JUDGE_NODE && k->index < d->node_count &&
	    d->nodes[k->index].link_busy)
		snprintf(ret, VERDICT_NEXT_MAX, "when the node's link is free");
	else if (k->confirm.next_ns > now_ns) {
		clk_unix_format(clk_unix_ns() + (k->confirm.next_ns - now_ns),
		    at, sizeof(at));
		snprintf(ret, VERDICT_NEXT_MAX, "at %.5s UTC", at + 11);
	} else if (d->pass.in_window >= d->o.second_pass_per_hour)
		snprintf(ret, VERDICT_NEXT_MAX, "within an hour");
	else
		snprintf(ret, VERDICT_NEXT_MAX, "starts next");
}

void
incident_add_pending(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	char next[VERDICT_NEXT_MAX];

	incident_next_write(d, k, next);
	if (!d->o.second_pass)
		fault_text_add(text,
		    "; not confirmed: confirmation runs are disabled "
		    "(verdict.second_pass = no)");
	else
		fault_text_add(text, "; confirmation run pending%s%s",
		    next[0] != '\0' ? ": " : "", next);
}

/* Return 1 if a confirmation run must find the cause first. */
static int
incident_show_is_open(const struct incident *k)
{
	return k->fault->is_judged && k->fault->is_confirmable &&
	    !incident_is_excused(k) &&
	    !(k->confirm.is_done && k->confirm.finding != CONFIRM_CLEARED &&
		k->confirm.finding != CONFIRM_UNCLEAR);
}

void
incident_write(const struct diagnosis *d, struct incident *k)
{
	const char *step = k->fault->step != NULL ? k->fault->step(d, k)
						  : names_whats[k->what].step;

	k->text[0] = '\0';
	k->fault->text(d, k, k->text);
	if (!incident_show_is_open(k))
		fault_text_add(k->text, "; %s", step);
}

/* Write its current place and the switches above: the node may have moved when
 * this is read. */
static void
incident_show_put_place(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct topo *topo = roster_topo(d->roster);
	const char *leaf = k->kind == JUDGE_NODE
	    ? roster_by_id(d->roster, k->index)->leaf
	    : k->subject;
	const struct topology *t = topo != NULL ? topo_file(topo) : NULL;
	uint32_t at = t != NULL ? topology_find_switch(t, leaf) : TOPOLOGY_NONE;
	char *above = at != TOPOLOGY_NONE ? topology_above(t, at) : NULL;

	if (k->kind == JUDGE_NODE && leaf[0] != '\0')
		json_object_set_new(o, "leaf", json_string(leaf));
	if (at != TOPOLOGY_NONE && t->switches[at].pod != NULL)
		json_object_set_new(o, "pod", json_string(t->switches[at].pod));
	if (above != NULL)
		json_object_set_new(o, "up", json_string(above));
	free(above);
}

static void
incident_show_put_confirmation(const struct diagnosis *d,
    const struct incident *k, json_t *o)
{
	if (!k->confirm.is_done)
		return;
	json_object_set_new(o, "confirmation",
	    json_pack("{s:s, s:s, s:s, s:f, s:I, s:I}", "finding",
		confirm_findings[k->confirm.finding], "direction",
		confirm_ways[k->confirm.report.way], "run", k->confirm.run,
		"effect",
		isfinite(k->confirm.report.effect) ? k->confirm.report.effect
						   : 0.0,
		"partners", (json_int_t)k->confirm.report.partners,
		"slow_partners", (json_int_t)k->confirm.report.slow_partners));
	if (k->confirm.finding == CONFIRM_BETWEEN)
		json_object_set_new(o, "other_leaf",
		    json_string(d->leaves[k->confirm.other]));
}

/* Write the members of a case of a judge. */
static void
incident_show_put_judged(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct track *t = incident_track(k);
	const struct drift *drift = series_drift_of(k->series, k->index);

	if (t == NULL) {
		json_object_set_new(o, "rounds",
		    json_integer(drift == NULL ? 0 : drift_rounds(drift)));
		return;
	}
	json_object_set_new(o, "rounds", json_integer(t->rounds));
	json_object_set_new(o, "clean_rounds", json_integer(t->clean));
	incident_show_put_confirmation(d, k, o);
}

/* Write where and how it was measured. */
static void
incident_show_put_source(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	if (k->slurm != NULL)
		json_object_set(o, "slurm", k->slurm);
	if (k->fault->is_share)
		json_object_set_new(o, "paths", json_true());
	if (k->series->rail[0] != '\0')
		json_object_set_new(o, "rail", json_string(k->series->rail));
	if (k->series->device[0] != '\0')
		json_object_set_new(o, "device",
		    json_string(k->series->device));
	if (k->series->bytes > 0)
		json_object_set_new(o, "bytes", json_integer(k->series->bytes));
	if (k->kind == JUDGE_NODE)
		json_object_set_new(o, "node", json_string(k->subject));
	if (k->kind < JUDGE_FLEET)
		incident_show_put_place(d, k, o);
	json_object_set_new(o, "partners",
	    json_string(names_partners[k->series->partners]));
}

json_t *
incident_json(const struct diagnosis *d, const struct incident *k)
{
	enum verdict verdict = k->verdict;
	char pending[DIAGNOSIS_PENDING_MAX];
	json_t *o;

	if (k->kind == JUDGE_NODE && !k->over)
		verdict = diagnosis_of_node(d,
		    roster_by_id(d->roster, k->index));
	o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:s, s:s, s:s, s:s, "
		      "s:s}",
	    "kind", incident_kind_name(k->kind), "subject", k->subject,
	    "verdict", names_verdicts[verdict], "what",
	    names_whats[k->what].name, "since_unix_ns",
	    (json_int_t)k->since_unix_ns, "at_unix_ns",
	    (json_int_t)k->at_unix_ns, "text", text_json(k->text), "test",
	    series_kind(k->series->sort).name, "class", k->series->class, "run",
	    k->run, "mpi", k->mpi != NULL ? k->mpi : "", "launcher",
	    k->launcher != NULL ? k->launcher : "");
	if (!k->over && incident_pending(d, k->kind, k->index, pending))
		json_object_set_new(o, "pending", json_string(pending));
	incident_show_put_source(d, k, o);
	json_object_set_new(o, "effect",
	    json_real(k->fault->json == NULL ? k->fault->effect(d, k) : 0));
	if (k->fault->json != NULL)
		k->fault->json(d, k, o);
	else
		incident_show_put_judged(d, k, o);
	return o;
}

/* ---- lists ---- */

json_t *
diagnosis_json(const struct diagnosis *d, int all)
{
	json_t *list = json_array();
	const struct incident *k;

	for (int bad = 1; bad >= 0; bad--)
		TAILQ_FOREACH (k, &d->incidents, link)
			if ((k->verdict == VERDICT_BAD) == bad)
				json_array_append_new(list,
				    incident_json(d, k));
	for (size_t i = 0; all && i < roster_count(d->roster); i++) {
		const struct node *n = roster_at(d->roster, i);

		enum verdict verdict = diagnosis_of_node(d, n);
		json_t *o;
		struct err err;

		if (incident_find(d, JUDGE_NODE, (uint32_t)n->id) != NULL)
			continue;
		o = json_pack("{s:s, s:s, s:s, s:s}", "kind", "node", "subject",
		    n->name, "node", n->name, "verdict",
		    names_verdicts[verdict]);
		if (verdict == VERDICT_UNKNOWN) {
			diagnosis_why_unknown(d, n, &err);
			json_object_set_new(o, "text", text_json(err.text));
		}
		if (n->state == AGENT_MAINTENANCE)
			json_object_set_new(o, "maintenance", json_true());
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
diagnosis_node_json(const struct diagnosis *d, const struct node *n)
{
	const struct incident *k = incident_find(d, JUDGE_NODE,
	    (uint32_t)n->id);

	return k == NULL ? NULL : incident_json(d, k);
}

size_t
diagnosis_open_cases(const struct diagnosis *d, struct diagnosis_open *ret,
    size_t cap)
{
	const struct incident *k;
	size_t n = 0;

	TAILQ_FOREACH (k, &d->incidents, link) {
		if (n == cap)
			break;
		ret[n].kind = incident_kind_name(k->kind);
		ret[n].what = k->what;
		ret[n].subject = k->subject;
		ret[n].text = k->text;
		ret[n++].verdict = k->verdict;
	}
	return n;
}
