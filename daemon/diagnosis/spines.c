/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spines.c - one bad switch above leaves slows a share of the paths between all
 * of them, and no single node or leaf: find a stage of switches
 * (schema/stages.h) whose leaves have all worsened by the same amount.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/store/store.h"

/* Chance names one in ten years at 5 minutes. */
#define STAGE_ROUNDS 1051200.0
#define STAGE_LEAST  0.015 /* excess of slow pairs over the usual share */
#define STAGE_K      1.0
/* With fewer leaves one bad leaf could affect all others. */
#define LEAVES_MIN 4
#define PAIRS_MIN  32 /* of a leaf in a round */
/* Most leaves are worse by at least this share of the worst one's excess: with
 * one bad leaf of four, the others have a third. */
#define ALIKE 0.5
/* The same between pods, relative to the worst pod: with two pods the other one
 * has half of its pairs with it. */
#define HOT 0.7
/* Slow nodes, as a share of all: their partners are slow because of them. */
#define OUT_MAX 0.02
#define NOW     0.3 /* weight of a round in a leaf's current value */

const struct stages *
spines_map(struct diagnosis *d)
{
	const struct topo *topo = roster_topo(d->roster);
	const struct topology *t = topo != NULL ? topo_file(topo) : NULL;
	struct topology *none = t == NULL ? topology_new() : NULL;

	if (t == NULL)
		t = none;
	if (d->stages == NULL) {
		d->stages = stages_new(t);
		d->staged = 0;
	}
	if (d->staged < d->leaf_count)
		d->stage_of = xreallocarray(d->stage_of, d->leaf_count,
		    sizeof(*d->stage_of));
	for (; d->staged < d->leaf_count; d->staged++) {
		uint32_t at = topology_find_switch(t, d->leaves[d->staged]);

		d->stage_of[d->staged] = !stages_are_named(d->stages) ? 0
		    : at == TOPOLOGY_NONE ? STAGE_NONE
					  : d->stages->of_switch[at];
	}
	topology_free(none);
	return d->stages;
}

static uint32_t
spines_find_switches(const struct stages *all, const char *switches)
{
	for (uint32_t k = 0; k < all->count; k++)
		if (strcmp(all->list[k].switches != NULL ? all->list[k].switches
							 : "",
			switches) == 0)
			return k;
	return STAGE_NONE;
}

uint32_t
spines_find(struct diagnosis *d, const char *switches)
{
	return spines_find_switches(spines_map(d), switches);
}

/* Keep the learned values of a series by the names of the switches. */
static void
spines_move(struct diagnosis *d, struct diagnosis_series *s,
    const struct stages *old)
{
	struct drift *was = s->stages;
	uint32_t count = s->stages_count;

	s->stages = NULL;
	s->stages_count = 0;
	spines_room(d, s);
	for (uint32_t k = 0; k < count && k < old->count; k++) {
		const char *name = old->list[k].switches;
		uint32_t to = spines_find_switches(d->stages,
		    name != NULL ? name : "");

		if (to != STAGE_NONE)
			s->stages[to] = was[k];
	}
	free(was);
}

void
spines_renew(struct diagnosis *d)
{
	struct stages *old = d->stages;
	struct incident *k, *next;

	if (old == NULL)
		return;
	d->stages = NULL;
	(void)spines_map(d);
	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next)
		if (k->kind == JUDGE_STAGE &&
		    spines_find_switches(d->stages, k->subject) == STAGE_NONE)
			incident_end(d, k, VERDICT_UNKNOWN,
			    "the topology has no such switches any more");
	for (size_t i = 0; i < d->series_count; i++)
		spines_move(d, &d->series[i], old);
	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_STAGE)
			k->index = spines_find_switches(d->stages, k->subject);
	stages_free(old);
}

uint32_t
spines_leaves(const struct diagnosis *d, uint32_t stage)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < d->staged; l++)
		n += (uint32_t)stages_lead(d->stages, d->stage_of[l], stage);
	return n;
}

/* ---- slow pairs ---- */

int
spines_open(const struct diagnosis *d, const struct diagnosis_series *s)
{
	const struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_STAGE && k->series == s)
			return 1;
	return s != NULL && s->stage_told;
}

/* Return the excess of slow pairs of a leaf in the last rounds. */
static double
spines_off_of(const struct diagnosis_series *s, uint32_t leaf)
{
	return s->paths_now[leaf] - s->paths[leaf].level;
}

/* Return the lower quartile over the leaves below a stage, which one or two
 * leaves do not move: of their excess, or of their shares in this round. NAN:
 * too few leaves. ret_most: the value of the worst leaf. */
static double
spines_most_of(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t stage, int off, double *ret_most)
{
	double *x = xcalloc(d->leaf_count + (size_t)1, sizeof(*x)), ret = NAN;
	size_t n = 0;

	for (uint32_t l = 0; l < d->leaf_count; l++)
		if (of[l].pairs >= PAIRS_MIN &&
		    stages_lead(d->stages, d->stage_of[l], stage))
			x[n++] = off ? spines_off_of(s, l)
				     : of[l].slow / of[l].pairs;
	if (n >= LEAVES_MIN) {
		ret = robust_quantile(x, n, 0.25);
		*ret_most = robust_quantile(x, n, 1);
	}
	free(x);
	return ret;
}

static int
spines_is_alike(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t stage)
{
	double worst, most = spines_most_of(d, s, of, stage, 1, &worst);

	/* false for NAN; in the leaves' current values old rounds fade
	 * sooner */
	return most >= ALIKE * worst && most >= STAGE_LEAST + s->busy_slow;
}

int
spines_share(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t leaf)
{
	uint32_t stage = d->stage_of[leaf];
	double worst;

	return stage != STAGE_NONE &&
	    spines_most_of(d, s, of, stage, 1, &worst) >=
	    ALIKE * spines_off_of(s, leaf);
}

/* Return the stage with the worst leaves among stages that are not above all
 * leaves, such as spines of pods; if other stages are as bad, return the stage
 * above all of them. */
static uint32_t
spines_worst_stage(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of)
{
	uint32_t worst = STAGE_NONE, hot = 0;
	double most = -INFINITY, any, x;

	for (uint32_t k = 0; k < d->stages->count; k++) {
		x = spines_most_of(d, s, of, k, 1, &any);
		if (d->stages->list[k].tier <= 2 && x > most) {
			most = x;
			worst = k;
		}
	}
	for (uint32_t k = 0; worst != STAGE_NONE && k < d->stages->count; k++)
		hot += d->stages->list[k].tier <= 2 &&
		    spines_most_of(d, s, of, k, 1, &any) >= HOT * most;
	return hot > 1 ? d->stages->list[worst].above : worst;
}

/* Without a topology the stage has no name. */
static void
spines_tell_unnamed(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of)
{
	const struct drift *now = &s->stages[0];
	struct err err;

	if (now->from == DRIFT_NONE)
		s->stage_told = 0;
	if (now->from == DRIFT_NONE || s->stage_told ||
	    !spines_is_alike(d, s, of, 0))
		return;
	s->stage_told = 1;
	err_say(&err,
	    "%.0f %% of the pairs of nodes are slow instead of the usual "
	    "%.0f %%, equally on all %" PRIu32
	    " leaves, and no single node or leaf is the cause: the paths may "
	    "share a faulty spine; to find it, add the spines to "
	    "topology.leaves (%s)",
	    100 * now->now, 100 * now->mean, spines_leaves(d, 0),
	    series_kind(s->sort).name);
	log_warnx("%s", err.text);
	store_put_event(d->store, "alarm", "spines", err.text);
}

void
spines_room(struct diagnosis *d, struct diagnosis_series *s)
{
	const struct stages *all = spines_map(d);

	if (s->stages_count >= all->count)
		return;
	s->stages = xreallocarray(s->stages, all->count, sizeof(*s->stages));
	while (s->stages_count < all->count) {
		drift_clear(&s->stages[s->stages_count]);
		s->stages[s->stages_count++].k = STAGE_K;
	}
}

void
spines_hear(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of, double out, const struct diagnosis_source *from)
{
	const struct stages *all = spines_map(d);
	double limit = cusum_limit(STAGE_ROUNDS * (double)all->count, STAGE_K);
	uint32_t worst;
	double any, x;

	for (uint32_t l = 0; l < d->leaf_count; l++)
		if (of[l].pairs >= PAIRS_MIN)
			s->paths_now[l] += (s->paths[l].n == 0 ? 1 : NOW) *
			    (of[l].slow / of[l].pairs - s->paths_now[l]);
	if (out > OUT_MAX)
		return;
	spines_room(d, s);
	for (uint32_t k = 0; k < all->count; k++) {
		x = spines_most_of(d, s, of, k, 0, &any);
		if (!isnan(x))
			drift_add(&s->stages[k], x - out, x, limit,
			    STAGE_LEAST + s->busy_slow);
	}
	if (!stages_are_named(all)) {
		spines_tell_unnamed(d, s, of);
		return;
	}
	worst = spines_worst_stage(d, s, of);
	for (uint32_t k = 0; k < all->count; k++)
		if (s->stages[k].from == DRIFT_NONE ||
		    incident_find(d, JUDGE_STAGE, k) != NULL ||
		    (k == worst && spines_is_alike(d, s, of, k)))
			incident_stage(d, s, k, from);
}
