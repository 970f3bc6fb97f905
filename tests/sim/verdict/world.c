/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/verdict/world.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/robust.h"
#include "common/xalloc.h"

#define PAIRS_MAX 64 /* of a place in a round */

const struct world_options world_defaults = { 256, 32, 1, 1, 0.05, 0.05, 0.5,
	0.01 };

struct world *
world_new(const struct world_options *o, uint64_t seed)
{
	struct world *w = xcalloc(1, sizeof(*w));

	assert(2 * o->rings <= PAIRS_MAX);
	w->o = *o;
	rng_seed(&w->rng, seed);
	w->spare = NAN;
	w->places = o->nodes * o->rails;
	w->leaves = o->leaf_nodes == 0
	    ? 0
	    : (o->nodes + o->leaf_nodes - 1) / o->leaf_nodes;
	w->own = xcalloc(w->places, sizeof(*w->own));
	w->slow = xcalloc(w->places, sizeof(*w->slow));
	w->busy = xcalloc(w->places, 1);
	w->leaf_slow = xcalloc(w->leaves + 1, sizeof(*w->leaf_slow));
	w->uplink_slow = xcalloc(w->leaves + 1, sizeof(*w->uplink_slow));
	w->order = xcalloc(o->nodes, sizeof(*w->order));
	w->pair = xcalloc((size_t)w->places * 2 * o->rings, sizeof(*w->pair));
	w->pair_count = xcalloc(w->places, 1);
	for (uint32_t i = 0; i < w->places; i++)
		w->own[i] = o->spread * world_normal(w);
	return w;
}

void
world_free(struct world *w)
{
	if (w == NULL)
		return;
	free(w->own);
	free(w->slow);
	free(w->busy);
	free(w->leaf_slow);
	free(w->uplink_slow);
	free(w->order);
	free(w->pair);
	free(w->pair_count);
	free(w);
}

void
world_heal(struct world *w)
{
	memset(w->slow, 0, w->places * sizeof(*w->slow));
	memset(w->busy, 0, w->places);
	memset(w->leaf_slow, 0, w->leaves * sizeof(*w->leaf_slow));
	memset(w->uplink_slow, 0, w->leaves * sizeof(*w->uplink_slow));
	w->spine_slow = 0;
}

uint32_t
world_leaf(const struct world *w, uint32_t place)
{
	return w->o.leaf_nodes == 0 ? SCORE_NO_LEAF
				    : place / w->o.rails / w->o.leaf_nodes;
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

static double
measure(struct world *w, uint32_t a, uint32_t b)
{
	uint32_t la = world_leaf(w, a), lb = world_leaf(w, b);
	double x = fmax(w->own[a] + w->slow[a], w->own[b] + w->slow[b]);

	if (la != SCORE_NO_LEAF) {
		x += fmax(w->leaf_slow[la], w->leaf_slow[lb]);
		if (la != lb)
			x += fmax(w->uplink_slow[la], w->uplink_slow[lb]);
		/* A pair of leaves keeps to one spine. */
		if (la != lb && w->spine_slow > 0 &&
		    (la * 7 + lb * 7 + la * lb) % w->spines == 0)
			x += w->spine_slow;
	}
	x += w->o.noise * world_normal(w);
	if (rng_unit(&w->rng) < w->o.odd_share)
		x -= w->o.odd_mean * log1p(-rng_unit(&w->rng));
	return x;
}

static void
keep(struct world *w, uint32_t place, double x)
{
	w->pair[(size_t)place * 2 * w->o.rings + w->pair_count[place]++] = x;
}

static void
ring(struct world *w, uint32_t rail)
{
	uint32_t n = w->o.nodes, rails = w->o.rails;

	for (uint32_t i = 0; i < n; i++)
		w->order[i] = (int)i;
	rng_shuffle(&w->rng, w->order, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = (uint32_t)w->order[i] * rails + rail;
		uint32_t b = (uint32_t)w->order[(i + 1) % n] * rails + rail;
		double x = measure(w, a, b);

		keep(w, a, x);
		keep(w, b, x);
	}
}

/* Larger is worse here, so the quartile on the good side is the lower; of two
 * pairs it is the better one, which a large delay of the other must not
 * reach. */
static double
good_quartile(double *x, size_t n)
{
	if (n == 2)
		return fmin(x[0], x[1]);
	return robust_quantile(x, n, 0.25);
}

void
world_round(struct world *w, struct score_obs *obs)
{
	memset(w->pair_count, 0, w->places);
	for (uint32_t k = 0; k < w->o.rings; k++)
		for (uint32_t rail = 0; rail < w->o.rails; rail++)
			ring(w, rail);
	for (uint32_t i = 0; i < w->places; i++) {
		obs[i].place = i;
		obs[i].peers = i % w->o.rails;
		obs[i].leaf = world_leaf(w, i);
		obs[i].x = good_quartile(&w->pair[(size_t)i * 2 * w->o.rings],
		    w->pair_count[i]);
	}
}

size_t
world_pairs(struct world *w, const uint32_t *places, size_t count, int rounds,
    struct confirm_pair *ret)
{
	double x[PAIRS_MAX];
	size_t n = 0;

	assert(rounds <= PAIRS_MAX);
	for (size_t a = 0; a < count; a++)
		for (size_t b = a + 1; b < count; b++) {
			for (int k = 0; k < rounds; k++)
				x[k] = measure(w, places[a], places[b]);
			ret[n].a = a;
			ret[n].b = b;
			ret[n++].x = robust_median(x, (size_t)rounds);
		}
	return n;
}
