/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_outlier.c - a node, rail or leaf that its judge names: slower than its
 * peers in several rounds. Busy cores of its host may explain it.
 */
#include "daemon/diagnosis/fault_outlier.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_intermittent.h"
#include "daemon/diagnosis/fault_link_errors.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/rounds.h"

/* Lost cores are reported after this long, whether or not the node is slow. */
#define TAKEN_NS (60 * CLK_NS_PER_S)
/* A job's traffic is seen this long after it has made a node slow, or earlier:
 * as soon as the collector runs nothing on the node for a few seconds. */
#define JOB_SEEN_NS (120 * CLK_NS_PER_S)

/* Set the series that shows it, and the kind: slow, or losing echoes. */
static void
fault_outlier_series_set(const struct diagnosis *d, struct incident *k,
    struct diagnosis_series *s)
{
	k->series = s;
	k->fault = incident_kind_of(d, WHAT_NODE, s, 0);
}

/* Set what from its series. */
static void
fault_outlier_what_set(struct incident *k)
{
	k->what = k->kind == JUDGE_LEAF  ? WHAT_LEAF
	    : k->series->rail[0] != '\0' ? WHAT_RAIL
					 : WHAT_NODE;
	snprintf(k->rail, sizeof(k->rail), "%s", k->series->rail);
}

struct incident *
fault_outlier_suspect(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_make(d, &fault_outlier, kind, index);

	k->series = s;
	fault_outlier_what_set(k);
	incident_source_set(k, from);
	return k;
}

void
fault_outlier_open(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, kind, index);

	if (kind == JUDGE_NODE)
		s = rounds_rail_or_node(d, s, index);
	if (s == NULL ||
	    (kind == JUDGE_LEAF && k == NULL &&
		incident_between(d, index) != NULL))
		return; /* the other leaf's case covers both */
	if (k != NULL && k->fault->is_share && kind == JUDGE_NODE) {
		incident_end(d, k, VERDICT_OK,
		    "all its paths are slow, not only some: a new verdict "
		    "replaces this one");
		k = NULL;
	}
	if (k != NULL && k->what == WHAT_RAIL && !k->confirm.is_done &&
	    s->sort == k->series->sort && s->rail[0] == '\0' &&
	    strcmp(s->device, k->series->device) == 0 &&
	    s->bytes == k->series->bytes) {
		k->series = s; /* other rails have become slow too */
		fault_outlier_what_set(k);
		incident_write(d, k);
		incident_tell(d, k);
		return;
	}
	if (k != NULL && k->fault == &fault_outlier && k != d->pass.of &&
	    !k->confirm.is_done && k->series->sort >= CANARY_MAX &&
	    s->sort < CANARY_MAX) {
		/* Its echoes are slow too; a confirmation run measures MPI. */
		k->confirm.tries = 0;
		k->confirm.next_ns = 0;
		incident_show_from(d, k, s, from);
		return;
	}
	if (k != NULL &&
	    (k->fault->is_judged ||
		(k->fault->is_certain && k->verdict == VERDICT_BAD)))
		return; /* another test shows it too, or the cause is known */
	if (k != NULL && k->fault == &fault_intermittent) {
		fault_intermittent_again(k, s, from);
		return;
	}
	k = incident_take(d, k, &fault_outlier, kind, index);
	fault_outlier_series_set(d, k, s);
	fault_outlier_what_set(k);
	if (kind == JUDGE_NODE &&
	    judge_is_host(s->judge, judge_track(s->judge, kind, index))) {
		struct fault_outlier_data *data = k->data;
		const char *trouble = d->nodes[index].trouble;

		k->what = WHAT_HOST;
		snprintf(data->host, sizeof(data->host), "%s",
		    trouble != NULL ? trouble : "");
	}
	incident_show_from(d, k, s, from);
}

void
fault_outlier_taken(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node, const struct diagnosis_source *from)
{
	const struct diagnosis_node *cn = &d->nodes[node];
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct fault_outlier_data *data;
	int is_taken = cn->taken >= d->o.judge.votes &&
	    clk_ns() - cn->taken_ns >= TAKEN_NS;

	if (k != NULL) {
		data = k->data;
		if (k->fault->is_judged && !k->fault->is_share)
			data->taken &= cn->taken > 0; /* then judges decide */
		return;
	}
	if (!is_taken)
		return;
	k = incident_take(d, NULL, &fault_outlier, JUDGE_NODE, node);
	k->what = WHAT_HOST;
	data = k->data;
	data->taken = 1;
	snprintf(data->host, sizeof(data->host), "%s", cn->trouble);
	incident_show_from(d, k, s, from);
}

void
fault_outlier_found(struct diagnosis *d, struct incident *k,
    enum confirm_finding finding)
{
	static const enum what what[CONFIRM_MAX] = {
		[CONFIRM_NODE] = WHAT_NODE,
		[CONFIRM_LEAF] = WHAT_LEAF,
		[CONFIRM_LINK] = WHAT_LINK,
		[CONFIRM_UNCLEAR] = WHAT_UNDETERMINED,
		[CONFIRM_BETWEEN] = WHAT_LINK,
	};

	if (!k->fault->is_judged)
		(void)incident_take(d, k, &fault_outlier, k->kind, k->index);
	k->what = what[finding];
	if (k->what == WHAT_NODE && k->rail[0] != '\0')
		k->what = WHAT_RAIL;
}

/* Return 1 if a job's traffic explains its rounds. During runs of the collector
 * it is not seen: if it is seen now, and no run has confirmed the new case, it
 * has caused it. */
static int
fault_outlier_is_of_job(const struct diagnosis *d, const struct incident *k)
{
	return k->fault == &fault_outlier && k->kind == JUDGE_NODE &&
	    k->verdict == VERDICT_WARN && k->what != WHAT_HOST &&
	    d->nodes[k->index].link_busy &&
	    clk_unix_ns() - k->since_unix_ns < JOB_SEEN_NS;
}

void
fault_outlier_still(struct diagnosis *d, struct incident *k)
{
	struct fault_outlier_data *data = k->data;
	struct diagnosis_series *s = incident_naming(d, k);
	struct err err;

	if (s == NULL && data->taken)
		return;
	if (s != NULL && fault_outlier_is_of_job(d, k)) {
		for (; s != NULL; s = incident_naming(d, k))
			judge_forget(s->judge, k->kind, k->index);
		incident_end(d, k, VERDICT_OK,
		    "a job's traffic on its link began before it was named, "
		    "and explains it");
		return;
	}
	if (s == NULL) {
		err_say(&err, "normal for %d rounds", d->o.judge.clean);
		incident_end(d, k, VERDICT_OK, err.text);
		return;
	}
	/* Rounds over all rails do not show which rail is slow. */
	if (k->rail[0] == '\0' || s->rail[0] != '\0')
		fault_outlier_series_set(d, k, s);
	if (k->rail[0] != '\0')
		snprintf(k->rail, sizeof(k->rail), "%s", k->series->rail);
	if (k->what == WHAT_HOST && !data->taken &&
	    !judge_is_host(s->judge,
		judge_track(s->judge, k->kind, k->index))) {
		/* The host has recovered, and the node is still slow. */
		fault_outlier_what_set(k);
		data->host[0] = '\0';
		incident_write(d, k);
		incident_tell(d, k);
		return;
	}
	/* Without new evidence the text stays valid. */
	if (track_effect(judge_track(s->judge, k->kind, k->index)) > 0)
		incident_write(d, k);
}

/* A confirmation run has dismissed the result of its test: it ends, continues
 * with the result of another test, or is a fault that comes and goes. */
static void
fault_outlier_dispel(struct diagnosis *d, struct incident *k)
{
	struct diagnosis_series *other;

	if (fault_intermittent_dispelled(d, k))
		return;
	other = incident_naming(d, k);
	if (other == NULL) {
		incident_end(d, k, VERDICT_OK,
		    "a confirmation run found it as fast as its peers");
		return;
	}
	fault_outlier_series_set(d, k, other);
	fault_outlier_what_set(k);
	k->verdict = VERDICT_WARN;
	k->confirm.is_done = 0;
	k->confirm.tries = 0;
	k->confirm.next_ns = 0;
	incident_write(d, k);
	incident_tell(d, k);
}

int
fault_outlier_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	(void)d;
	(void)o;
	judge_restore(k->series->judge, k->kind, k->index,
	    k->verdict == VERDICT_BAD ? JUDGE_BAD : JUDGE_OUTLIER);
	if (k->what == WHAT_RAIL || k->what == WHAT_UNDETERMINED)
		snprintf(k->rail, sizeof(k->rail), "%s", k->series->rail);
	return 0;
}

double
fault_outlier_effect(const struct diagnosis *d, const struct incident *k)
{
	const struct track *t = incident_track(k);
	const struct drift *drift = series_drift_of(k->series, k->index);

	(void)d;
	if (t != NULL)
		return track_effect(t); /* of the rounds with a vote */
	return drift == NULL ? 0 : drift_shift(drift);
}

/* ---- its text ---- */

/* The partners of a node, or the nodes of a leaf. */
struct fault_outlier_seen {
	size_t partners, slow_partners; /* 0: unknown */
	int partners_normal; /* 1: the partners are normal with other nodes */
	size_t places, slow_places; /* of a leaf */
};

static struct fault_outlier_seen
fault_outlier_see(const struct diagnosis *d, const struct incident *k)
{
	const struct track *t = incident_track(k);
	struct fault_outlier_seen c = { 0 };

	if (k->kind == JUDGE_LEAF) {
		c.places = t->places;
		c.slow_places = t->slow_places;
	} else if (k->confirm.is_done && k->confirm.report.partners > 0) {
		c.partners = k->confirm.report.partners;
		c.slow_partners = k->confirm.report.slow_partners;
		c.partners_normal = k->confirm.report.pairs_fine;
	} else if (k->index < d->node_count) {
		c.partners = d->nodes[k->index].partners;
		c.slow_partners = d->nodes[k->index].slow_partners;
		/* The only case: all other nodes are within their peers'
		 * scatter. */
		c.partners_normal = TAILQ_FIRST(&d->incidents) == k &&
		    TAILQ_NEXT(k, link) == NULL;
	}
	return c;
}

static void
fault_outlier_add_whom(const struct incident *k,
    const struct fault_outlier_seen *c, char *text)
{
	uint32_t rounds = incident_track(k)->rounds;

	if (k->what == WHAT_LEAF || k->what == WHAT_LINK)
		fault_text_add(text, " than other leaves");
	else if (c->slow_partners > 0)
		fault_text_add(text, " than %zu of %zu partners",
		    c->slow_partners, c->partners);
	else
		fault_text_add(text, " than its peers");
	fault_text_add(text, " over %" PRIu32 " round%s (%s)", rounds,
	    rounds == 1 ? "" : "s", series_kind(k->series->sort).name);
	if (c->places > 0)
		fault_text_add(text, "; %zu of its %zu nodes are slow",
		    c->slow_places, c->places);
}

/* Add the result of the confirmation run, unless the first words have it. */
static void
fault_outlier_add_run(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	static const char *const said[CONFIRM_MAX] = {
		[CONFIRM_CLEARED] =
		    "confirmation run: as fast as its peers now",
		[CONFIRM_NODE] =
		    "confirmation run: the node is slow, not its leaf",
		[CONFIRM_LEAF] = "confirmation run: pairs inside the leaf "
				 "are slow too",
		[CONFIRM_LINK] = "confirmation run: pairs inside the leaf "
				 "are normal, so its uplink is slow",
		[CONFIRM_UNCLEAR] =
		    "confirmation run: undetermined whether the node or a path "
		    "is slow",
		[CONFIRM_BETWEEN] =
		    "confirmation run: pairs inside the leaf are normal, so "
		    "its uplink is slow, or the uplink of the only other "
		    "measured leaf, ",
	};
	/* For a node, and for a leaf. */
	static const char *const ways[CONFIRM_WAY_MAX][2] = {
		[CONFIRM_WAY_UNKNOWN] = { "", "" },
		[CONFIRM_WAY_BOTH] = { "", "" },
		[CONFIRM_WAY_SEND] = { ", only when it sends",
		    ", only for traffic out of the leaf" },
		[CONFIRM_WAY_RECEIVE] = { ", only when it receives",
		    ", only for traffic into the leaf" },
	};
	const struct incident_confirm *c = &k->confirm;
	int is_leaf = k->what == WHAT_LEAF || k->what == WHAT_LINK;
	int is_incast = k->series->sort == CANARY_INCAST;
	char next[VERDICT_NEXT_MAX];

	if (!k->confirm.is_done) {
		incident_add_pending(d, k, text);
		return;
	}
	fault_text_add(text, "; %s%s",
	    k->what == WHAT_RAIL && c->finding == CONFIRM_NODE
		? "confirmation run over this rail: the node is slow, not "
		  "its leaf"
		: said[c->finding],
	    c->finding == CONFIRM_BETWEEN ? d->leaves[c->other]
		: is_incast && c->report.way == CONFIRM_WAY_RECEIVE
		? ", measured as receiver of many senders"
		: ways[c->report.way][is_leaf]);
	incident_next_write(d, k, next);
	if (next[0] != '\0')
		fault_text_add(text,
		    c->finding == CONFIRM_UNCLEAR
			? "; next run %s"
			: "; run to find the direction: %s",
		    next);
}

static void
fault_outlier_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	int is_leaf = k->what == WHAT_LEAF || k->what == WHAT_LINK;
	const struct fault_outlier_data *data = k->data;
	struct fault_outlier_seen seen = fault_outlier_see(d, k), *c = &seen;
	const struct diagnosis_node *cn = !is_leaf && k->index < d->node_count
	    ? &d->nodes[k->index]
	    : NULL;
	const struct link_sum *errors = cn == NULL
	    ? NULL
	    : link_worst(&d->links, k->index);
	const char *rail = incident_rail(k);
	double effect = track_effect(incident_track(k));
	char slower[FAULT_TEXT_SLOWER];

	fault_text_slower(effect, series_kind(k->series->sort).is_rate, slower);

	if (k->what == WHAT_HOST && !(effect > 0)) {
		fault_text_add(text,
		    "%s: host contention: %s; its messages are not slower than "
		    "its peers' messages so far",
		    k->subject, data->host);
		return;
	}
	fault_text_add(text, "%s%s%s%s: %s slower",
	    is_leaf                    ? "leaf "
		: k->what == WHAT_RAIL ? "node "
				       : "",
	    k->subject, rail[0] != '\0' ? ", rail " : "", rail, slower);
	fault_outlier_add_whom(k, c, text);
	if (c->partners_normal && !is_leaf)
		fault_text_add(text,
		    "; its partners are normal with other nodes");
	if (k->what == WHAT_HOST)
		fault_text_add(text, "; host contention, not the network: %s",
		    data->host);
	else
		fault_outlier_add_run(d, k, text);
	if (cn != NULL && cn->nic[0] != '\0' && cn->drops > cn->drops_first)
		fault_text_add(text, "; NIC %s counted drops: %" PRId64,
		    cn->nic, cn->drops - cn->drops_first);
	if (errors != NULL) {
		fault_text_add(text, "; its ");
		fault_link_errors_add(errors, text);
	}
}

static const char *
fault_outlier_step(const struct diagnosis *d, const struct incident *k)
{
	(void)d;
	return k->confirm.is_done && k->confirm.finding == CONFIRM_BETWEEN
	    ? "check the uplinks of both leaves"
	    : names_whats[k->what].step;
}

const struct fault_kind fault_outlier = {
	.what = WHAT_NODE,
	.others = FAULT_OUTLIER_OTHERS,
	.excused = 1u << WHAT_HOST,
	.about = 1 << JUDGE_NODE | 1 << JUDGE_LEAF,
	.severity = VERDICT_WARN,
	.source = FAULT_ROUNDS,
	.bytes = sizeof(struct fault_outlier_data),
	.is_judged = 1,
	.is_confirmable = 1,
	.text = fault_outlier_text,
	.step = fault_outlier_step,
	.effect = fault_outlier_effect,
	.restore = fault_outlier_restore,
	.still = fault_outlier_still,
	.dispel = fault_outlier_dispel,
};
