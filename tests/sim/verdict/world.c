/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - the place of nodes, their jobs and faults, and the resulting
 * slowdown of a pair.
 */
#include "tests/sim/verdict/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"

#define JOB_SD   0.3 /* of a job's effect between rounds, as a share, */
#define JOB_KEEP 0.8 /* which lasts so far */
#define LATE_NEW 0.3 /* chance that who waits for a core is another */

static int
is_of_leaf(enum fault_kind kind)
{
	return kind == FAULT_LEAF || kind == FAULT_UPLINK ||
	    kind == FAULT_UPLINK_ONE_WAY || kind == FAULT_UPLINK_LOSS ||
	    kind == FAULT_UPLINK_MTU;
}

static int
is_of_spine(enum fault_kind kind)
{
	return kind == FAULT_SPINE || kind == FAULT_CORE ||
	    kind == FAULT_SPINE_MTU || kind == FAULT_SPINE_DEAD;
}

uint32_t
world_pod(const struct world *w, uint32_t leaf)
{
	return leaf * (uint32_t)w->s->cluster.pods / w->leaves;
}

struct world *
world_new(const struct scenario *s, uint64_t seed)
{
	struct world *w = xcalloc(1, sizeof(*w));
	uint32_t n = s->cluster.nodes, at = 0;

	w->s = s;
	w->nodes = n;
	rng_seed(&w->rng, seed);
	w->spare = NAN;
	w->leaf = xcalloc(n, sizeof(*w->leaf));
	w->own = xcalloc(n, sizeof(*w->own));
	w->off = xcalloc(n, sizeof(*w->off));
	w->leaf_off = xcalloc(n, sizeof(*w->leaf_off));
	w->kind = xcalloc(n, 1);
	w->job = xcalloc(n, sizeof(*w->job));
	w->job_at = xcalloc(n, sizeof(*w->job_at));
	w->job_end_ns = xcalloc(n, sizeof(*w->job_end_ns));
	w->job_crosses = xcalloc(n, 1);
	w->leaf_own = xcalloc(n, sizeof(*w->leaf_own));
	w->leaf_busy = xcalloc(n, sizeof(*w->leaf_busy));
	w->late = xcalloc(n, sizeof(*w->late));
	for (uint32_t i = 0; i < n; i++)
		w->own[i] = s->cluster.node_sd * world_normal(w);
	for (uint32_t i = 0; s->cluster.kind_share > 0 && i < n; i++) {
		w->kind[i] = rng_unit(&w->rng) < s->cluster.kind_share;
		w->own[i] += w->kind[i] * s->cluster.kind_effect;
	}
	while (at < n) { /* small leaves are as many as large ones */
		double range = log(
		    (double)s->cluster.leaf_max / s->cluster.leaf_min);
		uint32_t size = (uint32_t)lrint(
		    s->cluster.leaf_min * exp(range * rng_unit(&w->rng)));

		for (uint32_t i = 0; i < size && at < n; i++)
			w->leaf[at++] = w->leaves;
		w->leaf_own[w->leaves++] = s->cluster.leaf_sd * world_normal(w);
	}
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		struct world_fault *x = &w->faults[i];
		uint32_t of, left;

		x->f = &s->faults[i];
		x->is_leaf = is_of_leaf(x->f->kind);
		of = x->is_leaf ? w->leaves : n;
		x->hit = xcalloc(n, 1);
		if (x->f->kind == FAULT_NONE)
			continue;
		left = x->f->count < of ? x->f->count : of;
		while (left > 0) {
			uint32_t k = (uint32_t)rng_below(&w->rng, of);

			left -= !x->hit[k];
			x->hit[k] = (uint8_t)(1 + rng_below(&w->rng, 2));
		}
		x->member = (uint32_t)rng_below(&w->rng,
		    (uint64_t)(is_of_spine(x->f->kind) ? s->cluster.spines
			    : x->f->kind == FAULT_RAIL ? s->cluster.rails
						       : s->cluster.uplinks));
		if (s->cluster.pods > 1)
			x->pod = (uint32_t)rng_below(&w->rng,
			    (uint64_t)s->cluster.pods);
		if (x->f->every_ns > 0)
			x->phase_ns = rng_below(&w->rng, x->f->every_ns);
	}
	return w;
}

void
world_free(struct world *w)
{
	for (int i = 0; i < SCENARIO_FAULTS; i++)
		free(w->faults[i].hit);
	free(w->leaf);
	free(w->own);
	free(w->off);
	free(w->leaf_off);
	free(w->kind);
	free(w->leaf_own);
	free(w->leaf_busy);
	free(w->late);
	free(w->job);
	free(w->job_at);
	free(w->job_end_ns);
	free(w->job_crosses);
	free(w);
}

/* Marsaglia's polar method. */
double
world_normal(struct world *w)
{
	double x, y, r;

	if (!isnan(w->spare)) {
		x = w->spare;
		w->spare = NAN;
		return x;
	}
	do {
		x = 2 * rng_unit(&w->rng) - 1;
		y = 2 * rng_unit(&w->rng) - 1;
		r = x * x + y * y;
	} while (r >= 1 || r == 0);
	r = sqrt(-2 * log(r) / r);
	w->spare = x * r;
	return y * r;
}

/* A job takes nodes until its end, side by side or anywhere. */
static uint32_t
job_start(struct world *w, uint32_t most)
{
	uint32_t size = (uint32_t)(2 + rng_below(&w->rng, 30)), taken = 0;
	uint32_t first = (uint32_t)rng_below(&w->rng, w->nodes);
	double hours = -w->s->jobs.hours * log1p(-rng_unit(&w->rng));
	double effect = w->s->jobs.effect * (0.5 + rng_unit(&w->rng));
	int crosses = w->s->jobs.crossing_share >= 1 ||
	    rng_unit(&w->rng) < w->s->jobs.crossing_share;

	for (uint32_t i = 0; i < size && taken < most; i++) {
		uint32_t k = w->s->jobs.fill
		    ? (first + i) % w->nodes
		    : (uint32_t)rng_below(&w->rng, w->nodes);

		if (w->job_end_ns[k] != 0)
			continue;
		w->job_end_ns[k] = w->now_ns +
		    (uint64_t)(hours * 3600 * (double)CLK_NS_PER_S) + 1;
		w->job[k] = effect;
		w->job_crosses[k] = (uint8_t)crosses;
		taken++;
	}
	return taken;
}

/* First-order autoregression over a time of any length, because confirmation
 * runs start at any time. */
static void
wander(struct world *w, double *x, uint32_t n, double sd, double rounds)
{
	double keep = pow(w->s->cluster.keep, rounds);

	for (uint32_t i = 0; sd > 0 && i < n; i++)
		x[i] = keep * x[i] +
		    sqrt(1 - keep * keep) * sd * world_normal(w);
}

void
world_step(struct world *w, uint64_t now_ns)
{
	double rounds = w->now_ns == 0
	    ? 1e6
	    : (double)(now_ns - w->now_ns) / SCENARIO_ROUND;
	uint32_t busy = 0, want = (uint32_t)(w->s->jobs.share * w->nodes);

	wander(w, w->off, w->nodes, w->s->cluster.wander, rounds);
	wander(w, w->leaf_off, w->leaves, w->s->cluster.leaf_wander, rounds);
	w->day = w->s->cluster.day *
	    sin((double)now_ns / 86400e9 * 2 * acos(-1));
	w->now_ns = now_ns;
	w->round++;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (w->job_end_ns[i] != 0 && w->job_end_ns[i] <= now_ns)
			w->job_end_ns[i] = 0;
		busy += w->job_end_ns[i] != 0;
	}
	for (int tries = 0; busy < want && tries < 1000; tries++)
		busy += job_start(w, want - busy);
	for (uint32_t i = 0; want > 0 && i < w->nodes; i++) {
		double off = w->job_at[i] - w->job[i];

		w->job_at[i] = w->job_end_ns[i] == 0
		    ? 0
		    : fmax(0,
			  w->job[i] + JOB_KEEP * off +
			      sqrt(1 - JOB_KEEP * JOB_KEEP) * JOB_SD *
				  w->job[i] * world_normal(w));
	}
	for (uint32_t i = 0; w->s->cluster.waits > 0 && i < w->nodes; i++)
		if (w->round == 1 || rng_unit(&w->rng) < LATE_NEW)
			w->late[i] = log1p(-log1p(-rng_unit(&w->rng)) *
			    w->s->cluster.waits / (1 - w->s->cluster.waits));
	for (uint32_t i = 0, from = 0; i < w->nodes; i++) {
		if (w->leaf[i] != w->leaf[from])
			from = i;
		if (i == from)
			w->leaf_busy[w->leaf[i]] = 0;
		/* the mean of those so far */
		w->leaf_busy[w->leaf[i]] += ((w->job_end_ns[i] != 0 &&
						 w->job_crosses[i]) -
						w->leaf_busy[w->leaf[i]]) /
		    (i - from + 1);
	}
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		struct world_fault *x = &w->faults[i];
		double age = (double)(now_ns - w->begin_ns) / SCENARIO_ROUND;

		x->now = w->begin_ns == 0 || now_ns < w->begin_ns ||
			(w->end_ns != 0 && now_ns >= w->end_ns)
		    ? 0
		    : x->f->effect;
		if (x->f->ramp > 0)
			x->now *= fmin(1, age / x->f->ramp);
		if (x->f->every_ns > 0 &&
		    (now_ns + x->phase_ns) % x->f->every_ns >= x->f->on_ns)
			x->now = 0;
	}
}

/* A number from 0 to below of the connection between two nodes. */
static uint64_t
hash_of(const struct world *w, uint32_t a, uint32_t b, uint64_t salt)
{
	uint64_t lo = a < b ? a : b, hi = a < b ? b : a;

	return rng_mix(rng_mix(w->round << 8 | salt) ^ (lo << 32 | hi)) >> 11;
}

/* One spine inside a pod; between two, one of each and one above them. */
static int
meets_spine(const struct world *w, const struct world_fault *x, uint32_t a,
    uint32_t b, uint64_t salt)
{
	uint32_t pa = world_pod(w, w->leaf[a]), pb = world_pod(w, w->leaf[b]);
	uint64_t spines = (uint64_t)w->s->cluster.spines;
	uint64_t hash = hash_of(w, a, b, salt);

	if (x->f->kind == FAULT_CORE)
		return pa != pb && (hash >> 40) % spines == x->member;
	return (pa == x->pod && hash % spines == x->member) ||
	    (pa != pb && pb == x->pod && (hash >> 20) % spines == x->member);
}

/* Once, or at both ends. */
static int
meets(const struct world *w, const struct world_fault *x, uint32_t a,
    uint32_t b)
{
	uint32_t la = w->leaf[a], lb = w->leaf[b];
	uint64_t hash = hash_of(w, a, b, (uint64_t)x->f->kind);
	int between = la != lb;

	switch (x->f->kind) {
	case FAULT_FLEET:
		return 1;
	case FAULT_LEAF:
		return x->hit[la] || x->hit[lb];
	case FAULT_UPLINK:
	case FAULT_UPLINK_ONE_WAY:
	case FAULT_UPLINK_MTU:
	case FAULT_UPLINK_LOSS: /* separate hash at each end */
		return between *
		    ((x->hit[la] &&
			 hash % (uint64_t)w->s->cluster.uplinks == x->member) +
			(x->hit[lb] &&
			    (hash >> 20) % (uint64_t)w->s->cluster.uplinks ==
				x->member));
	case FAULT_SPINE:
	case FAULT_CORE:
		return between && meets_spine(w, x, a, b, (uint64_t)x->f->kind);
	case FAULT_SPINE_MTU:
	case FAULT_SPINE_DEAD: /* the answer takes another path */
		return between &&
		    (meets_spine(w, x, a, b, 1000) ||
			meets_spine(w, x, a, b, 1001));
	case FAULT_RAIL:
		return w->rail == x->member && (x->hit[a] || x->hit[b]);
	case FAULT_PORT:
	case FAULT_NONE:
	case FAULT_MAX:
		return 0;
	case FAULT_NODE:
	case FAULT_ONE_WAY:
	case FAULT_HOST:
	case FAULT_LOSS:
	case FAULT_MTU:
		break;
	}
	return x->hit[a] || x->hit[b];
}

static int
feels(const struct fault *f, enum world_test test)
{
	return test == WORLD_BW ? f->bw
	    : test == WORLD_LAT ? f->lat
				: f->incast;
}

/* The effect of a fault on a pair that meets it. An exchange takes the mean of
 * both directions. */
static double
added_by(const struct world *w, const struct world_fault *f, uint32_t a,
    uint32_t b, int one_way)
{
	if (f->f->kind != FAULT_ONE_WAY && f->f->kind != FAULT_UPLINK_ONE_WAY)
		return f->now;
	if (!one_way)
		return log1p(expm1(f->now) / 2);
	if (f->is_leaf) {
		a = w->leaf[a];
		b = w->leaf[b];
	}
	return f->hit[a] == 2 || f->hit[b] == 1 ? f->now : 0;
}

static double
measure(struct world *w, uint32_t a, uint32_t b, enum world_test test,
    int one_way)
{
	uint32_t la = w->leaf[a], lb = w->leaf[b];
	double x = w->day + fmax(w->own[a] + w->off[a], w->own[b] + w->off[b]) +
	    fmax(w->job_at[a], w->job_at[b]);

	if (test == WORLD_LAT)
		x += fmax(w->late[a], w->late[b]);
	if (la != lb)
		x += fmax(w->leaf_own[la] + w->leaf_off[la],
		    w->leaf_own[lb] + w->leaf_off[lb]);
	else
		x += log1p(-w->s->cluster.inside);
	if (la != lb && w->s->jobs.crossing > 0 &&
	    rng_unit(&w->rng) < fmax(w->leaf_busy[la], w->leaf_busy[lb]))
		x += w->s->jobs.crossing;
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		const struct world_fault *f = &w->faults[i];
		double share = (double)(hash_of(w, a, b, 77) % 10000) / 10000;

		if (f->now == 0 || f->f->kind >= FAULT_LOSS ||
		    w->at_once < f->f->pairs || !feels(f->f, test) ||
		    share >= f->f->flows || !meets(w, f, a, b))
			continue;
		x += added_by(w, f, a, b, one_way);
	}
	x += w->s->cluster.noise * world_normal(w);
	if (rng_unit(&w->rng) < w->s->cluster.odd_share)
		x -= w->s->cluster.odd_mean * log1p(-rng_unit(&w->rng));
	return x;
}

double
world_pair(struct world *w, uint32_t a, uint32_t b, enum world_test test)
{
	return measure(w, a, b, test, 0);
}

double
world_way(struct world *w, uint32_t a, uint32_t b, enum world_test test)
{
	return measure(w, a, b, test, 1);
}

/* Senders wait for each other, so one slow sender of many has no effect. */
double
world_receives(struct world *w, uint32_t a)
{
	return measure(w, a, a, WORLD_INCAST, 0);
}

double
world_loss(const struct world *w, uint32_t a, uint32_t b)
{
	double share = w->s->cluster.loss;

	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		const struct world_fault *f = &w->faults[i];

		if ((f->f->kind == FAULT_LOSS ||
			f->f->kind == FAULT_UPLINK_LOSS) &&
		    f->now > 0)
			share += f->now * meets(w, f, a, b);
	}
	return share;
}

int
world_is_hole(const struct world *w, uint32_t a, uint32_t b)
{
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		const struct world_fault *f = &w->faults[i];

		if ((f->f->kind == FAULT_MTU ||
			f->f->kind == FAULT_UPLINK_MTU ||
			f->f->kind == FAULT_SPINE_MTU) &&
		    f->now > 0 && meets(w, f, a, b))
			return 1;
	}
	return 0;
}

int
world_is_dead(const struct world *w, uint32_t a, uint32_t b)
{
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		const struct world_fault *f = &w->faults[i];

		if (f->f->kind == FAULT_SPINE_DEAD && f->now > 0 &&
		    meets(w, f, a, b))
			return 1;
	}
	return 0;
}

const struct fault *
world_guilt(const struct world *w, int is_leaf, uint32_t index)
{
	for (int i = 0; i < SCENARIO_FAULTS; i++) {
		const struct world_fault *x = &w->faults[i];

		if (x->f->kind != FAULT_NONE && !is_of_spine(x->f->kind) &&
		    x->f->kind != FAULT_FLEET && x->is_leaf == is_leaf &&
		    x->hit[index])
			return x->f;
	}
	return NULL;
}
