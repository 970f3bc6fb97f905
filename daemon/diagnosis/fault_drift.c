/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_drift.c - a node that is slower than in its own recent weeks or in a
 * pinned baseline, relative to its peers; and the fleet, if all nodes are.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_intermittent.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"

/* Chance names one node in this many rounds: a year at 5 minutes. */
#define LIMIT_ROUNDS 105120.0
/* A larger excess of one node is cut to this. */
#define FLEET_ONE_MAX 0.7
#define FLEET_MIN     SCORE_PEERS_MIN
/* Cases of leaves with more than this share of the nodes explain the others
 * too, which meet these nodes in many of their pairs. */
#define FLEET_LEAVES 0.3
/* The newest mean of the fleet is a change beyond this many deviations of an
 * hour's mean. The normal distribution exceeds it once in 3 years of hours. */
#define FLEET_Z 4.0
/* A round of a node is outlying beyond this many deviations of all nodes. If
 * more than this share of rounds is, two outlying rounds of ten are not a
 * drift. */
#define ODD_SIGMAS 3.0
#define ODD_MOST   0.003
#define HOUR_S     3600
#define DAY_S      86400

/* Return 1 if a case of its leaf explains that a node is slower than before. */
static int
fault_drift_is_of_leaf(struct diagnosis *d, const struct score_obs *o)
{
	return o->leaf != SCORE_NO_LEAF &&
	    (incident_find(d, JUDGE_LEAF, o->leaf) != NULL ||
		incident_between(d, o->leaf) != NULL);
}

/* ---- all nodes together ---- */

/* All nodes are slower than before in that series, or no longer. */
static void
fault_drift_fleet_open(struct diagnosis *d, struct diagnosis_series *s,
    const struct diagnosis_source *from)
{
	uint32_t index = (uint32_t)(s - d->series);
	struct incident *k = incident_find(d, JUDGE_FLEET, index);

	if (s->fleet.from == DRIFT_NONE) {
		if (k != NULL)
			incident_end(d, k, VERDICT_OK,
			    s->fleet.n == 0 ? "its level is being learned again"
					    : "as fast as before");
		return;
	}
	if (k != NULL) {
		incident_write(d, k);
		return;
	}
	k = incident_take(d, NULL, &fault_fleet, JUDGE_FLEET, index);
	incident_show_from(d, k, s, from);
}

/* All nodes together: the mean deviation of each node from its own level, so
 * that the choice of nodes does not matter, less the usual deviation at this
 * hour. Call before the nodes' levels learn from the round. */
static void
fault_drift_fleet_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from)
{
	uint64_t hour = clk_unix_ns() / (3600 * CLK_NS_PER_S);
	double sum = 0, usual = rhythm_usual(&s->rhythm, hour);
	uint32_t n = 0, slow = 0, of_leaf = 0;

	for (size_t i = 0; i < count; i++) {
		const struct drift *own = series_drift_of(s, d->obs[i].place);
		int is_of_leaf = fault_drift_is_of_leaf(d, &d->obs[i]);
		double x;

		of_leaf += (uint32_t)is_of_leaf;
		if (own == NULL || own->n < DRIFT_LEARN || d->obs[i].aside ||
		    d->busy[i] || is_of_leaf)
			continue;
		x = d->obs[i].x - own->level;
		slow += x >= d->o.judge.effect_min;
		sum += fmax(-FLEET_ONE_MAX, fmin(FLEET_ONE_MAX, x));
		n++;
	}
	if (n < FLEET_MIN || of_leaf > FLEET_LEAVES * (double)count)
		return;
	sum /= n;
	s->fleet_now = sum;
	s->fleet_nodes = n;
	s->fleet_slow = slow;
	/* The level of the first day contains the course of that day. */
	if (rhythm_hear(&s->rhythm, hour, sum, s->fleet.from != DRIFT_NONE)) {
		series_fleet_begin(s);
		fault_drift_fleet_open(d, s, from);
	}
	if (rhythm_is_young(&s->rhythm))
		usual = 0;
	if (isnan(usual))
		return;
	drift_add(&s->fleet, sum - usual, sum,
	    cusum_limit(LIMIT_ROUNDS, CUSUM_K), judge_least(s->judge));
	/* The last weeks follow a slow drift, so the level of the first weeks
	 * remains a second reference. */
	if (s->fleet.n == DRIFT_MEMORY && isnan(s->fleet.pinned))
		drift_pin(&s->fleet, s->fleet.mean, DRIFT_MEMORY);
	drift_decide(&s->fleet, rhythm_sd(&s->rhythm), FLEET_Z,
	    judge_least(s->judge), 1);
	fault_drift_fleet_open(d, s, from);
}

/* ---- every node ---- */

/* It differs from its own past: open an incident, unless one is open. */
static void
fault_drift_open(struct diagnosis *d, struct diagnosis_series *s, uint32_t node,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);

	if (k != NULL)
		return; /* the comparison with peers is more exact */
	k = incident_take(d, NULL, &fault_drift, JUDGE_NODE, node);
	incident_show_from(d, k, s, from);
}

/* Learn the share of nodes whose round is newly outlying: a single slow pair
 * causes some if a node has few partners, and so does one bad spine of many.
 * The worst node of a round does not count, since it may be faulty. x is
 * reordered. */
static void
fault_drift_odd_hear(struct diagnosis_series *s, double *x, size_t n,
    double effect_min)
{
	double most;
	size_t odd = 0;

	if (n < 2)
		return;
	/* Scatter around 0, each node's own past, and not around the median: a
	 * common shift of all nodes widens the limit and makes none odd. */
	most = robust_median(x, n) + ODD_SIGMAS * robust_mad(x, n, 0);
	for (size_t i = 0; i < n; i++)
		odd += x[i] >= fmax(effect_min, most);
	s->odd += DRIFT_NOW * ((double)(odd - (odd > 0)) / (double)n - s->odd);
}

/* Compare every node with its own past: the distance of the newest means of all
 * nodes from their past is measured, and a larger distance is a drift. */
static void
fault_drift_hear(struct diagnosis *d, struct diagnosis_series *s, size_t count,
    const struct diagnosis_source *from)
{
	double *x = xcalloc(count + 1, sizeof(*x)), sd, z;
	double *one = xcalloc(count + 1, sizeof(*one));
	size_t n = 0;

	if (count != s->limit_nodes) {
		s->limit_nodes = count;
		s->limit = cusum_limit(LIMIT_ROUNDS * (double)count, CUSUM_K);
	}

	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		struct drift *drift = series_drift_need(s, o->place);
		double distance = o->effect + o->excuse + o->usual;
		int is_slow = judge_is_slow(s->judge, o->place, o->leaf);

		if (isnan(o->effect) || d->busy[i])
			continue; /* no peers; or host contention explains it */
		drift->frozen = (uint8_t)(is_slow ||
		    distance > JUDGE_USUAL_MOST);
		/* The level is relative to the fleet, so that the fleet's own
		 * changes do not enter it. */
		drift_add(drift, distance, o->x - s->fleet_now, s->limit,
		    judge_least(s->judge));
		/* These rounds belong to that case: after it the newest mean
		 * must not show a fault that was repaired. */
		if (is_slow && drift->n > 0)
			drift->now = drift->mean;
		if (drift->n >= DRIFT_LEARN && drift->from == DRIFT_NONE &&
		    !drift->frozen) {
			one[n] = distance - drift->mean;
			x[n++] = drift->now - drift->mean;
		}
	}
	wander_hear(&s->wander, x, n, 0);
	fault_drift_odd_hear(s, one, n, judge_least(s->judge));
	free(x);
	free(one);
	sd = wander_sd(&s->wander, DRIFT_SIGMA_MIN / 2);
	z = judge_threshold(&d->o.judge, count);
	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		struct drift *drift = series_drift_need(s, o->place);

		if (isnan(o->effect) || d->busy[i] ||
		    !drift_decide(drift, sd, z, judge_least(s->judge),
			s->odd > ODD_MOST) ||
		    drift->from == DRIFT_NONE)
			continue;
		/* After that case it is judged again. */
		if (fault_drift_is_of_leaf(d, o))
			drift->from = DRIFT_NONE;
		else
			fault_drift_open(d, s, o->place, from);
	}
}

/* ---- an open case ---- */

static void
fault_drift_still(struct diagnosis *d, struct incident *k)
{
	const struct drift *drift = series_drift_of(k->series, k->index);

	/* If a judge names it now, that has opened another incident. */
	if (drift != NULL && drift->from != DRIFT_NONE)
		incident_write(d, k);
	else if (drift == NULL || drift->was_opened < d->o.judge.effect_min ||
	    !fault_intermittent_note(d, k, drift->was_opened))
		incident_end(d, k, VERDICT_OK, "as fast as before");
}

static const struct drift *
fault_drift_of(const struct incident *k)
{
	return k->kind == JUDGE_FLEET ? &k->series->fleet
				      : series_drift_of(k->series, k->index);
}

/* Add the span from which its level was learned: "weeks", "6 hours". */
static void
fault_drift_add_span(const struct incident *k, const struct drift *now,
    char *text)
{
	uint64_t s = now->n * k->series->every_ns / CLK_NS_PER_S;

	if (k->series->every_ns == 0 || s >= 14 * DAY_S)
		fault_text_add(text, "weeks");
	else if (s >= 2 * DAY_S)
		fault_text_add(text, "%" PRIu64 " days", s / DAY_S);
	else if (s >= 2 * HOUR_S)
		fault_text_add(text, "%" PRIu64 " hours", s / HOUR_S);
	else
		fault_text_add(text, "%" PRIu64 " minutes", s / 60 + 1);
}

static void
fault_drift_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct drift *now = fault_drift_of(k);
	struct series_kind sort = series_kind(k->series->sort);
	const char *rail = incident_rail(k);
	char slower[FAULT_TEXT_SLOWER];

	fault_text_slower(drift_shift(now), sort.is_rate, slower);
	if (k->kind == JUDGE_FLEET)
		fault_text_add(text, "the fleet (all nodes) is");
	else /* it may still be as fast as its peers */
		fault_text_add(text, "%s%s%s:", k->subject,
		    rail[0] != '\0' ? ", rail " : "", rail);
	fault_text_add(text, " %s slower than in ", slower);
	if (now->from == DRIFT_PINNED)
		fault_text_add(text, "%s%s",
		    k->kind == JUDGE_FLEET ? "its first two weeks"
					   : "baseline ",
		    k->kind == JUDGE_FLEET ? "" : d->o.baseline);
	else {
		fault_text_add(text, "the last ");
		fault_drift_add_span(k, now, text);
	}
	if (k->kind == JUDGE_FLEET) {
		fault_text_add(text,
		    ": %" PRIu32 " of %" PRIu32 " nodes are slower than "
		    "before, over %" PRIu32 " rounds (%s)",
		    k->series->fleet_slow, k->series->fleet_nodes,
		    drift_rounds(now), sort.name);
		return;
	}
	fault_text_add(text,
	    ", relative to its peers, over %" PRIu32 " rounds (%s)",
	    drift_rounds(now), sort.name);
}

static void
fault_drift_json(const struct diagnosis *d, const struct incident *k, json_t *o)
{
	const struct drift *now = fault_drift_of(k);

	(void)d;
	if (now != NULL)
		json_object_set_new(o, "effect", json_real(drift_shift(now)));
	json_object_set_new(o, "rounds",
	    json_integer(now == NULL ? 0 : drift_rounds(now)));
}

const struct fault_kind fault_drift = {
	.what = WHAT_DRIFT,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_WARN,
	.source = FAULT_ROUNDS,
	.hear_round = fault_drift_hear,
	.text = fault_drift_text,
	.json = fault_drift_json,
	.still = fault_drift_still,
};

const struct fault_kind fault_fleet = {
	.what = WHAT_FLEET,
	.about = 1 << JUDGE_FLEET,
	.severity = VERDICT_WARN,
	.source = FAULT_ROUNDS,
	.hear_round = fault_drift_fleet_hear,
	.text = fault_drift_text,
	.json = fault_drift_json,
};
