/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm.c - decide from a confirmation run, or from the mesh for losses,
 * whether the node, its leaf, its uplink, or none of them is slow.
 */
#include "daemon/diagnosis/stats/confirm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/robust.h"
#include "daemon/diagnosis/stats/score.h"

#define PAIRS_MAX CONFIRM_PAIRS_MAX
#define MATES     2 /* of the outlier's leaf: one may be slow itself */
#define FAR_SOME  2 /* slow to some other leaves, not to all */
/* Slow pairs of a node, and pairs of the others, needed to call it worse than
 * these. */
#define BAD_PAIRS_MIN 2

const char *const confirm_findings[CONFIRM_MAX] = {
	[CONFIRM_CLEARED] = "cleared",
	[CONFIRM_NODE] = "node",
	[CONFIRM_LEAF] = "leaf",
	[CONFIRM_LINK] = "link",
	[CONFIRM_UNCLEAR] = "undetermined",
	[CONFIRM_BETWEEN] = "between",
};

const char *const confirm_ways[CONFIRM_WAY_MAX] = {
	[CONFIRM_WAY_UNKNOWN] = "unknown",
	[CONFIRM_WAY_BOTH] = "both",
	[CONFIRM_WAY_SEND] = "send",
	[CONFIRM_WAY_RECEIVE] = "receive",
};

int
confirm_is_place(enum confirm_finding finding)
{
	return finding == CONFIRM_LEAF || finding == CONFIRM_LINK ||
	    finding == CONFIRM_BETWEEN;
}

struct choice {
	const struct confirm_node *nodes;
	size_t count;
	struct rng *rng;
	size_t *chosen;
	size_t n;
	uint32_t leaf; /* wanted or excluded leaf, depending on the rule */
};

static int
confirm_is_chosen(const struct choice *c, size_t i)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->chosen[k] == i)
			return 1;
	return 0;
}

typedef int fits(const struct choice *c, const struct confirm_node *n);

static int
confirm_fits_mate(const struct choice *c, const struct confirm_node *n)
{
	return (n->good || n->mate) && n->leaf == c->leaf &&
	    c->leaf != SCORE_NO_LEAF;
}

static int
confirm_fits_far(const struct choice *c, const struct confirm_node *n)
{
	return n->good && (n->leaf != c->leaf || c->leaf == SCORE_NO_LEAF);
}

/* The leaf of the last chosen node, other than the outlier's. */
static int
confirm_fits_beside(const struct choice *c, const struct confirm_node *n)
{
	uint32_t last = c->nodes[c->chosen[c->n - 1]].leaf;

	return confirm_fits_far(c, n) && n->leaf == last;
}

/* A leaf without a chosen node. */
static int
confirm_fits_new(const struct choice *c, const struct confirm_node *n)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->nodes[c->chosen[k]].leaf == n->leaf)
			return 0;
	return confirm_fits_far(c, n);
}

/* Add one of the nodes that match the rule, with equal probability: reservoir
 * of one. */
static int
confirm_add(struct choice *c, fits *rule)
{
	uint64_t seen = 0;
	size_t pick = 0;

	for (size_t i = 0; i < c->count; i++)
		if (rule(c, &c->nodes[i]) && !confirm_is_chosen(c, i) &&
		    rng_below(c->rng, ++seen) == 0)
			pick = i;
	if (seen == 0)
		return 0;
	c->chosen[c->n++] = pick;
	return 1;
}

size_t
confirm_choose(const struct confirm_node *nodes, size_t count, size_t outlier,
    struct rng *rng, size_t ret[CONFIRM_NODES])
{
	struct choice c = { nodes, count, rng, ret, 1, nodes[outlier].leaf };

	ret[0] = outlier;
	while (c.n <= MATES && confirm_add(&c, confirm_fits_mate))
		continue;
	if (confirm_add(&c, confirm_fits_far)) {
		(void)confirm_add(&c, confirm_fits_beside);
		while (c.n < CONFIRM_NODES && confirm_add(&c, confirm_fits_new))
			continue;
	}
	while (c.n < CONFIRM_NODES && confirm_add(&c, confirm_fits_far))
		continue;
	return c.n;
}

size_t
confirm_load(const struct confirm_node *nodes, size_t count, struct rng *rng,
    size_t chosen[CONFIRM_NODES_MAX], size_t n)
{
	struct choice c = { nodes, count, rng, chosen, n,
		nodes[chosen[0]].leaf };
	size_t home = 0;

	for (size_t i = 0; i < n; i++)
		home += nodes[chosen[i]].leaf == c.leaf;
	while (
	    home < CONFIRM_NODES_MAX / 2 && confirm_add(&c, confirm_fits_mate))
		home++;
	while (c.n < 2 * home && confirm_add(&c, confirm_fits_far))
		continue;
	return c.n;
}

size_t
confirm_fill(const struct confirm_node *nodes, size_t count, struct rng *rng,
    size_t chosen[CONFIRM_NODES_MAX], size_t n, size_t want)
{
	struct choice c = { nodes, count, rng, chosen, n,
		nodes[chosen[0]].leaf };

	while (c.n < want &&
	    (confirm_add(&c, confirm_fits_far) ||
		confirm_add(&c, confirm_fits_mate)))
		continue;
	return c.n;
}

enum sort { NEAR, FAR, MATE, UPLINK, INSIDE, OUTSIDE, SORT_MAX };

struct sorted {
	double x[SORT_MAX][PAIRS_MAX];
	uint32_t to[SORT_MAX][PAIRS_MAX]; /* end outside the outlier's leaf */
	size_t n[SORT_MAX];
};

static enum sort
confirm_sort_of(const uint32_t *leaves, const struct confirm_pair *p)
{
	int own = leaves[0] != SCORE_NO_LEAF;
	int a_home = own && leaves[p->a] == leaves[0];
	int b_home = own && leaves[p->b] == leaves[0];

	if (p->a == 0 || p->b == 0)
		return a_home && b_home ? NEAR : FAR;
	if (a_home && b_home)
		return MATE;
	if (a_home || b_home)
		return UPLINK;
	return leaves[p->a] == leaves[p->b] && leaves[p->a] != SCORE_NO_LEAF
	    ? INSIDE
	    : OUTSIDE;
}

static double
confirm_middle(struct sorted *s, enum sort sort, double q)
{
	return robust_quantile(s->x[sort], s->n[sort], q);
}

/* Find a slow node among the nodes taken for good; 0: none. Such a node is slow
 * to all other leaves, while the other nodes on its side of the outlier's leaf
 * are not. It would make slow pairs look usual, or the outlier's leaf look
 * bad. */
static size_t
confirm_find_bad(const uint32_t *leaves, size_t nodes,
    const struct confirm_pair *pairs, size_t count, double slow_min)
{
	double rest[PAIRS_MAX], worst = slow_min;
	size_t bad = 0;

	for (size_t k = 1; k < nodes; k++) {
		int home = leaves[k] == leaves[0];
		double best = INFINITY;
		size_t own = 0, n = 0;

		for (size_t i = 0; i < count; i++) {
			const struct confirm_pair *p = &pairs[i];

			if (p->a == 0 || p->b == 0 ||
			    (leaves[p->a] == leaves[p->b] &&
				leaves[p->a] != SCORE_NO_LEAF))
				continue;
			if (p->a == k || p->b == k) {
				best = fmin(best, p->x);
				own++;
			} else if ((leaves[p->a] == leaves[0]) == home ||
			    (leaves[p->b] == leaves[0]) == home) {
				rest[n++] = p->x;
			}
		}
		if (own < BAD_PAIRS_MIN || n < BAD_PAIRS_MIN ||
		    best - robust_median(rest, n) < worst)
			continue;
		worst = best - robust_median(rest, n);
		bad = k;
	}
	return bad;
}

/* Find the typical pair inside a leaf and between leaves, from pairs outside
 * the outlier's leaf. If one sort is missing, the other is used for both. */
static void
confirm_find_base(struct sorted *s, double *ret_in, double *ret_out)
{
	double in = confirm_middle(s, INSIDE, 0.5),
	       out = confirm_middle(s, OUTSIDE, 0.5);

	if (isnan(out)) /* one other leaf only */
		out = !isnan(in) ? in : confirm_middle(s, UPLINK, 0);
	if (isnan(in))
		in = s->n[MATE] > 0 ? fmin(out, confirm_middle(s, MATE, 0))
				    : out;
	*ret_in = in;
	*ret_out = out;
}

/* near, far: 1 if the outlier is slow to its leaf, to others. mates, uplink: 1
 * if the other nodes of its leaf are. -1: unknown. */
static enum confirm_finding
confirm_decide(int known, int near, int far, int mates, int uplink)
{
	if (far != 1 && near != 1)
		return far == FAR_SOME ? CONFIRM_UNCLEAR : CONFIRM_CLEARED;
	if (!known)
		return CONFIRM_NODE; /* leaves are unknown */
	/* A cluster of one leaf has no far pairs: good mates are enough. */
	if (near == 1 && far == -1 && mates == 0)
		return CONFIRM_NODE;
	if (near == -1 || (far != 1 && mates != 1))
		return CONFIRM_UNCLEAR; /* node or leaf; or only a path */
	if (near == 1) /* with two leaves a third cannot decide */
		return mates == 1 || (mates == -1 && uplink == 1)
		    ? CONFIRM_LEAF
		    : CONFIRM_NODE; /* its uplink may be slow too */
	return uplink == 1 ? CONFIRM_LINK : CONFIRM_UNCLEAR;
}

static int
confirm_is_slow(struct sorted *s, enum sort sort, double base, double slow_min)
{
	if (s->n[sort] == 0 || isnan(base))
		return -1;
	/* With two pairs both must be slow: one slow pair would be half of
	 * their median. */
	return confirm_middle(s, sort, s->n[sort] == 2 ? 0 : 0.5) - base >=
	    slow_min;
}

/* As confirm_is_slow, for pairs that leave the outlier's leaf: if only some of
 * the other leaves are affected, a path is slow, not the node or leaf. */
static int
confirm_is_slow_out(const struct sorted *s, enum sort sort, double base,
    double slow_min)
{
	size_t slow = 0, others = 0;

	if (s->n[sort] == 0 || isnan(base))
		return -1;
	for (size_t i = 0; i < s->n[sort]; i++) {
		double x[PAIRS_MAX];
		size_t n = 0;

		for (size_t k = 0; k < s->n[sort]; k++)
			if (s->to[sort][k] == s->to[sort][i])
				x[n++] = s->x[sort][k];
		others++;
		slow += robust_median(x, n) - base >= slow_min;
	}
	return slow == others ? 1 : slow > 0 ? FAR_SOME : 0;
}

/* Compare the outlier's sent and received transfers with the pairs of others.
 * One direction is normal if its excess is less than half of the other's. */
static enum confirm_way
confirm_way_of(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count, enum confirm_finding finding, double slow_min)
{
	double out[PAIRS_MAX], in[PAIRS_MAX], rest[2 * PAIRS_MAX], usual;
	int all = finding == CONFIRM_LEAF || finding == CONFIRM_LINK;
	size_t n = 0, rest_n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct confirm_pair *p = &pairs[i];
		int a = p->a == 0 || (all && leaves[p->a] == leaves[0]);
		int b = p->b == 0 || (all && leaves[p->b] == leaves[0]);

		if (isnan(p->ways[0]) || isnan(p->ways[1]) || (a && b))
			continue;
		if (a || b) {
			out[n] = p->ways[a ? 0 : 1];
			in[n++] = p->ways[a ? 1 : 0];
		} else {
			rest[rest_n++] = p->ways[0];
			rest[rest_n++] = p->ways[1];
		}
	}
	if (n == 0 || rest_n == 0)
		return CONFIRM_WAY_UNKNOWN;
	usual = robust_median(rest, rest_n);
	out[0] = robust_median(out, n) - usual;
	in[0] = robust_median(in, n) - usual;
	return out[0] >= slow_min && in[0] < out[0] / 2 ? CONFIRM_WAY_SEND
	    : in[0] >= slow_min && out[0] < in[0] / 2   ? CONFIRM_WAY_RECEIVE
							: CONFIRM_WAY_BOTH;
}

/* Return 1 if the pairs include a leaf besides the outlier's and one other. A
 * node of an unknown leaf may be on any leaf, so it counts as one. */
static int
confirm_has_third(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count)
{
	uint32_t other = leaves[0];

	for (size_t i = 0; i < 2 * count; i++) {
		uint32_t l = leaves[i % 2 ? pairs[i / 2].b : pairs[i / 2].a];

		if (l == SCORE_NO_LEAF)
			return 1;
		if (l == leaves[0] || l == other)
			continue;
		if (other != leaves[0])
			return 1;
		other = l;
	}
	return 0;
}

static void
confirm_judge_pairs(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count, double slow_min, struct confirm_report *ret)
{
	struct sorted s;
	double in, out;
	int near, far, mates, uplink;

	memset(&s, 0, sizeof(s));
	for (size_t i = 0; i < count; i++) {
		enum sort sort = confirm_sort_of(leaves, &pairs[i]);

		s.to[sort][s.n[sort]] = leaves[pairs[i].a] == leaves[0]
		    ? leaves[pairs[i].b]
		    : leaves[pairs[i].a];
		s.x[sort][s.n[sort]++] = pairs[i].x;
	}
	confirm_find_base(&s, &in, &out);
	near = confirm_is_slow(&s, NEAR, in, slow_min);
	far = confirm_is_slow_out(&s, FAR, out, slow_min);
	mates = confirm_is_slow(&s, MATE, in, slow_min);
	uplink = confirm_is_slow_out(&s, UPLINK, out, slow_min);
	ret->finding = confirm_decide(leaves[0] != SCORE_NO_LEAF, near, far,
	    mates, uplink);
	ret->way = confirm_way_of(leaves, pairs, count, ret->finding, slow_min);
	/* With two leaves, all traffic that leaves one enters the other. */
	if (ret->finding == CONFIRM_LINK &&
	    !confirm_has_third(leaves, pairs, count))
		ret->finding = CONFIRM_BETWEEN;
	ret->effect = s.n[FAR] > 0 ? confirm_middle(&s, FAR, 0.5) - out
				   : confirm_middle(&s, NEAR, 0.5) - in;
	ret->pairs_fine = mates != 1 && uplink != 1;
	ret->partners = s.n[NEAR] + s.n[FAR];
	ret->slow_partners = 0;
	for (size_t i = 0; i < s.n[NEAR]; i++)
		ret->slow_partners += s.x[NEAR][i] - in >= slow_min;
	for (size_t i = 0; i < s.n[FAR]; i++)
		ret->slow_partners += s.x[FAR][i] - out >= slow_min;
}

void
confirm_judge(const uint32_t *leaves, size_t nodes,
    const struct confirm_pair *pairs, size_t count, double slow_min,
    struct confirm_report *ret)
{
	struct confirm_pair good[PAIRS_MAX];
	size_t bad, n = 0;

	assert(count <= PAIRS_MAX);
	bad = confirm_find_bad(leaves, nodes, pairs, count, slow_min);
	for (size_t i = 0; bad != 0 && i < count; i++)
		if (pairs[i].a != bad && pairs[i].b != bad)
			good[n++] = pairs[i];
	if (bad != 0) {
		confirm_judge_pairs(leaves, good, n, slow_min, ret);
		/* Healthy leaves differ in distance: a reference on a distant
		 * leaf is not slow, and without it the outlier's leaf would
		 * look distant. */
		if (!confirm_is_place(ret->finding))
			return;
	}
	confirm_judge_pairs(leaves, pairs, count, slow_min, ret);
}

/* All nodes send to one. If the outlier and the others of its leaf are equally
 * slow, any part of the path to them may be the cause. */
void
confirm_judge_nodes(const uint32_t *leaves, const double *x, size_t nodes,
    double slow_min, struct confirm_report *ret)
{
	double mates[CONFIRM_NODES_MAX], rest[CONFIRM_NODES_MAX], usual;
	size_t mate_n = 0, rest_n = 0;
	int mates_slow;

	assert(nodes <= CONFIRM_NODES_MAX);
	for (size_t i = 1; i < nodes; i++) {
		if (isnan(x[i]))
			continue;
		if (leaves[0] != SCORE_NO_LEAF && leaves[i] == leaves[0])
			mates[mate_n++] = x[i];
		else
			rest[rest_n++] = x[i];
	}
	usual = rest_n > 0 ? robust_median(rest, rest_n)
			   : robust_median(mates, mate_n);
	mates_slow = rest_n > 0 && mate_n > 0 &&
	    robust_median(mates, mate_n) - usual >= slow_min;
	memset(ret, 0, sizeof(*ret));
	ret->effect = x[0] - usual;
	ret->pairs_fine = !mates_slow;
	if (isnan(ret->effect))
		ret->finding = CONFIRM_UNCLEAR;
	else if (ret->effect < slow_min)
		ret->finding = CONFIRM_CLEARED;
	else
		ret->finding = mates_slow ? CONFIRM_UNCLEAR : CONFIRM_NODE;
	ret->way = ret->finding == CONFIRM_NODE ? CONFIRM_WAY_RECEIVE
						: CONFIRM_WAY_UNKNOWN;
}

/* ---- shares of slow pairs ---- */

/* A pair is slow if it is more than this many deviations above the typical one,
 * as in the engine. */
#define SHARE_BOUND 2.5
#define SHARE_REST  16 /* enough pairs between other leaves */
/* A share is never taken as certain. */
#define SHARE_LEAST 0.005
#define SHARE_MOST  0.98

static int
confirm_is_of_share(const uint32_t *leaves, const struct confirm_pair *p,
    int is_leaf)
{
	return is_leaf
	    ? (leaves[p->a] == leaves[0]) != (leaves[p->b] == leaves[0])
	    : p->a == 0 || p->b == 0;
}

void
confirm_share(const uint32_t *leaves, const struct confirm_pair *pairs,
    size_t count, int is_leaf, double least, double slow_min,
    struct confirm_share *ret)
{
	double own[PAIRS_MAX], rest[PAIRS_MAX], base, own_base, median, width;
	size_t n = 0, rest_n = 0, slow = 0;

	assert(count <= PAIRS_MAX);
	*ret = (struct confirm_share){ 0 };
	for (size_t i = 0; i < count; i++)
		if (confirm_is_of_share(leaves, &pairs[i], is_leaf))
			own[n++] = pairs[i].x;
	/* Pairs inside a leaf are faster: they are used only if others are
	 * few. */
	for (int all = 0; all < 2 && rest_n < SHARE_REST; all++) {
		rest_n = 0;
		for (size_t i = 0; i < count; i++)
			if (!confirm_is_of_share(leaves, &pairs[i], is_leaf) &&
			    (all || leaves[pairs[i].a] != leaves[pairs[i].b]))
				rest[rest_n++] = pairs[i].x;
	}
	if (n == 0 || rest_n == 0)
		return;
	median = robust_median(rest, rest_n);
	base = robust_quantile(rest, rest_n, 0.25);
	width = fmax(least,
	    median - base +
		SHARE_BOUND *
		    fmax(SCORE_SIGMA_MIN, robust_mad(rest, rest_n, median)));
	for (size_t i = 0; i < rest_n; i++)
		slow += rest[i] - base >= width;
	ret->usual = ((double)slow + 0.5) / ((double)rest_n + 1);
	ret->pairs = n;
	/* A longer distance is normal, but all pairs slow by slow_min are
	 * not. */
	own_base = robust_quantile(own, n, 0.25);
	if (own_base - base >= slow_min)
		own_base = base;
	for (size_t i = 0; i < n; i++)
		ret->slow += own[i] - own_base >= width;
}

double
confirm_share_evidence(const struct confirm_share *s, double usual, double more)
{
	double p0 = fmax(SHARE_LEAST, fmin(usual, SHARE_MOST - SHARE_LEAST));
	double p1 = fmax(p0 + SHARE_LEAST, fmin(p0 + more, SHARE_MOST));
	double slow = (double)s->slow, fine = (double)(s->pairs - s->slow);

	return slow * log(p1 / p0) + fine * log((1 - p1) / (1 - p0));
}
