/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/verdict/echoes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/judge/confirm.h"
#include "tests/sim/verdict/defaults.h"

#define LEAF_NODES 32
#define RINGS      2 /* of a class: four pairs a node */
#define PAIRS      (2 * RINGS)
#define ECHOES     120 /* of a pair in an epoch of 5 minutes */

enum { NEAR, FAR, CLASSES };

struct place {
	uint32_t lost[PAIRS];
	int pairs;
};

struct echoes {
	const struct echoes_fault *f;
	struct rng rng;
	uint32_t guilty; /* a node, or a leaf */
	struct judge *judges[CLASSES];
	struct place *places;
	struct score_obs *obs;
	int *order;
	struct echoes_result *ret;
	int epoch;
};

/* Binomial, by the gaps between losses: they are rare. */
static uint32_t
lost_of(struct rng *r, double share)
{
	double rest = log1p(-share);
	uint32_t count = 0;
	double at = 0;

	for (;;) {
		at += 1 + floor(log(1 - rng_unit(r)) / rest);
		if (!(at <= ECHOES))
			return count;
		count++;
	}
}

static double
share_of(const struct echoes *e, uint32_t a, uint32_t b)
{
	uint32_t la = a / LEAF_NODES, lb = b / LEAF_NODES;
	int hit = e->f->uplink == 0 ? a == e->guilty || b == e->guilty
				    : e->f->uplink == 1 && la != lb &&
		(la == e->guilty || lb == e->guilty);

	return e->f->always + (hit ? e->f->lost : 0);
}

static void
ask(struct echoes *e, uint32_t a, uint32_t b)
{
	uint32_t lost = lost_of(&e->rng, share_of(e, a, b));

	e->places[a].lost[e->places[a].pairs++] = lost;
	e->places[b].lost[e->places[b].pairs++] = lost;
}

/* A ring of count nodes from first. */
static void
ring(struct echoes *e, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		e->order[i] = (int)(first + i);
	rng_shuffle(&e->rng, e->order, count);
	for (uint32_t i = 0; i < count; i++)
		ask(e, (uint32_t)e->order[i],
		    (uint32_t)e->order[(i + 1) % count]);
}

static int
compare(const void *a, const void *b)
{
	return (*(const uint32_t *)a > *(const uint32_t *)b) -
	    (*(const uint32_t *)a < *(const uint32_t *)b);
}

static double
number_of(struct place *p)
{
	uint64_t lost = 0;

	qsort(p->lost, (size_t)p->pairs, sizeof(p->lost[0]), compare);
	for (int i = 0; i < p->pairs / 2; i++)
		lost += p->lost[i];
	return loss_number(loss_share(lost, (uint64_t)(p->pairs / 2) * ECHOES));
}

static void
draw(struct echoes *e, int class)
{
	uint32_t n = e->f->nodes;

	memset(e->places, 0, n * sizeof(*e->places));
	for (int k = 0; k < RINGS; k++)
		for (uint32_t at = 0; at < n;
		     at += class == FAR ? n : LEAF_NODES)
			ring(e, at,
			    class == FAR              ? n
				: n - at < LEAF_NODES ? n - at
						      : LEAF_NODES);
	for (uint32_t i = 0; i < n; i++) {
		e->obs[i].place = i;
		e->obs[i].peers = 0;
		e->obs[i].leaf = i / LEAF_NODES;
		e->obs[i].x = number_of(&e->places[i]);
	}
}

static int
suspects(const struct judge *j, enum judge_kind kind, uint32_t index)
{
	const struct judge_track *t = judge_track(j, kind, index);

	if (t == NULL || t->known < judge_defaults()->votes)
		return -1;
	return t->state >= JUDGE_OUTLIER;
}

static void
look(struct echoes *e, enum judge_kind kind, uint32_t index)
{
	int near = suspects(e->judges[NEAR], kind, index);
	int far = suspects(e->judges[FAR], kind, index);
	enum confirm_finding f = loss_finding(kind, near, far);
	int is_it = e->f->uplink >= 0 && index == e->guilty &&
	    (kind == JUDGE_LEAF) == (e->f->uplink == 1);
	int right = f == (e->f->uplink == 1 ? CONFIRM_LINK : CONFIRM_NODE);

	if (near != 1 && far != 1)
		return;
	if (!is_it) {
		e->ret->wrong_suspects++;
		e->ret->wrong_alarms += f != CONFIRM_UNCLEAR;
		return;
	}
	if (e->ret->named_epoch == 0)
		e->ret->named_epoch = e->epoch;
	if (e->ret->bad_epoch == 0 && right)
		e->ret->bad_epoch = e->epoch;
}

static void
epoch(struct echoes *e)
{
	const struct judge_change *changes;

	for (int class = 0; class < CLASSES; class ++) {
		size_t n;

		draw(e, class);
		n = judge_round(e->judges[class], e->obs, e->f->nodes, NULL,
		    &changes);
		for (size_t i = 0; i < n; i++)
			if (changes[i].to == JUDGE_OUTLIER)
				look(e, changes[i].kind, changes[i].index);
	}
	/* The guilty one's other class may come a round later. */
	if (e->f->uplink >= 0)
		look(e, e->f->uplink == 1 ? JUDGE_LEAF : JUDGE_NODE, e->guilty);
}

void
echoes_run(const struct echoes_fault *f, int epochs, uint64_t seed,
    struct echoes_result *ret)
{
	struct echoes e = { .f = f, .ret = ret };
	uint32_t leaves = (f->nodes + LEAF_NODES - 1) / LEAF_NODES;

	memset(ret, 0, sizeof(*ret));
	rng_seed(&e.rng, seed);
	e.guilty = (uint32_t)rng_below(&e.rng,
	    f->uplink == 1 ? leaves : f->nodes);
	e.places = xcalloc(f->nodes, sizeof(*e.places));
	e.obs = xcalloc(f->nodes, sizeof(*e.obs));
	e.order = xcalloc(f->nodes, sizeof(*e.order));
	for (int class = 0; class < CLASSES; class ++)
		e.judges[class] = judge_new(judge_defaults());
	for (e.epoch = 1; e.epoch <= epochs; e.epoch++)
		epoch(&e);
	for (int class = 0; class < CLASSES; class ++)
		judge_free(e.judges[class]);
	free(e.places);
	free(e.obs);
	free(e.order);
}
