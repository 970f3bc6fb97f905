/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_drift.c - compare every node with its own recent weeks and with a
 * pinned baseline, in each class and test. The learned values are themselves a
 * baseline, "recent", which is stored every hour.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

/* Chance names one node in this many rounds: a year at 5 minutes. */
#define LIMIT_ROUNDS 105120.0
#define KEEP_NS      (3600 * CLK_NS_PER_S)
/* A larger excess of one node is cut to this. */
#define FLEET_ONE_MAX 0.7
#define FLEET_MIN     SCORE_PEERS_MIN
/* Shares are not normally distributed: ten years instead of one. */
#define PATHS_ROUNDS (10 * LIMIT_ROUNDS)
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
#define PATHS_K     1.0 /* one bad uplink of many is two deviations or more */
/* Excess of a node's slow pairs over the other nodes of its leaf: one of four
 * paths from its port is a quarter. */
#define MEMBER_MORE   0.2
#define MEMBER_NOW    0.2 /* weight of a round */
#define MEMBER_ROUNDS 3
#define SHIFT_MIN     0.01 /* less is the noise of a leaf's median */
#define PAIR_BOUND    2.5  /* as in the engine's count of slow pairs */
/* A round of a node is outlying beyond this many deviations of all nodes. If
 * more than this share of rounds is, two outlying rounds of ten are not a
 * drift. */
#define ODD_SIGMAS     3.0
#define ODD_MOST       0.003
#define FLEET_HOUR_MIN 36 /* rounds of an hour of the day: three days */

static struct drift *
series_drift_need(struct diagnosis_series *s, uint32_t node)
{
	if (node >= s->drift_count) {
		size_t want = node + node / 2 + (size_t)16;

		s->drifts = xreallocarray(s->drifts, want, sizeof(*s->drifts));
		while (s->drift_count < want) {
			drift_clear(&s->drifts[s->drift_count]);
			s->drifts[s->drift_count++].by_wander = 1;
		}
	}
	return &s->drifts[node];
}

/* All nodes together: the mean deviation of each node from its own level, so
 * that the choice of nodes does not matter, less the usual deviation at this
 * hour. Call before the nodes' levels learn from the round. */
static void
series_drift_fleet_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from)
{
	size_t hour = (size_t)(clk_unix_ns() / (3600 * CLK_NS_PER_S) % 24);
	double sum = 0, usual;
	uint32_t n = 0, slow = 0;

	for (size_t i = 0; i < count; i++) {
		const struct drift *own = series_drift_of(s, d->obs[i].place);
		double x;

		if (own == NULL || own->n < DRIFT_LEARN || d->obs[i].aside ||
		    d->busy[i])
			continue;
		x = d->obs[i].x - own->level;
		slow += x >= d->o.judge.effect_min;
		sum += fmax(-FLEET_ONE_MAX, fmin(FLEET_ONE_MAX, x));
		n++;
	}
	if (n < FLEET_MIN)
		return;
	sum /= n;
	s->fleet_nodes = n;
	s->fleet_slow = slow;
	usual = s->fleet_hour_n[hour] >= FLEET_HOUR_MIN ? s->fleet_hour[hour]
							: 0;
	/* Learn always, or slow hours would raise an alarm every day: a fault
	 * of a few hours has little weight in weeks. */
	s->fleet_hour_n[hour] += s->fleet_hour_n[hour] < DRIFT_MEMORY;
	s->fleet_hour[hour] += (sum - s->fleet_hour[hour]) /
	    s->fleet_hour_n[hour];
	drift_add(&s->fleet, sum - usual, 0, cusum_limit(LIMIT_ROUNDS, CUSUM_K),
	    judge_least(s->judge));
	incident_fleet(d, s, from);
}

/* Return the share of slow pairs of a node or leaf if all of its pairs are
 * slower by `by`: a pair counts as slow beyond BOUND of its deviations, sigma.
 * A larger share is due to some paths. */
static double
series_drift_shifted(double share, double by, double sigma)
{
	return by < SHIFT_MIN ? share
			      : share + score_tail(PAIR_BOUND - by / sigma);
}

/* Return how much slower all pairs of a leaf are than usual. */
static double
series_drift_leaf_off(const struct diagnosis_series *s, uint32_t leaf)
{
	const struct judge_track *t = judge_track(s->judge, JUDGE_LEAF, leaf);

	return t == NULL ? 0 : judge_mean(t, MEMBER_ROUNDS);
}

/* Sum up the pairs of every leaf's nodes, except outliers and busy nodes.
 * ret_all: sum of these; ret_out, ret_busy: the shares of all nodes that are
 * slow themselves, and that are busy. The caller frees the list. */
static struct path_sum *
series_drift_paths_sum(const struct diagnosis *d,
    const struct diagnosis_series *s, size_t count, struct path_sum *ret_all,
    double *ret_out, double *ret_busy)
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
		const struct judge_track *t = judge_track(s->judge, JUDGE_NODE,
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

struct member_sum *
series_drift_member(struct diagnosis_series *s, uint32_t node)
{
	while (s->members_count <= node) {
		s->members = xreallocarray(s->members, s->members_count + 64,
		    sizeof(*s->members));
		memset(&s->members[s->members_count], 0,
		    64 * sizeof(*s->members));
		s->members_count += 64;
	}
	return &s->members[node];
}

void
series_drift_room(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t leaves)
{
	double **const all_of[] = { &s->paths_now, &s->busy_now, &s->jobs_slow,
		&s->jobs_busy };

	spines_room(d, s);
	if (s->paths_count >= leaves)
		return;
	for (size_t i = 0; i < ARRAY_LEN(all_of); i++)
		*all_of[i] = xreallocarray(*all_of[i], leaves,
		    sizeof(**all_of[i]));
	s->paths = xreallocarray(s->paths, leaves, sizeof(*s->paths));
	for (; s->paths_count < leaves; s->paths_count++) {
		for (size_t i = 0; i < ARRAY_LEN(all_of); i++)
			(*all_of[i])[s->paths_count] = 0;
		drift_clear(&s->paths[s->paths_count]);
		s->paths[s->paths_count].k = PATHS_K;
	}
}

/* One bad member of a bond slows some pairs of a node, and different ones in
 * each round: sum up the log likelihood ratio of its number of slow pairs
 * against its leaf's share (Page 1954). */
static void
series_drift_members_hear(struct diagnosis *d, struct diagnosis_series *s,
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
		const struct judge_track *t = judge_track(s->judge, JUDGE_NODE,
		    o->place);
		struct member_sum *m;
		double rest, n = cn->partners, slow = cn->slow_partners;

		m = series_drift_member(s, o->place);
		/* Slow with all partners: that is a different fault. */
		if (t != NULL && t->state >= JUDGE_OUTLIER)
			memset(m, 0, sizeof(*m));
		if (o->leaf == SCORE_NO_LEAF || o->aside || d->busy[i] ||
		    t == NULL || t->state >= JUDGE_OUTLIER || n < 1 ||
		    2 * slow > n || of[o->leaf].pairs - n < PATHS_MIN)
			continue;
		rest = (of[o->leaf].slow - slow) / (of[o->leaf].pairs - n);
		rest = series_drift_shifted(rest,
		    o->level - level + o->usual + judge_mean(t, MEMBER_ROUNDS),
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
		incident_paths(d, s, JUDGE_NODE, o->place, from);
	}
}

/* Return how many more pairs may be slow per busy node: the value measured in
 * the rounds of all leaves except one (or none). */
static double
series_drift_jobs_slow_at_most(const struct diagnosis_series *s, uint32_t but)
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
series_drift_jobs_learn(struct diagnosis_series *s, uint32_t leaf,
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
series_drift_paths_wander_hear(struct diagnosis_series *s, uint32_t leaves)
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
series_drift_paths_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from)
{
	uint32_t leaves = d->leaf_count;
	struct path_sum all, *of;
	double out, busy, least;

	of = series_drift_paths_sum(d, s, count, &all, &out, &busy);
	series_drift_room(d, s, leaves);
	series_drift_paths_wander_hear(s, leaves);
	least = leaves == 0 ? 0
			    : judge_threshold(&d->o.judge, leaves) *
		wander_sd(&s->paths_wander, 0);
	s->busy_slow = busy *
	    fmax(BUSY_SLOWS, series_drift_jobs_slow_at_most(s, leaves));
	if (busy <= BUSY_LEAF_MAX)
		spines_hear(d, s, of, out, from);
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
		if (spines_open(d, s)) {
			if (incident_find(d, JUDGE_LEAF, l) == NULL) {
				s->paths[l].from = DRIFT_NONE;
				memset(&s->paths[l].sums, 0,
				    sizeof(s->paths[l].sums));
			}
		} else {
			drift_add(&s->paths[l],
			    of[l].slow / of[l].pairs -
				series_drift_shifted((all.slow - of[l].slow) /
					rest,
				    series_drift_leaf_off(s, l),
				    d->o.judge.effect_min),
			    of[l].slow / of[l].pairs,
			    cusum_limit(PATHS_ROUNDS * leaves, PATHS_K),
			    fmax(least,
				PATHS_LEAST + s->busy_slow +
				    s->busy_now[l] *
					series_drift_jobs_slow_at_most(s, l)));
			series_drift_jobs_learn(s, l, &of[l]);
		}
		if (s->paths[l].from != DRIFT_NONE &&
		    incident_find(d, JUDGE_LEAF, l) == NULL &&
		    spines_share(d, s, of, l)) {
			s->paths[l].from = DRIFT_NONE;
			memset(&s->paths[l].sums, 0, sizeof(s->paths[l].sums));
		}
		incident_paths(d, s, JUDGE_LEAF, l, from);
	}
	series_drift_members_hear(d, s, count, of, from);
	free(of);
}

/* Return 1 if it or its leaf has an open case: its round is not usual. */
static int
series_drift_is_open(const struct diagnosis_series *s,
    const struct score_obs *o)
{
	const struct judge_track *node = judge_track(s->judge, JUDGE_NODE,
	    o->place);
	const struct judge_track *leaf = o->leaf == SCORE_NO_LEAF
	    ? NULL
	    : judge_track(s->judge, JUDGE_LEAF, o->leaf);

	return (node != NULL && node->state >= JUDGE_OUTLIER) ||
	    (leaf != NULL && leaf->state >= JUDGE_OUTLIER);
}

/* Learn the share of nodes whose round is newly outlying: a single slow pair
 * causes some if a node has few partners, and so does one bad spine of many.
 * The worst node of a round does not count, since it may be faulty. x is
 * reordered. */
static void
series_drift_odd_hear(struct diagnosis_series *s, double *x, size_t n,
    double effect_min)
{
	double most;
	size_t odd = 0;

	if (n < 2)
		return;
	/* Scatter around 0, each node's own past, and not around the median: a
	 * common shift of all nodes widens the limit and makes none odd. */
	most = robust_median(x, n) + ODD_SIGMAS * robust_mad(x, n, 0);
	for (size_t i = 0; i < n; i++)
		odd += x[i] >= fmax(effect_min, most);
	s->odd += DRIFT_NOW * ((double)(odd - (odd > 0)) / (double)n - s->odd);
}

/* Compare every node with its own past: the distance of the newest means of all
 * nodes from their past is measured, and a larger distance is a drift. */
static void
series_drift_nodes_hear(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from)
{
	double *x = xcalloc(count + 1, sizeof(*x)), sd, z;
	double *one = xcalloc(count + 1, sizeof(*one));
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		struct drift *drift = series_drift_need(s, o->place);
		double distance = o->effect + o->excuse + o->usual;

		if (isnan(o->effect) || d->busy[i])
			continue; /* no peers; or host contention explains it */
		drift->frozen = (uint8_t)(series_drift_is_open(s, o) ||
		    distance > JUDGE_USUAL_MOST);
		drift_add(drift, distance, o->x, s->limit,
		    judge_least(s->judge));
		if (drift->n >= DRIFT_LEARN && drift->from == DRIFT_NONE &&
		    !drift->frozen) {
			one[n] = distance - drift->mean;
			x[n++] = drift->now - drift->mean;
		}
	}
	wander_hear(&s->wander, x, n, 0);
	series_drift_odd_hear(s, one, n, judge_least(s->judge));
	free(x);
	free(one);
	sd = wander_sd(&s->wander, DRIFT_SIGMA_MIN / 2);
	z = judge_threshold(&d->o.judge, count);
	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];
		struct drift *drift = series_drift_need(s, o->place);

		if (isnan(o->effect) || d->busy[i] ||
		    !drift_decide(drift, sd, z, judge_least(s->judge),
			s->odd > ODD_MOST) ||
		    drift->from == DRIFT_NONE)
			continue;
		/* Its leaf's case explains it; after that it is judged
		 * again. */
		if (o->leaf != SCORE_NO_LEAF &&
		    (incident_find(d, JUDGE_LEAF, o->leaf) != NULL ||
			incident_between(d, o->leaf) != NULL))
			drift->from = DRIFT_NONE;
		else
			incident_drift(d, s, o->place, from);
	}
}

void
series_drift_hear(struct diagnosis *d, struct diagnosis_series *s, size_t count,
    const struct diagnosis_source *from, const struct round *round)
{
	if (count != s->limit_nodes) {
		s->limit_nodes = count;
		s->limit = cusum_limit(LIMIT_ROUNDS * (double)count, CUSUM_K);
	}
	if (round->p50 > 0) {
		s->level_n += s->level_n < DRIFT_MEMORY;
		s->level += (log(round->p50) - s->level) / s->level_n;
	}
	d->learned = 1;
	series_drift_fleet_hear(d, s, count, from);
	series_drift_paths_hear(d, s, count, from);
	series_drift_nodes_hear(d, s, count, from);
}

/* ---- the pinned baseline ---- */

/* Return the number of rounds in a node's value. */
static double
series_drift_rounds_of(const struct round *round, uint32_t node)
{
	for (size_t i = 0; i < round->row_count; i++)
		if (round->rows[i].node->id == node)
			return round->rows[i].rounds;
	return 1;
}

static void
series_drift_pin_record(struct diagnosis *d, struct diagnosis_series *s,
    const json_t *record)
{
	const struct score_leaf *leaves;
	struct round round;
	size_t count;

	round_read(d->roster, record, &round);
	count = diagnosis_observe(d, &round, s->sort, 0);
	if (d->score == NULL)
		d->score = score_new();
	score_round(d->score, d->obs, count, d->o.judge.effect_min, &leaves);
	for (size_t i = 0; i < count; i++)
		if (!isnan(d->obs[i].effect))
			drift_pin(series_drift_need(s, d->obs[i].place),
			    d->obs[i].effect,
			    series_drift_rounds_of(&round, d->obs[i].place));
	round_clear(&round);
}

void
series_drift_begin(struct diagnosis *d, struct diagnosis_series *s)
{
	const json_t *r;
	size_t i;

	if (s->drift_begun)
		return;
	s->drift_begun = 1;
	member_foreach (d->pinned, "records", i, r)
		if (series_kind_find(member_text(r, "test")) == s->sort &&
		    strcmp(member_text(r, "rail"), s->rail) == 0 &&
		    strcmp(member_text(r, "device"), s->device) == 0 &&
		    (uint32_t)member_unsigned(r, "bytes") == s->bytes &&
		    strcmp(member_text(r, "phase"),
			names_phases[PHASE_CONGESTED]) != 0)
			series_drift_pin_record(d, s, r);
}

void
diagnosis_pin(struct diagnosis *d, const char *name, const json_t *body)
{
	if (strcmp(name, d->o.baseline) != 0)
		return;
	json_decref(d->pinned);
	d->pinned = json_deep_copy(body);
	for (size_t i = 0; i < d->series_count; i++) {
		for (size_t k = 0; k < d->series[i].drift_count; k++)
			drift_pin(&d->series[i].drifts[k], NAN, 1);
		d->series[i].drift_begun = 0;
		series_drift_begin(d, &d->series[i]);
	}
}

/* ---- the recent weeks as a baseline ---- */

static json_t *
series_drift_sums_json(const struct cusum *s)
{
	return json_pack("[f, i, f, i]", s->up, (int)s->up_rounds, s->down,
	    (int)s->down_rounds);
}

static void
series_drift_sums_read(const json_t *a, struct cusum *ret)
{
	ret->up = json_number_value(json_array_get(a, 0));
	ret->up_rounds = (unsigned)json_integer_value(json_array_get(a, 1));
	ret->down = json_number_value(json_array_get(a, 2));
	ret->down_rounds = (unsigned)json_integer_value(json_array_get(a, 3));
}

static json_t *
series_drift_series_json(const struct diagnosis *d,
    const struct diagnosis_series *s)
{
	struct series_kind sort = series_kind(s->sort);
	json_t *nodes = json_array(), *record;

	for (size_t i = 0; i < s->drift_count; i++) {
		const struct drift *one = &s->drifts[i];

		if (one->n == 0)
			continue;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:I, s:f, s:f, s:f, s:o, s:o, s:i}",
			"node", roster_by_id(d->roster, i)->name,
			sort.is_rate ? "q75" : "q25",
			exp(sort.is_rate ? -one->level : one->level), "rounds",
			(json_int_t)one->n, "distance", one->mean, "now",
			one->now, "sigma", sqrt(one->var), "sums",
			series_drift_sums_json(&one->sums), "pinned_sums",
			series_drift_sums_json(&one->pinned_sums), "from",
			(int)one->from));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s*, s:s*, s:I, "
			   "s:f, s:o}",
	    "probe", s->sort < CANARY_MAX ? "canary" : "mesh", "test",
	    sort.name, "phase", names_phases[PHASE_PRODUCTION], "class",
	    s->class, "partners", names_partners[s->partners], "unit",
	    sort.unit, "rail", s->rail[0] != '\0' ? s->rail : NULL, "device",
	    s->device[0] != '\0' ? s->device : NULL, "n",
	    (json_int_t)s->level_n, "p50", exp(s->level), "nodes", nodes);
	if (s->bytes > 0)
		json_object_set_new(record, "bytes", json_integer(s->bytes));
	learned_put(d, s, record);
	return record;
}

json_t *
diagnosis_recent(const struct diagnosis *d)
{
	json_t *records = json_array();

	for (size_t i = 0; i < d->series_count; i++)
		if (d->series[i].level_n > 0 || d->series[i].drift_count > 0)
			json_array_append_new(records,
			    series_drift_series_json(d, &d->series[i]));
	return json_pack("{s:s, s:o}", "run", "", "records", records);
}

static void
series_drift_row_load(const struct diagnosis *d, struct diagnosis_series *s,
    const json_t *o)
{
	const struct node *n = roster_find(d->roster, member_text(o, "node"));
	double q = member_number(o,
	    series_kind(s->sort).is_rate ? "q75" : "q25");
	double mean = member_number(o, "distance"), sigma;
	json_int_t rounds = member_int(o, "rounds");
	struct drift *drift;

	sigma = member_number(o, "sigma");
	if (n == NULL || !(q > 0) || !isfinite(mean) || !(sigma >= 0) ||
	    rounds < 1 || rounds > DRIFT_MEMORY)
		return;
	drift = series_drift_need(s, (uint32_t)n->id);
	drift->mean = mean;
	drift->var = sigma * sigma;
	drift->now = member_number(o, "now");
	if (!isfinite(drift->now))
		drift->now = mean;
	drift->n = (uint32_t)rounds;
	drift->level = series_kind(s->sort).is_rate ? -log(q) : log(q);
	series_drift_sums_read(json_object_get(o, "sums"), &drift->sums);
	series_drift_sums_read(json_object_get(o, "pinned_sums"),
	    &drift->pinned_sums);
	drift->from = (uint8_t)member_int(o, "from");
}

static void
series_drift_recent_load(struct diagnosis *d, const json_t *body)
{
	const json_t *r, *o;
	size_t i, k;

	member_foreach (body, "records", i, r) {
		double p50 = member_number(r, "p50");
		struct diagnosis_series *s = diagnosis_series_stored(d, r);

		if (s == NULL || !(p50 > 0))
			continue;
		series_drift_begin(d, s);
		s->level = log(p50);
		s->level_n = (uint32_t)member_int(r, "n");
		member_foreach (r, "nodes", k, o)
			series_drift_row_load(d, s, o);
		learned_load(d, s, r);
	}
}

void
diagnosis_load_baselines(struct diagnosis *d, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const json_t *body = json_object_get(row, "body");
		const char *name = member_text(row, "name");

		if (strcmp(name, DIAGNOSIS_RECENT) == 0)
			series_drift_recent_load(d, body);
		else
			diagnosis_pin(d, name, body);
	}
}

void
diagnosis_keep(struct diagnosis *d)
{
	json_t *body;

	if (!d->learned)
		return;
	body = diagnosis_recent(d);
	store_put_baseline(d->store, DIAGNOSIS_RECENT, body);
	json_decref(body);
	d->learned = 0;
	d->kept_ns = clk_ns();
}

void
series_drift_tick(struct diagnosis *d)
{
	if (d->kept_ns == 0 || clk_ns() - d->kept_ns >= KEEP_NS)
		diagnosis_keep(d);
}

void
series_drift_free(struct diagnosis *d)
{
	json_decref(d->pinned);
	score_free(d->score);
	for (size_t i = 0; i < d->series_count; i++) {
		free(d->series[i].drifts);
		free(d->series[i].paths);
		free(d->series[i].paths_now);
		free(d->series[i].members);
		free(d->series[i].busy_now);
		free(d->series[i].jobs_slow);
		free(d->series[i].jobs_busy);
		free(d->series[i].stages);
	}
}
