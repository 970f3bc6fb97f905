/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_loss.c - a node or leaf that loses echoes of the mesh. MPI canaries do
 * not see lost datagrams, so for losses the mesh itself is the confirmation:
 * within the leaf and to others, in separate rounds.
 */
#include "daemon/diagnosis/fault_loss.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_outlier.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "schema/record.h"

/* Losses may be why an exchange did not end. */
static void
fault_loss_hear_stuck(struct diagnosis *d, const struct round *round)
{
	size_t count = roster_ids(d->roster) + d->node_count + 1;
	double *lost;

	if (d->stuck.count == 0)
		return;
	lost = xcalloc(count, sizeof(*lost));
	for (size_t i = 0; i < count; i++)
		lost[i] = -1;
	for (size_t i = 0; i < round->row_count; i++)
		if (round->rows[i].lost >= 0)
			lost[round->rows[i].node->id] = round->rows[i].lost;
	stuck_echoes(&d->stuck, lost);
	free(lost);
}

void
fault_loss_hear(struct diagnosis *d, const struct round *round, int far)
{
	struct loss_node *nodes = xcalloc(round->row_count + 1, sizeof(*nodes));
	int *at = xcalloc(roster_ids(d->roster) + 1, sizeof(*at));
	struct loss_pair pairs[RECORD_PAIRS_MAX];
	size_t count = 0, pair_count = 0, i;

	for (i = 0; i < round->row_count; i++) {
		const struct round_row *o = &round->rows[i];
		uint32_t id = (uint32_t)o->node->id;
		double sent = o->n + o->lost;
		const struct incident *k = incident_find(d, JUDGE_NODE, id);

		if (!(sent >= 1) || at[id] != 0)
			continue;
		nodes[count++] = (struct loss_node){ id,
			diagnosis_leaf(d, o->node->leaf), (uint64_t)sent,
			(uint64_t)fmax(0, o->lost), d->nodes[id].link_busy,
			k != NULL && !series_kind(k->series->sort).is_loss };
		at[id] = (int)count;
	}
	for (i = 0; i < round->pair_count; i++) {
		const struct round_pair *o = &round->pairs[i];
		int a = at[o->a->id], b = at[o->b->id];

		if (pair_count < RECORD_PAIRS_MAX && a > 0 && b > 0 &&
		    o->lost >= 1 && o->lost <= 1e9)
			pairs[pair_count++] = (struct loss_pair){ (uint32_t)a -
				    1,
				(uint32_t)b - 1, (uint32_t)o->lost };
	}
	fault_loss_hear_stuck(d, round);
	loss_round(&d->loss, far,
	    &(struct loss_epoch){ nodes, count, pairs, pair_count,
		round->pair_count >= RECORD_PAIRS_MAX });
	for (i = 0; i < count; i++)
		for (int sort = DIAGNOSIS_LOSS_LEAF;
		     sort <= DIAGNOSIS_LOSS_SPINE &&
		     loss_sum_of(&d->loss, nodes[i].place)->raised;
		     sort++)
			judge_restore(diagnosis_series_of(d,
					  DIAGNOSIS_MESH_CLASS, sort,
					  PARTNERS_RING)
					  ->judge,
			    JUDGE_NODE, nodes[i].place, JUDGE_OUTLIER);
	for (uint32_t l = 0; far && l < d->leaf_count; l++)
		if (loss_leaf_raised(&d->loss, l) != NULL)
			judge_restore(diagnosis_series_of(d,
					  DIAGNOSIS_MESH_CLASS,
					  DIAGNOSIS_LOSS_SPINE, PARTNERS_RING)
					  ->judge,
			    JUDGE_LEAF, l, JUDGE_OUTLIER);
	free(nodes);
	free(at);
}

/* Return the state of a place or leaf in the rounds of a sort: outlier 1, not
 * 0, too few data -1. */
static int
fault_loss_is_outlier(struct diagnosis *d, const struct incident *k, int sort)
{
	struct diagnosis_series *s = diagnosis_series_of(d,
	    DIAGNOSIS_MESH_CLASS, sort, PARTNERS_RING);
	const struct track *t = s == NULL
	    ? NULL
	    : judge_track(s->judge, k->kind, k->index);

	if (t == NULL || t->known < d->o.judge.votes)
		return -1;
	return t->state >= JUDGE_OUTLIER;
}

static void
fault_loss_conclude_one(struct diagnosis *d, struct incident *k)
{
	enum confirm_finding f = loss_finding(k->kind,
	    fault_loss_is_outlier(d, k, DIAGNOSIS_LOSS_LEAF),
	    fault_loss_is_outlier(d, k, DIAGNOSIS_LOSS_SPINE));

	/* A spine that is dead for one epoch so far may lose them. */
	if (f == CONFIRM_UNCLEAR ||
	    (k->kind == JUDGE_LEAF && d->stage_epochs[1] > 0) ||
	    (k->confirm.is_done && k->confirm.finding == f))
		return;
	k->confirm.is_done = 1;
	k->confirm.finding = f;
	fault_outlier_found(d, k, f);
	k->verdict = VERDICT_BAD;
	incident_write(d, k);
	incident_tell(d, k);
}

void
fault_loss_conclude(struct diagnosis *d)
{
	struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->fault == &fault_loss && k->what != WHAT_HOST)
			fault_loss_conclude_one(d, k);
}

void
fault_loss_forget_leaves(struct diagnosis *d)
{
	struct incident *k, *next;

	loss_forget_leaves(&d->loss);
	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next) {
		if (k->fault != &fault_loss || k->kind != JUDGE_LEAF)
			continue;
		judge_confirm(k->series->judge, JUDGE_LEAF, k->index, 0);
		incident_end(d, k, VERDICT_OK,
		    "a spine loses the echoes; coalctl verdict list shows the "
		    "spine");
	}
}

/* The sums over many rounds. */
static const struct loss_leaf *
fault_loss_leaf(const struct diagnosis *d, const struct incident *k)
{
	return k->kind == JUDGE_LEAF ? loss_leaf_raised(&d->loss, k->index)
				     : NULL;
}

/* Return the effect in the rounds with a vote, or in the sums. */
static double
fault_loss_effect(const struct diagnosis *d, const struct incident *k)
{
	const struct loss_sum *s = k->kind == JUDGE_NODE
	    ? loss_sum_of(&d->loss, k->index)
	    : NULL;
	const struct loss_leaf *l = fault_loss_leaf(d, k);
	double effect = fault_outlier_effect(d, k);

	if (l != NULL)
		return fmax(effect, loss_number(loss_share(l->lost, l->sent)));
	return s != NULL && s->raised
	    ? fmax(effect, loss_number(loss_share(s->lost, s->sent)))
	    : effect;
}

static void
fault_loss_text(const struct diagnosis *d, const struct incident *k, char *text)
{
	static const char *const said[CONFIRM_MAX] = {
		[CONFIRM_NODE] =
		    "within its leaf and to other leaves, while its partners "
		    "lose none to other nodes",
		[CONFIRM_LEAF] = "echoes inside the leaf are lost too",
		[CONFIRM_LINK] =
		    "none are lost inside the leaf, so its uplink is faulty",
	};

	double share = loss_of_number(fault_loss_effect(d, k));
	const struct fault_outlier_data *data = k->data;
	const struct track *t = incident_track(k);
	const struct loss_leaf *l = fault_loss_leaf(d, k);
	const struct loss_sum *s = k->kind == JUDGE_NODE
	    ? loss_sum_of(&d->loss, k->index)
	    : NULL;
	size_t places = l != NULL   ? l->nodes
	    : k->kind == JUDGE_LEAF ? (size_t)t->places
				    : 0;
	uint32_t rounds = l != NULL       ? l->epochs
	    : t->rounds == 0 && s != NULL ? s->epochs
					  : t->rounds;

	fault_text_add(text, "%s%s: %.*f %% or more of its UDP echoes are lost",
	    places > 0 ? "leaf " : "", k->subject, share < 0.005 ? 2 : 1,
	    100 * share);
	if (places == 0)
		fault_text_add(text, ", even with its best partners,");
	fault_text_add(text, " over %" PRIu32 " rounds (%s)", rounds,
	    series_kind(k->series->sort).name);
	if (places > 0)
		fault_text_add(text, "; %zu of its %zu nodes lose echoes",
		    l != NULL ? (size_t)l->losing : (size_t)t->slow_places,
		    places);
	if (k->what == WHAT_HOST)
		fault_text_add(text, "; host contention: %s", data->host);
	else
		fault_text_add(text, "; %s",
		    k->confirm.is_done && said[k->confirm.finding] != NULL
			? said[k->confirm.finding]
			: "undetermined whether the node or a path loses them");
}

/* Losses name a node even if a path may be the cause. */
static const char *
fault_loss_step(const struct diagnosis *d, const struct incident *k)
{
	(void)d;
	return names_whats[!k->confirm.is_done && k->what == WHAT_NODE
		? WHAT_UNDETERMINED
		: k->what]
	    .step;
}

const struct fault_kind fault_loss = {
	.what = WHAT_NODE,
	.others = FAULT_OUTLIER_OTHERS,
	.excused = 1u << WHAT_HOST,
	.about = 1 << JUDGE_NODE | 1 << JUDGE_LEAF,
	.severity = VERDICT_WARN,
	.source = FAULT_LOSSES,
	.bytes = sizeof(struct fault_outlier_data),
	.is_judged = 1,
	.text = fault_loss_text,
	.step = fault_loss_step,
	.effect = fault_loss_effect,
	.restore = fault_outlier_restore,
	.still = fault_outlier_still,
};
