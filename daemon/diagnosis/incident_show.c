/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident_show.c - output of incidents: the incident of a node or leaf, its
 * verdict, its text, its JSON, and lists. Only texts are changed.
 */
#include "daemon/diagnosis/diagnosis_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/text.h"
#include "daemon/cluster/roster.h"

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
		if (k->kind == JUDGE_LEAF && !k->over && k->passed &&
		    k->finding == CONFIRM_BETWEEN &&
		    (k->index == leaf || k->other == leaf))
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
	const struct diagnosis_node *cn = n->id < d->node_count
	    ? &d->nodes[n->id]
	    : NULL;

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
	const struct diagnosis_node *cn = n->id < d->node_count
	    ? &d->nodes[n->id]
	    : NULL;

	if (!diagnosis_is_measured(d, n))
		return VERDICT_UNKNOWN;
	if (k == NULL &&
	    (cn->missed >= MISSED_MANY || cn->judged_ns == 0 ||
		clk_ns() - cn->judged_ns > d->o.stale_ns))
		return VERDICT_UNKNOWN;
	return k != NULL ? k->verdict : VERDICT_OK;
}

void
diagnosis_why_unknown(const struct diagnosis *d, const struct node *n,
    struct err *err)
{
	const struct diagnosis_node *cn = n->id < d->node_count
	    ? &d->nodes[n->id]
	    : NULL;
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
	if (cn->missed >= MISSED_MANY)
		err_say(err,
		    "%.80s: not measured by the last %u runs; coalctl run list "
		    "shows why",
		    n->name, cn->missed);
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

void
port_key(const char *name, enum port_fact fact, char ret[PORT_KEY_BYTES])
{
	utf8_format(ret, PORT_KEY_BYTES, "%.32s %s", name,
	    verdict_text_ports[fact].member);
}

const char *
incident_kind_name(enum judge_kind kind)
{
	static const char *const names[] = { [JUDGE_NODE] = "node",
		[JUDGE_LEAF] = "leaf",
		[JUDGE_FLEET] = "fleet",
		[JUDGE_STAGE] = "spine" };

	return names[kind];
}

const struct judge_track *
incident_track(const struct incident *k)
{
	return k->kind >= JUDGE_FLEET || k->what == WHAT_MTU ||
		k->what == WHAT_STUCK
	    ? NULL
	    : judge_track(k->series->judge, k->kind, k->index);
}

/* Return 1 if the judge names it; if either of two leaves is slow, one of them
 * is enough. */
static int
incident_show_is_named_by(const struct diagnosis_series *s,
    const struct incident *k)
{
	const struct judge_track *t = judge_track(s->judge, k->kind, k->index);
	const struct judge_track *other = k->passed &&
		k->finding == CONFIRM_BETWEEN
	    ? judge_track(s->judge, k->kind, k->other)
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
	const struct judge_track *t;

	ret[0] = '\0';
	if (open != NULL) {
		t = incident_track(open);
		if (open->what < WHAT_DRIFT && !open->paths && t != NULL &&
		    t->state >= JUDGE_OUTLIER && t->clean > 0)
			snprintf(ret, DIAGNOSIS_PENDING_MAX,
			    "recovering: normal in %d of %d rounds", t->clean,
			    d->o.judge.clean);
	} else if (k != NULL && !k->recovers) {
		snprintf(ret, DIAGNOSIS_PENDING_MAX,
		    "slow in %d of %d rounds, confirmation pending",
		    judge_votes(
			judge_track(k->series->judge, k->kind, k->index)),
		    d->o.judge.votes);
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

/* Return the effect in the rounds with a vote, or in the sums over many
 * rounds. */
static double
incident_show_effect_of(const struct diagnosis *d, const struct incident *k,
    const struct judge_track *t)
{
	int is_loss = series_kind(k->series->sort).is_loss;
	const struct loss_sum *s = k->kind == JUDGE_NODE && is_loss
	    ? loss_sum_of(&d->loss, k->index)
	    : NULL;
	const struct loss_leaf *l = k->kind == JUDGE_LEAF && is_loss
	    ? loss_leaf_raised(&d->loss, k->index)
	    : NULL;
	double effect = judge_effect(t);

	if (l != NULL)
		return fmax(effect, loss_number(loss_share(l->lost, l->sent)));

	return s != NULL && s->raised
	    ? fmax(effect, loss_number(loss_share(s->lost, s->sent)))
	    : effect;
}

static const struct drift *
incident_show_drift_of(const struct incident *k)
{
	if (k->kind == JUDGE_STAGE)
		return k->index < k->series->stages_count
		    ? &k->series->stages[k->index]
		    : NULL; /* shown by echoes */
	return k->kind == JUDGE_FLEET ? &k->series->fleet
				      : series_drift_of(k->series, k->index);
}

static void
incident_show_put_node(const struct diagnosis *d, const struct incident *k,
    struct verdict_evidence *w)
{
	const struct diagnosis_node *cn = k->index < d->node_count
	    ? &d->nodes[k->index]
	    : NULL;

	if (cn != NULL) {
		w->nic = cn->nic;
		w->nic_drops = cn->drops - cn->drops_first;
		w->errors = link_worst(&d->links, k->index);
	}
	if (k->passed && k->report.partners > 0) {
		w->partners = k->report.partners;
		w->slow_partners = k->report.slow_partners;
		w->partners_normal = k->report.pairs_fine;
	} else if (cn != NULL) {
		w->partners = cn->partners;
		w->slow_partners = cn->slow_partners;
		/* The only case: all other nodes are within their peers'
		 * scatter. */
		w->partners_normal = TAILQ_FIRST(&d->incidents) == k &&
		    TAILQ_NEXT(k, link) == NULL;
	}
}

/* Write the next step and its time. */
static void
incident_show_next_write(const struct diagnosis *d, const struct incident *k,
    char ret[VERDICT_NEXT_MAX])
{
	uint64_t now_ns = clk_ns();
	char at[40];

	ret[0] = '\0';
	if (k->passed && k->finding != CONFIRM_UNCLEAR && !k->asks_way)
		return;
	if (!d->o.second_pass)
		snprintf(ret, VERDICT_NEXT_MAX,
		    "disabled by verdict.second_pass = no");
	else if (d->pass.of == k && !d->pass.heard)
		snprintf(ret, VERDICT_NEXT_MAX, "in progress as run %s",
		    d->pass.run);
	else if (k->kind == JUDGE_NODE && k->index < d->node_count &&
	    d->nodes[k->index].link_busy)
		snprintf(ret, VERDICT_NEXT_MAX, "when the node's link is free");
	else if (k->next_ns > now_ns) {
		clk_unix_format(clk_unix_ns() + (k->next_ns - now_ns), at,
		    sizeof(at));
		snprintf(ret, VERDICT_NEXT_MAX, "at %.5s UTC", at + 11);
	} else if (d->pass.in_window >= d->o.second_pass_per_hour)
		snprintf(ret, VERDICT_NEXT_MAX, "within an hour");
	else
		snprintf(ret, VERDICT_NEXT_MAX, "starts next");
}

/* Write the newest pair, and the name of another partner. */
static void
incident_show_put_stuck(const struct diagnosis *d, uint32_t node,
    struct verdict_evidence *w)
{
	for (size_t i = 0; i < d->stuck.count; i++) {
		const struct stuck_pair *p = &d->stuck.pairs[i];
		uint32_t other = p->nodes[p->nodes[0] == node];

		if (p->nodes[0] != node && p->nodes[1] != node)
			continue;
		w->partners++;
		w->test = p->what;
		w->now = p->waited_s;
		w->whom[w->partners > 1] = roster_by_id(d->roster, other)->name;
	}
}

/* Write the evidence for an excess of slow pairs, of a node or of a leaf. */
static void
incident_show_put_paths(const struct incident *k, struct verdict_evidence *w)
{
	const struct diagnosis_series *s = k->series;

	w->passed = k->passed;
	w->partners = k->report.partners;
	w->slow_partners = k->report.slow_partners;
	if (k->kind == JUDGE_NODE) {
		const struct member_sum *m = &s->members[k->index];

		w->share = m->rest;
		w->effect = m->share - m->rest;
		w->rounds = m->rounds;
	} else {
		const struct drift *now = &s->paths[k->index];

		/* 0 would mean that the evidence is not a share. */
		w->share = fmax(now->level, 1e-6);
		w->effect = drift_shift(now);
		w->rounds = drift_rounds(now);
	}
}

static void
incident_show_put_stage(const struct diagnosis *d, const struct incident *k,
    struct verdict_evidence *w)
{
	const struct drift *now = incident_show_drift_of(k);

	w->stage = &d->stages->list[k->index];
	w->hole = &k->hole;
	w->leaves = spines_leaves(d, k->index);
	if (now == NULL)
		return;
	w->share = now->mean;
	w->effect = drift_shift(now);
	w->rounds = drift_rounds(now);
}

/* Write the evidence for a drift of a node, leaf or the fleet. */
static void
incident_show_put_past(const struct diagnosis *d, const struct incident *k,
    struct verdict_evidence *w)
{
	const struct drift *now = incident_show_drift_of(k);

	w->effect = drift_shift(now);
	w->rounds = drift_rounds(now);
	if (k->what == WHAT_FLEET) {
		w->places = k->series->fleet_nodes;
		w->slow_places = k->series->fleet_slow;
	} else {
		w->past = now->from == DRIFT_PINNED ? d->o.baseline : "";
	}
}

/* Write the evidence of its judge or of the sums of its losses. */
static void
incident_show_put_judged(const struct diagnosis *d, const struct incident *k,
    struct verdict_evidence *w)
{
	const struct judge_track *t = incident_track(k);
	const struct loss_leaf *l = NULL;
	int is_loss = series_kind(k->series->sort).is_loss;

	w->effect = incident_show_effect_of(d, k, t);
	w->rounds = t->rounds;
	w->host = k->host;
	w->is_loss = is_loss;
	w->passed = k->passed;
	w->finding = k->finding;
	w->way = k->report.way;
	if (k->finding == CONFIRM_BETWEEN)
		w->other = d->leaves[k->other];
	if (k->kind == JUDGE_NODE) {
		if (w->rounds == 0 && is_loss &&
		    loss_sum_of(&d->loss, k->index) != NULL)
			w->rounds = loss_sum_of(&d->loss, k->index)->epochs;
		incident_show_put_node(d, k, w);
		return;
	}
	if (is_loss)
		l = loss_leaf_raised(&d->loss, k->index);
	w->places = l != NULL ? l->nodes : t->places;
	w->slow_places = l != NULL ? l->losing : t->slow_places;
	if (l != NULL)
		w->rounds = l->epochs;
}

/* Write the evidence for each kind. */
static void
incident_show_put_evidence(const struct diagnosis *d, const struct incident *k,
    struct verdict_evidence *w)
{
	if (k->paths) {
		incident_show_put_paths(k, w);
		return;
	}
	if (k->kind == JUDGE_STAGE) {
		incident_show_put_stage(d, k, w);
		return;
	}
	switch (k->what) {
	case WHAT_PORT:
		w->nic = k->port.name;
		w->fact = k->port.fact;
		w->now = k->port.now;
		w->usual = k->port.usual;
		break;
	case WHAT_LINK_ERRORS:
		w->errors = link_worst(&d->links, k->index);
		w->usual = link_usual_share(&d->links, w->errors);
		break;
	case WHAT_MTU:
		w->hole = &k->hole;
		w->places = k->kind == JUDGE_LEAF;
		break;
	case WHAT_STUCK:
		incident_show_put_stuck(d, k->index, w);
		break;
	case WHAT_INTERMITTENT:
		w->effect = k->effect;
		w->rounds = DISPELLED_MANY;
		break;
	case WHAT_FLEET:
	case WHAT_DRIFT:
		incident_show_put_past(d, k, w);
		break;
	case WHAT_PREDICTION:
		w->effect = -log(k->expected.ratio);
		w->partners = k->expected.met;
		w->places = k->kind == JUDGE_LEAF;
		w->past = k->expected.machine;
		break;
	default:
		incident_show_put_judged(d, k, w);
	}
}

void
incident_write(const struct diagnosis *d, struct incident *k)
{
	struct series_kind sort = series_kind(k->series->sort);
	char next[VERDICT_NEXT_MAX];
	struct verdict_evidence w = { .what = k->what,
		.subject = k->subject,
		.is_rate = sort.is_rate,
		.test = sort.name,
		.nic = "" };

	incident_show_next_write(d, k, next);
	w.next = next;
	w.rail = k->what == WHAT_RAIL ? k->rail
	    : k->kind >= JUDGE_FLEET || k->what == WHAT_NODE ||
		k->what == WHAT_HOST
	    ? ""
	    : k->series->rail;
	incident_show_put_evidence(d, k, &w);
	verdict_text_write(&w, k->text);
}

static void
incident_show_put_errors(const struct link_sum *s, json_t *o)
{
	if (s == NULL)
		return; /* the incident will end */
	json_object_set_new(o, "port", text_json(s->port));
	json_object_set_new(o, "counter", json_string(s->counter));
	json_object_set_new(o, "errors", json_integer((json_int_t)s->errors));
	json_object_set_new(o, "span_s", json_integer((json_int_t)s->span_s));
	json_object_set_new(o, "looks", json_integer(s->looks));
	json_object_set_new(o, "looks_with_errors", json_integer(s->with));
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

/* Return a logarithm, or for slow pairs a share. */
static double
incident_show_shown_effect(const struct diagnosis *d, const struct incident *k)
{
	const struct judge_track *t = incident_track(k);
	const struct drift *drift = incident_show_drift_of(k);

	if (k->what == WHAT_PREDICTION)
		return -log(k->expected.ratio);
	if (k->what == WHAT_PORT)
		return fabs(log(fmax(1, k->port.usual) / fmax(1, k->port.now)));
	if (k->kind == JUDGE_STAGE)
		return 0;
	if (k->what == WHAT_INTERMITTENT)
		return k->effect;
	if (t != NULL && k->what != WHAT_DRIFT)
		return incident_show_effect_of(d, k, t);
	return drift == NULL ? 0 : drift_shift(drift);
}

static void
incident_show_put_confirmation(const struct diagnosis *d,
    const struct incident *k, json_t *o)
{
	if (!k->passed)
		return;
	json_object_set_new(o, "confirmation",
	    json_pack("{s:s, s:s, s:s, s:f, s:I, s:I}", "finding",
		confirm_findings[k->finding], "direction",
		confirm_ways[k->report.way], "run", k->pass_run, "effect",
		isfinite(k->report.effect) ? k->report.effect : 0.0, "partners",
		(json_int_t)k->report.partners, "slow_partners",
		(json_int_t)k->report.slow_partners));
	if (k->finding == CONFIRM_BETWEEN)
		json_object_set_new(o, "other_leaf",
		    json_string(d->leaves[k->other]));
}

/* Write the members of cases of this kind. */
static void
incident_show_put_kind(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct judge_track *t = incident_track(k);
	const struct drift *drift = incident_show_drift_of(k);

	if (k->what == WHAT_PREDICTION) {
		json_object_set_new(o, "ratio", json_real(k->expected.ratio));
		json_object_set_new(o, "met",
		    json_integer((json_int_t)k->expected.met));
		json_object_set_new(o, "machine",
		    json_string(k->expected.machine));
	} else if (k->what == WHAT_PORT) {
		json_object_set_new(o, "port", json_string(k->port.name));
		json_object_set_new(o, verdict_text_ports[k->port.fact].now,
		    json_real(k->port.now));
		json_object_set_new(o, verdict_text_ports[k->port.fact].usual,
		    json_real(k->port.usual));
	} else if (k->what == WHAT_LINK_ERRORS) {
		incident_show_put_errors(link_worst(&d->links, k->index), o);
	} else if (k->what == WHAT_MTU) {
		json_object_set_new(o, "mtu", json_integer(k->hole.mtu));
	} else if (k->what == WHAT_DRIFT || t == NULL) {
		json_object_set_new(o, "rounds",
		    json_integer(drift == NULL ? 0 : drift_rounds(drift)));
	} else {
		json_object_set_new(o, "rounds", json_integer(t->rounds));
		json_object_set_new(o, "clean_rounds", json_integer(t->clean));
		incident_show_put_confirmation(d, k, o);
	}
}

/* Write where and how it was measured. */
static void
incident_show_put_source(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	if (k->slurm != NULL)
		json_object_set(o, "slurm", k->slurm);
	if (k->paths)
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
	    "verdict", names_verdicts[verdict], "what", names_whats[k->what],
	    "since_unix_ns", (json_int_t)k->since_unix_ns, "at_unix_ns",
	    (json_int_t)k->at_unix_ns, "text", text_json(k->text), "test",
	    series_kind(k->series->sort).name, "class", k->series->class, "run",
	    k->run, "mpi", k->mpi != NULL ? k->mpi : "", "launcher",
	    k->launcher != NULL ? k->launcher : "");
	if (!k->over && incident_pending(d, k->kind, k->index, pending))
		json_object_set_new(o, "pending", json_string(pending));
	incident_show_put_source(d, k, o);
	json_object_set_new(o, "effect",
	    json_real(incident_show_shown_effect(d, k)));
	incident_show_put_kind(d, k, o);
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
