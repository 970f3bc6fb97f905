/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.c - convert a record to a round of a series: find the measured nodes,
 * their peers, and the value of each.
 */
#include "daemon/diagnosis/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"

#define KIND_MIN 4 /* nodes of a round that form a kind */

/* Return the effect of its last round in that series. */
static double
rounds_last_effect(const struct diagnosis_series *s, uint32_t node)
{
	const struct track *t = judge_track(s->judge, JUDGE_NODE, node);

	return t == NULL || t->known == 0 ? NAN : track_effect_at(t, 0);
}

struct diagnosis_series *
rounds_rail_or_node(struct diagnosis *d, struct diagnosis_series *s,
    uint32_t node)
{
	struct diagnosis_series *all = diagnosis_series_at(d,
	    &(struct diagnosis_series_key){ s->class, s->sort, s->partners, "",
		s->device, s->bytes });
	struct diagnosis_series *worst = NULL;
	const struct track *t;
	uint64_t span = s == all ? 0 : UINT64_MAX;
	double effects[SERIES_RAILS];
	size_t slow = 0, count = 0;

	if (all == NULL)
		return s;
	t = judge_track(all->judge, JUDGE_NODE, node);
	for (int i = 0; s == all && t != NULL && i < d->o.judge.window; i++)
		if (t->votes >> i & 1)
			span = (uint64_t)i;
	for (size_t i = 0; i < d->series_count; i++) {
		struct diagnosis_series *r = &d->series[i];
		double effect = rounds_last_effect(r, node);

		if (r->rail[0] == '\0' || r->sort != s->sort ||
		    r->partners != s->partners ||
		    strcmp(r->device, s->device) != 0 || r->bytes != s->bytes ||
		    strcmp(r->class, s->class) != 0 || isnan(effect) ||
		    all->rounds - r->heard_round > span)
			continue;
		effects[count++] = effect;
		if (worst == NULL || effect > rounds_last_effect(worst, node))
			worst = r;
	}
	for (size_t i = 0; i < count; i++)
		slow += effects[i] >= rounds_last_effect(worst, node) / 2;
	if (count > 0 && 2 * slow <= count) {
		worst = s == all ? worst : s;
		t = judge_track(worst->judge, JUDGE_NODE, node);
		return (t->votes & (t->votes - 1)) != 0 ? worst : NULL;
	}
	return t != NULL && t->state >= JUDGE_OUTLIER ? all : s;
}

/* ---- data of a record about its nodes ---- */

static void
rounds_make_room(struct diagnosis *d, size_t count)
{
	if (count <= d->obs_cap)
		return;
	d->obs_cap = count + count / 2;
	d->obs = xreallocarray(d->obs, d->obs_cap, sizeof(*d->obs));
	d->busy = xreallocarray(d->busy, d->obs_cap, 1);
}

static uint32_t
rounds_kind_number(struct diagnosis *d, const char *name)
{
	const json_t *at = json_object_get(d->kinds, name);
	json_int_t next = (json_int_t)json_object_size(d->kinds) + 1;

	if (at != NULL)
		return (uint32_t)json_integer_value(at);
	json_object_set_new(d->kinds, name, json_integer(next));
	return (uint32_t)next;
}

/* Nodes of one kind are peers: same CPU, same GPUs, and a fastest NIC of the
 * same model and the same best rate. */
static void
rounds_find_kind(struct diagnosis *d, const struct node *node,
    struct diagnosis_node *cn)
{
	const char *model = "", *driver = "";
	const json_t *nic, *gpus = json_object_get(node->inventory, "gpus");
	char name[200], rate[24];
	double fastest = 0;
	size_t i;

	member_foreach (node->inventory, "nics", i, nic) {
		if (member_number(nic, "speed_bps") <= fastest)
			continue;
		fastest = member_number(nic, "speed_bps");
		model = member_text(nic, "model");
		driver = member_text(nic, "driver");
	}
	cn->fastest_bps = fastest;
	fastest = fmax(fastest, cn->rated_bps);
	/* Half octaves distinguish 25, 40, 100, 200 and 400 Gbit/s. */
	snprintf(rate, sizeof(rate), "%ld",
	    fastest <= 1e6 ? 0 : lrint(2 * log2(fastest / 1e6)));
	snprintf(name, sizeof(name), "%s %.30s %.30s, %.60s, %zu %.30s", rate,
	    model, driver, member_text(node->inventory, "cpu"),
	    json_array_size(gpus),
	    member_text(json_array_get(gpus, 0), "model"));
	cn->rate_kind = rounds_kind_number(d, rate);
	cn->kind = rounds_kind_number(d, name);
}

static void
rounds_observe_one(struct diagnosis *d, size_t n, const struct node *node,
    double x)
{
	struct diagnosis_node *cn = diagnosis_node(d, node);

	if (cn->kind == 0 || cn->fastest_serial != node->nics_serial ||
	    cn->kind_bps < cn->rated_bps) {
		cn->fastest_serial = node->nics_serial;
		cn->kind_bps = cn->rated_bps;
		rounds_find_kind(d, node, cn);
	}
	d->obs[n] = (struct score_obs){ .place = (uint32_t)node->id,
		.peers = cn->kind,
		.leaf = diagnosis_leaf(d, node->leaf),
		.x = x };
}

/* Nodes of a kind that is too small in this round are compared with the largest
 * kind that has NICs of the same rate. */
static void
rounds_find_peers(struct diagnosis *d, size_t count)
{
	size_t kinds = json_object_size(d->kinds) + 1;
	uint32_t *of = xcalloc(kinds, sizeof(*of));
	uint32_t *largest = xcalloc(kinds, sizeof(*largest)); /* by rate */

	for (size_t i = 0; i < count; i++)
		of[d->obs[i].peers]++;
	for (size_t i = 0; i < count; i++) {
		uint32_t rate = d->nodes[d->obs[i].place].rate_kind;

		if (of[d->obs[i].peers] > of[largest[rate]])
			largest[rate] = d->obs[i].peers;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t to = largest[d->nodes[d->obs[i].place].rate_kind];

		if (of[d->obs[i].peers] >= KIND_MIN || to == d->obs[i].peers)
			continue;
		d->obs[i].peers = to;
		d->obs[i].is_mixed = 1;
	}
	free(of);
	free(largest);
}

/* The better half of a node's pairs counts, so that a node with good partners
 * is not an outlier. */
static size_t
rounds_observe_losses(struct diagnosis *d, const struct round *round, int sort)
{
	/* A leaf's bad uplink makes all of its nodes and their partners
	 * lose. */
	int is_uplink = sort == DIAGNOSIS_LOSS_SPINE &&
	    loss_leaves_raised(&d->loss) > 0;
	size_t n = 0;

	rounds_make_room(d, round->row_count);
	for (size_t i = 0; i < round->row_count; i++) {
		const struct round_row *o = &round->rows[i];
		double lost = is_uplink ? 0 : o->good_lost;
		double sent = o->good_sent;

		if (lost >= 0 && sent >= 1)
			rounds_observe_one(d, n++, o->node,
			    loss_number(
				loss_share((uint64_t)lost, (uint64_t)sent)));
	}
	rounds_find_peers(d, n);
	return n;
}

/* Note the number of partners and the contention of each node that has a
 * row. */
static void
rounds_hear_rows(struct diagnosis *d, const struct round *round)
{
	for (size_t i = 0; i < round->row_count; i++) {
		const struct round_row *o = &round->rows[i];
		struct diagnosis_node *cn = diagnosis_node(d, o->node);

		cn->wait_ratio = o->wait_ratio;
		cn->partners = o->partners;
		cn->slow_partners = o->slow_partners;
	}
}

size_t
diagnosis_observe(struct diagnosis *d, const struct round *round, int sort,
    int heard)
{
	struct series_kind kind = series_kind(sort);
	int by_mpi = sort < CANARY_MAX;
	size_t n = 0;

	if (kind.is_loss)
		return rounds_observe_losses(d, round, sort);
	rounds_make_room(d, round->score_count);
	for (size_t i = 0; i < round->score_count; i++) {
		const struct node *node = round->scores[i].node;
		double x = log(round->scores[i].q);

		if (heard)
			diagnosis_heard(d, node);
		if (heard && by_mpi) {
			struct diagnosis_node *cn = diagnosis_node(d, node);

			cn->missed[1] = 0;
			if (!round_is_ring(round))
				cn->missed[0] = 0;
			if (strcmp(cn->canary_run, round->run) != 0)
				str_format(cn->canary_run,
				    sizeof(cn->canary_run), "%s", round->run);
		}
		rounds_observe_one(d, n++, node, kind.is_rate ? -x : x);
	}
	rounds_find_peers(d, n);
	if (heard)
		rounds_hear_rows(d, round);
	return n;
}
