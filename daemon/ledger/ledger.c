/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c - one look at one moment: who shares a link with a job and who does
 * not, and how each went on after it.
 */
#include "daemon/ledger/ledger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

static int
has(const uint32_t *set, size_t count, uint32_t x)
{
	size_t lo = 0, hi = count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (set[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && set[lo] == x;
}

static int
meets(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	for (size_t i = 0; i < a_count; i++)
		if (has(b, b_count, a[i]))
			return 1;
	return 0;
}

int
ledger_shares(const struct ledger_place *a, const struct ledger_place *b)
{
	return a->leaf_count > 1 && b->leaf_count > 1 &&
	    meets(a->leaves, a->leaf_count, b->leaves, b->leaf_count);
}

enum side { SIDE_NONE, SIDE_SHARED, SIDE_OTHER };

/* What is looked at: the time around a moment, and who is on which side. */
struct look {
	const struct ledger_world *w;
	const struct ledger_step *of;
	int64_t at_ns, from_ns, to_ns;
	enum side *sides;      /* of series */
	uint32_t *leaf_rivals; /* the job of a step there, or LEDGER_NONE */
	char *node_rivals;
};

/* The first of the steps that is not before. */
static size_t
step_from(const struct ledger_world *w, int64_t at_ns)
{
	size_t lo = 0, hi = w->step_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->steps[mid].at_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Its own other steps end the time that is looked at; at a placebo there must
 * be none. */
static int
span_set(struct look *l)
{
	const struct ledger_world *w = l->w;
	int is_own = l->at_ns == l->of->at_ns;

	l->from_ns = l->at_ns - w->span_ns;
	l->to_ns = l->at_ns + w->guard_ns + w->span_ns;
	for (size_t i = step_from(w, l->from_ns);
	     i < w->step_count && w->steps[i].at_ns < l->to_ns; i++) {
		const struct ledger_step *s = &w->steps[i];

		if (s->job != l->of->job || (is_own && s->at_ns == l->at_ns))
			continue;
		if (!is_own)
			return -EBUSY;
		if (s->at_ns < l->at_ns)
			l->from_ns = s->at_ns + w->guard_ns;
		else if (s->at_ns < l->to_ns)
			l->to_ns = s->at_ns;
	}
	return 0;
}

/* Whom steps of other jobs touch meanwhile: by leaf whose uplinks they use, and
 * by node. */
static void
rivals_find(struct look *l)
{
	const struct ledger_world *w = l->w;

	for (size_t i = 0; i < w->leaf_count; i++)
		l->leaf_rivals[i] = LEDGER_NONE;
	for (size_t i = step_from(w, l->from_ns);
	     i < w->step_count && w->steps[i].at_ns < l->to_ns; i++) {
		const struct ledger_place *p = &w->steps[i].place;

		if (w->steps[i].job == l->of->job)
			continue;
		for (size_t k = 0; p->leaf_count > 1 && k < p->leaf_count; k++)
			l->leaf_rivals[p->leaves[k]] = w->steps[i].job;
		for (size_t k = 0; k < p->node_count; k++)
			l->node_rivals[p->nodes[k]] = 1;
	}
}

/* On which side a series is; on none when another job's step touches it. */
static enum side
side_of(const struct look *l, const struct ledger_series *x,
    struct ledger_effect *e)
{
	const struct ledger_place *p = &x->place;
	int shares = ledger_shares(p, &l->of->place);
	uint32_t rival = LEDGER_NONE;

	if (meets(p->nodes, p->node_count, l->of->place.nodes,
		l->of->place.node_count))
		return SIDE_NONE;
	for (size_t i = 0; i < p->node_count; i++)
		if (l->node_rivals[p->nodes[i]])
			return SIDE_NONE;
	for (size_t i = 0; p->leaf_count > 1 && i < p->leaf_count; i++)
		if (l->leaf_rivals[p->leaves[i]] != LEDGER_NONE)
			rival = l->leaf_rivals[p->leaves[i]];
	if (rival != LEDGER_NONE && shares) {
		e->confounded++;
		e->rival = rival;
	}
	return rival != LEDGER_NONE ? SIDE_NONE
	    : shares                ? SIDE_SHARED
				    : SIDE_OTHER;
}

/* A sample counts where neither of its nodes is the job's or a rival's. */
static int
node_counts(const struct look *l, uint32_t node)
{
	const struct ledger_place *job = &l->of->place;

	return node == LEDGER_NONE ||
	    (!l->node_rivals[node] && !has(job->nodes, job->node_count, node));
}

/* A sample that counts, by series and by before and after. */
struct part {
	uint32_t series;
	int is_after;
	double log_s;
};

static int
part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->is_after != y->is_after)
		return x->is_after - y->is_after;
	return (x->log_s > y->log_s) - (x->log_s < y->log_s);
}

static size_t
parts_take(const struct look *l, struct part **ret)
{
	const struct ledger_world *w = l->w;
	size_t lo = 0, hi = w->sample_count, count = 0, cap = 0;
	struct part *parts = NULL;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->samples[mid].at_ns < l->from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < w->sample_count && w->samples[lo].at_ns < l->to_ns; lo++) {
		const struct ledger_sample *s = &w->samples[lo];

		if (l->sides[s->series] == SIDE_NONE ||
		    (s->at_ns >= l->at_ns &&
			s->at_ns < l->at_ns + w->guard_ns) ||
		    !node_counts(l, s->a) || !node_counts(l, s->b))
			continue;
		if (count == cap) {
			cap = 2 * cap + 256;
			parts = xreallocarray(parts, cap, sizeof(*parts));
		}
		parts[count++] = (struct part){ s->series, s->at_ns >= l->at_ns,
			s->log_s };
	}
	if (count > 0)
		qsort(parts, count, sizeof(*parts), part_compare);
	*ret = parts;
	return count;
}

static double
median_of(const struct part *p, size_t count)
{
	return count % 2 == 1
	    ? p[count / 2].log_s
	    : (p[count / 2 - 1].log_s + p[count / 2].log_s) / 2;
}

int
ledger_look(const struct ledger_world *w, uint32_t test,
    const struct ledger_step *of, int64_t at_ns, struct ledger_effect *ret)
{
	struct look l = { .w = w, .of = of, .at_ns = at_ns };
	double sums[SIDE_OTHER + 1] = { 0 };
	size_t counts[SIDE_OTHER + 1] = { 0 }, count, middle, to;
	struct part *parts;

	*ret = (struct ledger_effect){ .log_ratio = NAN, .rival = LEDGER_NONE };
	if (span_set(&l) < 0)
		return -EBUSY;
	l.sides = xcalloc(w->series_count + 1, sizeof(*l.sides));
	l.leaf_rivals = xcalloc(w->leaf_count + 1, sizeof(*l.leaf_rivals));
	l.node_rivals = xcalloc(w->node_count + 1, 1);
	rivals_find(&l);
	for (size_t k = 0; k < w->series_count; k++)
		if (w->series[k].test == test)
			l.sides[k] = side_of(&l, &w->series[k], ret);
	count = parts_take(&l, &parts);
	/* Each series that was measured before and after counts once. */
	for (size_t from = 0; from < count; from = to) {
		for (to = from, middle = from;
		     to < count && parts[to].series == parts[from].series; to++)
			middle += !parts[to].is_after;
		if (middle == from || middle == to)
			continue;
		sums[l.sides[parts[from].series]] += median_of(parts + middle,
							 to - middle) -
		    median_of(parts + from, middle - from);
		counts[l.sides[parts[from].series]]++;
	}
	free(parts);
	free(l.sides);
	free(l.leaf_rivals);
	free(l.node_rivals);
	ret->shared = counts[SIDE_SHARED];
	ret->others = counts[SIDE_OTHER];
	if (ret->shared == 0 && ret->confounded > 0)
		return -EBUSY;
	if (ret->shared == 0 || ret->others == 0)
		return -ENODATA;
	ret->log_ratio = sums[SIDE_SHARED] / (double)ret->shared -
	    sums[SIDE_OTHER] / (double)ret->others;
	return 0;
}
