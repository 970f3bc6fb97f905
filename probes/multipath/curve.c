/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/curve.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/sampling/timing.h"

#define FIT_SIZES    4   /* each a quarter of the next */
#define FIT_TIMES    3   /* the least of as many */
#define SLOW_SHARE   0.7 /* of what a way should carry: less is a finding */
#define JUDGED_SHARE 0.1 /* where less is expected, noise decides */

/* One move alone on one link; the least of some times. */
static int
alone(struct copier *cp, const struct wires_move *mv, double *ret_s)
{
	*ret_s = INFINITY;
	for (int i = 0; i < FIT_TIMES; i++) {
		double start_s = cp->ops->now_s(cp->wires), end_s;
		uint32_t id;
		int rc = cp->ops->start(cp->wires, mv);

		if (rc == 0)
			rc = cp->ops->wait(cp->wires, &id, &end_s);
		if (rc < 0)
			return rc;
		*ret_s = fmin(*ret_s, end_s - start_s);
	}
	return 0;
}

static int
link_fit(struct copier *cp, const struct wires_move *like,
    struct paths_direct *ret)
{
	double x[FIT_SIZES], s[FIT_SIZES];
	struct wires_move mv = *like;

	for (int i = 0; i < FIT_SIZES; i++) {
		int rc = alone(cp, &mv, &s[i]);

		if (rc < 0)
			return rc;
		x[i] = (double)mv.bytes;
		mv.bytes = mv.bytes / 4 + 1;
	}
	return tuner_fit(x, s, FIT_SIZES, ret);
}

/* Both stages of a way, and what starting it costs beside them. */
static int
way_fit(struct copier *cp, char *from, char *to, uint64_t bytes, uint32_t way,
    struct paths_staged *ret)
{
	uint64_t room = cp->stores[way].bytes;
	struct wires_move in = { .way = way,
		.to = cp->stores[way].base,
		.from = from,
		.bytes = bytes < room ? bytes : room };
	struct wires_move out = in;
	struct paths_direct a, b;
	double first_s, later_s;
	int rc;

	out.stage = 1;
	out.to = to;
	out.from = in.to;
	rc = link_fit(cp, &in, &a);
	if (rc == 0)
		rc = link_fit(cp, &out, &b);
	in.bytes = 1;
	if (rc == 0)
		rc = alone(cp, &in, &later_s);
	in.first = 1;
	if (rc == 0)
		rc = alone(cp, &in, &first_s);
	if (rc < 0)
		return rc;
	*ret = (struct paths_staged){ fmax(0, first_s - later_s),
		(a.setup_s + b.setup_s) / 2, a.bytes_per_s, b.bytes_per_s };
	return 0;
}

int
curve_fits(struct copier *cp, char *from, char *to, uint64_t bytes,
    uint32_t count, struct tuner_fits *ret)
{
	struct wires_move direct = { .first = 1,
		.to = to,
		.from = from,
		.bytes = bytes };
	int rc = link_fit(cp, &direct, &ret->direct);

	ret->count = count;
	for (uint32_t i = 1; rc == 0 && i <= count; i++)
		rc = way_fit(cp, from, to, bytes, i, &ret->staged[i - 1]);
	return rc;
}

static int
compare_cb(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *x, uint32_t n)
{
	qsort(x, n, sizeof(*x), compare_cb);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static int
transfer(const struct curve_ask *ask, const struct tuner_choice *c,
    struct tuner_seen *seen, double *ret_s)
{
	uint32_t way = 0;
	int rc = copier_send(ask->copier, ask->to, ask->from, ask->bytes, c,
	    seen, &way);

	*ret_s = 0;
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		*ret_s = fmax(*ret_s, seen->s[i]);
	return rc;
}

static uint64_t
first_wrong(const struct curve_ask *ask)
{
	if (ask->to == NULL || memcmp(ask->from, ask->to, ask->bytes) == 0)
		return 0;
	for (uint64_t i = 0; i < ask->bytes; i++)
		if (ask->from[i] != ask->to[i])
			return i + 1;
	return 0;
}

/* As the tuner wants it; what came is compared. */
static int
tuned(const struct curve_ask *ask, struct curve_point *pt, double *ret_s)
{
	struct tuner_seen seen;
	int rc;

	if (ask->to != NULL)
		memset(ask->to, 0, ask->bytes);
	tuner_choose(ask->tuner, ask->bytes, &pt->choice);
	rc = transfer(ask, &pt->choice, &seen, ret_s);
	if (rc < 0)
		return rc;
	tuner_learn(ask->tuner, ask->bytes, &pt->choice, &seen);
	for (uint32_t i = 0; i <= ask->copier->count; i++)
		pt->carried[i] += (double)seen.bytes[i];
	if (pt->wrong == 0)
		pt->wrong = first_wrong(ask);
	return 0;
}

static int
single(const struct curve_ask *ask, double *ret_s)
{
	struct tuner_choice c = { .share = { 1 } };
	struct tuner_seen seen;

	return transfer(ask, &c, &seen, ret_s);
}

/* What stated links would carry, and which way falls short the most. */
static void
judge(const struct curve_ask *ask, struct curve_point *pt)
{
	const struct tuner_fits *f = ask->stated;
	double worst = SLOW_SHARE, sum = 0;
	struct paths_split s;

	paths_split_many(&f->direct, f->staged, f->count, (double)ask->bytes,
	    ask->tuner->chunks_max, &s);
	pt->stated_ratio = s.direct_s / s.time_s;
	pt->expected[0] = 1 - s.share;
	for (uint32_t i = 0; i <= f->count; i++)
		sum += pt->carried[i];
	for (uint32_t i = 0; i <= f->count; i++) {
		if (i > 0)
			pt->expected[i] = s.staged[i - 1];
		pt->carried[i] /= sum;
		if (i > 0 && pt->expected[i] >= JUDGED_SHARE &&
		    pt->carried[i] < worst * pt->expected[i]) {
			worst = pt->carried[i] / pt->expected[i];
			pt->slow = i;
		}
	}
}

uint32_t
curve_watch_take(struct curve_watch *w, uint32_t slow)
{
	if (slow == w->last)
		w->said = slow;
	w->last = slow;
	return w->said;
}

int
curve_watch_open(const struct curve_watch *w)
{
	return w->said != w->last;
}

int
curve_measure(const struct curve_ask *ask, struct curve_point *ret)
{
	double one[CURVE_TURNS_MAX], many[CURVE_TURNS_MAX];
	struct timing_sample ratios[CURVE_TURNS_MAX] = { { 0, 0 } };
	struct timing both;
	struct paths_split s;
	int rc = 0;

	assert(ask->turns >= 1 && ask->turns <= CURVE_TURNS_MAX);
	memset(ret, 0, sizeof(*ret));
	ret->bytes = ask->bytes;
	paths_split_many(&ask->tuner->fits.direct, ask->tuner->fits.staged,
	    ask->tuner->fits.count, (double)ask->bytes, ask->tuner->chunks_max,
	    &s);
	ret->model_ratio = s.direct_s / s.time_s;
	for (uint32_t i = 0; rc == 0 && i < ask->settle; i++)
		rc = tuned(ask, ret, &many[0]);
	memset(ret->carried, 0, sizeof(ret->carried));
	for (uint32_t i = 0; rc == 0 && i < ask->turns; i++) {
		rc = single(ask, &one[i]);
		if (rc == 0)
			rc = tuned(ask, ret, &many[i]);
	}
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < ask->turns; i++)
		ratios[i].s = one[i] / many[i];
	timing_of(ratios, ask->turns, &both);
	ret->single_s = median(one, ask->turns);
	ret->several_s = median(many, ask->turns);
	ret->ratio = both.median_middle_s;
	ret->lo = both.lo_s;
	ret->hi = both.hi_s;
	judge(ask, ret);
	return 0;
}
