/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/verdict/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/judge/drift.h"
#include "tests/sim/verdict/defaults.h"

#define LOG_20 0.1823215567939546 /* log(1.2): 20 % slower */

static void
make_nodes(struct world *w, const struct trial_fault *f, int round,
    const uint32_t *guilty)
{
	(void)round;
	for (uint32_t i = 0; i < f->guilty; i++)
		w->slow[guilty[i]] = f->effect;
}

static void
make_busy(struct world *w, const struct trial_fault *f, int round,
    const uint32_t *guilty)
{
	make_nodes(w, f, round, guilty);
	for (uint32_t i = 0; i < f->guilty; i++)
		w->busy[guilty[i]] = 1;
}

static void
make_leaves(struct world *w, const struct trial_fault *f, int round,
    const uint32_t *guilty)
{
	(void)round;
	for (uint32_t i = 0; i < f->guilty; i++)
		w->leaf_slow[guilty[i]] = f->effect;
}

static void
make_uplinks(struct world *w, const struct trial_fault *f, int round,
    const uint32_t *guilty)
{
	(void)round;
	for (uint32_t i = 0; i < f->guilty; i++)
		w->uplink_slow[guilty[i]] = f->effect;
}

/* One of four spines: a quarter of the paths, and no place is to blame. */
static void
make_spine(struct world *w, const struct trial_fault *f, int round,
    const uint32_t *guilty)
{
	(void)round;
	(void)guilty;
	w->spines = 4;
	w->spine_slow = f->effect;
}

const struct trial_fault trial_faults[] = {
	{ "1 node of 256, 20 %", 256, 32, 1, 1, LOG_20, make_nodes, JUDGE_NODE,
	    CONFIRM_NODE, 0 },
	{ "8 nodes of 256, 20 %", 256, 32, 1, 8, LOG_20, make_nodes, JUDGE_NODE,
	    CONFIRM_NODE, 0 },
	{ "1 node of 256, 20 %, leaves unknown", 256, 0, 1, 1, LOG_20,
	    make_nodes, JUDGE_NODE, CONFIRM_NODE, 0 },
	{ "1 node of 10,000, 20 %", 10000, 32, 1, 1, LOG_20, make_nodes,
	    JUDGE_NODE, CONFIRM_NODE, 0 },
	{ "8 nodes of 10,000, 20 %", 10000, 32, 1, 8, LOG_20, make_nodes,
	    JUDGE_NODE, CONFIRM_NODE, 0 },
	{ "1 rail of 8 x 256, 20 %", 256, 32, 8, 1, LOG_20, make_nodes,
	    JUDGE_NODE, CONFIRM_NODE, 0 },
	{ "1 leaf of 8, 20 %", 256, 32, 1, 1, LOG_20, make_leaves, JUDGE_LEAF,
	    CONFIRM_LEAF, 0 },
	{ "1 uplink of 8, 20 %", 256, 32, 1, 1, LOG_20, make_uplinks,
	    JUDGE_LEAF, CONFIRM_LINK, 0 },
	{ "1 uplink of 313, 20 %", 10000, 32, 1, 1, LOG_20, make_uplinks,
	    JUDGE_LEAF, CONFIRM_LINK, 0 },
	{ "1 busy host of 256, 30 %", 256, 32, 1, 1, 0.26236426446749106,
	    make_busy, JUDGE_NODE, CONFIRM_NODE, 1 },
	{ "1 spine of 4, 20 %", 256, 32, 1, 0, LOG_20, make_spine, JUDGE_NODE,
	    CONFIRM_UNCLEAR, 0 },
	{ NULL, 0, 0, 0, 0, 0, NULL, JUDGE_NODE, CONFIRM_CLEARED, 0 },
};

/* A world, its judge and the round that is being heard. */
struct diagnosis {
	struct world *w;
	struct judge *j;
	struct score_obs *obs;
	const struct judge_change *changes;
	size_t change_count;
};

static void
diagnosis_open(struct diagnosis *c, const struct world_options *o,
    uint64_t seed)
{
	c->w = world_new(o, seed);
	c->j = judge_new(judge_defaults());
	c->obs = xcalloc(c->w->places, sizeof(*c->obs));
}

static void
court_close(struct diagnosis *c)
{
	world_free(c->w);
	judge_free(c->j);
	free(c->obs);
}

static void
court_round(struct diagnosis *c)
{
	world_round(c->w, c->obs);
	c->change_count = judge_round(c->j, c->obs, c->w->places, c->w->busy,
	    &c->changes);
}

static int
state_of(const struct diagnosis *c, enum judge_kind kind, uint32_t index)
{
	const struct judge_track *t = judge_track(c->j, kind, index);

	return t == NULL ? JUDGE_UNKNOWN : t->state;
}

/* Places of the suspect's rail, as the second pass sees them. */
static struct confirm_node *
candidates(const struct diagnosis *c, uint32_t rail, uint32_t leaf,
    int leaf_accused)
{
	const struct world *w = c->w;
	struct confirm_node *list = xcalloc(w->o.nodes, sizeof(*list));

	for (uint32_t i = 0; i < w->o.nodes; i++) {
		uint32_t place = i * w->o.rails + rail;
		uint32_t home = world_leaf(w, place);
		int fine = state_of(c, JUDGE_NODE, place) < JUDGE_OUTLIER;
		int leaf_fine = home == SCORE_NO_LEAF ||
		    state_of(c, JUDGE_LEAF, home) < JUDGE_OUTLIER;

		list[i].id = place;
		list[i].leaf = home;
		list[i].good = fine && leaf_fine;
		list[i].mate = fine && leaf_accused && home == leaf;
	}
	return list;
}

/* The second pass. */
static enum confirm_finding
court_confirm(struct diagnosis *c, enum judge_kind kind, uint32_t index)
{
	uint32_t rails = c->w->o.rails, rail, place, places[CONFIRM_NODES];
	uint32_t leaves[CONFIRM_NODES];
	struct confirm_pair pairs[CONFIRM_NODES * CONFIRM_NODES];
	const struct judge_track *t = judge_track(c->j, kind, index);
	struct confirm_report report;
	struct confirm_node *list;
	size_t chosen[CONFIRM_NODES], n, m;

	place = kind == JUDGE_NODE ? index : index * c->w->o.leaf_nodes * rails;
	rail = place % rails;
	list = candidates(c, rail, world_leaf(c->w, place), kind == JUDGE_LEAF);
	n = confirm_choose(list, c->w->o.nodes, place / rails, &c->w->rng,
	    chosen);
	for (size_t i = 0; i < n; i++) {
		places[i] = list[chosen[i]].id;
		leaves[i] = list[chosen[i]].leaf;
	}
	free(list);
	m = world_pairs(c->w, places, n, TRIAL_CONFIRM, pairs);
	confirm_judge(leaves, n, pairs, m, judge_slow_min(c->j, t), &report);
	return report.finding;
}

static int
is_alarm(enum confirm_finding f)
{
	return f == CONFIRM_NODE || f == CONFIRM_LEAF || f == CONFIRM_LINK;
}

struct trial {
	const struct trial_fault *f;
	uint32_t guilty[TRIAL_GUILTY_MAX];
	uint8_t seen[TRIAL_GUILTY_MAX];
	uint32_t found;
	struct trial_result *ret;
};

static void
draw_guilty(struct trial *t, struct world *w)
{
	uint32_t of = t->f->kind == JUDGE_LEAF ? w->leaves : w->places;

	for (uint32_t i = 0; i < t->f->guilty; i++) {
		uint32_t k;

		t->guilty[i] = (uint32_t)rng_below(&w->rng, of);
		for (k = 0; k < i && t->guilty[k] != t->guilty[i]; k++)
			continue;
		i -= k < i; /* again */
	}
}

static long
guilty_index(const struct trial *t, const struct judge_change *ch)
{
	for (uint32_t i = 0; i < t->f->guilty; i++)
		if (ch->kind == t->f->kind && ch->index == t->guilty[i])
			return (long)i;
	return -1;
}

/* A suspect is looked at at once. A leaf that is one of a busy spine's is
 * neither right nor wrong to look at, but wrong to be named in the end. */
static void
suspect(struct trial *t, struct diagnosis *c, const struct judge_change *ch,
    int round)
{
	enum confirm_finding f = court_confirm(c, ch->kind, ch->index);
	const struct judge_track *track = judge_track(c->j, ch->kind,
	    ch->index);
	long i = guilty_index(t, ch);

	if (i < 0) {
		t->ret->wrong_suspects++;
		t->ret->wrong_alarms += is_alarm(f);
		judge_confirm(c->j, ch->kind, ch->index, 0);
		return;
	}
	t->found += !t->seen[i];
	if (!t->seen[i] && t->found == t->f->guilty)
		t->ret->named_round = round + 1;
	t->ret->confirmed += f == t->f->finding && !t->seen[i];
	t->ret->host += judge_is_host(c->j, track) && !t->seen[i];
	t->seen[i] = 1;
	judge_confirm(c->j, ch->kind, ch->index, f != CONFIRM_CLEARED);
}

static void
hear(struct trial *t, struct diagnosis *c, int round)
{
	court_round(c);
	for (size_t i = 0; i < c->change_count; i++)
		if (c->changes[i].to == JUDGE_OUTLIER)
			suspect(t, c, &c->changes[i], round);
}

static int
all_clear(const struct trial *t, const struct diagnosis *c)
{
	for (uint32_t i = 0; i < t->f->guilty; i++)
		if (state_of(c, t->f->kind, t->guilty[i]) >= JUDGE_OUTLIER)
			return 0;
	return 1;
}

void
trial_run(const struct trial_fault *f, uint64_t seed, struct trial_result *ret)
{
	struct world_options o = world_defaults;
	struct trial t = { .f = f, .ret = ret };
	struct diagnosis c;

	memset(ret, 0, sizeof(*ret));
	o.nodes = f->nodes;
	o.leaf_nodes = f->leaf_nodes;
	o.rails = f->rails;
	diagnosis_open(&c, &o, seed);
	draw_guilty(&t, c.w);
	for (int r = -TRIAL_CALM; r < TRIAL_ROUNDS; r++) {
		if (r >= 0)
			f->make(c.w, f, r, t.guilty);
		hear(&t, &c, r);
	}
	world_heal(c.w);
	for (int r = 1; r <= 4 * judge_defaults()->clean; r++) {
		hear(&t, &c, TRIAL_ROUNDS + r);
		if (ret->cleared_round == 0 && all_clear(&t, &c))
			ret->cleared_round = r;
	}
	court_close(&c);
}

/* Every place against its own past. */
static struct drift *
pasts_new(uint32_t places)
{
	struct drift *d = xcalloc(places, sizeof(*d));

	for (uint32_t i = 0; i < places; i++)
		drift_clear(&d[i]);
	return d;
}

static double
limit_for(uint32_t places)
{
	return cusum_limit(TRIAL_DRIFT_ROUNDS * places);
}

/* How many have drifted anew. */
static uint64_t
pasts_hear(struct drift *past, const struct diagnosis *c, double limit)
{
	uint64_t news = 0;

	for (uint32_t i = 0; i < c->w->places; i++)
		if (!isnan(c->obs[i].effect))
			news += drift_add(&past[i], c->obs[i].effect,
				    c->obs[i].x, limit,
				    judge_defaults()->effect_min) &&
			    past[i].from != DRIFT_NONE;
	return news;
}

void
trial_quiet(const struct world_options *o, uint64_t rounds, uint64_t seed,
    struct trial_quiet *ret)
{
	uint64_t start_ns = clk_ns();
	enum confirm_finding f;
	struct drift *past;
	struct diagnosis c;

	memset(ret, 0, sizeof(*ret));
	diagnosis_open(&c, o, seed);
	past = pasts_new(c.w->places);
	for (uint64_t r = 0; r < rounds; r++) {
		court_round(&c);
		ret->drifts += pasts_hear(past, &c, limit_for(c.w->places));
		for (size_t i = 0; i < c.change_count; i++) {
			const struct judge_change *ch = &c.changes[i];

			if (ch->to != JUDGE_OUTLIER)
				continue;
			ret->suspects++;
			f = court_confirm(&c, ch->kind, ch->index);
			ret->alarms += is_alarm(f);
			judge_confirm(c.j, ch->kind, ch->index, 0);
		}
	}
	ret->rounds = rounds;
	ret->node_rounds = rounds * c.w->places;
	ret->seconds = (double)(clk_ns() - start_ns) / 1e9;
	free(past);
	court_close(&c);
}

#define PAST 288 /* a day of 5-minute rounds, before it begins */

void
trial_drift(const struct trial_slow *how, uint64_t seed,
    struct trial_drift *ret)
{
	struct world_options o = world_defaults;
	struct drift *past;
	struct diagnosis c;
	uint32_t guilty;
	double limit;

	memset(ret, 0, sizeof(*ret));
	o.nodes = how->nodes;
	diagnosis_open(&c, &o, seed);
	past = pasts_new(how->nodes);
	limit = limit_for(how->nodes);
	guilty = (uint32_t)rng_below(&c.w->rng, how->nodes);
	for (int r = 1 - PAST; r <= how->limit; r++) {
		uint64_t news;

		c.w->slow[guilty] = r < 0 ? 0 : fmin(how->rate * r, how->most);
		court_round(&c);
		news = pasts_hear(past, &c, limit);
		if (ret->cusum_round == 0 && past[guilty].from != DRIFT_NONE) {
			ret->cusum_round = r;
			news--;
		}
		ret->wrong_cusum += (int)news;
		if (ret->peers_round == 0 &&
		    state_of(&c, JUDGE_NODE, guilty) >= JUDGE_OUTLIER)
			ret->peers_round = r;
		if (ret->peers_round != 0 && ret->cusum_round != 0)
			break;
	}
	free(past);
	court_close(&c);
}
