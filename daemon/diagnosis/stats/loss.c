/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.c - cumulative sums of lost echoes, of nodes and of leaves; finds nodes
 * that lose only because of a partner.
 */
#include "daemon/diagnosis/stats/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/stats/score.h"

#define Z_95 1.6448536269514722 /* one-sided 95 % */

/* Prior: all nodes lose LOSS_P1 / 10. */
#define PRIOR_SENT 2e4
#define KEEP       (1 - 1.0 / 288) /* a day of epochs of 5 minutes */
/* Epochs between two nodes raised by chance, by the bound of Lorden (1971) for
 * one sum, exp(limit). There are two sums and p0 is learned, so this number is
 * some years of epochs; in the tests it gave an alarm in three months. */
#define LIMIT_ROUNDS 3e5
/* Of a loss's weight: it lost there within about its last two epochs. */
#define LATELY     0.75
#define LEAVES_MIN 3 /* with two, both have the same losses */
/* Maximum of the usual loss: above it the sums detect nothing. The loss to
 * detect is at least TIMES the usual loss. */
#define P0_MAX 0.05
#define TIMES  3
/* The nodes that lose least: their loss in the epoch is the usual loss. */
#define TYPICAL_SHARE 0.75
#define LEAF_BUSY_MAX 0.25 /* of its nodes */
#define LEAF_ONE_MAX  0.6  /* maximum share of its losses by one node */
#define LEAD_MAX      0.5 /* of losses: excess to one leaf or node over others */
/* Losses of a node to other leaves from which on these must be to several
 * nodes. */
#define LEAD_KNOWN 4
/* A leaf's own loss is averaged over about the last 1 / (1 - OWN_KEEP) epochs,
 * and the best quarter of the leaves is good. A bad leaf has OWN_TIMES that
 * loss, with a log likelihood ratio of OWN_LIMIT. */
#define OWN_KEEP  0.9
#define OWN_GOOD  0.25
#define OWN_TIMES 2
#define OWN_LIMIT 7 /* a log likelihood ratio */
/* Of a recovery: a subject that is as bad as before is taken for recovered once
 * in a million epochs at most (Lorden). */
#define OVER_LIMIT 14
#define OWN_TURNS  60
/* Losses of a node in an epoch count up to OWN_LEAST echoes plus
 * OWN_TIMES_OTHERS times the mean loss of its leaf's other nodes. */
#define OWN_LEAST        2.0
#define OWN_TIMES_OTHERS 3.0

struct step {
	double up, down, limit;    /* for p1, the loss to detect */
	double leaf_up, leaf_down; /* the same of leaves */
	double p0;                 /* of leaves */
};

static double
loss_share_p0(double lost, double sent)
{
	return fmin(fmax(lost / sent, LOSS_P0_MIN), P0_MAX);
}

/* Return the loss of most nodes in this epoch, since a new loss may have
 * started. */
static double
loss_typical_p0(const struct loss_epoch *e)
{
	double *x = xcalloc(e->count + 1, sizeof(*x)), sum = 0;
	size_t n = 0, most;

	for (size_t i = 0; i < e->count; i++)
		if (e->nodes[i].sent > 0)
			x[n++] = (double)e->nodes[i].lost /
			    (double)e->nodes[i].sent;
	robust_sort(x, n);
	most = (size_t)(TYPICAL_SHARE * (double)n);
	for (size_t i = 0; i < most; i++)
		sum += x[i];
	free(x);
	return most == 0 ? 0 : fmin(sum / (double)most, P0_MAX);
}

static struct step
loss_step_of(struct loss_watch *w, int far, const struct loss_epoch *e)
{
	double p0, p1, leaf_p0, leaf_p1;

	for (int k = 0; k < 2 && w->sent[k] == 0; k++) {
		w->sent[k] = PRIOR_SENT / 2;
		w->lost[k] = PRIOR_SENT / 2 * LOSS_P1 / 10;
	}
	p0 = fmax(loss_share_p0(w->lost[far], w->sent[far]),
	    loss_typical_p0(e));
	p1 = fmax(LOSS_P1, TIMES * p0);
	/* A leaf is compared with the good leaves, too, so that the losses that
	 * it causes at others do not count. */
	leaf_p0 = fmin(LOSS_P1 / 2,
	    loss_share_p0(w->lost[0] + w->lost[1], w->sent[0] + w->sent[1]));
	leaf_p1 = fmax(LOSS_LEAF_P1, TIMES * leaf_p0);
	return (struct step){ log(p1 / p0), p1 - p0,
		log(LIMIT_ROUNDS * (double)e->count), log(leaf_p1 / leaf_p0),
		leaf_p1 - leaf_p0, leaf_p0 };
}

static void
loss_make_room(struct loss_watch *w, const struct loss_node *nodes,
    size_t count)
{
	size_t want = 0, leaves = 0;

	for (size_t i = 0; i < count; i++) {
		if (nodes[i].place >= want)
			want = nodes[i].place + (size_t)1;
		if (nodes[i].leaf != SCORE_NO_LEAF && nodes[i].leaf >= leaves)
			leaves = nodes[i].leaf + (size_t)1;
	}
	if (leaves > w->leaf_count) {
		w->leaves = xreallocarray(w->leaves, leaves,
		    sizeof(*w->leaves));
		memset(w->leaves + w->leaf_count, 0,
		    (leaves - w->leaf_count) * sizeof(*w->leaves));
		w->own = xreallocarray(w->own, leaves, sizeof(*w->own));
		memset(w->own + w->leaf_count, 0,
		    (leaves - w->leaf_count) * sizeof(*w->own));
		w->leaf_count = leaves;
	}
	if (want <= w->count)
		return;
	w->sums = xreallocarray(w->sums, want, sizeof(*w->sums));
	memset(w->sums + w->count, 0, (want - w->count) * sizeof(*w->sums));
	w->count = want;
}

/* The cause of its losses is known: they do not count against others. */
static int
loss_is_apart(const struct loss_watch *w, const struct loss_node *n)
{
	return n->aside || w->sums[n->place].raised;
}

static uint32_t
loss_counted(const struct loss_pair *p)
{
	return p->lost < LOSS_PAIR_MAX ? p->lost : LOSS_PAIR_MAX;
}

/* Return how many echoes a node lost to nodes that are not marked. */
static uint32_t
loss_lost_of(uint32_t node, const struct loss_epoch *e, const uint8_t *marked)
{
	uint32_t lost = 0;

	for (size_t i = 0; i < e->pair_count; i++) {
		const struct loss_pair *p = &e->pairs[i];

		if ((p->a == node && !marked[p->b]) ||
		    (p->b == node && !marked[p->a]))
			lost += loss_counted(p);
	}
	return lost;
}

/* Mark the worst node first: its partners have fewer losses without it. */
static void
loss_mark(const struct loss_watch *w, int far, const struct loss_epoch *e,
    const struct step *step, uint8_t *marked)
{
	for (;;) {
		double most = step->limit;
		uint32_t worst = UINT32_MAX;

		for (size_t i = 0; i < 2 * e->pair_count; i++) {
			const struct loss_pair *p = &e->pairs[i / 2];
			uint32_t n = i % 2 ? p->b : p->a;
			double sum = w->sums[e->nodes[n].place].of[far] +
			    step->up * loss_lost_of(n, e, marked);

			if (!marked[n] && sum > most) {
				most = sum;
				worst = n;
			}
		}
		if (worst == UINT32_MAX)
			return;
		marked[worst] = 1;
	}
}

/* Return each node's losses to unlisted partners, scaled to the part that
 * counts: of many pairs with equal losses the listed ones are not a random
 * choice. The caller frees it. */
static double *
loss_unlisted(const struct loss_epoch *e)
{
	double *rest = xcalloc(e->count + 1, sizeof(*rest));
	uint32_t most = UINT32_MAX; /* maximum of an unlisted pair */

	if (!e->is_cut || e->pair_count == 0)
		return rest;
	for (size_t i = 0; i < e->count; i++)
		rest[i] = (double)e->nodes[i].lost;
	for (size_t i = 0; i < e->pair_count; i++) {
		const struct loss_pair *p = &e->pairs[i];

		most = p->lost < most ? p->lost : most;
		rest[p->a] -= p->lost;
		rest[p->b] -= p->lost;
	}
	for (size_t i = 0; i < e->count; i++)
		rest[i] = fmax(0, rest[i]) *
		    fmin(1, (double)LOSS_PAIR_MAX / most);
	return rest;
}

static void
loss_lead_add(struct loss_lead *l, uint32_t other, uint32_t lost)
{
	l->lost += lost;
	for (uint32_t i = 0; i < lost; i++) {
		if (l->by == 0)
			l->with = other;
		l->by += l->with == other ? 1 : UINT32_MAX;
	}
}

/* Add an epoch to the evidence that a raised subject, which had lost `of`
 * before, has recovered, and return 1 if it has. */
static int
loss_is_over(double *over, double of, double lost, uint64_t sent)
{
	double half = of / 2;

	*over = fmax(0,
	    *over + (half - half / TIMES) * (double)sent - log(TIMES) * lost);
	return *over > OVER_LIMIT;
}

static void
loss_add(struct loss_sum *s, int far, const struct step *step, double lost,
    uint64_t sent)
{
	double x = s->of[far] + step->up * lost - step->down * (double)sent;

	s->clean = lost > 0 ? 0 : s->clean + 1;
	s->of[far] = fmin(fmax(0, x), 2 * step->limit);
	if ((s->of[0] == 0 && s->of[1] == 0 && !s->raised) ||
	    s->clean >= 2 * LOSS_CLEAN ||
	    (s->raised &&
		loss_is_over(&s->over, loss_share(s->lost, s->sent), lost,
		    sent))) {
		*s = (struct loss_sum){ .aside = s->aside };
		return;
	}
	s->lost += (uint64_t)lost;
	s->sent += sent;
	s->epochs += (uint32_t)far;
}

/* Note the partners of all lost echoes, except marked ones. */
static void
loss_leads_hear(struct loss_watch *w, const struct loss_epoch *e,
    const uint8_t *marked)
{
	for (size_t i = 0; i < 2 * e->pair_count; i++) {
		const struct loss_pair *p = &e->pairs[i / 2];
		uint32_t n = i % 2 ? p->b : p->a, other = i % 2 ? p->a : p->b;

		if (!marked[other])
			loss_lead_add(&w->sums[e->nodes[n].place].lead,
			    e->nodes[other].place, loss_counted(p));
	}
}

/* Return 1 if it loses on one path to another leaf only, which may be the
 * fault: that is not the node's. */
static int
loss_is_path(const struct loss_sum *s)
{
	return s->lead.lost >= LEAD_KNOWN &&
	    s->lead.by > LEAD_MAX * s->lead.lost;
}

static int
loss_is_uplink(const struct loss_watch *w, const struct loss_epoch *e,
    uint32_t leaf, double limit)
{
	int many = 0;

	for (size_t i = 0; i < e->count; i++)
		many += e->nodes[i].leaf == leaf &&
		    w->sums[e->nodes[i].place].of[1] > limit / 4;
	return many >= LOSS_LEAF_MANY;
}

/* ---- leaves ---- */

/* Return the losses of the leaf's nodes to other leaves, without nodes that
 * have a case or are busy. to_whom: counts the leaves they lose to, or NULL. */
static uint32_t
loss_lost_across(const struct loss_watch *w, const struct loss_epoch *e,
    uint32_t leaf, struct loss_leaf *to_whom)
{
	uint32_t lost = 0;

	for (size_t i = 0; i < e->pair_count; i++) {
		const struct loss_node *a = &e->nodes[e->pairs[i].a];
		const struct loss_node *b = &e->nodes[e->pairs[i].b];
		uint32_t other = a->leaf == leaf ? b->leaf : a->leaf;

		if ((a->leaf == leaf) == (b->leaf == leaf) || a->busy ||
		    b->busy || loss_is_apart(w, a) || loss_is_apart(w, b))
			continue;
		lost += loss_counted(&e->pairs[i]);
		if (to_whom != NULL)
			loss_lead_add(&to_whom->lead, other, e->pairs[i].lost);
	}
	return lost;
}

/* Return 1 if several of its nodes lose, and none of them most of it. */
static int
loss_is_spread(const struct loss_watch *w, const struct loss_epoch *e,
    uint32_t leaf, struct loss_leaf *l)
{
	double all = 0, most = 0;

	l->nodes = l->losing = 0;
	for (size_t i = 0; i < e->count; i++) {
		/* If many nodes lose, few of their pairs are listed. */
		double x = fmax(w->sums[e->nodes[i].place].of[1],
		    (double)e->nodes[i].lost);

		if (e->nodes[i].leaf != leaf)
			continue;
		l->nodes++;
		l->losing += x > 0;
		all += x;
		most = fmax(most, x);
	}
	return l->nodes >= 2 && most <= LEAF_ONE_MAX * all &&
	    l->losing >=
	    (l->nodes < LOSS_LEAF_MANY ? l->nodes : LOSS_LEAF_MANY);
}

static void
loss_add_leaf(struct loss_leaf *l, const struct step *step, double limit,
    uint32_t lost, uint64_t sent)
{
	l->sum += step->leaf_up * lost - step->leaf_down * (double)sent;
	l->clean = lost > 0 ? 0 : l->clean + 1;
	if (l->sum <= 0 || l->clean >= LOSS_CLEAN ||
	    (l->raised &&
		loss_is_over(&l->over, loss_share(l->lost, l->sent), lost,
		    sent))) {
		memset(l, 0, sizeof(*l));
		return;
	}
	l->sum = fmin(l->sum, 2 * limit);
	l->lost += lost;
	l->sent += sent;
	l->epochs += lost > 0;
}

/* Clear the sums of others, which lost on paths to the subject that is now
 * known: between leaves, and within them if `within`. */
static void
loss_forget_others(struct loss_watch *w, int within)
{
	for (size_t i = 0; i < w->leaf_count; i++)
		if (!w->leaves[i].raised)
			memset(&w->leaves[i], 0, sizeof(w->leaves[i]));
	for (size_t i = 0; i < w->count; i++)
		for (int far = !within; far < 2 && !w->sums[i].raised; far++) {
			w->sums[i].of[far] = 0;
			w->sums[i].lead = (struct loss_lead){ 0 };
		}
}

static void
loss_hear_aside(struct loss_watch *w, const struct loss_epoch *e)
{
	int news = 0;

	for (size_t i = 0; i < e->count; i++) {
		struct loss_sum *s = &w->sums[e->nodes[i].place];

		news |= e->nodes[i].aside && !s->aside &&
		    s->of[0] + s->of[1] > 0;
		s->aside = e->nodes[i].aside != 0;
	}
	if (!news)
		return;
	loss_forget_others(w, 1);
	for (size_t i = 0; i < w->leaf_count; i++)
		w->own[i] = (struct loss_own){ 0 };
}

/* Solve each leaf's own loss from the total losses: a path loses the sum of the
 * own losses of its two leaves (Gauss and Seidel, none below 0). A node's
 * losses count only as far as other nodes of its leaf have losses, too.
 * ret_good: own loss of good leaves. Return by what factor losses scatter more
 * than independent ones, since partners are chosen at random. */
static double
loss_own_solve(struct loss_watch *w, const struct loss_epoch *e,
    double *ret_good)
{
	double *good = xcalloc(w->leaf_count + 1, sizeof(*good));
	struct {
		double lost, sent, nodes;
	} *of = xcalloc(w->leaf_count + 1, sizeof(*of));
	double sum = 0, sent = 0, most, of_one = 0;
	size_t n = 0;

	for (size_t i = 0; i < w->leaf_count; i++) {
		w->own[i].lost *= OWN_KEEP;
		w->own[i].sent *= OWN_KEEP;
		w->own[i].newest = 0;
	}
	for (int capped = 0; capped < 2; capped++)
		for (size_t i = 0; i < e->count; i++) {
			const struct loss_node *node = &e->nodes[i];
			double lost = (double)node->lost;

			if (node->leaf == SCORE_NO_LEAF || node->busy ||
			    loss_is_apart(w, node))
				continue;
			if (!capped) {
				of[node->leaf].lost += lost;
				of[node->leaf].nodes++;
				continue;
			}
			of_one = fmax(of_one, (double)node->sent);
			lost = fmin(lost,
			    OWN_LEAST +
				OWN_TIMES_OTHERS *
				    (of[node->leaf].lost - lost) /
				    fmax(1, of[node->leaf].nodes - 1));
			w->own[node->leaf].lost += lost;
			w->own[node->leaf].newest += lost;
			w->own[node->leaf].sent += (double)node->sent;
			of[node->leaf].sent += (double)node->sent;
		}
	for (size_t i = 0; i < w->leaf_count; i++) {
		sent += w->own[i].sent;
		sum += w->own[i].sent * w->own[i].share;
	}
	for (int turn = 0; turn < OWN_TURNS; turn++)
		for (size_t i = 0; i < w->leaf_count; i++) {
			struct loss_own *o = &w->own[i];
			double met;

			if (!(sent > o->sent && o->sent > 0))
				continue;
			sum -= o->sent * o->share;
			met = sum / (sent - o->sent);
			o->share = fmax(0, o->lost / o->sent - met);
			sum += o->sent * o->share;
		}
	for (size_t i = 0; i < w->leaf_count; i++)
		if (w->own[i].sent > 0)
			good[n++] = w->own[i].share;
	for (size_t i = 0; i < w->leaf_count; i++)
		if (w->own[i].sent > 0)
			w->own[i].newest -= of[i].sent *
			    (w->own[i].lost / w->own[i].sent - w->own[i].share);
	free(of);
	robust_sort(good, n);
	*ret_good = n > 0 ? good[(size_t)(OWN_GOOD * (double)(n - 1))] : 0;
	most = n > 0 ? good[n - 1] : 0;
	free(good);
	return 1 + most * of_one;
}

/* Return 1 if a leaf loses more than its partners and the usual loss
 * explain. */
static int
loss_is_its_own(const struct loss_own *o, double good, double p0, double limit)
{
	double met = o->lost / o->sent - o->share;
	double expected = o->sent * fmax(p0, met + good);

	return o->lost > expected && o->share >= OWN_TIMES * good &&
	    o->lost * log(o->lost / expected) - (o->lost - expected) > limit;
}

/* Subtract from the losses of each node those within its leaf and those of
 * pairs with a bad node: they are not its leaf's. */
static void
loss_keep_across(const struct loss_watch *w, struct loss_epoch *e)
{
	for (size_t i = 0; i < e->pair_count; i++) {
		struct loss_node *a = &e->nodes[e->pairs[i].a];
		struct loss_node *b = &e->nodes[e->pairs[i].b];

		if (a->leaf != b->leaf && !loss_is_apart(w, a) &&
		    !loss_is_apart(w, b))
			continue;
		a->lost -= a->lost < e->pairs[i].lost ? a->lost
						      : e->pairs[i].lost;
		b->lost -= b->lost < e->pairs[i].lost ? b->lost
						      : e->pairs[i].lost;
	}
}

/* Remove the pairs between that leaf and others. */
static void
loss_take_out(struct loss_epoch *e, uint32_t leaf)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->pair_count; i++)
		if ((e->nodes[e->pairs[i].a].leaf == leaf) ==
		    (e->nodes[e->pairs[i].b].leaf == leaf))
			e->pairs[kept++] = e->pairs[i];
	e->pair_count = kept;
}

/* Process the worst leaf first: others have fewer losses without its paths,
 * which are removed from the pairs. */
static void
loss_hear_leaves(struct loss_watch *w, struct loss_epoch *e,
    const struct step *step)
{
	struct of {
		uint64_t sent;
		double nodes, busy;
		int done;
	} *of = xcalloc(w->leaf_count + 1, sizeof(*of));
	double limit = log(LIMIT_ROUNDS * (double)(w->leaf_count + 1));
	double good, scatter;
	size_t leaves = 0;
	int raised = 0, over = 0;

	loss_keep_across(w, e);
	scatter = loss_own_solve(w, e, &good);
	for (size_t i = 0; i < e->count; i++) {
		struct of *at;

		if (e->nodes[i].leaf == SCORE_NO_LEAF)
			continue;
		at = &of[e->nodes[i].leaf];
		leaves += at->nodes == 0;
		at->nodes++;
		at->busy += e->nodes[i].busy;
		if (!e->nodes[i].busy && !loss_is_apart(w, &e->nodes[i]))
			at->sent += e->nodes[i].sent;
	}
	for (;;) {
		struct loss_leaf *l;
		struct loss_own *o;
		uint32_t worst = UINT32_MAX, lost, was;
		double most = -INFINITY;

		for (uint32_t i = 0; i < w->leaf_count; i++) {
			double x = w->leaves[i].sum +
			    step->leaf_up * loss_lost_across(w, e, i, NULL);

			if (of[i].nodes > 0 && !of[i].done && x > most &&
			    of[i].busy <= LEAF_BUSY_MAX * of[i].nodes) {
				most = x;
				worst = i;
			}
		}
		if (worst == UINT32_MAX || leaves < LEAVES_MIN)
			break;
		of[worst].done = 1;
		l = &w->leaves[worst];
		lost = loss_lost_across(w, e, worst, l);
		o = &w->own[worst];
		o->epochs = loss_is_its_own(o, good, step->p0, limit * scatter)
		    ? o->epochs + 1
		    : 0;
		/* Only the worst pairs are listed. */
		if (o->epochs > 0)
			lost = (uint32_t)fmax(lost, o->newest);
		was = l->raised;
		loss_add_leaf(l, step, limit, lost, of[worst].sent);
		over |= was && !l->raised;
		if (!l->raised && l->lead.by <= LEAD_MAX * o->lost &&
		    (o->epochs >= 2 ||
			(l->sum > limit && l->epochs >= 2 &&
			    loss_is_its_own(o, good, step->p0,
				OWN_LIMIT * scatter))) &&
		    loss_is_spread(w, e, worst, l))
			raised = l->raised = 1;
		if (l->raised)
			loss_take_out(e, worst);
	}
	/* A leaf has recovered: losses before that belong to no leaf. */
	if (over)
		memset(w->own, 0, w->leaf_count * sizeof(*w->own));
	if (raised)
		loss_forget_others(w, 0);
	free(of);
}

void
loss_round(struct loss_watch *w, int far, struct loss_epoch *e)
{
	struct step step = loss_step_of(w, far, e);
	uint8_t *marked = xcalloc(e->count + 1, 1);
	const struct loss_node *nodes = e->nodes;
	double *rest = loss_unlisted(e);
	size_t count = e->count;

	loss_make_room(w, nodes, count);
	loss_hear_aside(w, e);
	if (far)
		loss_hear_leaves(w, e, &step);
	for (size_t i = 0; i < count; i++)
		marked[i] = loss_is_apart(w, &nodes[i]) != 0;
	loss_mark(w, far, e, &step, marked);
	/* Nodes of other leaves lose on paths to a raised leaf. */
	if (far && loss_leaves_raised(w))
		memset(rest, 0, count * sizeof(*rest));
	w->up[far] = step.up;
	w->lost[far] *= KEEP;
	w->sent[far] *= KEEP;
	for (size_t i = 0; i < count; i++) {
		struct loss_sum *s = &w->sums[nodes[i].place];
		double lost = loss_lost_of((uint32_t)i, e, marked) + rest[i];

		loss_add(s, far, &step, lost, nodes[i].sent);
		if (s->of[0] + s->of[1] > step.limit / 2)
			continue;
		w->lost[far] += lost;
		w->sent[far] += (double)nodes[i].sent;
	}
	if (far)
		loss_leads_hear(w, e, marked);
	for (size_t i = 0; i < count; i++) {
		struct loss_sum *s = &w->sums[nodes[i].place];

		if (s->of[0] + s->of[1] > step.limit &&
		    s->of[0] > LATELY * w->up[0] &&
		    s->of[1] > LATELY * w->up[1] && !loss_is_path(s) &&
		    !loss_is_uplink(w, e, nodes[i].leaf, step.limit))
			s->raised = 1;
	}
	free(rest);
	free(marked);
}

void
loss_forget(struct loss_watch *w, uint32_t place)
{
	if (place < w->count)
		memset(&w->sums[place], 0, sizeof(w->sums[place]));
}

const struct loss_sum *
loss_sum_of(const struct loss_watch *w, uint32_t place)
{
	return place < w->count ? &w->sums[place] : NULL;
}

void
loss_forget_leaves(struct loss_watch *w)
{
	for (size_t i = 0; i < w->leaf_count; i++) {
		memset(&w->leaves[i], 0, sizeof(w->leaves[i]));
		memset(&w->own[i], 0, sizeof(w->own[i]));
	}
}

const struct loss_leaf *
loss_leaf_raised(const struct loss_watch *w, uint32_t leaf)
{
	return leaf < w->leaf_count && w->leaves[leaf].raised ? &w->leaves[leaf]
							      : NULL;
}

int
loss_leaves_raised(const struct loss_watch *w)
{
	int raised = 0;

	for (size_t i = 0; i < w->leaf_count; i++)
		raised += w->leaves[i].raised;
	return raised;
}

void
loss_clear(struct loss_watch *w)
{
	free(w->sums);
	free(w->leaves);
	free(w->own);
	memset(w, 0, sizeof(*w));
}

/* ---- lost datagrams as a number for a judge ---- */

/* (p + z^2 / 2n - z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n) */
double
loss_share(uint64_t lost, uint64_t sent)
{
	double n = (double)sent, p, c = Z_95 * Z_95 / n;

	if (sent == 0 || lost == 0)
		return 0;
	p = (double)lost / n;
	return (p + c / 2 - Z_95 * sqrt(p * (1 - p) / n + c / (4 * n))) /
	    (1 + c);
}

double
loss_number(double share)
{
	return -LOSS_WEIGHT * log1p(-fmin(share, 0.99));
}

/* A node behind a bad uplink is one of many that lose; a leaf that loses inside
 * has more than a bad uplink. */
enum confirm_finding
loss_finding(enum judge_kind kind, int near, int far)
{
	if (kind == JUDGE_LEAF)
		return near == 1            ? CONFIRM_LEAF
		    : far == 1 && near == 0 ? CONFIRM_LINK
					    : CONFIRM_UNCLEAR;
	return near == 1 && far == 1 ? CONFIRM_NODE : CONFIRM_UNCLEAR;
}

double
loss_of_number(double x)
{
	return -expm1(-x / LOSS_WEIGHT);
}
