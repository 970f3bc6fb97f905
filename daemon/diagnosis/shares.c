/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.c - bandwidth of nodes and leaves today relative to their peers: from
 * the newest rounds of bandwidth, and between leaves from its pairs.
 */
#include "daemon/diagnosis/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"

/* A difference below this many of its standard deviations counts as none. */
#define SHARE_Z     2.0
#define SPREAD_MIN  0.02 /* of the logarithm: a histogram's resolution */
#define PAIRS_LEAST 2    /* between two leaves */
#define LEAVES_MIN  3    /* two leaves have only one path between them */

/* The median of logarithms that increase with slowness, newest first, and its
 * possible error. */
struct shift {
	double effect, spread;
	int rounds;
};

static struct shift
shares_shift_of(const double *newest, int known)
{
	double x[SHARES_ROUNDS];
	struct shift r = { 0, SPREAD_MIN, known };

	if (known == 0)
		return r;
	for (int i = 0; i < known; i++)
		x[i] = newest[i];
	r.effect = robust_median(x, (size_t)known);
	r.spread = fmax(SPREAD_MIN,
	    robust_mad(x, (size_t)known, r.effect) / sqrt(known));
	return r;
}

static void
shares_newest_add(struct newest *to, double x)
{
	memmove(to->x + 1, to->x, sizeof(to->x) - sizeof(to->x[0]));
	to->x[0] = x;
	to->known += to->known < SHARES_ROUNDS;
}

/* Write the rate in B/s, if it was measured. */
static void
shares_rate_put(json_t *o, const struct newest *log_rate)
{
	double x[SHARES_ROUNDS];

	if (log_rate->known == 0)
		return;
	memcpy(x, log_rate->x, sizeof(x));
	json_object_set_new(o, "rate",
	    json_real(exp(robust_median(x, (size_t)log_rate->known))));
}

/* Keep the rates of nodes. Only one test counts: others move other sizes. */
static void
shares_rates_hear(struct diagnosis *d, const struct round *round)
{
	size_t count = roster_count(d->roster);

	if (round->canary != CANARY_BW || round->partners != PARTNERS_MATCH)
		return;
	if (d->log_rates_count < count) {
		d->log_rates = xreallocarray(d->log_rates, count,
		    sizeof(*d->log_rates));
		memset(d->log_rates + d->log_rates_count, 0,
		    (count - d->log_rates_count) * sizeof(*d->log_rates));
		d->log_rates_count = count;
	}
	for (size_t i = 0; i < round->score_count; i++)
		shares_newest_add(&d->log_rates[round->scores[i].node->id],
		    log(round->scores[i].q));
}

/* Write the share that corresponds to a shift, and its error. A subject that is
 * faster than its peers has share 1. */
static void
shares_put(json_t *o, const struct shift *s)
{
	double effect = s->effect > SHARE_Z * s->spread ? s->effect : 0;

	json_object_set_new(o, "share", json_real(exp(-effect)));
	json_object_set_new(o, "spread", json_real(s->spread));
	json_object_set_new(o, "rounds", json_integer(s->rounds));
}

/* Return the shift in the worst series of bandwidth. */
static struct shift
shares_judged(const struct diagnosis *d, enum judge_kind kind, uint32_t index)
{
	struct shift worst = { 0, SPREAD_MIN, 0 };

	for (size_t i = 0; i < d->series_count; i++) {
		const struct diagnosis_series *s = &d->series[i];
		const struct track *t = judge_track(s->judge, kind, index);
		double x[SHARES_ROUNDS];
		struct shift here;
		int known = 0;

		if (s->sort >= CANARY_MAX || !series_kind(s->sort).is_rate ||
		    s->partners != PARTNERS_MATCH || s->rail[0] != '\0' ||
		    s->device[0] != '\0' || s->bytes > 0 || t == NULL ||
		    (kind == JUDGE_LEAF && t->state < JUDGE_OUTLIER))
			continue;
		while (known < SHARES_ROUNDS && known < t->known) {
			x[known] = track_effect_at(t, known);
			known++;
		}
		here = shares_shift_of(x, known);
		if (known > 0 &&
		    (worst.rounds == 0 || here.effect > worst.effect))
			worst = here;
	}
	return worst;
}

/* ---- between leaves ---- */

/* The pairs of a record as logarithms that increase with slowness, and the leaf
 * of each node, numbered in order of appearance. */
struct pairs {
	double *x; /* [i * nodes + j], j < i; NAN: not measured */
	uint32_t *leaf_of;
	uint32_t *leaves; /* the diagnosis' numbers of the leaves */
	uint32_t nodes, leaves_count;
};

static void
shares_pairs_read(struct diagnosis *d, const struct round *round,
    struct pairs *ret)
{
	ret->nodes = (uint32_t)round->grid_count;
	ret->x = xcalloc((size_t)ret->nodes * ret->nodes + 1, sizeof(*ret->x));
	ret->leaf_of = xcalloc(ret->nodes + (size_t)1, sizeof(*ret->leaf_of));
	ret->leaves = xcalloc(ret->nodes + (size_t)1, sizeof(*ret->leaves));
	for (uint32_t i = 0; i < ret->nodes; i++) {
		const struct node *n = round->grid_nodes[i];
		uint32_t leaf = n == NULL ? SCORE_NO_LEAF
					  : diagnosis_leaf(d, n->leaf);
		uint32_t at = 0;

		/* A node that is slow itself does not count for its leaf. */
		if (n != NULL &&
		    shares_judged(d, JUDGE_NODE, (uint32_t)n->id).effect >
			d->o.judge.effect_min)
			leaf = SCORE_NO_LEAF;
		while (at < ret->leaves_count && ret->leaves[at] != leaf)
			at++;
		ret->leaf_of[i] = at;
		ret->leaves[at] = leaf;
		ret->leaves_count += at == ret->leaves_count;
	}
	for (size_t i = 0; i < (size_t)ret->nodes * ret->nodes; i++)
		ret->x[i] = -log(round->grid[i]);
}

/* Return the median of the pairs between two leaves; NAN: too few. scratch:
 * space for all pairs. */
static double
shares_crossing(const struct pairs *p, uint32_t a, uint32_t b, double *scratch)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->nodes; i++)
		for (uint32_t j = 0; j < i; j++) {
			uint32_t li = p->leaf_of[i], lj = p->leaf_of[j];
			double x = p->x[i * p->nodes + j];

			if (!isnan(x) &&
			    ((li == a && lj == b) || (li == b && lj == a)))
				scratch[n++] = x;
		}
	return n < PAIRS_LEAST ? NAN : robust_median(scratch, n);
}

/* A leaf's distance is its distance to the nearest other leaf: if one uplink is
 * slow, the other leaves are still near each other. */
void
shares_hear(struct diagnosis *d, const struct round *round)
{
	struct pairs p = { 0 };
	double *scratch, *far, *known, typical;
	size_t n = 0;

	shares_rates_hear(d, round);
	if (round->grid_count == 0 || round->partners != PARTNERS_MATCH)
		return;
	shares_pairs_read(d, round, &p);
	scratch = xcalloc((size_t)p.nodes * p.nodes + 1, sizeof(*scratch));
	far = xcalloc(p.leaves_count + (size_t)1, sizeof(*far));
	known = xcalloc(p.leaves_count + (size_t)1, sizeof(*known));
	for (uint32_t a = 0; a < p.leaves_count; a++) {
		far[a] = NAN;
		for (uint32_t b = 0; b < p.leaves_count; b++)
			if (a != b) /* fmin ignores NAN */
				far[a] = fmin(far[a],
				    shares_crossing(&p, a, b, scratch));
		if (!isnan(far[a]))
			known[n++] = far[a];
	}
	typical = robust_median(known, n);
	if (d->crossings_count < d->leaf_count) {
		d->crossings = xreallocarray(d->crossings, d->leaf_count,
		    sizeof(*d->crossings));
		memset(d->crossings + d->crossings_count, 0,
		    (d->leaf_count - d->crossings_count) *
			sizeof(*d->crossings));
		d->crossings_count = d->leaf_count;
	}
	for (uint32_t a = 0; n >= LEAVES_MIN && a < p.leaves_count; a++) {
		struct crossings *c;

		if (isnan(far[a]) || p.leaves[a] == SCORE_NO_LEAF)
			continue;
		c = &d->crossings[p.leaves[a]];
		shares_newest_add(&c->effect, far[a] - typical);
		if (round->canary == CANARY_BW)
			shares_newest_add(&c->log_rate, -far[a]);
	}
	free(p.x);
	free(p.leaf_of);
	free(p.leaves);
	free(scratch);
	free(far);
	free(known);
}

json_t *
diagnosis_shares(const struct diagnosis *d)
{
	json_t *nodes = json_array(), *leaves = json_array(), *o;

	for (size_t i = 0; i < roster_count(d->roster); i++) {
		const struct node *n = roster_at(d->roster, i);
		struct shift s = shares_judged(d, JUDGE_NODE, (uint32_t)n->id);

		o = json_pack("{s:s, s:s, s:s}", "node", n->name, "leaf",
		    n->leaf, "state", names_agent_states[n->state]);
		shares_put(o, &s);
		if ((size_t)n->id < d->log_rates_count)
			shares_rate_put(o, &d->log_rates[n->id]);
		json_array_append_new(nodes, o);
	}
	for (uint32_t i = 0; i < d->leaf_count; i++) {
		struct shift s = shares_judged(d, JUDGE_LEAF, i);

		if (i < d->crossings_count && d->crossings[i].effect.known > 0)
			s = shares_shift_of(d->crossings[i].effect.x,
			    d->crossings[i].effect.known);
		o = json_pack("{s:s}", "leaf", d->leaves[i]);
		shares_put(o, &s);
		if (i < d->crossings_count)
			shares_rate_put(o, &d->crossings[i].log_rate);
		json_array_append_new(leaves, o);
	}
	return json_pack("{s:o, s:o}", "nodes", nodes, "leaves", leaves);
}
