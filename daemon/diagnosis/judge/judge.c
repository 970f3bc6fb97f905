/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - from rounds to outliers: which rounds count against a node or leaf,
 * and when those that do are significant among all of the round.
 */
#include "daemon/diagnosis/judge/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* A vote takes little, since a missing one delays the verdict: one lucky pair
 * must not hide a node that is 20 % slow. Their sum decides. */
#define DIRTY_Z 1.5 /* and effect_min: a round that is not clean */
#define VOTE_Z  0.5
#define VOTE_SHARE                                                             \
	0.5 /* of effect_min; the votes' median must reach it all              \
	     */

/* What a confirmation run must find: CONFIRM_TIMES effect_min, since nodes that
 * are always a little slower are named by chance more often, and CONFIRM_SHARE
 * of the effect that made the node an outlier. */
#define CONFIRM_TIMES 1.5
#define CONFIRM_SHARE 0.6

/* Where many links are busy, nodes differ in how many idle partners they met,
 * so their scatter is not normal: of 6000 idle nodes among 4000 busy ones, 1.3
 * times as many as expected are beyond three deviations and 3 times as many
 * beyond four. Each then counts as this many tests. */
#define BUSY_TESTS 10

/* The extra distance of a healthy leaf, by its cables or tier, is learned and
 * subtracted: after LEAF_LEARN rounds and at most LEAF_MOST. Before that only
 * leaves beyond LEAF_MOST are named. */
#define LEAF_LEARN  6
#define LEAF_MEMORY 2016 /* rounds: a week of 5 minutes */
#define LEAF_MOST   0.3
#define LEAF_STEP   0.1 /* what one round can teach, once it is known */

struct tracks {
	struct judge_track *list;
	uint32_t count;
	uint32_t outliers; /* of them are named: mostly none, and asked often */
	size_t cap;
};

struct judge {
	struct judge_options o;
	double least; /* effect_min, or more */
	struct score *score;
	struct tracks tracks[2]; /* by enum judge_kind */
	double *p;               /* scratch */
	size_t p_cap;
	struct judge_change *changes;
	size_t change_count;
};

void
judge_options_read(const struct conf *c, struct judge_options *ret)
{
	ret->effect_min = conf_real(c, "verdict", "effect");
	ret->fdr = conf_real(c, "verdict", "fdr");
	ret->votes = (int)conf_int(c, "verdict", "votes");
	ret->window = (int)conf_int(c, "verdict", "window");
	ret->clean = (int)conf_int(c, "verdict", "clean");
}

struct judge *
judge_new(const struct judge_options *o)
{
	struct judge *j = xcalloc(1, sizeof(*j));

	assert(o->window <= JUDGE_WINDOW_MAX && o->votes <= o->window &&
	    o->votes > 0);
	j->o = *o;
	j->least = o->effect_min;
	j->score = score_new();
	return j;
}

void
judge_free(struct judge *j)
{
	if (j == NULL)
		return;
	score_free(j->score);
	for (int k = 0; k < 2; k++)
		free(j->tracks[k].list);
	free(j->p);
	free(j->changes);
	free(j);
}

/* Forgets the rounds, but not the usual distance of a leaf. */
static void
clear(struct judge_track *t)
{
	struct judge_track old = *t;

	memset(t, 0, sizeof(*t));
	t->past = old.past;
	t->past_n = old.past_n;
	t->p = 1;
}

static struct judge_track *
need(struct tracks *ts, uint32_t index)
{
	if (index >= ts->cap) {
		ts->cap = (size_t)index + index / 2 + 16;
		ts->list = xreallocarray(ts->list, ts->cap, sizeof(*ts->list));
	}
	while (ts->count <= index) {
		memset(&ts->list[ts->count], 0, sizeof(*ts->list));
		clear(&ts->list[ts->count++]);
	}
	return &ts->list[index];
}

static void
state_set(struct tracks *ts, struct judge_track *t, enum judge_state to)
{
	ts->outliers -= t->state >= JUDGE_OUTLIER;
	ts->outliers += to >= JUDGE_OUTLIER;
	t->state = (uint8_t)to;
}

static void
change(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state to)
{
	struct judge_track *t = &j->tracks[kind].list[index];
	struct judge_change *c;

	if (t->state == to)
		return;
	j->changes = xmore(j->changes, j->change_count, sizeof(*j->changes));
	c = &j->changes[j->change_count++];
	c->kind = kind;
	c->index = index;
	c->from = (enum judge_state)t->state;
	c->to = to;
	state_set(&j->tracks[kind], t, to);
}

double
judge_leaf_past(const struct judge *j, uint32_t leaf)
{
	const struct judge_track *t = judge_track(j, JUDGE_LEAF, leaf);

	return t == NULL || t->past_n < LEAF_LEARN
	    ? 0
	    : fmax(-LEAF_MOST, fmin(LEAF_MOST, t->past));
}

void
judge_leaf_restore(struct judge *j, uint32_t leaf, double past, uint32_t rounds)
{
	struct judge_track *t = need(&j->tracks[JUDGE_LEAF], leaf);

	t->past = (float)past;
	t->past_n = (uint16_t)(rounds < LEAF_MEMORY ? rounds : LEAF_MEMORY);
}

static void
shift(const struct judge *j, struct score_obs *obs, size_t count, int sign)
{
	for (size_t i = 0; i < count; i++)
		if (obs[i].leaf != SCORE_NO_LEAF)
			obs[i].x += sign * judge_leaf_past(j, obs[i].leaf);
}

static void
past_learn(struct judge_track *t, double effect)
{
	double off = effect - t->past;

	/* A difference that is judged from the first round on is not learned as
	 * usual. */
	if (t->state >= JUDGE_OUTLIER ||
	    (t->past_n < LEAF_LEARN && effect > LEAF_MOST))
		return;
	if (t->past_n >= LEAF_LEARN)
		off = fmax(-LEAF_STEP, fmin(LEAF_STEP, off));
	t->past_n = (uint16_t)(t->past_n + (t->past_n < LEAF_MEMORY));
	t->past += (float)(off / t->past_n);
}

/* Where in the rings the round is that was m rounds ago. */
static int
back(const struct judge *j, const struct judge_track *t, int m)
{
	return (t->at + 2 * j->o.window - 1 - m) % j->o.window;
}

static int
bits(uint32_t x)
{
	int n = 0;

	for (; x != 0; x &= x - 1)
		n++;
	return n;
}

double
judge_threshold(const struct judge_options *o, size_t tests)
{
	return robust_normal_quantile(1 - o->fdr / (double)tests);
}

/* Where a z is cut, for the places of a round. Odd delays are large, and no
 * k - 1 rounds may decide alone: (k - 1) cut / sqrt(k) stays below the z that
 * the first rejection needs; k of them must be able to, without all being at
 * the cut. Nearer to the first, for that costs less power. */
static double
cut_of(const struct judge *j, size_t tests)
{
	double k = j->o.votes, need = judge_threshold(&j->o, tests);

	return k < 2 ? 2 * need
		     : need * (0.1 / sqrt(k) + 0.9 * sqrt(k) / (k - 1));
}

/* Sum of z over sqrt(m), over the last m rounds: so many as hold the votes,
 * for a fault that is younger than the window must not be diluted by what was
 * before. */
static double
window_p(const struct judge *j, const struct judge_track *t, double cut)
{
	double sum = 0;
	int m = 0;

	for (int votes = 0; votes < j->o.votes; m++) {
		sum += fmin(t->z[back(j, t, m)], cut);
		votes += (int)(t->votes >> m & 1);
	}
	return score_tail(sum / sqrt(m));
}

static void
remember(const struct judge *j, struct judge_track *t, double effect, double z,
    double cut, int busy)
{
	uint32_t mask = (1u << j->o.window) - 1;
	int dirty, vote = effect >= VOTE_SHARE * j->least && z >= VOTE_Z;

	t->z[t->at] = (float)z;
	t->effect[t->at] = (float)effect;
	t->at = (uint16_t)((t->at + 1) % j->o.window);
	if (t->known < j->o.window)
		t->known++;
	t->votes = (t->votes << 1 | (uint32_t)vote) & mask;
	t->host_votes = (t->host_votes << 1 | (uint32_t)(vote && busy)) & mask;
	dirty = effect >= j->least && z >= DIRTY_Z;
	t->clean = dirty ? 0 : (uint16_t)(t->clean + (t->clean < UINT16_MAX));
	if (t->state >= JUDGE_OUTLIER)
		t->rounds += (uint32_t)vote;
	else
		t->rounds = (uint32_t)bits(t->votes);
	t->p = bits(t->votes) >= j->o.votes && judge_effect(j, t) >= j->least
	    ? window_p(j, t, cut)
	    : 1;
}

/* Those that the round has brought to a new state. indices: who took part. */
static void
settle(struct judge *j, enum judge_kind kind, uint32_t index, double p_max)
{
	const struct judge_track *t = &j->tracks[kind].list[index];

	if (t->state >= JUDGE_OUTLIER) {
		if (t->clean >= j->o.clean)
			change(j, kind, index, JUDGE_OK);
	} else if (t->p <= p_max) {
		change(j, kind, index, JUDGE_OUTLIER);
	} else if (t->known >= 1) {
		change(j, kind, index, JUDGE_OK);
	}
}

static double
reject(struct judge *j, size_t count, size_t tests)
{
	return tests == 0 ? -1 : score_fdr(j->p, count, tests, j->o.fdr);
}

static void
hear_places(struct judge *j, const struct score_obs *obs, size_t count,
    const uint8_t *busy)
{
	struct tracks *ts = &j->tracks[JUDGE_NODE];
	size_t tests = 0, n = 0, aside = 0;
	double p_max, cut;

	for (size_t i = 0; i < count; i++) {
		tests += !isnan(obs[i].z);
		aside += obs[i].aside;
	}
	cut = tests == 0 ? 0 : cut_of(j, tests);
	for (size_t i = 0; i < count; i++) {
		struct judge_track *t = need(ts, obs[i].place);

		if (isnan(obs[i].z))
			continue;
		remember(j, t, obs[i].effect, obs[i].z, cut,
		    busy != NULL && busy[i]);
		if (t->p < 1)
			j->p[n++] = t->p;
	}
	if ((double)aside > SCORE_ASIDE_MANY * (double)count)
		tests *= BUSY_TESTS;
	p_max = reject(j, n, tests);
	for (size_t i = 0; i < count; i++)
		if (!isnan(obs[i].z))
			settle(j, JUDGE_NODE, obs[i].place, p_max);
}

static void
hear_leaves(struct judge *j, const struct score_leaf *leaves, size_t count)
{
	struct tracks *ts = &j->tracks[JUDGE_LEAF];
	double p_max, cut = count == 0 ? 0 : cut_of(j, count);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct judge_track *t = need(ts, leaves[i].leaf);
		double past = judge_leaf_past(j, leaves[i].leaf);
		int counts = leaves[i].apart &&
		    (t->past_n >= LEAF_LEARN || leaves[i].effect >= LEAF_MOST);

		past_learn(t, leaves[i].effect + past);
		if (leaves[i].apart) {
			t->places = (uint16_t)leaves[i].places;
			t->slow_places = (uint16_t)leaves[i].slow;
		}
		/* Not apart: what is wrong there is its places' matter. */
		remember(j, t, leaves[i].effect,
		    counts ? leaves[i].z : fmin(leaves[i].z, 0), cut, 0);
		if (t->p < 1)
			j->p[n++] = t->p;
	}
	p_max = reject(j, n, count);
	for (size_t i = 0; i < count; i++)
		settle(j, JUDGE_LEAF, leaves[i].leaf, p_max);
}

void
judge_set_least(struct judge *j, double effect)
{
	j->least = fmax(effect, j->o.effect_min);
}

double
judge_least(const struct judge *j)
{
	return j->least;
}

size_t
judge_round(struct judge *j, struct score_obs *obs, size_t count,
    const uint8_t *busy, const struct judge_change **ret_changes)
{
	const struct score_leaf *leaves;
	size_t leaf_count;

	j->change_count = 0;
	shift(j, obs, count, -1);
	leaf_count = score_round(j->score, obs, count, j->least, &leaves);
	shift(j, obs, count, 1);
	if (count > j->p_cap) {
		j->p_cap = count + count / 2;
		j->p = xreallocarray(j->p, j->p_cap, sizeof(*j->p));
	}
	hear_places(j, obs, count, busy);
	hear_leaves(j, leaves, leaf_count);
	*ret_changes = j->changes;
	return j->change_count;
}

static struct judge_track *
find(struct judge *j, enum judge_kind kind, uint32_t index)
{
	return index < j->tracks[kind].count ? &j->tracks[kind].list[index]
					     : NULL;
}

void
judge_confirm(struct judge *j, enum judge_kind kind, uint32_t index,
    int confirmed)
{
	struct judge_track *t = find(j, kind, index);

	if (t == NULL)
		return;
	if (!confirmed) {
		state_set(&j->tracks[kind], t, JUDGE_UNKNOWN);
		clear(t);
	}
	state_set(&j->tracks[kind], t, confirmed ? JUDGE_BAD : JUDGE_OK);
}

void
judge_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state state)
{
	struct judge_track *t = need(&j->tracks[kind], index);

	state_set(&j->tracks[kind], t, state);
	t->clean = 0; /* rounds before it was named clear nobody */
}

void
judge_forget(struct judge *j, enum judge_kind kind, uint32_t index)
{
	struct judge_track *t = find(j, kind, index);

	if (t == NULL)
		return;
	state_set(&j->tracks[kind], t, JUDGE_UNKNOWN);
	clear(t);
}

uint32_t
judge_outliers(const struct judge *j, enum judge_kind kind)
{
	return j->tracks[kind].outliers;
}

const struct judge_track *
judge_track(const struct judge *j, enum judge_kind kind, uint32_t index)
{
	return index < j->tracks[kind].count ? &j->tracks[kind].list[index]
					     : NULL;
}

uint32_t
judge_count(const struct judge *j, enum judge_kind kind)
{
	return j->tracks[kind].count;
}

double
judge_effect(const struct judge *j, const struct judge_track *t)
{
	double x[JUDGE_WINDOW_MAX];
	size_t n = 0;

	for (int m = 0; m < t->known; m++)
		if (t->votes >> m & 1)
			x[n++] = t->effect[back(j, t, m)];
	return n == 0 ? 0 : robust_median(x, n);
}

double
judge_newest(const struct judge *j, const struct judge_track *t, int m)
{
	return (double)t->effect[back(j, t, m)];
}

double
judge_slow_min(const struct judge *j, const struct judge_track *t)
{
	return fmax(CONFIRM_TIMES * j->least,
	    CONFIRM_SHARE * judge_effect(j, t));
}

int
judge_is_host(const struct judge *j, const struct judge_track *t)
{
	int host = 0, votes = 0;

	for (int m = 0; m < t->known && votes < j->o.votes; m++) {
		votes += (int)(t->votes >> m & 1);
		host += (int)(t->host_votes >> m & 1);
	}
	return 2 * host > votes;
}
