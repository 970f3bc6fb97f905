/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_up.c - one large effect orders the next rounds at once: chooses the
 * subjects, the times of their runs, and passes the results to the judge. A
 * suspect gets the missing votes in a minute instead of two rounds, and a
 * recovered one gets its clean rounds faster in the same manner. The judge and
 * the confirmation run decide whether it is an outlier, bad or ok.
 */
#include "daemon/diagnosis/follow_up.h"

#include <math.h>

#include "common/clk.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_outlier.h"
#include "daemon/diagnosis/incident_show.h"

/* Rounds that are close in time see the same disturbance, so there is a gap
 * between them, and no node becomes bad that was not slow for PERSIST_NS. A bad
 * node must be normal for longer. These times apply if rounds are 6 minutes or
 * more apart; with more frequent rounds they are proportionally shorter. */
#define FOLLOW_GAP_NS  (15 * CLK_NS_PER_S)
#define RECOVER_GAP_NS (120 * CLK_NS_PER_S)
#define PERSIST_NS     (180 * CLK_NS_PER_S)
#define EVERY_NS       (360 * CLK_NS_PER_S)
/* If a larger share of a round is slow, it is not a single effect, and too few
 * nodes remain for a comparison. */
#define FOLLOW_SHARE 0.25
/* Runs without a result, after which only rounds decide. */
#define FOLLOW_TRIES 3
/* A place was slow enough, in units of the smallest effect that counts, for its
 * next normal round to mean that the fault is over. */
#define RELIEF_TIMES  2.0
#define RELIEF_ROUNDS 8 /* the slow round is at most this many rounds ago */

static const struct track *
follow_up_track(const struct incident *k)
{
	return judge_track(k->series->judge, k->kind, k->index);
}

static uint64_t
follow_up_span(const struct incident *k, uint64_t span_ns)
{
	uint64_t every_ns = k->series->every_ns;

	return every_ns == 0 || every_ns > EVERY_NS
	    ? span_ns
	    : (uint64_t)((double)span_ns * (double)every_ns / EVERY_NS);
}

static void
follow_up_drop(struct diagnosis *d, struct incident *k)
{
	TAILQ_REMOVE(&d->follows, k, link);
	if (d->pass.of == k)
		d->pass.of = NULL;
	incident_free(k);
}

void
follow_up_free(struct diagnosis *d)
{
	while (!TAILQ_EMPTY(&d->follows))
		follow_up_drop(d, TAILQ_FIRST(&d->follows));
}

static void
follow_up_add(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, enum recovers recovers,
    const struct diagnosis_source *from)
{
	struct incident *k;

	TAILQ_FOREACH (k, &d->follows, link)
		if (k->kind == kind && k->index == index &&
		    (k->series == s || !recovers))
			return;
	k = fault_outlier_suspect(d, s, kind, index, from);
	k->recovers = recovers;
	k->first_ns = clk_ns();
	k->confirm.next_ns = k->first_ns +
	    (recovers ? follow_up_span(k, RECOVER_GAP_NS) : 0);
	TAILQ_INSERT_TAIL(&d->follows, k, link);
}

/* Return 1 if its case is open or over, its newest round is normal, or it
 * cannot be measured. */
static int
follow_up_is_over(const struct diagnosis *d, const struct incident *k)
{
	const struct track *t = follow_up_track(k);

	if (t == NULL || k->confirm.tries >= FOLLOW_TRIES ||
	    (k->kind == JUDGE_NODE &&
		!roster_is_up(roster_by_id(d->roster, k->index))))
		return 1;
	switch (k->recovers) {
	case RECOVERS_MAYBE:
		return t->state < JUDGE_OUTLIER;
	case RECOVERS:
		return t->state < JUDGE_OUTLIER || t->clean == 0;
	default:
		return t->state >= JUDGE_OUTLIER || (t->votes & 1) == 0;
	}
}

static void
follow_up_suspects(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from)
{
	size_t large = 0;

	for (size_t i = 0; i < count; i++)
		large += !isnan(d->obs[i].z) &&
		    judge_is_large(s->judge, JUDGE_NODE, d->obs[i].place);
	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];

		if ((double)large <= FOLLOW_SHARE * (double)count &&
		    !isnan(o->z) && !o->aside &&
		    judge_is_large(s->judge, JUDGE_NODE, o->place) &&
		    incident_find(d, JUDGE_NODE, o->place) == NULL)
			follow_up_add(d, s, JUDGE_NODE, o->place, RECOVERS_NOT,
			    from);
		if (o->leaf != SCORE_NO_LEAF &&
		    judge_is_large(s->judge, JUDGE_LEAF, o->leaf) &&
		    incident_find(d, JUDGE_LEAF, o->leaf) == NULL)
			follow_up_add(d, s, JUDGE_LEAF, o->leaf, RECOVERS_NOT,
			    from);
	}
}

/* Return 1 if a place is normal in its newest round and was slow in one of the
 * rounds before. On busy nodes the first round after a repair is not always
 * normal. */
static int
follow_up_is_relieved(const struct judge *j, const struct track *t)
{
	if (t->known == 0 || track_effect_at(t, 0) >= judge_least(j))
		return 0;
	for (int m = 1; m < t->known && m <= RELIEF_ROUNDS; m++)
		if (track_effect_at(t, m) >= RELIEF_TIMES * judge_least(j))
			return 1;
	return 0;
}

/* A place that is relieved in rounds of s has probably recovered. Tests of rare
 * rounds that named it too, for example an hourly incast, then need not wait
 * for their next round. */
static void
follow_up_others(struct diagnosis *d, const struct diagnosis_series *s,
    const struct incident *k, const struct diagnosis_source *from)
{
	if (!follow_up_is_relieved(s->judge,
		judge_track(s->judge, k->kind, k->index)))
		return;
	for (size_t i = 0; i < d->series_count; i++) {
		struct diagnosis_series *q = &d->series[i];
		const struct track *of = judge_track(q->judge, k->kind,
		    k->index);

		if (q != s && of != NULL &&
		    (q->every_ns == 0 || q->every_ns > s->every_ns) &&
		    of->state >= JUDGE_OUTLIER && of->clean == 0 &&
		    judge_was_large(of))
			follow_up_add(d, q, k->kind, k->index, RECOVERS_MAYBE,
			    from);
	}
}

void
follow_up_look(struct diagnosis *d, struct diagnosis_series *s, size_t count,
    const struct diagnosis_source *from)
{
	struct incident *k, *next;

	/* A ring is as slow as its slowest node. Only rounds over all rails can
	 * show which rail is slow. */
	if (d->o.follow_up == 0 || s->sort >= CANARY_MAX ||
	    (s->partners == PARTNERS_RING && s->sort != CANARY_INCAST) ||
	    (from->rail != NULL && from->rail[0] != '\0'))
		return;
	TAILQ_FOREACH_SAFE (k, &d->follows, link, next)
		if (k->series == s && follow_up_is_over(d, k))
			follow_up_drop(d, k);
	follow_up_suspects(d, s, count, from);
	TAILQ_FOREACH (k, &d->incidents, link) {
		const struct track *t = k->kind < JUDGE_FLEET
		    ? judge_track(s->judge, k->kind, k->index)
		    : NULL;

		if (t == NULL || !k->fault->is_judged ||
		    incident_is_excused(k) || k->fault->is_share)
			continue;
		if (t->state >= JUDGE_OUTLIER && t->clean > 0 &&
		    judge_was_large(t))
			follow_up_add(d, s, k->kind, k->index, RECOVERS, from);
		follow_up_others(d, s, k, from);
	}
}

struct incident *
follow_up_due(struct diagnosis *d)
{
	struct incident *k, *next;

	TAILQ_FOREACH_SAFE (k, &d->follows, link, next)
		if (follow_up_is_over(d, k))
			follow_up_drop(d, k);
	TAILQ_FOREACH (k, &d->follows, link)
		if (clk_ns() >= k->confirm.next_ns)
			return k;
	return NULL;
}

static void
follow_up_slow(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r)
{
	struct diagnosis_source from = incident_source(k);
	struct incident *opened;

	judge_extra(k->series->judge, k->kind, k->index, r->effect);
	k->found++;
	/* Where rounds vary much, as on busy nodes, the votes may not be enough
	 * for the judge. The runs compare their pairs with each other, so as
	 * many runs as votes, less the round that ordered them, are. */
	if (follow_up_track(k)->state < JUDGE_OUTLIER &&
	    k->found + 1 >= (unsigned)d->o.judge.votes)
		judge_name(k->series->judge, k->kind, k->index);
	if (follow_up_track(k)->state < JUDGE_OUTLIER) {
		k->confirm.next_ns = clk_ns() +
		    follow_up_span(k, FOLLOW_GAP_NS);
		return;
	}
	fault_outlier_open(d, k->series, k->kind, k->index, &from);
	opened = incident_find(d, k->kind, k->index);
	if (opened != NULL && opened->verdict == VERDICT_WARN)
		opened->confirm.next_ns = k->first_ns +
		    follow_up_span(k, PERSIST_NS);
	follow_up_drop(d, k);
}

static void
follow_up_well(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r)
{
	struct diagnosis_source from = incident_source(k);
	struct diagnosis_series *s = k->series;
	struct incident *other;
	uint64_t several = 1;

	judge_extra(s->judge, k->kind, k->index, fmin(0, r->effect));
	other = incident_find(d, k->kind, k->index);
	if (other != NULL)
		follow_up_others(d, s, other, &from);
	k->recovers = RECOVERS;
	/* Each test that names it must find it normal. */
	TAILQ_FOREACH (other, &d->follows, link)
		several += other != k && other->kind == k->kind &&
		    other->index == k->index;
	k->confirm.next_ns = clk_ns() +
	    follow_up_span(k, RECOVER_GAP_NS) / several;
	if (follow_up_is_over(d, k))
		follow_up_drop(d, k);
	incidents_review(d, s);
}

void
follow_up_heard(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r)
{
	int found = k->kind == JUDGE_NODE ? r->finding == CONFIRM_NODE
					  : confirm_is_place(r->finding);

	k->confirm.tries = 0;
	if (found && !k->recovers)
		follow_up_slow(d, k, r);
	else if (r->finding == CONFIRM_CLEARED && k->recovers)
		follow_up_well(d, k, r);
	else
		follow_up_drop(d, k); /* only rounds decide now */
}
