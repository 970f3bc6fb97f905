/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm_run.c - the confirmation run: the outlier and at most five good
 * nodes, one pair at a time, or a leaf's nodes and as many others all at once,
 * in the class of the run that made it an outlier, without other runs on the
 * network. The limits of a class apply as for any other run.
 */
#include "daemon/diagnosis/confirm_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_outlier.h"
#include "daemon/diagnosis/follow_up.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/spines.h"
#include "schema/options.h"

/* Measurements of each pair. A round of bandwidths on a slow link is one
 * operation and takes a second: there are fewer rounds, and each is more
 * exact. */
#define LAT_ROUNDS 16
/* Rounds of small messages, and of rates, of one operation each: a large effect
 * shows in few, and the direction is left to the confirmation run. */
#define FOLLOW_ROUNDS    4
#define FOLLOW_BW_ROUNDS 2
#define BW_ROUNDS        3
#define INCAST_ROUNDS    8          /* in each, every node receives once */
#define LOAD_ROUNDS      (size_t)12 /* of many pairs at once, in a follow-up */
#define LOAD_SHARE       0.75       /* of a leaf's nodes, needed to clear it */
#define HOUR_NS          (3600 * CLK_NS_PER_S) /* the budget of runs is for an hour */
/* Wait before a failed run is repeated, doubled each time. */
#define AGAIN_NS     (15 * CLK_NS_PER_S)
#define AGAIN_MAX_NS (15 * 60 * CLK_NS_PER_S)
#define TRIES_MAX    16 /* then only rounds decide: after almost 3 hours */
/* How often a confirmation run that another run disturbed is repeated before
 * its result is used nevertheless. */
#define DISTURBED_MAX 4
#define BUSY_SHARE    0.10 /* of a link */
/* A run blames no leaf if more of the nodes were slow in the last round,
 * without leaves that are slow themselves: SLOW_LEAF of their nodes or more. */
#define AMONG_SLOW 0.35
#define SLOW_LEAF  0.67

void
confirm_run_clear(struct confirm_run *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->names[i]);
	p->count = 0;
	p->of = NULL;
	p->run[0] = '\0';
	p->heard = 0;
	p->disturbed = 0;
	p->is_follow = 0;
}

void
confirm_run_again_later(const struct diagnosis *d, struct incident *k)
{
	uint64_t wait_ns = AGAIN_NS
	    << (k->confirm.tries < 8 ? k->confirm.tries : 8);

	if (wait_ns > AGAIN_MAX_NS)
		wait_ns = AGAIN_MAX_NS;
	k->confirm.tries++;
	k->confirm.next_ns = clk_ns() + wait_ns;
	incident_write(d, k);
}

/* The confirmation run has the class of the run that made it an outlier; for
 * the mesh: background. */
static const char *
confirm_run_class_of(const struct incident *k)
{
	return strcmp(k->class, DIAGNOSIS_MESH_CLASS) == 0 ? "background"
							   : k->class;
}

/* Slurm may exclude nodes from a run, by its partition or reservation. 1, 0, or
 * -EAGAIN: the request is pending. */
static int
confirm_run_may_have(const struct diagnosis *d, const struct incident *k,
    const struct node *n)
{
	if (d->ops->may_have == NULL)
		return 1;
	return d->ops->may_have(d->ctx, confirm_run_class_of(k), k->launcher,
	    k->slurm, n);
}

/* Use only good nodes of the outlier's kind, if there are enough besides it. */
static void
confirm_run_keep_kind(const struct diagnosis *d, struct confirm_node *list,
    size_t count, size_t outlier)
{
	uint32_t kind = d->nodes[outlier].kind;
	size_t alike = 1;

	for (size_t i = 0; i < count; i++)
		alike += i != outlier && (list[i].good || list[i].mate) &&
		    d->nodes[i].kind == kind;
	for (size_t i = 0; alike >= CONFIRM_NODES && i < count; i++)
		if (d->nodes[i].kind != kind)
			list[i].good = list[i].mate = 0;
}

/* Return every node of the roster as a candidate. */
static struct confirm_node *
confirm_run_candidates(struct diagnosis *d, const struct incident *k,
    size_t *ret_outlier)
{
	size_t count = roster_ids(d->roster);
	struct confirm_node *list = xcalloc(count + 1, sizeof(*list));
	size_t outlier = SIZE_MAX;
	/* The outlier's own leaf may be slow too. */
	uint32_t own = k->kind == JUDGE_LEAF
	    ? k->index
	    : diagnosis_leaf(d, roster_by_id(d->roster, k->index)->leaf);

	for (size_t i = 0; i < count; i++) {
		const struct node *n = roster_by_id(d->roster, i);
		uint32_t leaf = diagnosis_leaf(d, n->leaf);
		int home = own != SCORE_NO_LEAF && leaf == own;
		int fine = diagnosis_is_measured(d, n) &&
		    node_missed(&d->nodes[i]) < MISSED_MANY &&
		    incident_find(d, JUDGE_NODE, (uint32_t)i) == NULL &&
		    incident_followed(d, JUDGE_NODE, (uint32_t)i) == NULL &&
		    !diagnosis_node(d, n)->link_busy &&
		    !diagnosis_node(d, n)->leaf_busy &&
		    confirm_run_may_have(d, k, n) &&
		    (k->series->sort != CANARY_INCAST ||
			member_bool(n->inventory, "incast"));

		list[i].id = (uint32_t)i;
		list[i].leaf = leaf;
		list[i].good = fine && !home &&
		    (leaf == SCORE_NO_LEAF ||
			(incident_find(d, JUDGE_LEAF, leaf) == NULL &&
			    incident_followed(d, JUDGE_LEAF, leaf) == NULL));
		list[i].mate = fine && home;
		if (home && fine && outlier == SIZE_MAX)
			outlier = i;
	}
	*ret_outlier = k->kind == JUDGE_NODE ? k->index : outlier;
	if (*ret_outlier != SIZE_MAX)
		confirm_run_keep_kind(d, list, count, *ret_outlier);
	return list;
}

/* Choose names and leaves; fewer than three nodes allow no comparison. */
static int
confirm_run_choose(struct diagnosis *d, const struct incident *k)
{
	struct confirm_run *p = &d->pass;
	size_t outlier, chosen[CONFIRM_NODES_MAX], n;
	struct confirm_node *list = confirm_run_candidates(d, k, &outlier);

	if (outlier == SIZE_MAX ||
	    !roster_is_up(roster_by_id(d->roster, outlier))) {
		free(list);
		return 0;
	}
	n = confirm_choose(list, roster_ids(d->roster), outlier, &d->rng,
	    chosen);
	/* All nodes of the leaf caused the effect together. */
	if (n >= 3 && k->kind == JUDGE_LEAF &&
	    (p->is_rate || k->fault->is_share) && !k->confirm.asks_way &&
	    k->series->sort != CANARY_INCAST)
		n = confirm_load(list, roster_ids(d->roster), &d->rng, chosen,
		    n);
	else if (n >= 3 && k->series->sort == CANARY_INCAST)
		n = confirm_fill(list, roster_ids(d->roster), &d->rng, chosen,
		    n, CONFIRM_NODES_INCAST);
	/* The path of a pair is random, so a large number of pairs is
	 * counted. */
	if (n >= 3 && k->fault->is_share)
		n = confirm_fill(list, roster_ids(d->roster), &d->rng, chosen,
		    n, CONFIRM_NODES_MAX);
	for (size_t i = 0; n >= 3 && i < n; i++) {
		p->names[i] = xstrdup(roster_by_id(d->roster, chosen[i])->name);
		p->leaves[i] = list[chosen[i]].leaf;
	}
	p->count = n >= 3 ? n : 0;
	free(list);
	return p->count > 0;
}

/* Return 1 if each direction can be measured separately: for rates, if all
 * probes support it. For small messages this is impossible, as no two hosts
 * share a clock. */
static int
confirm_run_has_ways(const struct diagnosis *d)
{
	const struct confirm_run *p = &d->pass;

	for (size_t i = 0; i < p->count; i++) {
		const struct node *n = roster_find(d->roster, p->names[i]);

		if (n == NULL || !member_bool(n->inventory, "one_way"))
			return 0;
	}
	return p->is_rate;
}

/* The fault of a leaf shows under the load of several pairs at once. Once it is
 * confirmed, another run measures the direction. */
static enum partners
confirm_run_partners_of(const struct diagnosis *d, const struct incident *k)
{
	if (k->series->sort == CANARY_INCAST)
		return PARTNERS_RING; /* an incast has its own partners */
	return k->fault->is_share ||
		(k->kind == JUDGE_LEAF && !k->confirm.asks_way)
	    ? PARTNERS_MATCH
	    : d->pass.is_follow       ? PARTNERS_PAIR
	    : confirm_run_has_ways(d) ? PARTNERS_ONE_WAY
				      : PARTNERS_PAIR;
}

static int
confirm_run_has_mpi(const struct node *n, const char *name)
{
	const json_t *mpi;
	size_t i;

	member_foreach (n->inventory, "mpi", i, mpi)
		if (strcmp(member_text(mpi, "name"), name) == 0)
			return 1;
	return 0;
}

/* Return the MPI of the run that has shown the outlier. For the mesh before the
 * first canary: the first MPI that all nodes of the run have, or "" for the
 * default. */
static const char *
confirm_run_mpi_of(const struct diagnosis *d, const struct incident *k)
{
	const struct confirm_run *p = &d->pass;
	const struct node *first = roster_find(d->roster, p->names[0]);
	const json_t *mpi;
	size_t i, n;

	if (k->launcher[0] != '\0')
		return k->mpi;
	member_foreach (first->inventory, "mpi", i, mpi) {
		const char *name = member_text(mpi, "name");

		for (n = 1; n < p->count; n++)
			if (!confirm_run_has_mpi(roster_find(d->roster,
						     p->names[n]),
				name))
				break;
		if (n == p->count)
			return name;
	}
	return "";
}

/* Return the number of rounds. With many nodes every pair meets about once, or
 * less in a follow-up run; in an incast each node receives from all others. */
static size_t
confirm_run_rounds_of(const struct confirm_run *p, enum partners partners,
    int is_incast)
{
	size_t pairs = p->count * (p->count - 1) / 2;
	size_t times = !p->is_rate ? p->is_follow ? FOLLOW_ROUNDS : LAT_ROUNDS
	    : p->is_follow         ? FOLLOW_BW_ROUNDS
	    : partners == PARTNERS_ONE_WAY ? 2 * BW_ROUNDS
					   : BW_ROUNDS;

	if (is_incast)
		return INCAST_ROUNDS;
	if (p->count > CONFIRM_NODES)
		return p->is_follow ? LOAD_ROUNDS : p->count;
	return times * pairs / (partners == PARTNERS_MATCH ? p->count / 2 : 1);
}

/* Create the campaign from options that any campaign may have; the caller frees
 * *ret. -EINVAL: a stored incident has an invalid option. */
static int
confirm_run_campaign_make(const struct diagnosis *d, const struct incident *k,
    struct conf **ret, struct err *err)
{
	const struct confirm_run *p = &d->pass;
	char about[200], least[24], rounds[24], bytes[24] = "";
	struct strbuf nodes = { 0 };
	enum partners partners = confirm_run_partners_of(d, k);
	int rc, is_incast = k->series->sort == CANARY_INCAST;
	struct conf *c;
	const char *key;
	json_t *word;

	snprintf(about, sizeof(about), "%s run on %.160s",
	    p->is_follow ? "follow-up" : "confirmation", k->subject);
	snprintf(least, sizeof(least), "%zu", p->count);
	snprintf(rounds, sizeof(rounds), "%zu",
	    confirm_run_rounds_of(p, partners, is_incast));
	if (k->series->bytes > 0)
		snprintf(bytes, sizeof(bytes), "%" PRIu32, k->series->bytes);
	for (size_t i = 0; i < p->count; i++)
		strbuf_addf(&nodes, "%s%s", i == 0 ? "" : ",", p->names[i]);

	const struct {
		const char *section, *key, *value;
	} rows[] = {
		{ "campaign", "about", about },
		{ "campaign", "class", confirm_run_class_of(k) },
		{ "campaign", "nodes", nodes.text },
		{ "campaign", "nodes_min", least },
		{ "campaign", "alone",
		    k->confirm.tries < DISTURBED_MAX ? "yes" : "no" },
		{ "campaign", "deadline", "5m" },
		/* Without a canary the default launcher starts it. */
		{ "campaign", "launcher", k->launcher },
		{ "campaign", "mpi", confirm_run_mpi_of(d, k) },
		{ "mpi", "devices", k->kind == JUDGE_NODE ? k->rail : "" },
		{ "canary", "tests",
		    is_incast        ? names_tests[CANARY_INCAST].name
			: p->is_rate ? "bw"
				     : "lat" },
		{ "measure", "device", k->series->device },
		{ "canary", "bytes", bytes },
		{ "canary", "share", "1" },
		{ "canary", "partners", names_partners[partners] },
		{ "canary", "rounds_min", rounds },
		{ "canary", "iterations",
		    p->is_follow && p->is_rate ? "1" : "" },
		{ "canary", "warmup", "1" },
		{ "canary", "precision", "1" },
		{ "canary", "time", "1s" },
		{ "congestor", "mix", "none" },
		{ "phases", "visits", "1" },
	};

	rc = conf_parse(options_campaign, NAMES_PASS_CAMPAIGN, "", &c, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(rows); i++)
		if (rows[i].value[0] != '\0')
			rc = conf_set(c, rows[i].section, rows[i].key,
			    rows[i].value, NAMES_PASS_CAMPAIGN, err);
	strbuf_clear(&nodes);
	/* The account and partition of the run that made the outlier; a stored
	 * incident may lack them. */
	json_object_foreach (k->slurm, key, word)
		if (rc == 0 && json_is_string(word))
			rc = conf_set(c, "slurm", key, json_string_value(word),
			    NAMES_PASS_CAMPAIGN, err);
	if (rc == 0)
		*ret = c;
	else
		conf_free(c);
	return rc;
}

/* Echoes have named it, in the queue of a slow link, which is empty in a
 * confirmation run of small messages. If canaries were slow in one of their
 * last rounds too, repeat the slowest ones. */
static void
confirm_run_prefer_canaries(struct diagnosis *d, struct incident *k)
{
	struct diagnosis_series *slowest = NULL;
	double most = 0;

	if (!k->fault->is_judged || k->fault->is_share ||
	    k->series->sort < CANARY_MAX ||
	    series_kind(k->series->sort).is_loss)
		return;
	for (size_t i = 0; i < d->series_count; i++) {
		struct diagnosis_series *s = &d->series[i];
		const struct track *t = judge_track(s->judge, k->kind,
		    k->index);

		if (s->sort >= CANARY_MAX || s->rail[0] != '\0' || t == NULL ||
		    track_effect(t) < fmax(most, judge_least(s->judge)))
			continue;
		slowest = s;
		most = track_effect(t);
	}
	if (slowest == NULL)
		return;
	judge_name(slowest->judge, k->kind, k->index);
	k->series = slowest;
}

static void
confirm_run_start(struct diagnosis *d, struct incident *k, int is_follow)
{
	struct confirm_run *p = &d->pass;
	struct conf *conf;
	struct err err;
	int rc;

	confirm_run_clear(p);
	if (!is_follow) /* its case is not open yet */
		confirm_run_prefer_canaries(d, k);
	p->is_follow = is_follow;
	p->is_rate = series_kind(k->series->sort).is_rate;
	if (roster_ids(d->roster) > 0 &&
	    confirm_run_may_have(d, k,
		roster_by_id(d->roster,
		    k->kind == JUDGE_NODE ? k->index : 0)) == -EAGAIN)
		return; /* the request is pending: retried at the next tick */
	/* A busy node would be slow because of its job. */
	if ((k->kind == JUDGE_NODE && d->nodes[k->index].link_busy) ||
	    !confirm_run_choose(d, k)) {
		confirm_run_again_later(d, k);
		return;
	}
	rc = confirm_run_campaign_make(d, k, &conf, &err);
	if (rc == 0) {
		rc = d->ops->order(d->ctx, conf, p->run, &err);
		conf_free(conf);
	}
	if (rc < 0) {
		log_warnx("cannot start a confirmation run on %s: %s; retrying "
			  "later",
		    k->subject, err.text);
		confirm_run_clear(p);
		confirm_run_again_later(d, k);
		return;
	}
	p->of = k;
	p->in_window += !is_follow;
	p->follows_in_window += is_follow;
	incident_write(d, k);
}

static int
confirm_run_is_due(const struct diagnosis *d, const struct incident *k)
{
	int answered = k->confirm.is_done &&
	    k->confirm.finding != CONFIRM_UNCLEAR;

	return k->fault->is_confirmable && !incident_is_excused(k) &&
	    (!answered || k->confirm.asks_way) &&
	    k->confirm.tries < TRIES_MAX && clk_ns() >= k->confirm.next_ns &&
	    d->pass.in_window < d->o.second_pass_per_hour;
}

void
confirm_run_tick(struct diagnosis *d)
{
	uint64_t now_ns = clk_ns();
	struct incident *k;

	if (now_ns - d->pass.window_ns >= HOUR_NS) {
		d->pass.window_ns = now_ns;
		d->pass.in_window = 0;
		d->pass.follows_in_window = 0;
	}
	if (!d->o.second_pass || d->pass.run[0] != '\0')
		return;
	/* Leaves first: one result is valid for all of their nodes. */
	for (int leaf = 1; leaf >= 0; leaf--)
		TAILQ_FOREACH (k, &d->incidents, link)
			if ((k->kind == JUDGE_LEAF) == leaf &&
			    confirm_run_is_due(d, k)) {
				confirm_run_start(d, k, 0);
				return;
			}
	k = d->pass.follows_in_window < d->o.follow_up ? follow_up_due(d)
						       : NULL;
	if (k != NULL)
		confirm_run_start(d, k, 1);
}

static size_t
confirm_run_index_of(const struct confirm_run *p, const struct node *n)
{
	for (size_t i = 0; n != NULL && i < p->count; i++)
		if (strcmp(p->names[i], n->name) == 0)
			return i;
	return SIZE_MAX;
}

static size_t
confirm_run_read_pairs(const struct confirm_run *p, const struct round *round,
    struct confirm_pair *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < round->pair_count; i++) {
		const struct round_pair *o = &round->pairs[i];
		size_t a = confirm_run_index_of(p, o->a),
		       b = confirm_run_index_of(p, o->b);
		double x = o->p50;
		const double ways[] = { o->forth, o->back };

		if (a == SIZE_MAX || b == SIZE_MAX || a == b || !(x > 0) ||
		    n == CONFIRM_PAIRS_MAX)
			continue;
		ret[n].a = a;
		ret[n].b = b;
		ret[n].x = p->is_rate ? -log(x) : log(x);
		/* An exchange waits for the slower direction. */
		for (int way = 0; way < 2; way++) {
			x = ways[way];
			ret[n].ways[way] = !(x > 0) ? NAN
			    : p->is_rate            ? -log(x)
						    : log(x);
		}
		if (!isnan(ret[n].ways[0]) && !isnan(ret[n].ways[1]))
			ret[n].x = fmax(ret[n].ways[0], ret[n].ways[1]);
		n++;
	}
	return n;
}

/* Read the pairs: a record has only the worst pairs, which are all if there are
 * few nodes; with more nodes the grid has them. */
static size_t
confirm_run_read_grid(const struct confirm_run *p, const struct round *round,
    struct confirm_pair *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < round->grid_count; i++)
		for (size_t k = 0; k < i; k++) {
			size_t a = confirm_run_index_of(p,
			    round->grid_nodes[i]);
			size_t b = confirm_run_index_of(p,
			    round->grid_nodes[k]);
			double x = round->grid[i * round->grid_count + k];

			if (a == SIZE_MAX || b == SIZE_MAX || a == b ||
			    !(x > 0) || n == CONFIRM_PAIRS_MAX)
				continue;
			ret[n++] = (struct confirm_pair){ a, b,
				p->is_rate ? -log(x) : log(x), { NAN, NAN } };
		}
	return n;
}

/* Read the values of an incast's nodes in their order; return how many there
 * are. */
static size_t
confirm_run_read_nodes(const struct confirm_run *p, const struct round *round,
    double ret[CONFIRM_NODES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		ret[i] = NAN;
	for (size_t i = 0; i < round->score_count; i++) {
		size_t k = confirm_run_index_of(p, round->scores[i].node);

		if (k == SIZE_MAX)
			continue;
		n += isnan(ret[k]);
		ret[k] = -log(round->scores[i].q);
	}
	return n;
}

/* Return how many nodes of its leaf took part, including the outlier. */
static size_t
confirm_run_home_count(const struct confirm_run *p)
{
	size_t home = 0;

	for (size_t i = 0; i < p->count; i++)
		home += p->leaves[i] == p->leaves[0];
	return home;
}

static uint32_t
confirm_run_outlier_id(const struct diagnosis *d)
{
	const struct node *n = roster_find(d->roster, d->pass.names[0]);

	return n != NULL ? (uint32_t)n->id : UINT32_MAX;
}

/* A node was named, but the run has found that its leaf is slow. Of two leaves
 * neither becomes bad, since the other may be the cause. */
static void
confirm_run_pass_to_leaf(struct diagnosis *d, struct incident *k,
    int is_between)
{
	uint32_t node,
	    leaf = diagnosis_leaf(d, roster_by_id(d->roster, k->index)->leaf);
	struct judge *judge;

	if (incident_find(d, JUDGE_LEAF, leaf) != NULL ||
	    incident_between(d, leaf) != NULL) {
		judge_confirm(k->series->judge, JUDGE_NODE, k->index, 0);
		incident_end(d, k, VERDICT_OK, INCIDENT_OF_LEAF);
		return;
	}
	judge = k->series->judge;
	node = k->index;
	k->verdict = is_between ? VERDICT_WARN : VERDICT_BAD;
	incident_move(d, k, JUDGE_LEAF, leaf, INCIDENT_OF_LEAF);
	judge_confirm(judge, JUDGE_NODE, node, 0);
	judge_restore(judge, JUDGE_LEAF, leaf, JUDGE_BAD);
}

/* A leaf was named, as a few nodes are most of a small leaf, but the run has
 * found that the node is slow. */
static void
confirm_run_pass_to_node(struct diagnosis *d, struct incident *k)
{
	struct judge *judge = k->series->judge;
	uint32_t leaf = k->index, node = confirm_run_outlier_id(d);

	incident_move(d, k, JUDGE_NODE, node,
	    "the leaf is not the cause: one of its nodes is slow; coalctl "
	    "verdict list shows that node");
	judge_confirm(judge, JUDGE_LEAF, leaf, 0);
	judge_restore(judge, JUDGE_NODE, node, JUDGE_BAD);
}

/* If many nodes of a leaf are busy, its uplinks are busy and slow for this
 * reason. */
static int
confirm_run_is_leaf_busy(const struct diagnosis *d, uint32_t first)
{
	const char *leaf = roster_by_id(d->roster, first)->leaf;
	size_t nodes = 0, busy = 0;

	for (size_t i = 0; i < roster_ids(d->roster); i++)
		if (strcmp(roster_by_id(d->roster, i)->leaf, leaf) == 0) {
			nodes++;
			busy += i < d->node_count && d->nodes[i].link_busy;
		}
	return (double)busy > BUSY_LEAF_MAX * (double)nodes;
}

/* Return 1 if a spine above the leaf is slow: the leaf is as slow as the other
 * leaves below that spine. */
static int
confirm_run_is_below_spine(struct diagnosis *d, const struct incident *of)
{
	uint32_t leaf = of->kind == JUDGE_LEAF
	    ? of->index
	    : diagnosis_leaf(d, roster_by_id(d->roster, of->index)->leaf);
	const struct stages *all = spines_map(d);
	const struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->kind == JUDGE_STAGE && leaf != SCORE_NO_LEAF &&
		    stages_lead(all, d->stage_of[leaf], k->index))
			return 1;
	return 0;
}

/* Return 1 if rounds also show its leaf slower than usual. A run of only six
 * nodes is not enough to blame a leaf, since one of them may deviate by
 * chance. */
static int
confirm_run_is_leaf_slow(struct diagnosis *d, const struct incident *k)
{
	const struct track *t = judge_track(k->series->judge, JUDGE_LEAF,
	    diagnosis_leaf(d, roster_by_id(d->roster, k->index)->leaf));

	return t != NULL &&
	    track_mean(t, d->o.judge.votes) >=
	    judge_least(k->series->judge) / 2;
}

/* Return 1 if many nodes are slow: of leaves that are not slow themselves, or
 * of a fleet that has become slower, a quarter. Then some nodes that this run
 * took for good may be slow too, and if these share a leaf, the whole leaf
 * looks slow. */
static int
confirm_run_is_among_slow(struct diagnosis *d, const struct incident *k)
{
	uint32_t leaves = d->leaf_count; /* a node may add its leaf */
	struct {
		size_t nodes, slow;
	} *of = xcalloc(leaves + (size_t)1, sizeof(*of));
	size_t nodes = 0, slow = 0;

	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const struct track *t = judge_track(k->series->judge,
		    JUDGE_NODE, (uint32_t)i);
		uint32_t leaf = diagnosis_leaf(d,
		    roster_by_id(d->roster, i)->leaf);

		if (t == NULL || t->known == 0 || leaf >= leaves)
			continue;
		of[leaf].nodes++;
		of[leaf].slow += t->votes & 1;
	}
	for (uint32_t l = 0; l < leaves; l++)
		if ((double)of[l].slow < SLOW_LEAF * (double)of[l].nodes) {
			nodes += of[l].nodes;
			slow += of[l].slow;
		}
	free(of);
	return (double)slow > AMONG_SLOW * (double)nodes ||
	    (k->series->fleet.from != DRIFT_NONE &&
		4 * k->series->fleet_slow >= k->series->fleet_nodes);
}

static void
confirm_run_conclude(struct diagnosis *d, struct incident *k)
{
	int is_between = k->confirm.finding == CONFIRM_BETWEEN;
	int is_place = confirm_is_place(k->confirm.finding);
	int is_node = k->kind == JUDGE_LEAF &&
	    k->confirm.finding == CONFIRM_NODE &&
	    confirm_run_outlier_id(d) != UINT32_MAX &&
	    incident_find(d, JUDGE_NODE, confirm_run_outlier_id(d)) == NULL;
	int clear = k->confirm.finding == CONFIRM_UNCLEAR ||
	    (k->kind == JUDGE_LEAF && k->confirm.finding == CONFIRM_NODE &&
		!is_node) ||
	    (is_place && confirm_run_is_below_spine(d, k)) ||
	    (k->kind == JUDGE_NODE && is_place &&
		(confirm_run_is_among_slow(d, k) ||
		    !confirm_run_is_leaf_slow(d, k) ||
		    confirm_run_is_leaf_busy(d, k->index)));

	/* For a leaf, complete exchanges were measured. */
	k->confirm.asks_way = is_place && !clear && !is_between &&
	    k->confirm.report.way == CONFIRM_WAY_UNKNOWN &&
	    k->series->sort != CANARY_INCAST && confirm_run_has_ways(d);
	if (k->confirm.asks_way)
		k->confirm.tries = 0;
	fault_outlier_found(d, k, clear ? CONFIRM_UNCLEAR : k->confirm.finding);
	judge_confirm(k->series->judge, k->kind, k->index, 1);
	if (k->kind == JUDGE_NODE && is_place && !clear) {
		confirm_run_pass_to_leaf(d, k, is_between);
		return;
	}
	k->verdict = clear || is_between ? VERDICT_WARN : VERDICT_BAD;
	if (clear)
		confirm_run_again_later(d, k);
	if (is_node) {
		confirm_run_pass_to_node(d, k);
		return;
	}
	incident_write(d, k);
	incident_tell(d, k);
}

/* A leaf is known to be slow, and now its pairs were measured one at a time,
 * each direction separately. If it is slow only under the load of all of its
 * nodes, the direction is unknown. With partners on one other leaf only, the
 * direction is seen from the leaf that is already known to be slow. */
static void
confirm_run_conclude_way(struct diagnosis *d, struct incident *k,
    const struct confirm_report *r)
{
	k->confirm.asks_way = 0;
	k->confirm.report.way = confirm_is_place(r->finding)
	    ? r->way
	    : CONFIRM_WAY_UNKNOWN;
	incident_write(d, k);
	if (k->confirm.report.way != CONFIRM_WAY_UNKNOWN)
		incident_tell(d, k);
}

/* Return 1 if a job has started on one of its nodes. In a bandwidth test the
 * traffic is the run's own. */
static int
confirm_run_is_busy(const struct diagnosis *d)
{
	const struct confirm_run *p = &d->pass;
	const struct node *n;

	for (size_t i = 0; !p->is_rate && i < p->count; i++) {
		n = roster_find(d->roster, p->names[i]);
		if (n != NULL && n->host.net >= BUSY_SHARE)
			return 1;
	}
	return 0;
}

/* Return the judge of rounds of the same measurement as the run: echoes name
 * outliers, and MPI messages confirm them. */
static const struct judge *
confirm_run_judge_of(const struct diagnosis *d, const struct incident *k)
{
	int is_rate = series_kind(k->series->sort).is_rate;

	if (k->series->sort < CANARY_MAX)
		return k->series->judge;
	for (size_t i = 0; i < d->series_count; i++)
		if (d->series[i].sort < CANARY_MAX &&
		    series_kind(d->series[i].sort).is_rate == is_rate)
			return d->series[i].judge;
	return k->series->judge;
}

struct usual {
	double node, leaf;
};

/* Return how much farther a node of the run is when it is healthy, separately
 * for the node and its leaf. */
static struct usual
confirm_run_usual_of(const struct diagnosis *d, const struct judge *j, size_t i)
{
	const struct node *n = roster_find(d->roster, d->pass.names[i]);
	struct usual u = { 0, judge_leaf_past(j, d->pass.leaves[i]) };

	if (n != NULL && judge_node_usual(j, (uint32_t)n->id) != 0)
		u.node = judge_node_usual(j, (uint32_t)n->id) - u.leaf;
	return u;
}

/* Subtract the usual distance of the ends of a pair, as in rounds. The farther
 * end decides. */
static void
confirm_run_subtract_usual(const struct diagnosis *d, const struct incident *k,
    struct confirm_pair *pairs, size_t n)
{
	const struct judge *j = confirm_run_judge_of(d, k);
	const uint32_t *leaves = d->pass.leaves;

	for (size_t i = 0; i < n; i++) {
		struct usual a = confirm_run_usual_of(d, j, pairs[i].a);
		struct usual b = confirm_run_usual_of(d, j, pairs[i].b);
		double off = fmax(a.node, b.node);

		if (leaves[pairs[i].a] != leaves[pairs[i].b])
			off += fmax(a.leaf, b.leaf);
		pairs[i].x -= off;
		pairs[i].ways[0] -= off;
		pairs[i].ways[1] -= off;
	}
}

/* Return 1 if a run like this one has found the leaf slow, so it can also show
 * that it is normal. */
static int
confirm_run_was_confirmed(const struct diagnosis *d, const struct incident *k)
{
	const struct incident *open = incident_find(d, k->kind, k->index);

	return k->recovers && open != NULL && open->confirm.is_done &&
	    confirm_is_place(open->confirm.finding);
}

/* Read the values of the round: pairs, or nodes of an incast in own. Return how
 * many there are; 0: it has a cause instead. */
static size_t
confirm_run_read(const struct confirm_run *p, const struct incident *k,
    const struct round *round, struct confirm_pair *pairs,
    double own[CONFIRM_NODES_MAX])
{
	if (k->series->sort == CANARY_INCAST)
		return confirm_run_read_nodes(p, round, own);
	return p->count > CONFIRM_NODES
	    ? confirm_run_read_grid(p, round, pairs)
	    : confirm_run_read_pairs(p, round, pairs);
}

static void
confirm_run_judge(const struct diagnosis *d, const struct incident *k,
    const struct confirm_pair *pairs, size_t n, double *own, double slow_min,
    struct confirm_report *ret)
{
	const struct confirm_run *p = &d->pass;

	if (k->series->sort != CANARY_INCAST) {
		confirm_judge(p->leaves, p->count, pairs, n, slow_min, ret);
		return;
	}
	for (size_t i = 0; i < p->count; i++) {
		struct usual u = confirm_run_usual_of(d, k->series->judge, i);

		own[i] -= u.node + u.leaf;
	}
	confirm_judge_nodes(p->leaves, own, p->count, slow_min, ret);
}

/* Keep the result of a confirmation run, and act on it. */
static void
confirm_run_take(struct diagnosis *d, struct incident *k,
    const struct confirm_report *report)
{
	struct confirm_run *p = &d->pass;

	k->confirm.is_done = 1;
	snprintf(k->confirm.run, sizeof(k->confirm.run), "%s", p->run);
	k->confirm.report = *report;
	k->confirm.finding = report->finding;
	for (size_t i = 0;
	     k->confirm.finding == CONFIRM_BETWEEN && i < p->count; i++)
		if (p->leaves[i] != p->leaves[0] &&
		    p->leaves[i] != SCORE_NO_LEAF)
			k->confirm.other = p->leaves[i];
	if (k->confirm.finding != CONFIRM_CLEARED)
		confirm_run_conclude(d, k);
	else
		k->fault->dispel(d, k);
}

void
confirm_run_record(struct diagnosis *d, const char *run,
    const struct round *round)
{
	struct confirm_pair pairs[CONFIRM_PAIRS_MAX];
	struct confirm_run *p = &d->pass;
	struct confirm_report report;
	struct incident *k = p->of;
	const struct track *t;
	double own[CONFIRM_NODES_MAX], slow_min;
	size_t n;

	if (strcmp(run, p->run) != 0 || p->heard || k == NULL)
		return;
	n = confirm_run_read(p, k, round, pairs, own);
	if (n == 0)
		return; /* tried again */
	p->heard = 1;
	if (!k->fault->is_confirmable)
		return; /* another kind of fault explains it now */
	/* Another run of the collector used the network, so the result does not
	 * count, unless every repetition is disturbed as well. */
	if ((p->disturbed || confirm_run_is_busy(d)) &&
	    k->confirm.tries < DISTURBED_MAX) {
		confirm_run_again_later(d, k);
		return;
	}
	t = judge_track(k->series->judge, k->kind, k->index);
	/* No round since a restart: only the share counts. */
	slow_min = t == NULL ? INFINITY : judge_slow_min(k->series->judge, t);
	if (k->series->sort != CANARY_INCAST)
		confirm_run_subtract_usual(d, k, pairs, n);
	if (k->fault->is_share) {
		k->fault->hear_pairs(d, k, pairs, n, slow_min);
		return;
	}
	confirm_run_judge(d, k, pairs, n, own, slow_min, &report);
	if (k->confirm.asks_way) {
		confirm_run_conclude_way(d, k, &report);
		return;
	}
	/* Part of the leaf's nodes may load its uplink less than all of them
	 * did. After a restart it is unknown how many took part. */
	if (k->kind == JUDGE_LEAF && p->is_rate &&
	    !confirm_run_was_confirmed(d, k) &&
	    report.finding == CONFIRM_CLEARED &&
	    (incident_track(k)->places == 0 ||
		(double)confirm_run_home_count(p) <
		    LOAD_SHARE * incident_track(k)->places))
		report.finding = CONFIRM_UNCLEAR;
	if (p->is_follow)
		follow_up_heard(d, k, &report);
	else
		confirm_run_take(d, k, &report);
}

void
confirm_run_over(struct diagnosis *d, const char *run)
{
	struct confirm_run *p = &d->pass;

	if (strcmp(run, p->run) != 0)
		return;
	if (p->of != NULL && !p->heard)
		confirm_run_again_later(d, p->of);
	confirm_run_clear(p);
}
