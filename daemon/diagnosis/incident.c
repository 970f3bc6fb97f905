/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.c - one incident for a node or leaf, whichever test shows it: opened
 * when a judge names it, reported when its verdict changes, ended when no judge
 * names it any longer; and loaded from an earlier collector.
 */
#include "daemon/diagnosis/diagnosis_int.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

/* ---- from its opening to its end ---- */

void
incident_free(struct incident *k)
{
	free(k->subject);
	free(k->mpi);
	free(k->launcher);
	free(k->class);
	json_decref(k->slurm);
	free(k);
}

/* Create an incident that is not in the list yet. */
static struct incident *
incident_make(const struct diagnosis *d, enum judge_kind kind, uint32_t index)
{
	struct incident *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	k->index = index;
	k->subject = xstrdup(kind == JUDGE_NODE
		? roster_by_id(d->roster, index)->name
		: kind == JUDGE_LEAF  ? d->leaves[index]
		: kind == JUDGE_STAGE ? d->stages->list[index].switches
				      : "fleet");
	k->what = kind == JUDGE_NODE ? WHAT_NODE
	    : kind == JUDGE_STAGE    ? WHAT_SPINE
				     : WHAT_LEAF;
	k->verdict = VERDICT_WARN;
	k->since_unix_ns = clk_unix_ns();
	return k;
}

static struct incident *
incident_new(struct diagnosis *d, enum judge_kind kind, uint32_t index)
{
	struct incident *k = incident_make(d, kind, index);

	TAILQ_INSERT_TAIL(&d->incidents, k, link);
	return k;
}

static void
incident_report(struct diagnosis *d, const struct diagnosis_verdict *v)
{
	if (v->node != NULL)
		diagnosis_node(d, v->node)->reported = (uint8_t)v->state;
	if (d->ops->changed != NULL)
		d->ops->changed(d->ctx, v);
}

void
incident_report_nodes(struct diagnosis *d)
{
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		enum verdict state = diagnosis_of_node(d, n);
		const struct incident *k;
		struct err err;

		if (diagnosis_node(d, n)->reported == state)
			continue;
		k = incident_find(d, JUDGE_NODE, (uint32_t)n->id);
		err.text[0] = '\0';
		if (state == VERDICT_UNKNOWN)
			diagnosis_why_unknown(d, n, &err);
		incident_report(d,
		    &(struct diagnosis_verdict){ "node", n->name, n, state,
			k != NULL, k != NULL ? k->what : WHAT_NODE,
			k != NULL ? k->text : err.text, k != NULL ? k->run : "",
			k != NULL ? k->since_unix_ns : 0 });
	}
}

void
incident_tell(struct diagnosis *d, struct incident *k)
{
	char text[VERDICT_TEXT_MAX + 64];
	json_t *o;

	k->at_unix_ns = clk_unix_ns();
	snprintf(text, sizeof(text), "%s (%s): %s", names_verdicts[k->verdict],
	    names_whats[k->what], k->text);
	log_info("verdict %s", text);
	o = incident_json(d, k);
	/* The incident's verdict, even if the node's session ends meanwhile. */
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[k->verdict]));
	store_put_verdict(d->store, o,
	    &(struct store_event){ "verdict", k->subject, text, o });
	json_decref(o);
	incident_report(d,
	    &(struct diagnosis_verdict){ incident_kind_name(k->kind),
		k->subject,
		k->kind == JUDGE_NODE ? roster_by_id(d->roster, k->index)
				      : NULL,
		k->kind == JUDGE_NODE && !k->over
		    ? diagnosis_of_node(d, roster_by_id(d->roster, k->index))
		    : k->verdict,
		!k->over, k->what, k->text, k->run, k->since_unix_ns });
}

static void
incident_source_set(struct incident *k, const struct diagnosis_source *from)
{
	json_t *slurm = json_incref(from->slurm);

	json_decref(k->slurm);
	k->slurm = slurm;
	xstrset(&k->mpi, from->mpi);
	xstrset(&k->launcher, from->launcher);
	xstrset(&k->class, from->class);
	snprintf(k->run, sizeof(k->run), "%s", from->run);
}

/* Update the series that shows it. from NULL: it continues, with a new text;
 * else it is new, or of another kind, and is reported. */
static void
incident_show_from(struct diagnosis *d, struct incident *k,
    struct diagnosis_series *s, const struct diagnosis_source *from)
{
	k->series = s;
	if (from != NULL)
		incident_source_set(k, from);
	incident_write(d, k);
	if (from != NULL)
		incident_tell(d, k);
}

/* The source if no run has shown it. */
static const struct diagnosis_source no_run = { "", "", "", "", "", NULL,
	NULL };

/* Incidents that are seen directly and not by rounds. They end when the fact
 * ends. */
static int
incident_is_seen(const struct incident *k)
{
	return k->what == WHAT_PORT || k->what == WHAT_LINK_ERRORS ||
	    k->what == WHAT_MTU || k->what == WHAT_STUCK;
}

/* Set what from its series. */
static void
incident_what_set(struct incident *k)
{
	k->what = k->kind == JUDGE_LEAF  ? WHAT_LEAF
	    : k->series->rail[0] != '\0' ? WHAT_RAIL
					 : WHAT_NODE;
	snprintf(k->rail, sizeof(k->rail), "%s", k->series->rail);
}

struct incident *
incident_suspect(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_make(d, kind, index);

	k->series = s;
	incident_what_set(k);
	incident_source_set(k, from);
	return k;
}

void
incident_outlier(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, kind, index);

	if (kind == JUDGE_NODE)
		s = diagnosis_rail_or_node(d, s, index);
	if (s == NULL ||
	    (kind == JUDGE_LEAF && k == NULL &&
		incident_between(d, index) != NULL))
		return; /* the other leaf's case covers both */
	if (k != NULL && k->paths && kind == JUDGE_NODE) {
		incident_end(d, k, VERDICT_OK,
		    "all its paths are slow, not only some: a new verdict "
		    "replaces this one");
		k = NULL;
	}
	if (k != NULL && k->what == WHAT_RAIL && !k->passed &&
	    s->sort == k->series->sort && s->rail[0] == '\0' &&
	    strcmp(s->device, k->series->device) == 0 &&
	    s->bytes == k->series->bytes) {
		k->series = s; /* other rails have become slow too */
		incident_what_set(k);
		incident_write(d, k);
		incident_tell(d, k);
		return;
	}
	if (k != NULL &&
	    (k->what < WHAT_DRIFT ||
		(incident_is_seen(k) && k->verdict == VERDICT_BAD)))
		return; /* another test shows it too, or the cause is known */
	if (k != NULL && k->what == WHAT_INTERMITTENT) {
		if (k->passed) { /* back again: is it permanent? */
			k->passed = 0;
			k->tries = 0;
			k->next_ns = 0;
			k->series = s;
			incident_source_set(k, from);
		}
		return;
	}
	if (k == NULL)
		k = incident_new(d, kind, index);
	k->series = s;
	incident_what_set(k);
	if (kind == JUDGE_NODE &&
	    judge_is_host(s->judge, judge_track(s->judge, kind, index))) {
		const char *trouble = d->nodes[index].trouble;

		k->what = WHAT_HOST;
		snprintf(k->host, sizeof(k->host), "%s",
		    trouble != NULL ? trouble : "");
	}
	incident_show_from(d, k, s, from);
}

void
incident_taken(struct diagnosis *d, struct diagnosis_series *s, uint32_t node,
    const struct diagnosis_source *from)
{
	const struct diagnosis_node *cn = &d->nodes[node];
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	int is_taken = cn->taken >= d->o.judge.votes &&
	    clk_ns() - cn->taken_ns >= TAKEN_NS;

	if (k != NULL) {
		k->taken &= cn->taken > 0; /* after that its judges decide */
		return;
	}
	if (!is_taken)
		return;
	k = incident_new(d, JUDGE_NODE, node);
	k->what = WHAT_HOST;
	k->taken = 1;
	snprintf(k->host, sizeof(k->host), "%s", cn->trouble);
	incident_show_from(d, k, s, from);
}

void
incident_drift(struct diagnosis *d, struct diagnosis_series *s, uint32_t node,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);

	if (k != NULL)
		return; /* the comparison with peers is more exact */
	k = incident_new(d, JUDGE_NODE, node);
	k->what = WHAT_DRIFT;
	incident_show_from(d, k, s, from);
}

void
incident_fleet(struct diagnosis *d, struct diagnosis_series *s,
    const struct diagnosis_source *from)
{
	uint32_t index = (uint32_t)(s - d->series);
	struct incident *k = incident_find(d, JUDGE_FLEET, index);

	if (s->fleet.from != DRIFT_OWN) {
		if (k != NULL)
			incident_end(d, k, VERDICT_OK, "as fast as before");
		return;
	}
	if (k != NULL) {
		incident_write(d, k);
		return;
	}
	k = incident_new(d, JUDGE_FLEET, index);
	k->what = WHAT_FLEET;
	incident_show_from(d, k, s, from);
}

void
incident_stage(struct diagnosis *d, struct diagnosis_series *s, uint32_t stage,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_STAGE, stage);

	if (s->stages[stage].from == DRIFT_NONE) {
		if (k != NULL && k->series == s) {
			diagnosis_forget_paths(d, JUDGE_STAGE, stage);
			incident_end(d, k, VERDICT_OK,
			    "the share of slow pairs over these switches is as "
			    "usual");
		}
		return;
	}
	if (k != NULL) {
		if (k->series == s)
			incident_write(d, k);
		return;
	}
	k = incident_new(d, JUDGE_STAGE, stage);
	k->verdict = VERDICT_BAD;
	incident_show_from(d, k, s, from);
}

void
incident_paths(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, kind, index);
	int is_over = kind == JUDGE_LEAF ? s->paths[index].from == DRIFT_NONE
					 : !s->members[index].raised;

	if (is_over) {
		if (k != NULL && k->paths && k->series == s) {
			diagnosis_forget_paths(d, kind, index);
			incident_end(d, k, VERDICT_OK,
			    "its share of slow pairs is as usual");
		}
		return;
	}
	if (k != NULL) {
		if (k->paths && k->series == s)
			incident_write(d, k);
		return;
	}
	k = incident_new(d, kind, index);
	k->what = kind == JUDGE_LEAF ? WHAT_LINK : WHAT_NODE;
	k->paths = 1;
	incident_show_from(d, k, s, from);
}

void
incident_paths_dispel(struct diagnosis *d, struct incident *k)
{
	series_forget_paths(k->series, k->kind, k->index);
	incident_end(d, k, VERDICT_OK,
	    "a confirmation run found no more slow pairs than among other "
	    "nodes");
}

/* A port's own rate is certain, so it is bad at once. A wrong setting is a
 * warning. */
void
incident_port(struct diagnosis *d, uint32_t node,
    const struct port_shortfall *seen)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct diagnosis_series *s;
	enum verdict verdict;

	if (seen == NULL) {
		if (k != NULL && k->what == WHAT_PORT)
			incident_end(d, k, VERDICT_OK,
			    "its ports have their expected values");
		return;
	}
	verdict = verdict_text_ports[seen->fact].verdict;
	s = diagnosis_series_of(d, "", SERIES_PORT, PARTNERS_PAIR);
	if (s == NULL ||
	    (k != NULL && k->what == WHAT_PORT && k->port.fact == seen->fact &&
		k->port.now == seen->now &&
		strcmp(k->port.name, seen->name) == 0))
		return;
	if (k == NULL)
		k = incident_new(d, JUDGE_NODE, node);
	else if (verdict != VERDICT_BAD && k->what != WHAT_PORT)
		return; /* a measured result is more important */
	k->what = WHAT_PORT;
	k->verdict = verdict;
	k->port = *seen;
	incident_show_from(d, k, s, &no_run);
}

/* The port may be idle, and the effect was not measured: a warning, which the
 * result of any test replaces. */
void
incident_links(struct diagnosis *d, uint32_t node)
{
	const struct link_sum *worst = link_worst(&d->links, node);
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct diagnosis_series *s;

	if (worst == NULL) {
		if (k != NULL && k->what == WHAT_LINK_ERRORS)
			incident_end(d, k, VERDICT_OK,
			    "its ports count no more errors than other ports");
		return;
	}
	s = diagnosis_series_of(d, "", SERIES_LINK_ERRORS, PARTNERS_PAIR);
	if (s == NULL || (k != NULL && k->what != WHAT_LINK_ERRORS))
		return; /* a measured result is more important */
	if (k != NULL) {
		incident_write(d, k);
		return;
	}
	k = incident_new(d, JUDGE_NODE, node);
	k->what = WHAT_LINK_ERRORS;
	incident_show_from(d, k, s, &no_run);
}

void
incident_mtu(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct hole_place *seen)
{
	struct incident *k = incident_find(d, kind, index);
	struct diagnosis_series *s = diagnosis_series_of(d, "",
	    seen->dead ? SERIES_DEAD : SERIES_MTU, PARTNERS_PAIR);
	int is_new = k == NULL || k->series != s;
	/* Paths that do not cross a stage do not count for it. */
	int first = kind == JUDGE_STAGE;

	if (!seen->named) {
		if (!is_new && seen->paths[1] + !first * seen->paths[0] > 0 &&
		    seen->holes[1] + !first * seen->holes[0] == 0)
			incident_end(d, k, VERDICT_OK,
			    seen->dead
				? "echoes arrive on all paths over these "
				  "switches"
				: "large packets pass, or the network "
				  "reports that they are too large");
		return;
	}
	/* A slow port is the better explanation, and a confirmation run in
	 * progress is awaited. */
	if (s == NULL ||
	    (k != NULL && is_new &&
		((incident_is_seen(k) && k->verdict == VERDICT_BAD) ||
		    d->pass.of == k)))
		return;
	if (k == NULL)
		k = incident_new(d, kind, index);
	k->what = seen->dead ? WHAT_SPINE : WHAT_MTU;
	k->verdict = VERDICT_BAD;
	k->hole = *seen;
	k->paths = 0;
	incident_show_from(d, k, s, is_new ? &no_run : NULL);
}

/* A node with which exchanges do not end cannot be measured: this outranks
 * being slow. */
void
incident_stuck(struct diagnosis *d, uint32_t node,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct diagnosis_series *s;
	int is_new = k == NULL || k->what != WHAT_STUCK;

	if (!stuck_is_named(&d->stuck, node)) {
		if (!is_new)
			incident_end(d, k, VERDICT_OK,
			    "exchanges with this node complete again");
		return;
	}
	s = diagnosis_series_of(d, "", SERIES_STUCK, PARTNERS_PAIR);
	if (s == NULL || from == NULL ||
	    (is_new && k != NULL && incident_is_seen(k) &&
		k->verdict == VERDICT_BAD))
		return; /* a slow port or an MTU explains it already */
	if (k == NULL)
		k = incident_new(d, JUDGE_NODE, node);
	k->what = WHAT_STUCK;
	k->verdict = VERDICT_BAD;
	incident_show_from(d, k, s, is_new ? from : NULL);
}

void
incident_shortfall(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from, const struct shortfall_expected *seen)
{
	struct incident *k = incident_find(d, kind, index);
	struct diagnosis_series *s;

	if (seen == NULL) {
		if (k != NULL && k->what == WHAT_PREDICTION)
			incident_end(d, k, VERDICT_OK, "as fast as predicted");
		return;
	}
	s = diagnosis_series_of(d, from->class, SHORTFALL_EXPECTED,
	    PARTNERS_PAIR);
	if (s == NULL || (k != NULL && k->what != WHAT_PREDICTION))
		return; /* the comparison with peers is more exact */
	if (k == NULL)
		k = incident_new(d, kind, index);
	k->what = WHAT_PREDICTION;
	k->expected = *seen;
	incident_show_from(d, k, s, from);
}

void
incident_end(struct diagnosis *d, struct incident *k, enum verdict verdict,
    const char *why)
{
	char span[32];

	clk_span_format(clk_unix_ns() - k->since_unix_ns, span, sizeof(span));
	snprintf(k->text, sizeof(k->text), "%s: %s; the verdict was %s for %s",
	    k->subject, why, names_verdicts[k->verdict], span);
	k->verdict = verdict;
	k->over = 1;
	d->ports_new = 1; /* it may have hidden a port's case */
	incident_tell(d, k);
	TAILQ_REMOVE(&d->incidents, k, link);
	if (d->pass.of == k)
		d->pass.of = NULL;
	incident_free(k);
}

struct diagnosis_source
incident_source(const struct incident *k)
{
	return (struct diagnosis_source){ k->run, "", k->class, k->mpi,
		k->launcher, k->slurm, NULL };
}

void
incident_move(struct diagnosis *d, struct incident *k, enum judge_kind kind,
    uint32_t index, const char *why)
{
	struct incident *to = incident_new(d, kind, index);
	struct diagnosis_source from = incident_source(k);

	to->series = k->series;
	incident_source_set(to, &from);
	to->what = k->what;
	to->verdict = k->verdict;
	to->passed = k->passed;
	to->finding = k->finding;
	to->other = k->other;
	to->report = k->report;
	to->since_unix_ns = k->since_unix_ns;
	to->asks_way = k->asks_way;
	snprintf(to->pass_run, sizeof(to->pass_run), "%s", k->pass_run);
	if (kind == JUDGE_LEAF) {
		/* Write the text with the values that its node showed. */
		xstrset(&k->subject, to->subject);
		incident_write(d, k);
		snprintf(to->text, sizeof(to->text), "%s", k->text);
		xstrset(&k->subject, roster_by_id(d->roster, k->index)->name);
	} else {
		incident_write(d, to);
	}
	k->verdict = VERDICT_WARN; /* it was only suspected */
	incident_end(d, k, VERDICT_OK, why);
	incident_tell(d, to);
}

/* Note a recovery although the cause was not removed. Return 1 if that was
 * frequent enough to call it intermittent. */
static int
incident_is_intermittent(struct diagnosis *d, struct incident *k, double effect)
{
	struct diagnosis_node *cn = &d->nodes[k->index];

	memmove(&cn->dispelled_ns[1], &cn->dispelled_ns[0],
	    sizeof(cn->dispelled_ns) - sizeof(cn->dispelled_ns[0]));
	cn->dispelled_ns[0] = clk_ns();
	k->effect = fmax(k->effect, effect);
	if (k->what == WHAT_INTERMITTENT)
		return 1; /* already known */
	if (cn->dispelled_ns[DISPELLED_MANY - 1] == 0 ||
	    cn->dispelled_ns[0] - cn->dispelled_ns[DISPELLED_MANY - 1] >
		DISPELLED_SPAN_NS)
		return 0;
	k->what = WHAT_INTERMITTENT;
	k->verdict = VERDICT_WARN;
	incident_write(d, k);
	incident_tell(d, k);
	return 1;
}

static void
incident_review(struct diagnosis *d, struct incident *k)
{
	struct diagnosis_series *s;
	struct err err;

	if (k->kind >= JUDGE_FLEET || k->what == WHAT_PORT ||
	    k->what == WHAT_LINK_ERRORS || k->paths)
		return; /* these end when their fact ends */
	if (k->what == WHAT_INTERMITTENT) {
		if (clk_ns() - d->nodes[k->index].dispelled_ns[0] >
		    DISPELLED_SPAN_NS)
			incident_end(d, k, VERDICT_OK,
			    "not slow again for a week");
		return;
	}
	if (k->what == WHAT_DRIFT) {
		const struct drift *drift = series_drift_of(k->series,
		    k->index);

		/* If a judge names it now, that has opened another incident. */
		if (drift == NULL)
			incident_end(d, k, VERDICT_OK, "as fast as before");
		else if (drift->from == DRIFT_NONE &&
		    !(drift->was_opened >= d->o.judge.effect_min &&
			incident_is_intermittent(d, k, drift->was_opened)))
			incident_end(d, k, VERDICT_OK, "as fast as before");
		else if (drift->from == DRIFT_NONE)
			return;
		else
			incident_write(d, k);
		return;
	}
	s = incident_naming(d, k);
	if (s == NULL && k->taken)
		return;
	if (s == NULL) {
		err_say(&err, "normal for %d rounds", d->o.judge.clean);
		incident_end(d, k, VERDICT_OK, err.text);
		return;
	}
	/* Rounds over all rails do not show which rail is slow. */
	if (k->rail[0] == '\0' || s->rail[0] != '\0')
		k->series = s;
	if (k->rail[0] != '\0')
		snprintf(k->rail, sizeof(k->rail), "%s", k->series->rail);
	if (k->what == WHAT_HOST && !k->taken &&
	    !judge_is_host(s->judge,
		judge_track(s->judge, k->kind, k->index))) {
		/* The host has recovered, and the node is still slow. */
		incident_what_set(k);
		k->host[0] = '\0';
		incident_write(d, k);
		incident_tell(d, k);
		return;
	}
	/* Without new evidence the text stays valid. */
	if (judge_effect(judge_track(s->judge, k->kind, k->index)) > 0)
		incident_write(d, k);
}

void
incidents_review(struct diagnosis *d, struct diagnosis_series *s)
{
	struct incident *k, *next;

	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next)
		if (k->series == s)
			incident_review(d, k);
}

void
incident_dispel(struct diagnosis *d, struct incident *k)
{
	double effect = judge_effect(incident_track(k));
	struct diagnosis_series *other;

	judge_confirm(k->series->judge, k->kind, k->index, 0);
	d->learned = 1; /* the dismissal must be stored */
	if (k->kind == JUDGE_NODE &&
	    effect >= DISPELLED_TIMES * d->o.judge.effect_min &&
	    incident_is_intermittent(d, k, effect))
		return;
	if (k->what == WHAT_INTERMITTENT)
		return;
	other = incident_naming(d, k);
	if (other == NULL) {
		incident_end(d, k, VERDICT_OK,
		    "a confirmation run found it as fast as its peers");
		return;
	}
	k->series = other;
	incident_what_set(k);
	k->verdict = VERDICT_WARN;
	k->passed = 0;
	k->tries = 0;
	k->next_ns = 0;
	incident_write(d, k);
	incident_tell(d, k);
}

/* ---- incidents of an earlier collector ---- */

/* Load the value of a port, and its usual value. */
static void
incident_load_port(struct diagnosis_node *cn, const json_t *o,
    struct port_shortfall *port)
{
	char key[PORT_KEY_BYTES];
	int f = PORT_FACT_MAX - 1;

	while (f > 0 && json_object_get(o, verdict_text_ports[f].now) == NULL)
		f--;
	port->fact = (enum port_fact)f;
	port->now = member_number(o, verdict_text_ports[f].now);
	port->usual = member_number(o, verdict_text_ports[f].usual);
	if (cn->ports == NULL)
		cn->ports = json_object();
	port_key(port->name, port->fact, key);
	json_object_set_new(cn->ports, key, json_real(port->usual));
}

static int
incident_load_errors(struct diagnosis *d, uint32_t node, const json_t *o)
{
	const struct link_counter *c = names_link_counter_find(
	    member_text(o, "counter"));
	struct link_sum s = { .errors = member_unsigned(o, "errors"),
		.span_s = member_unsigned(o, "span_s"),
		.looks = (uint32_t)member_unsigned(o, "looks"),
		.with = (uint32_t)member_unsigned(o, "looks_with_errors") };

	if (c == NULL)
		return -EPROTO; /* of a later version */
	s.kind = c->kind;
	snprintf(s.counter, sizeof(s.counter), "%s", c->name);
	snprintf(s.port, sizeof(s.port), "%s", member_text(o, "port"));
	link_restore(&d->links, node, &s);
	return 0;
}

/* Load the result of a confirmation run. */
static void
incident_load_confirmation(struct diagnosis *d, struct incident *k,
    const json_t *o)
{
	const json_t *c = json_object_get(o, "confirmation");
	int finding = STR_FIND(confirm_findings, member_text(c, "finding"));
	int way = STR_FIND(confirm_ways, member_text(c, "direction"));

	if (finding == CONFIRM_BETWEEN)
		k->other = diagnosis_leaf(d, member_text(o, "other_leaf"));
	if (finding < 0 ||
	    (finding == CONFIRM_BETWEEN && k->other == SCORE_NO_LEAF))
		return;
	k->passed = 1;
	k->finding = (enum confirm_finding)finding;
	k->report.finding = k->finding;
	k->report.way = way < 0 ? CONFIRM_WAY_UNKNOWN : (enum confirm_way)way;
	k->report.effect = member_number(c, "effect");
	k->report.partners = (size_t)member_int(c, "partners");
	k->report.slow_partners = (size_t)member_int(c, "slow_partners");
	snprintf(k->pass_run, sizeof(k->pass_run), "%.63s",
	    member_text(c, "run"));
}

/* Slow pairs named it, and they must be as usual again before it ends. */
static void
incident_load_paths(struct diagnosis *d, struct incident *k)
{
	struct diagnosis_series *s = k->series;
	struct drift *of;

	k->paths = k->kind != JUDGE_STAGE;
	if (k->kind == JUDGE_NODE) {
		struct member_sum *m = series_drift_member(s, k->index);

		if (!m->raised)
			m->sum = MEMBER_RESTORED;
		m->raised = 1;
		return;
	}
	series_drift_room(d, s, d->leaf_count);
	of = k->kind == JUDGE_LEAF ? &s->paths[k->index] : &s->stages[k->index];
	if (of->from == DRIFT_NONE)
		of->sums.up = MEMBER_RESTORED; /* cut to the limit later */
	of->from = DRIFT_OWN;
}

/* Close a case in the store that cannot be loaded. */
static void
incident_load_refuse(struct diagnosis *d, const json_t *o, const char *why)
{
	json_t *over = json_deep_copy(o);

	json_object_set_new(over, "verdict",
	    json_string(names_verdicts[VERDICT_UNKNOWN]));
	json_object_set_new(over, "text",
	    json_sprintf("%s: %s", member_text(o, "subject"), why));
	json_object_set_new(over, "at_unix_ns",
	    json_integer((json_int_t)clk_unix_ns()));
	store_put_verdict(d->store, over,
	    &(struct store_event){ "verdict", member_text(o, "subject"),
		member_text(over, "text"), over });
	json_decref(over);
}

/* Find the subject: 0, or -ENOENT. */
static int
incident_load_subject(struct diagnosis *d, const json_t *o,
    const struct diagnosis_series *s, enum judge_kind *ret_kind,
    uint32_t *ret_index)
{
	const char *kind = member_text(o, "kind");
	const char *subject = member_text(o, "subject");
	const struct node *n = roster_find(d->roster, subject);

	if (strcmp(kind, "leaf") == 0) {
		*ret_kind = JUDGE_LEAF;
		*ret_index = diagnosis_leaf(d, subject);
		return *ret_index == SCORE_NO_LEAF ? -ENOENT : 0;
	}
	if (strcmp(kind, "spine") == 0) {
		*ret_kind = JUDGE_STAGE;
		*ret_index = spines_find(d, subject);
		return *ret_index == STAGE_NONE ? -ENOENT : 0;
	}
	if (strcmp(kind, "fleet") == 0) {
		*ret_kind = JUDGE_FLEET;
		*ret_index = (uint32_t)(s - d->series);
		return s->fleet.from == DRIFT_NONE ? -ENOENT : 0;
	}
	*ret_kind = JUDGE_NODE;
	*ret_index = n != NULL ? (uint32_t)n->id : 0;
	return n == NULL ? -ENOENT : 0;
}

static void
incident_load_one(struct diagnosis *d, const json_t *o)
{
	struct diagnosis_series *s = diagnosis_series_stored(d, o);
	int bad = strcmp(member_text(o, "verdict"), "bad") == 0;
	int what = STR_FIND(names_whats, member_text(o, "what"));
	int is_paths = member_bool(o, "paths");
	enum judge_kind kind;
	struct diagnosis_source from = { member_text(o, "run"), "",
		member_text(o, "class"), member_text(o, "mpi"),
		member_text(o, "launcher"), json_object_get(o, "slurm"), NULL };
	const struct node *n;
	struct incident *k;
	uint32_t index;

	if (!bad && strcmp(member_text(o, "verdict"), "warn") != 0)
		return;
	if (s == NULL || what < 0 ||
	    incident_load_subject(d, o, s, &kind, &index) < 0 ||
	    incident_find(d, kind, index) != NULL) {
		incident_load_refuse(d, o,
		    "the stored verdict was closed: its node, leaf, link or "
		    "measurement is unknown to this collector");
		return;
	}
	/* Stuck exchanges and dead paths are detected again if they still
	 * exist. */
	if (what == WHAT_STUCK ||
	    (kind == JUDGE_STAGE && s->sort >= CANARY_MAX) ||
	    (kind == JUDGE_LEAF && what >= WHAT_PORT && what != WHAT_MTU)) {
		incident_load_refuse(d, o,
		    "the stored verdict was closed when the collector "
		    "restarted; if the fault persists, a new verdict follows");
		return;
	}
	n = kind == JUDGE_NODE ? roster_by_id(d->roster, index) : NULL;
	if (what < WHAT_DRIFT && !is_paths && kind < JUDGE_FLEET)
		judge_restore(s->judge, kind, index,
		    bad ? JUDGE_BAD : JUDGE_OUTLIER);
	k = incident_new(d, kind, index);
	k->series = s;
	k->what = (enum what)what;
	if (what == WHAT_RAIL || what == WHAT_UNDETERMINED)
		snprintf(k->rail, sizeof(k->rail), "%s", s->rail);
	k->verdict = bad ? VERDICT_BAD : VERDICT_WARN;
	k->since_unix_ns = (uint64_t)member_int(o, "since_unix_ns");
	incident_load_confirmation(d, k, o);
	if (is_paths || kind == JUDGE_STAGE)
		incident_load_paths(d, k);
	snprintf(k->text, sizeof(k->text), "%s", member_text(o, "text"));
	k->expected.ratio = member_number(o, "ratio");
	k->expected.met = (uint32_t)member_int(o, "met");
	snprintf(k->port.name, sizeof(k->port.name), "%.31s",
	    member_text(o, "port"));
	if (what == WHAT_PORT)
		incident_load_port(diagnosis_node(d, n), o, &k->port);
	if (what == WHAT_LINK_ERRORS &&
	    incident_load_errors(d, (uint32_t)n->id, o) < 0) {
		TAILQ_REMOVE(&d->incidents, k, link);
		incident_free(k);
		return;
	}
	k->hole.mtu = (uint32_t)member_int(o, "mtu");
	if (what == WHAT_INTERMITTENT) {
		struct diagnosis_node *cn = diagnosis_node(d, n);

		k->passed = 1;
		k->effect = member_number(o, "effect");
		for (int i = 0; i < DISPELLED_MANY; i++)
			cn->dispelled_ns[i] = clk_ns();
	}
	snprintf(k->expected.machine, sizeof(k->expected.machine), "%s",
	    member_text(o, "machine"));
	incident_source_set(k, &from);
}

void
diagnosis_leaves_changed(struct diagnosis *d)
{
	uint8_t *has_nodes = xcalloc(d->leaf_count + (size_t)1, 1);
	struct incident *k, *next;

	spines_renew(d);
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const json_t *at = json_object_get(d->leaf_index,
		    roster_by_id(d->roster, i)->leaf);

		if (at != NULL)
			has_nodes[json_integer_value(at)] = 1;
	}
	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next)
		if (k->kind == JUDGE_LEAF && !has_nodes[k->index])
			incident_end(d, k, VERDICT_UNKNOWN,
			    "no node is on that leaf any more");
	free(has_nodes);
}

void
diagnosis_load(struct diagnosis *d, const json_t *verdicts)
{
	json_t *o;
	size_t i;

	json_array_foreach (verdicts, i, o)
		incident_load_one(d, o);
	diagnosis_leaves_changed(d);
}
