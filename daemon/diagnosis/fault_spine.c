/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_spine.c - one bad switch above leaves slows a share of the paths
 * between all of them, and no single node or leaf: find a stage of switches
 * (schema/stages.h) whose leaves have all worsened by the same amount.
 */
#include "daemon/diagnosis/fault_spine.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/stats/holes.h"
#include "daemon/diagnosis/spines.h"
#include "daemon/store/store.h"

/* Chance names one in ten years at 5 minutes. */
#define STAGE_ROUNDS 1051200.0
#define STAGE_LEAST  0.015 /* excess of slow pairs over the usual share */
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
/* Where jobs slow some pairs, spines without a name are reported after this
 * many rounds: two days, since each job lasts for hours. */
#define JOBS_ROUNDS 576

/* Keep the learned values of a series by the names of the switches. */
static void
fault_spine_move(struct diagnosis *d, struct diagnosis_series *s,
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
fault_spine_renew(struct diagnosis *d)
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
		fault_spine_move(d, &d->series[i], old);
	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_STAGE)
			k->index = spines_find_switches(d->stages, k->subject);
	stages_free(old);
}

/* ---- slow pairs ---- */

int
fault_spine_is_open(const struct diagnosis *d, const struct diagnosis_series *s)
{
	const struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_STAGE && k->series == s)
			return 1;
	return s != NULL && s->stage_told;
}

/* Return the excess of slow pairs of a leaf in the last rounds. */
static double
fault_spine_off_of(const struct diagnosis_series *s, uint32_t leaf)
{
	return s->paths_now[leaf] - s->paths[leaf].level;
}

/* Return the lower quartile over the leaves below a stage, which one or two
 * leaves do not move: of their excess, or of their shares in this round. NAN:
 * too few leaves. ret_most: the value of the worst leaf. */
static double
fault_spine_most_of(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t stage, int off, double *ret_most)
{
	double *x = xcalloc(d->leaf_count + (size_t)1, sizeof(*x)), ret = NAN;
	size_t n = 0;

	for (uint32_t l = 0; l < d->leaf_count; l++)
		if (of[l].pairs >= PAIRS_MIN &&
		    stages_lead(d->stages, d->stage_of[l], stage))
			x[n++] = off ? fault_spine_off_of(s, l)
				     : of[l].slow / of[l].pairs;
	if (n >= LEAVES_MIN) {
		ret = robust_quantile(x, n, 0.25);
		*ret_most = robust_quantile(x, n, 1);
	}
	free(x);
	return ret;
}

static int
fault_spine_is_alike(const struct diagnosis *d,
    const struct diagnosis_series *s, const struct path_sum *of, uint32_t stage)
{
	double worst, most = fault_spine_most_of(d, s, of, stage, 1, &worst);

	/* false for NAN; in the leaves' current values old rounds fade
	 * sooner */
	return most >= ALIKE * worst && most >= STAGE_LEAST + s->busy_slow;
}

int
fault_spine_share(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of, uint32_t leaf)
{
	uint32_t stage = d->stage_of[leaf];
	double worst;

	return stage != STAGE_NONE &&
	    fault_spine_most_of(d, s, of, stage, 1, &worst) >=
	    ALIKE * fault_spine_off_of(s, leaf);
}

/* Return the stage with the worst leaves among stages that are not above all
 * leaves, such as spines of pods; if other stages are as bad, return the stage
 * above all of them. */
static uint32_t
fault_spine_worst(const struct diagnosis *d, const struct diagnosis_series *s,
    const struct path_sum *of)
{
	uint32_t worst = STAGE_NONE, hot = 0;
	double most = -INFINITY, any, x;

	for (uint32_t k = 0; k < d->stages->count; k++) {
		x = fault_spine_most_of(d, s, of, k, 1, &any);
		if (d->stages->list[k].tier <= 2 && x > most) {
			most = x;
			worst = k;
		}
	}
	for (uint32_t k = 0; worst != STAGE_NONE && k < d->stages->count; k++)
		hot += d->stages->list[k].tier <= 2 &&
		    fault_spine_most_of(d, s, of, k, 1, &any) >= HOT * most;
	return hot > 1 ? d->stages->list[worst].above : worst;
}

/* Without a topology the stage has no name. */
static void
fault_spine_tell_unnamed(struct diagnosis *d, struct diagnosis_series *s,
    const struct path_sum *of)
{
	const struct drift *now = &s->stages[0];
	struct err err;

	if (now->from == DRIFT_NONE)
		s->stage_told = 0;
	if (now->from == DRIFT_NONE || s->stage_told ||
	    (s->busy_slow > 0 && now->n < JOBS_ROUNDS) ||
	    !fault_spine_is_alike(d, s, of, 0))
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

/* More pairs of all leaves below a stage are slow than usual, or no longer. */
static void
fault_spine_open(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t stage, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_STAGE, stage);

	if (s->stages[stage].from == DRIFT_NONE) {
		if (k != NULL && k->series == s) {
			diagnosis_forget_paths(d, JUDGE_STAGE, stage);
			incident_end(d, k, VERDICT_OK,
			    "the share of slow pairs over these switches is as "
			    "usual");
		}
		return;
	}
	if (k != NULL) {
		if (k->series == s)
			incident_write(d, k);
		return;
	}
	k = incident_take(d, NULL, &fault_spine, JUDGE_STAGE, stage);
	incident_show_from(d, k, s, from);
}

void
fault_spine_hear(struct diagnosis *d, struct diagnosis_series *s,
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
		x = fault_spine_most_of(d, s, of, k, 0, &any);
		if (!isnan(x))
			drift_add(&s->stages[k], x - out, x, limit,
			    STAGE_LEAST + s->busy_slow);
	}
	if (!stages_are_named(all)) {
		fault_spine_tell_unnamed(d, s, of);
		return;
	}
	worst = fault_spine_worst(d, s, of);
	for (uint32_t k = 0; k < all->count; k++)
		if (s->stages[k].from == DRIFT_NONE ||
		    incident_find(d, JUDGE_STAGE, k) != NULL ||
		    (k == worst && fault_spine_is_alike(d, s, of, k)))
			fault_spine_open(d, s, k, from);
}

/* ---- an open case ---- */

static const struct drift *
fault_spine_drift(const struct incident *k)
{
	return k->index < k->series->stages_count ? &k->series->stages[k->index]
						  : NULL; /* shown by echoes */
}

void
fault_spine_add(const struct diagnosis *d, const struct incident *k,
    const struct hole_place *h, char *text)
{
	const struct stage *stage = &d->stages->list[k->index];
	const struct drift *now = fault_spine_drift(k);
	double usual = now != NULL ? now->mean : 0;
	double share = now != NULL ? usual + drift_shift(now) : 0;
	uint32_t rounds = now != NULL ? drift_rounds(now) : 0;
	int is_one = stage->switch_count == 1;

	fault_text_add(text, "%.100s: ", k->subject);
	if (k->what == WHAT_MTU)
		fault_text_add(text, "datagrams of %" PRIu32 " bytes are lost",
		    h->bytes);
	else if (h->dead)
		fault_text_add(text, "no datagram arrives");
	else
		fault_text_add(text,
		    "%.0f %% of the pairs of nodes on its leaves are slow "
		    "instead of the usual %.0f %%",
		    100 * share, 100 * usual);
	if (h->paths[1] > 0)
		fault_text_add(text,
		    " on %" PRIu32 " of %" PRIu32 " paths over %s", h->holes[1],
		    h->paths[1], is_one ? "it" : "them");
	fault_text_add(text, ", equally on all %" PRIu32 " leaves",
	    spines_leaves(d, k->index));
	if (rounds > 0)
		fault_text_add(text, ", over %" PRIu32 " rounds", rounds);
	fault_text_add(text, " (%s)", series_kind(k->series->sort).name);
	if (k->what == WHAT_MTU)
		fault_text_add(text,
		    ", while those of %d bytes arrive: the cause is an MTU "
		    "below %" PRIu32 " at ",
		    MESH_PACKET_BYTES, h->mtu);
	else
		fault_text_add(text, ": the cause is ");
	if (is_one)
		fault_text_add(text,
		    "this switch, or one of the %" PRIu32 " links to it",
		    stage->links);
	else
		fault_text_add(text,
		    "one of these %zu switches, or one of the %" PRIu32
		    " links to them; measurements cannot distinguish them",
		    stage->switch_count, stage->links);
}

static void
fault_spine_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	fault_spine_add(d, k, &(struct hole_place){ .dead = 0 }, text);
}

static void
fault_spine_json(const struct diagnosis *d, const struct incident *k, json_t *o)
{
	const struct drift *now = fault_spine_drift(k);

	(void)d;
	json_object_set_new(o, "rounds",
	    json_integer(now == NULL ? 0 : drift_rounds(now)));
}

static int
fault_spine_restore(struct diagnosis *d, struct incident *k, const json_t *o)
{
	(void)o;
	if (k->series->sort >= CANARY_MAX)
		return -EAGAIN;
	series_room(d, k->series, d->leaf_count);
	drift_restore(&k->series->stages[k->index]);
	return 0;
}

const struct fault_kind fault_spine = {
	.what = WHAT_SPINE,
	.about = 1 << JUDGE_STAGE,
	.severity = VERDICT_BAD,
	.source = FAULT_ROUNDS,
	.text = fault_spine_text,
	.json = fault_spine_json,
	.restore = fault_spine_restore,
};
