/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_paths.c - a node or leaf of whose pairs some are slow, different ones
 * in each round: one of several uplinks, or one member of a bond.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_outlier.h"
#include "daemon/diagnosis/fault_spine.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"

/* Shares are not normally distributed: chance names one in ten years at 5
 * minutes. */
#define PATHS_ROUNDS 1051200.0
#define PATHS_MIN    16 /* pairs of a leaf in a round */
/* A node with a larger share of slow pairs is slow itself. One of two uplinks
 * slows half of the pairs, by chance more. */
#define PATHS_NODE_MAX 0.75
/* Required excess of slow pairs in the newest mean; and the excess that jobs
 * explain, since they load some uplinks and not others: per busy node this many
 * times the effect on other leaves, as root mean square, and 1 per busy node
 * until JOBS_KNOWN, a sum of squares, has been seen. */
#define PATHS_LEAST 0.011
#define JOBS_TIMES  4.0
#define JOBS_KNOWN  0.1 /* 40 times 5 % of busy nodes */
/* The share of pairs that may be slower than usual is at least this share of
 * the busy share of all nodes: jobs come and go. */
#define BUSY_SLOWS 0.2
/* Excess of a node's slow pairs over the other nodes of its leaf: one of four
 * paths from its port is a quarter. */
#define MEMBER_MORE     0.2
#define MEMBER_NOW      0.2 /* weight of a round */
#define MEMBER_ROUNDS   3
#define MEMBER_RESTORED 1e6  /* a sum beyond any limit, later cut to it */
#define SHIFT_MIN       0.01 /* less is the noise of a leaf's median */
#define PAIR_BOUND      2.5  /* as in the engine's count of slow pairs */

/* The data of a case. */
struct evidence {
	double sum; /* of confirm_share_evidence */
};

/* More pairs of a leaf are slow than usual, or more pairs of a node than of the
 * others of its leaf, or no longer. */
static void
fault_paths_open(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, kind, index);
	int is_over = kind == JUDGE_LEAF ? s->paths[index].from == DRIFT_NONE
					 : !s->members[index].raised;

	if (is_over) {
		if (k != NULL && k->fault == &fault_paths && k->series == s) {
			diagnosis_forget_paths(d, kind, index);
			incident_end(d, k, VERDICT_OK,
			    "its share of slow pairs is as usual");
		}
		return;
	}
	if (k != NULL) {
		if (k->fault == &fault_paths && k->series == s)
			incident_write(d, k);
		return;
	}
	k = incident_take(d, NULL, &fault_paths, kind, index);
	k->what = kind == JUDGE_LEAF ? WHAT_LINK : WHAT_NODE;

	incident_show_from(d, k, s, from);
}

/* Return the share of slow pairs of a node or leaf if all of its pairs are
 * slower by `by`: a pair counts as slow beyond BOUND of its deviations, sigma.
 * A larger share is due to some paths. */
static double
fault_paths_shifted(double share, double by, double sigma)
{
	return by < SHIFT_MIN ? share
			      : share + score_tail(PAIR_BOUND - by / sigma);
}

/* Return how much slower all pairs of a leaf are than usual. */
static double
fault_paths_leaf_off(const struct diagnosis_series *s, uint32_t leaf)
{
	const struct track *t = judge_track(s->judge, JUDGE_LEAF, leaf);

	return t == NULL ? 0 : track_mean(t, MEMBER_ROUNDS);
}

/* Sum up the pairs of every leaf's nodes, except outliers and busy nodes.
 * ret_all: sum of these; ret_out, ret_busy: the shares of all nodes that are
 * slow themselves, and that are busy. The caller frees the list. */
static struct path_sum *
fault_paths_sum(const struct diagnosis *d, const struct diagnosis_series *s,
    size_t count, struct path_sum *ret_all, double *ret_out, double *ret_busy)
{
	struct path_sum *of = xcalloc(d->leaf_count + (size_t)1, sizeof(*of));
	struct path_sum all = { 0 };
	double usual, spread;
	size_t busy = 0, out = 0;

	for (size_t i = 0; i < count; i++) {
		const struct diagnosis_node *cn = &d->nodes[d->obs[i].place];

		all.pairs += cn->partners;
		all.slow += cn->slow_partners;
	}
	usual = all.pairs > 0 ? all.slow / all.pairs : 0;
	spread = 3 * sqrt(usual * (1 - usual));
	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		const struct diagnosis_node *cn = &d->nodes[o->place];
		const struct track *t = judge_track(s->judge, JUDGE_NODE,
		    o->place);
		int is_slow = 2 * cn->slow_partners > cn->partners;
		int is_named = t != NULL && t->state >= JUDGE_OUTLIER;

		busy += cn->link_busy;
		/* Slow itself, and not by chance among so few pairs. */
		out += !o->aside &&
		    (is_named ||
			(is_slow &&
			    cn->slow_partners > cn->partners * usual +
				    spread * sqrt(cn->partners)));
		if (o->leaf == SCORE_NO_LEAF)
			continue;
		of[o->leaf].nodes++;
		of[o->leaf].busy += cn->link_busy;
		if (o->aside || d->busy[i] || t == NULL || is_named ||
		    cn->slow_partners > PATHS_NODE_MAX * cn->partners)
			continue;
		of[o->leaf].pairs += cn->partners;
		of[o->leaf].slow += cn->slow_partners;
	}
	*ret_all = (struct path_sum){ 0 };
	for (uint32_t l = 0; l < d->leaf_count; l++) {
		ret_all->pairs += of[l].pairs;
		ret_all->slow += of[l].slow;
	}
	*ret_out = (double)out / (double)count;
	*ret_busy = (double)busy / (double)count;
	return of;
}

/* One bad member of a bond slows some pairs of a node, and different ones in
 * each round: sum up the log likelihood ratio of its number of slow pairs
 * against its leaf's share (Page 1954). */
static void
fault_paths_members_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct path_sum *of,
    const struct diagnosis_source *from)
{
	double limit = log(PATHS_ROUNDS * (double)count);
	double *levels = xcalloc(count + 1, sizeof(*levels)), level;

	/* Pairs are slow relative to pairs of all kinds of nodes. */
	for (size_t i = 0; i < count; i++)
		levels[i] = d->obs[i].level;
	level = score_quantile(levels, count, 0.5);
	free(levels);
	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		const struct diagnosis_node *cn = &d->nodes[o->place];
		const struct track *t = judge_track(s->judge, JUDGE_NODE,
		    o->place);
		struct member_sum *m;
		double rest, n = cn->partners, slow = cn->slow_partners;

		m = series_member(s, o->place);
		/* Slow with all partners: that is a different fault. */
		if (t != NULL && t->state >= JUDGE_OUTLIER)
			memset(m, 0, sizeof(*m));
		if (o->leaf == SCORE_NO_LEAF || o->aside || d->busy[i] ||
		    t == NULL || t->state >= JUDGE_OUTLIER || n < 1 ||
		    2 * slow > n || of[o->leaf].pairs - n < PATHS_MIN)
			continue;
		rest = (of[o->leaf].slow - slow) / (of[o->leaf].pairs - n);
		rest = fault_paths_shifted(rest,
		    o->level - level + o->usual + track_mean(t, MEMBER_ROUNDS),
		    d->o.judge.effect_min);
		rest = fmax(0.01, fmin(0.5, rest));
		m->share += (m->sum > 0 ? MEMBER_NOW : 1) *
		    (slow / n - m->share);
		m->rest += (m->sum > 0 ? MEMBER_NOW : 1) * (rest - m->rest);
		m->sum += slow * log1p(MEMBER_MORE / rest) +
		    (n - slow) * log1p(-MEMBER_MORE / (1 - rest));
		m->sum = fmax(0, fmin(m->sum, limit + 1));
		m->rounds = m->sum > 0 ? m->rounds + 1 : 0;
		m->raised = m->sum > (m->raised ? 0 : limit) &&
		    m->rounds >= MEMBER_ROUNDS;
		fault_paths_open(d, s, JUDGE_NODE, o->place, from);
	}
}

/* Return how many more pairs may be slow per busy node: the value measured in
 * the rounds of all leaves except one (or none). */
static double
fault_paths_jobs_most(const struct diagnosis_series *s, uint32_t but)
{
	double slow = 0, busy = 0;

	for (uint32_t l = 0; l < s->paths_count; l++) {
		slow += l == but ? 0 : s->jobs_slow[l];
		busy += l == but ? 0 : s->jobs_busy[l];
	}
	return busy < JOBS_KNOWN
	    ? 1
	    : fmin(1, JOBS_TIMES * sqrt(fmax(0, slow) / busy));
}

/* Learn the squares of both, less the effect of chance on the newest mean. */
static void
fault_paths_jobs_learn(struct diagnosis_series *s, uint32_t leaf,
    const struct path_sum *of)
{
	const struct drift *p = &s->paths[leaf];
	double share = of->slow / of->pairs, keep = 1 - 1.0 / DRIFT_MEMORY;
	double chance = share * (1 - share) / of->pairs;

	if (p->n * DRIFT_NOW < 1 || p->from != DRIFT_NONE)
		return;
	s->jobs_slow[leaf] = keep * s->jobs_slow[leaf] +
	    pow(p->now - p->mean, 2) - chance * DRIFT_NOW / (2 - DRIFT_NOW);
	s->jobs_busy[leaf] = keep * s->jobs_busy[leaf] +
	    pow(s->busy_now[leaf], 2);
}

/* Learn how far the newest shares of all leaves are from their past: nodes that
 * wander move them, for longer than a round. The worst leaf does not count,
 * since it may be faulty: of few leaves one is a large part. */
static void
fault_paths_wander_hear(struct diagnosis_series *s, uint32_t leaves)
{
	double *x = xcalloc(leaves + (size_t)1, sizeof(*x));
	size_t n = 0, worst = 0;

	for (uint32_t l = 0; l < leaves; l++)
		if (s->paths[l].n >= DRIFT_LEARN &&
		    s->paths[l].from == DRIFT_NONE) {
			x[n] = s->paths[l].now - s->paths[l].mean;
			worst = x[n] > x[worst] ? n : worst;
			n++;
		}
	if (n > 2)
		x[worst] = x[--n];
	wander_hear(&s->paths_wander, x, n, 0);
	free(x);
}

/* One bad uplink slows some pairs of all nodes of a leaf, and no single node:
 * compare the share of slow pairs of each leaf, relative to all leaves, with
 * its own past. */
static void
fault_paths_hear(struct diagnosis *d, struct diagnosis_series *s, size_t count,
    const struct diagnosis_source *from)
{
	uint32_t leaves = d->leaf_count;
	struct path_sum all, *of;
	double out, busy, least;

	of = fault_paths_sum(d, s, count, &all, &out, &busy);
	series_room(d, s, leaves);
	fault_paths_wander_hear(s, leaves);
	least = leaves == 0 ? 0
			    : judge_threshold(&d->o.judge, leaves) *
		wander_sd(&s->paths_wander, 0);
	s->busy_slow = busy *
	    fmax(BUSY_SLOWS, fault_paths_jobs_most(s, leaves));
	if (busy <= BUSY_LEAF_MAX)
		fault_spine_hear(d, s, of, out, from);
	for (uint32_t l = 0; l < leaves; l++) {
		double rest = all.pairs - of[l].pairs;
		double n = s->paths[l].n + s->paths[l].late_n + 1;

		busy = of[l].busy / of[l].nodes;
		if (of[l].pairs < PATHS_MIN || rest < PATHS_MIN ||
		    busy > BUSY_LEAF_MAX)
			continue;
		s->busy_now[l] += fmax(1 / n, DRIFT_NOW) *
		    (busy - s->busy_now[l]);
		/* While a spine affects all leaves, no leaf learns, and the
		 * sums from before it was found are cleared. */
		if (fault_spine_is_open(d, s)) {
			if (incident_find(d, JUDGE_LEAF, l) == NULL) {
				drift_forget(&s->paths[l]);
			}
		} else {
			drift_add(&s->paths[l],
			    of[l].slow / of[l].pairs -
				fault_paths_shifted((all.slow - of[l].slow) /
					rest,
				    fault_paths_leaf_off(s, l),
				    d->o.judge.effect_min),
			    of[l].slow / of[l].pairs,
			    cusum_limit(PATHS_ROUNDS * leaves, s->paths[l].k),
			    fmax(least,
				PATHS_LEAST + s->busy_slow +
				    s->busy_now[l] *
					fault_paths_jobs_most(s, l)));
			fault_paths_jobs_learn(s, l, &of[l]);
		}
		if (s->paths[l].from != DRIFT_NONE &&
		    incident_find(d, JUDGE_LEAF, l) == NULL &&
		    fault_spine_share(d, s, of, l))
			drift_forget(&s->paths[l]);
		fault_paths_open(d, s, JUDGE_LEAF, l, from);
	}
	fault_paths_members_hear(d, s, count, of, from);
	free(of);
}

/* ---- an open case ---- */

static void
fault_paths_dispel(struct diagnosis *d, struct incident *k)
{
	series_forget_paths(k->series, k->kind, k->index);
	incident_end(d, k, VERDICT_OK,
	    "a confirmation run found no more slow pairs than among other "
	    "nodes");
}

/* Count the slow pairs of the leaf or node in the run, and add the evidence of
 * all runs. The share shown in its rounds is the share to detect. */
static void
fault_paths_hear_pairs(struct diagnosis *d, struct incident *k,
    const struct confirm_pair *pairs, size_t n, double slow_min)
{
	const struct confirm_run *p = &d->pass;
	struct evidence *e = k->data;
	int is_leaf = k->kind == JUDGE_LEAF;
	struct confirm_share share;
	double usual = 0, least = 0, more;

	if (is_leaf) {
		const struct drift *now = &k->series->paths[k->index];

		usual = fmax(0, now->mean);
		/* Rounds of all leaves find more slow pairs than a run of few
		 * leaves if leaves wander. */
		least = now->level;
		/* Extrapolate the newest mean, which approaches the share
		 * slowly. */
		more = drift_shift(now) /
		    -expm1(log1p(-DRIFT_NOW) * fmax(1, drift_rounds(now)));
	} else {
		const struct member_sum *m = &k->series->members[k->index];

		more = m->share - m->rest;
	}
	confirm_share(p->leaves, pairs, n, is_leaf, d->o.judge.effect_min,
	    slow_min, &share);
	e->sum += confirm_share_evidence(&share,
	    fmax(share.usual + usual, least), more);
	k->confirm.report.partners = share.pairs;
	k->confirm.report.slow_partners = share.slow;
	snprintf(k->confirm.run, sizeof(k->confirm.run), "%s", p->run);
	if (e->sum <= -CONFIRM_SHARE_SURE) {
		fault_paths_dispel(d, k);
		return;
	}
	if (e->sum < CONFIRM_SHARE_SURE) {
		confirm_run_again_later(d, k);
		return;
	}
	k->confirm.is_done = 1;
	k->confirm.finding = is_leaf ? CONFIRM_LINK : CONFIRM_NODE;
	k->confirm.report.finding = k->confirm.finding;
	k->verdict = VERDICT_BAD;
	incident_write(d, k);
	incident_tell(d, k);
}

/* A share of the pairs of a node or leaf is slow, and different ones in each
 * round. */
static void
fault_paths_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct diagnosis_series *s = k->series;
	const struct member_sum *m = k->kind == JUDGE_NODE
	    ? &s->members[k->index]
	    : NULL;
	const struct drift *now = m == NULL ? &s->paths[k->index] : NULL;
	double usual = m != NULL ? m->rest : now->level;
	double share = usual +
	    (m != NULL ? m->share - m->rest : drift_shift(now));
	uint32_t rounds = m != NULL ? m->rounds : drift_rounds(now);

	if (m != NULL)
		fault_text_add(text,
		    "%s: %.0f %% of its pairs are slow instead of the usual "
		    "%.0f %%, different ones in each of %" PRIu32 " rounds "
		    "(%s): the cause is one member of a bond, or one of the "
		    "paths from its port",
		    k->subject, 100 * share, 100 * usual, rounds,
		    series_kind(s->sort).name);
	else
		fault_text_add(text,
		    "leaf %s: %.0f %% of the pairs of its nodes are slow "
		    "instead of the usual %.0f %%, over %" PRIu32 " rounds "
		    "(%s), but no single node is slow: the cause is one of "
		    "its uplinks, or a switch above it",
		    k->subject, 100 * share, 100 * usual, rounds,
		    series_kind(s->sort).name);
	if (k->confirm.report.partners > 0)
		fault_text_add(text,
		    "; confirmation run: %zu of %zu pairs are slow",
		    k->confirm.report.slow_partners,
		    k->confirm.report.partners);
	if (!k->confirm.is_done)
		incident_add_pending(d, k, text);
}

static int
fault_paths_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	struct diagnosis_series *s = k->series;

	(void)o;
	/* Its pairs must be as usual again before it ends. */
	if (k->kind == JUDGE_NODE) {
		struct member_sum *m = series_member(s, k->index);

		if (!m->raised)
			m->sum = MEMBER_RESTORED;
		m->raised = 1;
		return 0;
	}
	series_room(d, s, d->leaf_count);
	drift_restore(&s->paths[k->index]);
	return 0;
}

const struct fault_kind fault_paths = {
	.what = WHAT_NODE,
	.others = 1u << WHAT_LINK,
	.about = 1 << JUDGE_NODE | 1 << JUDGE_LEAF,
	.severity = VERDICT_WARN,
	.source = FAULT_ROUNDS,
	.bytes = sizeof(struct evidence),
	.is_judged = 1,
	.is_share = 1,
	.is_confirmable = 1,
	.hear_round = fault_paths_hear,
	.text = fault_paths_text,
	.effect = fault_outlier_effect,
	.restore = fault_paths_restore,
	.hear_pairs = fault_paths_hear_pairs,
};
