/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - from rounds to outliers: find the rounds that are votes against a
 * node or leaf, and whether these are significant among all nodes of the round.
 */
#include "daemon/diagnosis/stats/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/stats/usual.h"

/* A vote requires little, since a missing vote delays the verdict: one lucky
 * pair must not hide a node that is 20 % slow. The mean of the votes
 * decides. */
#define DIRTY_Z 1.5 /* and effect_min: such a round is not clean */
#define VOTE_Z  0.5
#define VOTE_SHARE                                                             \
	0.5 /* of effect_min; the median of the votes must reach all of it */

/* A confirmation run must find CONFIRM_TIMES effect_min, since nodes that are
 * always a little slow are named by chance more often, and CONFIRM_SHARE of the
 * effect that made the node an outlier. A leaf must be slower by more: its
 * lasting wander is not measured. */
#define CONFIRM_TIMES      1.25
#define CONFIRM_TIMES_LEAF 1.5
#define CONFIRM_SHARE      0.6
/* A confirmation run sees the same wander as the rounds just before it, so its
 * own limit has to exclude chance. Chance passes it with probability fdr in
 * this number of rounds: by default once in five months of rounds of 5
 * minutes. */
#define CONFIRM_ROUNDS 432
/* The nodes that a confirmation run compares with wander too. Among many nodes
 * the most normal ones are chosen; the fewer nodes there are below FEW_NODES,
 * the less normal the chosen ones are. Among N nodes the wander counts
 * 1 + FEW_PARTNERS (1 / N - 1 / FEW_NODES) times: 12 nodes that wander by 3 %
 * then have at most one false alarm a month instead of 12, in
 * tests/sim/verdict. */
#define FEW_PARTNERS 9.0
#define FEW_NODES    32

/* Where many links are busy, nodes differ in how many idle partners they met,
 * so their scatter is not normal: of 6000 idle nodes among 4000 busy ones, 1.3
 * times as many as expected are beyond three deviations and 3 times as many
 * beyond four. Each then counts as this many tests. */
#define BUSY_TESTS 10

/* The extra distance of a healthy leaf, by its cables or tier, is learned and
 * subtracted: after LEAF_LEARN rounds and at most JUDGE_USUAL_MOST. Before that
 * only leaves beyond JUDGE_USUAL_MOST are named. */
#define LEAF_LEARN  6
#define LEAF_MEMORY 2016 /* rounds: a week of 5 minutes */
#define LEAF_STEP   0.1  /* what one round can teach, once it is known */

/* A node with few peers of its kind is also compared with other kinds. */
#define MIXED_SIGMA 0.15
#define NOISE_FIRST 0.03 /* of a round, before the first round */
/* The reference of a step, in addition to the usual distance: a mean of this
 * many rounds just before. Wander changes little in so short a time. */
#define BEFORE 6
/* Nodes whose rounds scatter more, as in leaves of another size, have a larger
 * wander by the same factor: after SCALE_ROUNDS rounds, and at most by
 * SCALE_MOST. */
#define SCALE_ROUNDS   24
#define SCALE_MOST     2.0
#define SCATTER_ROUNDS 48
#define SCATTER_CUT    3.0
#define LONG           12 /* rounds: an hour */
/* So many new outliers in one round are a group of slow nodes. */
#define GROUP_NODES 8
#define GROUP_SHARE 0.1
/* A leaf is named if this share of its nodes, and this many, are outliers, and
 * at most half of that share among the other nodes. If half of all leaves are
 * slow, none is distinct. A leaf that is already named stays so with fewer
 * outliers, since runs have dismissed some of them. */
#define CROWD_SHARE 0.75
#define CROWD_KEPT  0.2
#define CROWD_NODES 3
/* Rounds after which the wander of leaves is known; before that it is derived
 * from their nodes. */
#define LEAF_KNOWN 8
/* The slow side of leaves is wider than their median deviation by this factor,
 * since a pair is as slow as its slower leaf: a typical leaf shows half of its
 * own deviation, a leaf at 4 deviations 0.87 of it. With few leaves only the
 * median deviation can be measured. */
#define LEAF_SLOW 1.75
/* In a kind of three nodes, the other two are a valid reference after this many
 * values, as counted by wander_size(). */
#define FEW_KNOWN 60
/* A round counts at most this many times the mean that is required: k - 1
 * rounds never decide alone, and k rounds can decide without all being at the
 * limit. */
#define CUT_TIMES 1.4
/* A pair is as slow as its slower end. So half of a typical node's pairs hide
 * its own deviation, and none of a slow node's pairs do: slow nodes wander by
 * this factor more. */
#define WANDER_SLOW 1.6
/* Rounds of differences after which the noise is known: fewer than usual.c
 * counts among thousands of nodes. */
#define NOISE_ROUNDS 16
/* A dismissed outlier probably wanders, for about two hours. No second
 * confirmation run in this time, unless it is slower by DISMISSED_TIMES, or by
 * DISMISSED_MOST times effect_min, which wander never reaches. */
#define DISMISSED_ROUNDS 24
#define DISMISSED_TIMES  1.3
#define DISMISSED_MOST   3.0
/* An outlier ends below this share of the effect that made it one. */
#define END_SHARE 0.5
/* If a larger share of the places is slow, slowness is typical. Then an outlier
 * ends only relative to the typical value before that: a mean of this many
 * rounds. */
#define LEVEL_SHARE  0.3
#define LEVEL_ROUNDS 12

/* A large effect: 50 % slower, and beyond the z that chance reaches once in
 * months. Healthy nodes, which wander by 4 %, do not come near it. */
#define LARGE_EFFECT 0.405

struct tracks {
	struct track *list;
	uint32_t count;
	uint32_t outliers; /* number of named ones: mostly 0, and read often */
	size_t cap;
};

struct judge {
	struct judge_options o;
	double least; /* at least effect_min */
	struct score *score;
	struct tracks tracks[2]; /* by enum judge_kind */
	double *p, *x;           /* scratch */
	size_t p_cap;
	/* Wander of nodes: in one round; in means of N rounds (0: the noise of
	 * a round, from differences of adjacent rounds); in steps against the
	 * rounds before; and of means of leaves. */
	struct wander one, mean[TRACK_ROUNDS + 1], step, leaf;
	struct usual_prior prior;
	struct judge_change *changes;
	size_t change_count;
	int are_many_slow; /* more than LEVEL_SHARE of the places */
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

	assert(
	    o->window <= TRACK_ROUNDS && o->votes <= o->window && o->votes > 0);
	j->o = *o;
	j->least = o->effect_min;
	j->score = score_new();
	j->prior = (struct usual_prior){ NOISE_FIRST, NOISE_FIRST, 0 };
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
	free(j->x);
	free(j->changes);
	free(j);
}

static struct track *
judge_need(struct tracks *ts, uint32_t index)
{
	if (index >= ts->cap) {
		ts->cap = (size_t)index + index / 2 + 16;
		ts->list = xreallocarray(ts->list, ts->cap, sizeof(*ts->list));
	}
	while (ts->count <= index) {
		memset(&ts->list[ts->count], 0, sizeof(*ts->list));
		track_clear(&ts->list[ts->count++]);
	}
	return &ts->list[index];
}

static void
judge_state_set(struct tracks *ts, struct track *t, enum judge_state to)
{
	ts->outliers -= t->state >= JUDGE_OUTLIER;
	ts->outliers += to >= JUDGE_OUTLIER;
	t->state = (uint8_t)to;
}

static void
judge_change_add(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state to)
{
	struct track *t = &j->tracks[kind].list[index];
	struct judge_change *c;

	if (t->state == to)
		return;
	j->changes = xmore(j->changes, j->change_count, sizeof(*j->changes));
	c = &j->changes[j->change_count++];
	c->kind = kind;
	c->index = index;
	c->from = (enum judge_state)t->state;
	c->to = to;
	judge_state_set(&j->tracks[kind], t, to);
}

double
judge_leaf_past(const struct judge *j, uint32_t leaf)
{
	const struct track *t = judge_track(j, JUDGE_LEAF, leaf);

	return t == NULL || leaf == SCORE_NO_LEAF || t->past_n < LEAF_LEARN
	    ? 0
	    : fmax(-JUDGE_USUAL_MOST, fmin(JUDGE_USUAL_MOST, t->past));
}

void
judge_leaf_restore(struct judge *j, uint32_t leaf, double past, uint32_t rounds)
{
	struct track *t = judge_need(&j->tracks[JUDGE_LEAF], leaf);

	t->past = (float)past;
	t->past_n = (uint16_t)(rounds < LEAF_MEMORY ? rounds : LEAF_MEMORY);
}

void
judge_hold_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect, uint32_t rounds)
{
	struct track *t = judge_need(&j->tracks[kind], index);

	t->dismissed = (float)effect;
	t->hold = (uint16_t)(rounds < DISMISSED_ROUNDS ? rounds
						       : DISMISSED_ROUNDS);
}

double
judge_node_usual(const struct judge *j, uint32_t node)
{
	const struct track *t = judge_track(j, JUDGE_NODE, node);

	return t == NULL ? 0
			 : (double)t->usual +
		(t->state >= JUDGE_OUTLIER ? (double)t->before : 0);
}

/* Return the scatter of a leaf's nodes relative to the typical leaf. */
static double
judge_leaf_scale(struct judge *j, uint32_t leaf, double typical)
{
	const struct track *t = judge_track(j, JUDGE_LEAF, leaf);

	return leaf == SCORE_NO_LEAF || t == NULL || t->scatter_n == 0 ||
		!(typical > 0)
	    ? 1
	    : fmax(1, fmin(SCALE_MOST, sqrt((double)t->scatter) / typical));
}

static double
judge_typical_leaf(struct judge *j)
{
	const struct tracks *ts = &j->tracks[JUDGE_LEAF];
	size_t n = 0;

	for (uint32_t l = 0; l < ts->count; l++)
		if (ts->list[l].scatter_n > 0)
			j->x[n++] = sqrt((double)ts->list[l].scatter);
	return n < SCORE_PEERS_MIN ? 0 : score_quantile(j->x, n, 0.5);
}

/* Return the typical scatter of a node's own rounds; 0: unknown. */
static double
judge_typical_scatter(struct judge *j, const struct score_obs *obs,
    size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (obs[i].mean_n >= SCALE_ROUNDS)
			j->x[n++] = sqrt(obs[i].var);
	return n < SCORE_PEERS_MIN ? 0 : score_quantile(j->x, n, 0.5);
}

/* Find the usual distance of every node of the round, and subtract it from
 * x. */
static void
judge_subtract_usual(struct judge *j, struct score_obs *obs, size_t count)
{
	double scatter, leaf = judge_typical_leaf(j);
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (obs[i].mean_n > 0)
			j->x[n++] = obs[i].mean -
			    judge_leaf_past(j, obs[i].leaf);
	/* Before anything was learned, use this round. */
	for (size_t i = 0; n < SCORE_PEERS_MIN && i < count; i++)
		j->x[i] = obs[i].x - judge_leaf_past(j, obs[i].leaf);
	j->prior.between = usual_between(j->x, n < SCORE_PEERS_MIN ? count : n);
	j->prior.noise = j->one.rounds > 0 ? wander_sd(&j->one, SCORE_SIGMA_MIN)
					   : NOISE_FIRST;
	/* The part that remains in a mean of an hour does not average out
	 * soon. */
	j->prior.wander = wander_sd(&j->mean[LONG], 0);
	scatter = judge_typical_scatter(j, obs, count);
	for (size_t i = 0; i < count; i++) {
		struct usual_prior p = j->prior;
		struct track *t = judge_need(&j->tracks[JUDGE_NODE],
		    obs[i].place);

		if (obs[i].is_mixed)
			p.between = fmax(p.between, MIXED_SIGMA);
		obs[i].usual = usual_offset(&p, judge_leaf_past(j, obs[i].leaf),
		    obs[i].mean, obs[i].mean_n);
		obs[i].usual_var = usual_variance(&p, obs[i].mean_n);
		obs[i].x -= obs[i].usual;
		t->usual = (float)obs[i].usual;
		t->usual_var = (float)obs[i].usual_var;
		t->scale = scatter > 0 && obs[i].mean_n >= SCALE_ROUNDS
		    ? (float)fmax(1,
			  fmin(SCALE_MOST, sqrt(obs[i].var) / scatter))
		    : (float)judge_leaf_scale(j, obs[i].leaf, leaf);
	}
}

static void
judge_past_learn(struct track *t, double effect)
{
	double off = effect - t->past;

	/* A difference that counts from the first round on is not learned as
	 * usual. */
	if (t->state >= JUDGE_OUTLIER ||
	    (t->past_n < LEAF_LEARN && effect > JUDGE_USUAL_MOST))
		return;
	if (t->past_n >= LEAF_LEARN)
		off = fmax(-LEAF_STEP, fmin(LEAF_STEP, off));
	t->past_n = (uint16_t)(t->past_n + (t->past_n < LEAF_MEMORY));
	t->past += (float)(off / t->past_n);
}

double
judge_threshold(const struct judge_options *o, size_t tests)
{
	return robust_normal_quantile(
	    1 - o->fdr / JUDGE_FDR_ROUNDS / (double)tests);
}

/* Return the z that chance reaches once in months among this many tests. A node
 * beyond it is bad. */
static double
judge_bad_threshold(const struct judge_options *o, size_t tests)
{
	return robust_normal_quantile(
	    1 - o->fdr / CONFIRM_ROUNDS / (double)tests);
}

/* Return how many rounds contain the votes: a fault that is newer than the
 * window must not be diluted by earlier rounds. */
static int
judge_rounds_of_votes(const struct judge *j, const struct track *t)
{
	int m = 0;

	for (int votes = 0; votes < j->o.votes; m++)
		votes += (int)(t->votes >> m & 1);
	return m;
}

static double
judge_least_sd(int m)
{
	return SCORE_SIGMA_MIN / sqrt(m);
}

/* Why a node is an outlier: z, the mean of some of its last rounds as a normal
 * deviate; sd, the deviation of that mean; before, the mean of the rounds
 * before the step, 0 if the node is compared only with its own offset. */
struct reason {
	double z, sd, before;
};

/* need: the z of the first rejection. */
static struct reason
judge_reason_of(const struct track *t, const struct wander *w, int m,
    double known_sd, double before, double need)
{
	double sd = hypot((double)t->scale * wander_sd(w, judge_least_sd(m)),
	    known_sd);
	double most = CUT_TIMES * score_student(need, wander_size(w)) * sd;

	return (struct reason){
		score_normal((track_mean_of(t, 0, m, most) - before) / sd,
		    wander_size(w)),
		sd, before
	};
}

/* Return the wander of means of m rounds. Before the fleet has m rounds, which
 * follow-up runs of a node do not wait for: the wander of one round, which is
 * larger. */
static const struct wander *
judge_mean_wander(const struct judge *j, int m)
{
	return j->mean[m].rounds > 0 ? &j->mean[m] : &j->one;
}

/* Return the most significant reason: the rounds that contain the votes, the
 * last hour, or the step against the rounds before. */
static struct reason
judge_node_reason(const struct judge *j, const struct track *t, double need)
{
	double known_sd = sqrt((double)t->usual_var);
	int m = judge_rounds_of_votes(j, t), votes = j->o.votes;
	struct reason one, best;

	best = judge_reason_of(t, judge_mean_wander(j, m), m, known_sd, 0,
	    need);
	if (t->known >= LONG) {
		one = judge_reason_of(t, &j->mean[LONG], LONG, known_sd, 0,
		    need);
		best = one.z > best.z ? one : best;
	}
	if (t->known >= votes + BEFORE) {
		one = judge_reason_of(t, &j->step, votes, 0,
		    track_mean_of(t, votes, BEFORE, INFINITY), need);
		best = one.z > best.z ? one : best;
	}
	return best;
}

/* Leaves are few, so the wander of their means is pooled, and is at least the
 * wander of their nodes in a median. */
static struct reason
judge_leaf_reason(const struct judge *j, const struct track *t, double need,
    size_t places)
{
	int m = judge_rounds_of_votes(j, t);
	double least = wander_sd(&j->mean[m], judge_least_sd(m)) *
	    sqrt(acos(-1) / 2 / (double)places);
	double sd = j->leaf.rounds < LEAF_KNOWN
	    ? least
	    : LEAF_SLOW * wander_sd(&j->leaf, least / LEAF_SLOW);

	/* Before the wander of leaves is known, a confirmation run is more
	 * exact than an estimate from their nodes. */
	return (
	    struct reason){ track_mean_of(t, 0, m, CUT_TIMES * need * sd) / sd,
		j->leaf.rounds < LEAF_KNOWN ? 0 : sd, 0 };
}

/* Return the rise of the typical value since the place became an outlier, if
 * outliers may be the reason; else 0. */
static double
judge_rise(const struct judge *j, struct track *t, double level)
{
	if (isnan(level))
		return 0;
	if (t->state < JUDGE_OUTLIER) {
		t->level_n += t->level_n < LEVEL_ROUNDS;
		t->level += (float)((level - (double)t->level) / t->level_n);
	}
	return !j->are_many_slow || t->level_n == 0
	    ? 0
	    : fmax(0, level - (double)t->level);
}

/* level: the typical x of its peers in this round; NAN: unknown. */
static void
judge_remember(const struct judge *j, struct track *t, double effect,
    double excuse, double z, int busy, double level)
{
	int vote = effect >= VOTE_SHARE * j->least && z >= VOTE_Z;
	double rise = judge_rise(j, t, level);
	double end = fmax(j->least, END_SHARE * (double)t->opened);

	t->hold -= t->hold > 0;
	track_add(t, effect + excuse, vote, busy, j->o.window);
	/* As slow as before in a round of large scatter: neither. */
	if (effect < end ? effect + rise >= end : z >= DIRTY_Z)
		t->clean = 0;
	else if (effect < end)
		t->clean += t->clean < UINT16_MAX;
	if (t->state >= JUDGE_OUTLIER)
		t->rounds += (uint32_t)vote;
	else
		t->rounds = (uint32_t)track_votes(t);
}

/* Learn the scatter of each leaf's nodes in the round: in a leaf of another
 * size more of the pairs are inside, which are faster. */
static void
judge_hear_scatter(struct judge *j, const struct score_obs *obs, size_t count)
{
	struct tracks *ts = &j->tracks[JUDGE_LEAF];
	double most = SCATTER_CUT * wander_sd(&j->one, SCORE_SIGMA_MIN);
	double *sum = xcalloc(ts->count + (size_t)1, 2 * sizeof(*sum));

	for (size_t i = 0; i < count; i++) {
		const struct track *t =
		    &j->tracks[JUDGE_NODE].list[obs[i].place];

		if (isnan(obs[i].z) || obs[i].leaf >= ts->count ||
		    t->state >= JUDGE_OUTLIER)
			continue;
		sum[2 * obs[i].leaf] += pow(fmin(fabs(obs[i].effect), most), 2);
		sum[2 * obs[i].leaf + 1]++;
	}
	for (uint32_t l = 0; l < ts->count; l++) {
		struct track *t = &ts->list[l];

		if (sum[2 * l + 1] < 1)
			continue;
		t->scatter_n += t->scatter_n < SCATTER_ROUNDS;
		t->scatter += (float)((sum[2 * l] / sum[2 * l + 1] -
					  (double)t->scatter) /
		    t->scatter_n);
	}
	free(sum);
}

static int
judge_is_tested(const struct judge *j, const struct track *t)
{
	double effect = track_effect(t), least = j->least;

	if (t->hold > 0 && t->state < JUDGE_OUTLIER)
		least = fmin(DISMISSED_TIMES * (double)t->dismissed,
		    DISMISSED_MOST * least);
	return track_votes(t) >= j->o.votes && effect >= fmax(least, j->least);
}

static const struct reason no_reason = { -INFINITY, 0, 0 };

/* The reason of an outlier is kept while it is one. */
static void
judge_test(struct track *t, struct reason r)
{
	t->p = score_tail(r.z);
	if (t->state >= JUDGE_OUTLIER)
		return;
	t->before = (float)r.before;
	t->sd = (float)r.sd;
}

/* Learn the wander of means of `of` rounds, from the nodes of the round that
 * are not outliers; before: relative to this many earlier rounds. Not before
 * most nodes have a past, since differences of leaves may still be included. */
static void
judge_hear_wander(struct judge *j, const struct score_obs *obs, size_t count,
    int of, int before, struct wander *w)
{
	size_t n = 0, known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct track *t =
		    &j->tracks[JUDGE_NODE].list[obs[i].place];

		if (isnan(obs[i].z) || t->known < of + before ||
		    t->state >= JUDGE_OUTLIER)
			continue;
		j->x[n++] = (track_mean_of(t, 0, of, INFINITY) -
				(before > 0
					? track_mean_of(t, of, before, INFINITY)
					: 0)) /
		    (double)t->scale;
		known += obs[i].mean_n > 0;
	}
	if (2 * known < n)
		w->rounds = 0;
	wander_hear(w, j->x, n, of == LONG);
}

/* Learn the noise of a round, which is not wander. */
static void
judge_hear_noise(struct judge *j, const struct score_obs *obs, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct track *t =
		    &j->tracks[JUDGE_NODE].list[obs[i].place];

		if (!isnan(obs[i].z) && t->known >= 2 &&
		    t->state < JUDGE_OUTLIER)
			j->x[n++] = (track_effect_at(t, 0) -
					track_effect_at(t, 1)) /
			    (sqrt(2) * (double)t->scale);
	}
	wander_hear(&j->mean[0], j->x, n, 0);
}

/* Return the wander that lasts longer than a round: the spread of one round
 * without its noise. 0 if unknown. */
static double
judge_lasting_wander(const struct judge *j)
{
	return j->mean[0].rounds < NOISE_ROUNDS
	    ? 0
	    : WANDER_SLOW * sqrt(fmax(0, j->one.var - j->mean[0].var));
}

/* Move a place to a new state if the round requires it. */
static void
judge_settle(struct judge *j, enum judge_kind kind, uint32_t index,
    double p_max)
{
	const struct track *t = &j->tracks[kind].list[index];

	if (t->state >= JUDGE_OUTLIER) {
		if (t->clean >= j->o.clean)
			judge_change_add(j, kind, index, JUDGE_OK);
	} else if (t->p <= p_max) {
		j->tracks[kind].list[index].opened = (float)track_effect(t);
		j->tracks[kind].list[index].clean = 0;
		judge_change_add(j, kind, index, JUDGE_OUTLIER);
	} else if (t->known >= 1) {
		judge_change_add(j, kind, index, JUDGE_OK);
	}
}

/* The distance of a young leaf becomes usual for its nodes when it is known:
 * their earlier rounds include it, too. */
static int
judge_is_young(const struct judge *j, uint32_t leaf)
{
	const struct track *t = judge_track(j, JUDGE_LEAF, leaf);

	return leaf != SCORE_NO_LEAF && (t == NULL || t->past_n < LEAF_LEARN);
}

static double
judge_reject(struct judge *j, size_t count, size_t tests)
{
	return tests == 0
	    ? -1
	    : score_fdr(j->p, count, tests, j->o.fdr / JUDGE_FDR_ROUNDS);
}

static void
judge_hear_wanders(struct judge *j, const struct score_obs *obs, size_t count)
{
	judge_hear_wander(j, obs, count, 1, 0, &j->one);
	for (int m = j->o.votes; m <= j->o.window; m++)
		judge_hear_wander(j, obs, count, m, 0, &j->mean[m]);
	judge_hear_wander(j, obs, count, LONG, 0, &j->mean[LONG]);
	judge_hear_wander(j, obs, count, j->o.votes, BEFORE, &j->step);
}

/* Many nodes have become outliers together, in the first hour. Until now their
 * distance counted as wander of normal nodes: measure it again without them. */
static void
judge_forget_wander(struct judge *j, const struct score_obs *obs, size_t count)
{
	j->one.rounds = j->step.rounds = 0;
	for (int m = j->o.votes; m <= j->o.window; m++)
		j->mean[m].rounds = 0;
	judge_hear_wanders(j, obs, count);
}

static void
judge_hear_places(struct judge *j, const struct score_obs *obs, size_t count,
    const uint8_t *busy)
{
	struct tracks *ts = &j->tracks[JUDGE_NODE];
	size_t tests = 0, n = 0, aside = 0;
	double p_max, z;
	uint32_t outliers;
	int many;

	for (size_t i = 0; i < count; i++) {
		tests += !isnan(obs[i].z);
		aside += obs[i].aside;
		if (!isnan(obs[i].z))
			judge_remember(j, &ts->list[obs[i].place],
			    obs[i].effect, obs[i].excuse, obs[i].z,
			    busy != NULL && busy[i], obs[i].level);
	}
	many = (double)aside > SCORE_ASIDE_MANY * (double)count;
	judge_hear_scatter(j, obs, count);
	judge_hear_noise(j, obs, count);
	judge_hear_wanders(j, obs, count);
	tests *= many ? BUSY_TESTS : 1;
	z = tests == 0 ? 0 : judge_threshold(&j->o, tests);
	for (size_t i = 0; i < count; i++) {
		struct track *t = &ts->list[obs[i].place];

		if (isnan(obs[i].z))
			continue;
		judge_test(t,
		    judge_is_tested(j, t) ? judge_node_reason(j, t, z)
					  : no_reason);
		if (t->p < 1)
			j->p[n++] = t->p;
	}
	p_max = judge_reject(j, n, tests);
	outliers = ts->outliers;
	for (size_t i = 0; i < count; i++)
		if (!isnan(obs[i].z))
			judge_settle(j, JUDGE_NODE, obs[i].place, p_max);
	if (j->mean[LONG].rounds == 0 &&
	    ts->outliers >= outliers + GROUP_NODES &&
	    (double)(ts->outliers - outliers) > GROUP_SHARE * (double)count)
		judge_forget_wander(j, obs, count);
}

/* Count the outliers of the round by leaf, and in total; the caller frees the
 * list. */
static uint32_t *
judge_count_outliers(const struct judge *j, const struct score_obs *obs,
    size_t count, uint32_t leaves, uint32_t *ret_all)
{
	uint32_t *of = xcalloc(leaves + (size_t)1, sizeof(*of));

	*ret_all = 0;
	for (size_t i = 0; i < count; i++)
		if (!isnan(obs[i].z) && obs[i].leaf < leaves &&
		    j->tracks[JUDGE_NODE].list[obs[i].place].state >=
			JUDGE_OUTLIER) {
			of[obs[i].leaf]++;
			++*ret_all;
		}
	return of;
}

/* Name leaves with mostly outliers, if few other nodes are outliers. */
static void
judge_hear_crowds(struct judge *j, const struct score_obs *obs, size_t count,
    const struct score_leaf *leaves, size_t leaf_count)
{
	struct tracks *ts = &j->tracks[JUDGE_LEAF];
	uint32_t all,
	    *of = judge_count_outliers(j, obs, count, ts->count, &all);

	for (size_t i = 0; i < leaf_count; i++) {
		const struct score_leaf *l = &leaves[i];
		struct track *t = &ts->list[l->leaf];
		double share = (double)of[l->leaf] / l->places;
		double rest = (double)(all - of[l->leaf]) /
		    (double)(count - l->places + 1);

		t->crowd = of[l->leaf] >= CROWD_NODES &&
		    (t->state >= JUDGE_OUTLIER
			    ? share >= CROWD_KEPT && rest <= CROWD_SHARE * share
			    : share >= CROWD_SHARE && rest <= share / 2);
		if (!t->crowd)
			continue;
		t->places = (uint16_t)l->places;
		t->slow_places = (uint16_t)of[l->leaf];
		t->votes |= 1;
		t->clean = 0;
		t->rounds += t->rounds == 0;
		if (t->state < JUDGE_OUTLIER)
			judge_change_add(j, JUDGE_LEAF, l->leaf, JUDGE_OUTLIER);
	}
	free(of);
}

static void
judge_hear_leaves(struct judge *j, const struct score_leaf *leaves,
    size_t count)
{
	struct tracks *ts = &j->tracks[JUDGE_LEAF];
	double p_max, z = count == 0 ? 0 : judge_threshold(&j->o, count);
	size_t n = 0, well = 0;

	for (size_t i = 0; i < count; i++) {
		struct track *t = judge_need(ts, leaves[i].leaf);
		int counts = leaves[i].apart &&
		    (t->past_n >= LEAF_LEARN ||
			leaves[i].effect >= JUDGE_USUAL_MOST);

		judge_past_learn(t, leaves[i].raw);
		if (leaves[i].apart) {
			t->places = (uint16_t)leaves[i].places;
			t->slow_places = (uint16_t)leaves[i].slow;
		}
		/* Not apart: its slow places are judged as single places. */
		judge_remember(j, t, leaves[i].effect, 0,
		    counts ? leaves[i].z : fmin(leaves[i].z, 0), 0,
		    leaves[i].level);
		if (t->state < JUDGE_OUTLIER &&
		    t->past_n >= LEAF_LEARN + j->o.votes)
			j->x[well++] = track_mean_of(t, 0, j->o.votes,
			    INFINITY);
		judge_test(t,
		    judge_is_tested(j, t)
			? judge_leaf_reason(j, t, z, leaves[i].places)
			: no_reason);
		if (t->p < 1)
			j->p[n++] = t->p;
	}
	wander_hear(&j->leaf, j->x, well, 0);
	p_max = judge_reject(j, n, count);
	for (size_t i = 0; i < count; i++)
		judge_settle(j, JUDGE_LEAF, leaves[i].leaf, p_max);
}

int
judge_is_large(const struct judge *j, enum judge_kind kind, uint32_t index)
{
	const struct track *t = judge_track(j, kind, index);
	double sd;

	if (t == NULL || t->known == 0 || t->state >= JUDGE_OUTLIER ||
	    (t->votes & 1) == 0 || (t->host_votes & 1) != 0)
		return 0;
	sd = hypot((double)t->scale * wander_sd(&j->one, SCORE_SIGMA_MIN),
	    sqrt((double)t->usual_var));
	return track_effect_at(t, 0) >=
	    fmax(LARGE_EFFECT,
		sd * judge_bad_threshold(&j->o, j->tracks[kind].count));
}

int
judge_was_large(const struct track *t)
{
	return (double)t->opened >= LARGE_EFFECT;
}

void
judge_extra(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect)
{
	struct tracks *ts = &j->tracks[kind];
	struct track *t = judge_need(ts, index);
	double z = judge_threshold(&j->o, ts->count);

	j->change_count = 0;
	judge_remember(j, t, effect, 0,
	    effect / wander_sd(&j->one, SCORE_SIGMA_MIN), 0, NAN);
	judge_test(t,
	    !judge_is_tested(j, t) ? no_reason
		: kind == JUDGE_NODE
		? judge_node_reason(j, t, z)
		: judge_leaf_reason(j, t, z, t->places > 0 ? t->places : 1));
	judge_settle(j, kind, index, score_tail(z));
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

int
judge_is_slow(const struct judge *j, uint32_t place, uint32_t leaf)
{
	const struct track *t = judge_track(j, JUDGE_NODE, place);
	const struct track *l = judge_track(j, JUDGE_LEAF, leaf);

	return (t != NULL && t->state >= JUDGE_OUTLIER) ||
	    (l != NULL && l->state >= JUDGE_OUTLIER);
}

static int
judge_are_many_slow(const struct judge *j, const struct score_obs *obs,
    size_t count)
{
	size_t slow = 0;

	for (size_t i = 0; i < count; i++)
		slow += (size_t)judge_is_slow(j, obs[i].place, obs[i].leaf);
	return (double)slow > LEVEL_SHARE * (double)count;
}

size_t
judge_round(struct judge *j, struct score_obs *obs, size_t count,
    const uint8_t *busy, const struct judge_change **ret_changes)
{
	const struct score_leaf *leaves;
	size_t leaf_count;

	j->change_count = 0;
	if (count + j->tracks[JUDGE_LEAF].count + 1 > j->p_cap) {
		j->p_cap = count + count / 2 + j->tracks[JUDGE_LEAF].count + 1;
		j->p = xreallocarray(j->p, j->p_cap, sizeof(*j->p));
		j->x = xreallocarray(j->x, j->p_cap, sizeof(*j->x));
	}
	judge_subtract_usual(j, obs, count);
	leaf_count = score_round(j->score, obs, count, j->least, &leaves);
	for (size_t i = 0; i < count; i++) {
		obs[i].x += obs[i].usual;
		obs[i].excuse *= judge_is_young(j, obs[i].leaf);
		if (obs[i].peer_count == SCORE_PEERS_MIN &&
		    wander_size(&j->mean[j->o.votes]) < FEW_KNOWN)
			obs[i].peer_count = 0; /* too early to decide */
	}
	j->are_many_slow = judge_are_many_slow(j, obs, count);
	judge_hear_places(j, obs, count, busy);
	judge_hear_leaves(j, leaves, leaf_count);
	judge_hear_crowds(j, obs, count, leaves, leaf_count);
	*ret_changes = j->changes;
	return j->change_count;
}

static struct track *
judge_find(struct judge *j, enum judge_kind kind, uint32_t index)
{
	return index < j->tracks[kind].count ? &j->tracks[kind].list[index]
					     : NULL;
}

void
judge_confirm(struct judge *j, enum judge_kind kind, uint32_t index,
    int confirmed)
{
	struct track *t = judge_find(j, kind, index);

	if (t == NULL)
		return;
	if (!confirmed) {
		t->dismissed = (float)track_effect(t);
		t->hold = DISMISSED_ROUNDS;
		judge_state_set(&j->tracks[kind], t, JUDGE_UNKNOWN);
		track_clear(t);
	}
	judge_state_set(&j->tracks[kind], t, confirmed ? JUDGE_BAD : JUDGE_OK);
}

void
judge_name(struct judge *j, enum judge_kind kind, uint32_t index)
{
	struct track *t = judge_need(&j->tracks[kind], index);

	t->opened = (float)track_effect(t);
	judge_state_set(&j->tracks[kind], t, JUDGE_OUTLIER);
}

void
judge_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state state)
{
	struct track *t = judge_need(&j->tracks[kind], index);

	judge_state_set(&j->tracks[kind], t, state);
	t->clean = 0; /* rounds before it was named do not clear it */
}

void
judge_forget(struct judge *j, enum judge_kind kind, uint32_t index)
{
	struct track *t = judge_find(j, kind, index);

	if (t == NULL)
		return;
	judge_state_set(&j->tracks[kind], t, JUDGE_UNKNOWN);
	track_clear(t);
}

static struct wander *
judge_wander_at(struct judge *j, size_t i)
{
	return i == 0 ? &j->one
	    : i == 1  ? &j->step
	    : i == 2  ? &j->leaf
		      : &j->mean[i - 3];
}

void
judge_fleet(const struct judge *j, struct judge_fleet *ret)
{
	for (size_t i = 0; i < JUDGE_FLEET_NUMBERS / 3; i++) {
		const struct wander *w =
		    judge_wander_at((struct judge *)(uintptr_t)j, i);

		ret->number[3 * i] = w->var;
		ret->number[3 * i + 1] = w->rounds;
		ret->number[3 * i + 2] = w->nodes;
	}
}

void
judge_fleet_restore(struct judge *j, const struct judge_fleet *f)
{
	for (size_t i = 0; i < JUDGE_FLEET_NUMBERS / 3; i++) {
		struct wander w = { f->number[3 * i], 0, f->number[3 * i + 2] };

		if (!(w.var >= 0 && w.var < 100 && w.nodes >= 0 &&
			w.nodes < 1e6 && f->number[3 * i + 1] >= 0 &&
			f->number[3 * i + 1] < 1e6))
			continue;
		w.rounds = (uint32_t)f->number[3 * i + 1];
		*judge_wander_at(j, i) = w;
	}
}

uint32_t
judge_outliers(const struct judge *j, enum judge_kind kind)
{
	return j->tracks[kind].outliers;
}

const struct track *
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
judge_slow_min(const struct judge *j, const struct track *t)
{
	const struct tracks *nodes = &j->tracks[JUDGE_NODE];
	int is_node = t >= nodes->list && t < nodes->list + nodes->count;
	size_t count = j->tracks[is_node ? JUDGE_NODE : JUDGE_LEAF].count;
	double sd = (double)t->sd, before = (double)t->before;
	double few = fmax(0, 1.0 / (double)count - 1.0 / FEW_NODES);
	double hour = wander_sd(&j->mean[LONG], 0);
	double rounds = track_effect(t), chance, least;

	/* A confirmation run is more exact than few rounds: their noise is not
	 * part of its wander. Before a mean of an hour is known, half of the
	 * wander of few rounds is used. */
	if (j->mean[LONG].rounds == 0)
		hour = wander_sd(&j->mean[j->o.votes], 0) / 2;
	if (is_node)
		sd = fmax(sd == 0 ? hour : fmin(sd, hour),
		    judge_lasting_wander(j));
	chance = judge_bad_threshold(&j->o, count) * sd;
	if (is_node) {
		/* The run has its own error, so its mean with the rounds must
		 * exceed chance, too. */
		double rest = rounds > 0 ? 2 * chance - rounds : 0;

		chance = fmax(chance * (1 + FEW_PARTNERS * few), rest);
		/* Few nodes in few rounds overestimate their wander. A node at
		 * a distance that is never usual is at fault, whatever they
		 * show. */
		chance = fmin(chance, JUDGE_USUAL_MOST);
	}
	/* The node must also be slower than its own offset. */
	least = (is_node ? CONFIRM_TIMES : CONFIRM_TIMES_LEAF) * j->least -
	    fmin(before, 0);
	return fmax(fmax(least, CONFIRM_SHARE * (rounds - before)), chance);
}

int
judge_is_host(const struct judge *j, const struct track *t)
{
	int host = 0, votes = 0;

	for (int m = 0; m < t->known && votes < j->o.votes; m++) {
		votes += (int)(t->votes >> m & 1);
		host += (int)(t->host_votes >> m & 1);
	}
	return 2 * host > votes;
}
