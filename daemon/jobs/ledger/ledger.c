/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c - evaluate one moment: compare series that share a link with a job
 * with those that do not, before and after it.
 */
#include "daemon/jobs/ledger/ledger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/robust.h"
#include "common/xalloc.h"

static int
ledger_has(const uint32_t *set, size_t count, uint32_t x)
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

/* Return how many leaves have an uplink that both use. */
static size_t
ledger_links_shared(const struct ledger_place *a, const struct ledger_place *b)
{
	size_t links = 0;

	if (a->leaf_count < 2 || b->leaf_count < 2)
		return 0;
	for (size_t i = 0; i < a->leaf_count; i++)
		links += (size_t)ledger_has(b->leaves, b->leaf_count,
		    a->leaves[i]);
	return links;
}

/* SIDE_NEW: not determined yet in this evaluation. */
enum side { SIDE_NEW, SIDE_NONE, SIDE_SHARED, SIDE_OTHER };

/* One evaluation: the time around a moment, and the side of each series. */
struct look {
	const struct ledger_world *w;
	const struct ledger_step *of;
	int64_t at_ns, from_ns, to_ns;
	int64_t before_ns;     /* samples that ended by then are before it */
	char *sides;           /* enum side, of series */
	uint32_t *leaf_rivals; /* the job of a step there, or LEDGER_NONE */
	char *nodes_out;       /* nodes of the job and of rivals */
	size_t queues_out; /* links of the job in which confounded ones wait */
};

/* Return the index of the first step at or after at_ns. */
static size_t
ledger_step_from(const struct ledger_world *w, int64_t at_ns)
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

size_t
ledger_sample_from(const struct ledger_world *w, int64_t at_ns)
{
	size_t lo = 0, hi = w->sample_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->samples[mid].at_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Other steps of the same job shorten the time that is compared; a placebo must
 * have none. */
static int
ledger_span_set(struct look *l)
{
	const struct ledger_world *w = l->w;
	int is_own = l->at_ns == l->of->at_ns;

	l->before_ns = l->at_ns - (l->of->sign < 0 ? w->lead_ns : 0);
	l->from_ns = l->before_ns - w->span_ns;
	l->to_ns = l->at_ns + w->guard_ns + w->span_ns;
	for (size_t i = ledger_step_from(w, l->from_ns);
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

/* Mark what steps of other jobs affect at the same time: leaves whose uplinks
 * they use, and nodes. */
static void
ledger_rivals_find(struct look *l)
{
	const struct ledger_world *w = l->w;
	const struct ledger_place *own = &l->of->place;

	for (size_t i = 0; i < w->leaf_count; i++)
		l->leaf_rivals[i] = LEDGER_NONE;
	for (size_t k = 0; k < own->node_count; k++)
		l->nodes_out[own->nodes[k]] = 1;
	for (size_t i = ledger_step_from(w, l->from_ns);
	     i < w->step_count && w->steps[i].at_ns < l->to_ns; i++) {
		const struct ledger_place *p = &w->steps[i].place;

		if (w->steps[i].job == l->of->job)
			continue;
		for (size_t k = 0; p->leaf_count > 1 && k < p->leaf_count; k++)
			l->leaf_rivals[p->leaves[k]] = w->steps[i].job;
		for (size_t k = 0; k < p->node_count; k++)
			l->nodes_out[p->nodes[k]] = 1;
	}
}

/* An echo between two leaves that the job uses waits in both uplinks. A
 * collective operation of a canary waits for the slowest link, or has the rate
 * of the narrowest one. */
static size_t
ledger_queues_of(const struct look *l, const struct ledger_place *p)
{
	size_t links = ledger_links_shared(p, &l->of->place);

	return p->node_count == 0 || links == 0 ? links : 1;
}

/* Return the side of a series; SIDE_NONE if another job's step affects it. */
static enum side
ledger_side_of(struct look *l, const struct ledger_place *p,
    struct ledger_effect *e)
{
	size_t shares = ledger_queues_of(l, p);
	uint32_t rival = LEDGER_NONE;

	for (size_t i = 0; i < p->node_count; i++)
		if (l->nodes_out[p->nodes[i]])
			return SIDE_NONE;
	for (size_t i = 0; p->leaf_count > 1 && i < p->leaf_count; i++)
		if (l->leaf_rivals[p->leaves[i]] != LEDGER_NONE)
			rival = l->leaf_rivals[p->leaves[i]];
	if (rival != LEDGER_NONE && shares > 0) {
		e->confounded++;
		e->rival = rival;
		l->queues_out += shares;
	}
	return rival != LEDGER_NONE ? SIDE_NONE
	    : shares > 0            ? SIDE_SHARED
				    : SIDE_OTHER;
}

/* Values of the samples that count, grouped by series, before the moment and
 * after it. ends[2 * series + is_after] is the end of a group. */
struct parts {
	double *x;
	uint32_t *ends;
};

/* A sample counts if it is of the test, ended before the moment or began after
 * it, and has no node of the job or a rival. */
static int
ledger_counts(const struct look *l, const struct ledger_sample *s,
    uint32_t test)
{
	return l->w->series[s->series].test == test &&
	    (s->at_ns < l->before_ns ||
		s->at_ns >= l->at_ns + l->w->guard_ns) &&
	    (s->a == LEDGER_NONE || !l->nodes_out[s->a]) &&
	    (s->b == LEDGER_NONE || !l->nodes_out[s->b]);
}

static void
ledger_parts_take(struct look *l, uint32_t test, struct ledger_effect *e,
    struct parts *ret)
{
	const struct ledger_world *w = l->w;
	size_t first = ledger_sample_from(w, l->from_ns);
	size_t last = ledger_sample_from(w, l->to_ns);
	uint32_t sum = 0;

	ret->ends = xcalloc(2 * w->series_count + 2, sizeof(*ret->ends));
	for (size_t i = first; i < last; i++) {
		const struct ledger_sample *s = &w->samples[i];
		char *side = &l->sides[s->series];

		if (!ledger_counts(l, s, test))
			continue;
		if (*side == SIDE_NEW)
			*side = (char)ledger_side_of(l,
			    &w->series[s->series].place, e);
		if (*side != SIDE_NONE)
			ret->ends[2 * s->series + (s->at_ns >= l->at_ns)]++;
	}
	for (size_t k = 0; k < 2 * w->series_count; k++) {
		uint32_t here = ret->ends[k];

		ret->ends[k] = sum; /* the starts so far */
		sum += here;
	}
	ret->x = xcalloc(sum + (size_t)1, sizeof(*ret->x));
	for (size_t i = first; i < last; i++) {
		const struct ledger_sample *s = &w->samples[i];

		if (l->sides[s->series] > SIDE_NONE &&
		    ledger_counts(l, s, test))
			ret->x[ret->ends[2 * s->series +
			    (s->at_ns >= l->at_ns)]++] = s->log_s;
	}
}

int
ledger_look(const struct ledger_world *w, uint32_t test,
    const struct ledger_step *of, int64_t at_ns, struct ledger_effect *ret)
{
	struct look l = { .w = w, .of = of, .at_ns = at_ns };
	double sums[SIDE_OTHER + 1] = { 0 }, sums_s[SIDE_OTHER + 1] = { 0 };
	double quiet_s = 0, by;
	size_t queues = 0, known[SIDE_OTHER + 1] = { 0 };
	uint32_t from = 0, middle, to;
	struct parts p;

	*ret = (struct ledger_effect){ NAN, NAN, NAN, .rival = LEDGER_NONE };
	if (of->place.leaf_count < 2)
		return -ENODATA; /* it uses no uplink */
	if (ledger_span_set(&l) < 0)
		return -EBUSY;
	l.sides = xcalloc(w->series_count + 1, 1);
	l.leaf_rivals = xcalloc(w->leaf_count + 1, sizeof(*l.leaf_rivals));
	l.nodes_out = xcalloc(w->node_count + 1, 1);
	ledger_rivals_find(&l);
	ledger_parts_take(&l, test, ret, &p);
	/* Each series that was measured before and after counts once. */
	for (size_t k = 0; k < w->series_count; k++, from = to) {
		double before, after;

		middle = p.ends[2 * k];
		to = p.ends[2 * k + 1];
		if (middle == from || middle == to)
			continue;
		before = robust_median(p.x + from, middle - from);
		after = robust_median(p.x + middle, to - middle);
		sums[(int)l.sides[k]] += after - before;
		sums_s[(int)l.sides[k]] += exp(after) - exp(before);
		if (l.sides[k] == SIDE_SHARED) {
			quiet_s += exp(of->sign > 0 ? before : after);
			queues += ledger_queues_of(&l, &w->series[k].place);
		}
		known[(int)l.sides[k]]++;
	}
	free(p.x);
	free(p.ends);
	free(l.sides);
	free(l.leaf_rivals);
	free(l.nodes_out);
	ret->shared = known[SIDE_SHARED];
	ret->others = known[SIDE_OTHER];
	if (ret->shared == 0 && ret->confounded > 0)
		return -EBUSY;
	if (ret->shared == 0 || ret->others == 0)
		return -ENODATA;
	/* Some series wait in more links than others, and rivals decide which
	 * ones can be compared: scale the effect to all series. */
	by = (double)(queues + l.queues_out) /
	    (double)(ret->shared + ret->confounded) * (double)ret->shared /
	    (double)queues;
	ret->log_ratio = sums[SIDE_SHARED] / (double)ret->shared -
	    sums[SIDE_OTHER] / (double)ret->others;
	ret->log_ratio = copysign(log1p(by * expm1(fabs(ret->log_ratio))),
	    ret->log_ratio);
	ret->quiet_s = quiet_s / (double)ret->shared;
	ret->seconds = by *
	    (sums_s[SIDE_SHARED] / (double)ret->shared -
		sums_s[SIDE_OTHER] / (double)ret->others);
	return 0;
}
