/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.c - dispatch of all input: a round goes to its judge and to the
 * kinds of faults, an outlier to its incident, and each tick to the
 * confirmation run. It calls the other files of this folder, and none calls it.
 */
#include "daemon/diagnosis/diagnosis.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/clk.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/fault_loss.h"
#include "daemon/diagnosis/fault_outlier.h"
#include "daemon/diagnosis/fault_spine.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/follow_up.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/stats/host_trouble.h"
#include "daemon/diagnosis/recent.h"
#include "daemon/diagnosis/rounds.h"
#include "daemon/diagnosis/shares.h"
#include "daemon/evidence/counters.h"
#include "daemon/store/store.h"
#include "schema/mesh.h"
#include "schema/record.h"

/* With this excess over other leaves, the idle nodes of a leaf are not judged
 * either: jobs that fill a leaf load its uplinks. */
#define BUSY_LEAF_MORE 0.15

void
diagnosis_options_read(const struct conf *c, struct diagnosis_options *ret)
{
	judge_options_read(c, &ret->judge);
	ret->stale_ns = conf_span_ns(c, "verdict", "stale");
	ret->second_pass = conf_bool(c, "verdict", "second_pass");
	ret->baseline = conf_string(c, "verdict", "baseline");
	ret->second_pass_per_hour = (int)conf_int(c, "verdict",
	    "second_pass_per_hour");
	ret->follow_up = (int)conf_int(c, "verdict", "follow_up");
}

struct diagnosis *
diagnosis_new(struct roster *roster, struct store *store,
    const struct diagnosis_options *o, const struct diagnosis_ops *ops,
    void *ctx)
{
	struct diagnosis *d = xcalloc(1, sizeof(*d));

	d->faults = faults;
	d->roster = roster;
	d->store = store;
	d->o = *o;
	d->ops = ops;
	d->ctx = ctx;
	d->leaf_index = json_object();
	d->kinds = json_object();
	TAILQ_INIT(&d->incidents);
	TAILQ_INIT(&d->follows);
	TAILQ_INIT(&d->predictions);
	rng_seed(&d->rng, o->seed != 0 ? o->seed : rng_entropy());
	return d;
}

void
diagnosis_free(struct diagnosis *d)
{
	struct incident *k;

	if (d == NULL)
		return;
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->free != NULL)
			faults[i]->free(d);
	confirm_run_clear(&d->pass);
	follow_up_free(d);
	stages_free(d->stages);
	free(d->stage_of);
	loss_clear(&d->loss);
	link_clear(&d->links);
	while ((k = TAILQ_FIRST(&d->incidents)) != NULL) {
		TAILQ_REMOVE(&d->incidents, k, link);
		incident_free(k);
	}
	diagnosis_series_free(d);
	diagnosis_node_free(d);
	score_free(d->score);
	json_decref(d->pinned);
	json_decref(d->slurm);
	json_decref(d->kinds);
	free(d->crossings);
	free(d->log_rates);
	free(d->obs);
	free(d->busy);
	free(d);
}

void
diagnosis_load(struct diagnosis *d, const json_t *verdicts)
{
	json_t *o;
	size_t i;

	json_array_foreach (verdicts, i, o)
		incident_load(d, o);
	diagnosis_leaves_changed(d);
}

void
diagnosis_leaves_changed(struct diagnosis *d)
{
	uint8_t *has_nodes = xcalloc(d->leaf_count + (size_t)1, 1);
	struct incident *k, *next;

	fault_spine_renew(d);
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const json_t *at = json_object_get(d->leaf_index,
		    roster_by_id(d->roster, i)->leaf);

		if (at != NULL)
			has_nodes[json_integer_value(at)] = 1;
	}
	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next)
		if (k->kind == JUDGE_LEAF && !has_nodes[k->index])
			incident_end(d, k, VERDICT_UNKNOWN,
			    "no node is on that leaf any more");
	free(has_nodes);
}

void
diagnosis_withdraw(struct diagnosis *d, const struct node *n, const char *text)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);
	uint32_t id = (uint32_t)n->id;
	struct incident *k = incident_find(d, JUDGE_NODE, id);

	cn->heard_ns = cn->judged_ns = 0;
	loss_forget(&d->loss, id);
	for (size_t s = 0; s < d->series_count; s++)
		judge_forget(d->series[s].judge, JUDGE_NODE, id);
	if (k != NULL)
		incident_end(d, k, VERDICT_UNKNOWN, text);
}

/* The ports or settings of a node have changed, or a case of it has ended. */
static void
diagnosis_hear_node(struct diagnosis *d, const struct node *n)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);

	if (cn->nics_serial == n->nics_serial)
		return;
	cn->nics_serial = n->nics_serial;
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->hear_node != NULL)
			faults[i]->hear_node(d, n);
}

void
diagnosis_tick(struct diagnosis *d)
{
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		struct diagnosis_node *cn = diagnosis_node(d, n);

		if (!diagnosis_is_new_boot(n, cn))
			continue;
		/* The agent was restarted or is gone since it was measured. The
		 * state of the node is void: it is unknown until it is measured
		 * again. */
		free(cn->boot);
		cn->boot = xstrdup(n->boot);
		diagnosis_withdraw(d, n,
		    "its agent has restarted: the verdict is unknown until the "
		    "node is measured");
	}
	for (size_t i = 0; i < roster_ids(d->roster); i++)
		diagnosis_hear_node(d, roster_by_id(d->roster, i));
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->tick != NULL)
			faults[i]->tick(d);
	confirm_run_tick(d);
	recent_tick(d);
	incident_report_nodes(d);
}

void
diagnosis_load_heard(struct diagnosis *d, const json_t *heard)
{
	uint64_t now_unix_ns = clk_unix_ns();
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)heard, name, v) {
		const struct node *n = roster_find(d->roster, name);
		uint64_t at_unix_ns = (uint64_t)json_integer_value(v);
		struct diagnosis_node *cn;

		if (n == NULL || n->boot == NULL || n->boot_unix_ns == 0 ||
		    at_unix_ns < n->boot_unix_ns || at_unix_ns > now_unix_ns)
			continue;
		cn = diagnosis_node(d, n);
		if (cn->heard_ns != 0)
			continue; /* measured by this collector */
		/* Before the boot of the machine it wraps around; differences
		 * remain correct. */
		cn->heard_ns = clk_ns() - (now_unix_ns - at_unix_ns);
		cn->judged_ns = cn->heard_ns; /* else it had not been ok */
		free(cn->boot);
		cn->boot = xstrdup(n->boot);
	}
}

/* Find leaves with many more busy nodes than others. The idle nodes of such a
 * leaf look slow to partners elsewhere, since jobs fill its uplinks. */
static void
diagnosis_look_at_leaves(struct diagnosis *d, size_t count)
{
	struct path_sum *of = xcalloc(d->leaf_count + (size_t)1, sizeof(*of));
	double busy = 0;

	for (size_t i = 0; i < count; i++) {
		const struct score_obs *o = &d->obs[i];

		busy += d->nodes[o->place].link_busy;
		if (o->leaf == SCORE_NO_LEAF)
			continue;
		of[o->leaf].nodes++;
		of[o->leaf].busy += d->nodes[o->place].link_busy;
	}
	for (size_t i = 0; i < count; i++) {
		struct score_obs *o = &d->obs[i];
		struct diagnosis_node *cn = &d->nodes[o->place];

		cn->leaf_busy = 0;
		if (o->leaf == SCORE_NO_LEAF)
			continue;
		cn->leaf_busy = of[o->leaf].busy >
			BUSY_LEAF_MAX * of[o->leaf].nodes &&
		    of[o->leaf].busy > (busy / (double)count + BUSY_LEAF_MORE) *
			    of[o->leaf].nodes;
		o->aside |= cn->leaf_busy;
	}
	free(of);
}

/* Find hosts with contention, and nodes that are busy with a job; *ret: the
 * typical host. */
static void
diagnosis_look_at_hosts(struct diagnosis *d, size_t count,
    struct host_trouble_signs *ret)
{
	struct host_trouble_signs *all = xcalloc(count, sizeof(*all));
	char text[HOST_TROUBLE_TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		const struct node *n = roster_by_id(d->roster, d->obs[i].place);

		all[i].of[HOST_TROUBLE_PRESSURE] = n->host.cpu;
		all[i].of[HOST_TROUBLE_STEAL] = n->host.steal;
		all[i].of[HOST_TROUBLE_DELAY] = n->host.wait_s;
		all[i].of[HOST_TROUBLE_QUOTA] = n->host.throttled;
		all[i].of[HOST_TROUBLE_HEAT] = n->host.hot;
		all[i].of[HOST_TROUBLE_RANKS] =
		    diagnosis_node(d, n)->wait_ratio;
		all[i].of[HOST_TROUBLE_NET] = n->host.jobs;
	}
	host_trouble_typical(all, count, ret);
	for (size_t i = 0; i < count; i++) {
		struct diagnosis_node *cn = &d->nodes[d->obs[i].place];
		int trouble = host_trouble_trouble(&all[i], ret, text);

		cn->link_busy = (uint8_t)host_trouble_link(&all[i], ret);
		d->obs[i].aside = cn->link_busy;
		d->busy[i] = trouble > 0;
		if (trouble == 2) {
			cn->taken_ns = cn->taken > 0 ? cn->taken_ns : clk_ns();
			cn->taken += cn->taken < UINT16_MAX;
			cn->untaken = 0;
		} else if (cn->taken > 0 && ++cn->untaken >= d->o.judge.clean) {
			cn->taken = 0;
		}
		if (trouble == 0)
			continue;
		free(cn->trouble);
		cn->trouble = xstrdup(text);
	}
	diagnosis_look_at_leaves(d, count);
	free(all);
}

/* A z that is older than this is not part of a node's score. */
#define SCORE_FRESH_NS (24 * 3600 * CLK_NS_PER_S)

static int
diagnosis_score_is_fresh(const struct diagnosis_node *cn, int test)
{
	return !isnan(cn->z[test]) &&
	    clk_ns() - cn->z_ns[test] < SCORE_FRESH_NS;
}

/* Note the judge's z of every node of a round, for display. */
static void
diagnosis_note_scores(struct diagnosis *d, const struct round *round, int test,
    size_t count)
{
	int is_ring = round->partners == PARTNERS_RING;

	d->round_nodes = count;
	for (size_t i = 0; i < count; i++) {
		struct diagnosis_node *cn = diagnosis_node(d,
		    roster_by_id(d->roster, d->obs[i].place));

		if (isnan(d->obs[i].z) ||
		    (is_ring && !cn->z_is_ring[test] &&
			diagnosis_score_is_fresh(cn, test)))
			continue;
		cn->z[test] = (float)d->obs[i].z;
		cn->z_ns[test] = clk_ns();
		cn->z_is_ring[test] = (uint8_t)is_ring;
	}
}

void
diagnosis_score_old(struct diagnosis *d, const struct round *round)
{
	const struct score_leaf *leaves;
	size_t count;

	if (!round->is_canary || round->canary < 0 || round->is_congested)
		return;
	count = diagnosis_observe(d, round, round->canary, 0);
	if (d->score == NULL)
		d->score = score_new();
	score_round(d->score, d->obs, count, d->o.judge.effect_min, &leaves);
	diagnosis_note_scores(d, round, round->canary, count);
}

double
diagnosis_score(const struct diagnosis *d, const struct node *n)
{
	double of[2] = { NAN, NAN }; /* of rings last */
	const struct diagnosis_node *cn;

	if (n->id >= d->node_count)
		return NAN;
	cn = &d->nodes[n->id];
	for (int i = 0; i < CANARY_MAX; i++)
		if (diagnosis_score_is_fresh(cn, i))
			of[cn->z_is_ring[i]] = fmax(of[cn->z_is_ring[i]],
			    (double)cn->z[i]); /* fmax ignores NAN */
	return isnan(of[0]) ? of[1] : of[0];
}

double
diagnosis_threshold(const struct diagnosis *d)
{
	size_t count = d->round_nodes > 0 ? d->round_nodes
					  : roster_count(d->roster);

	return count > 0 ? judge_threshold(&d->o.judge, count) : NAN;
}

/* A node slower than its leaf by more than this factor has a fault of its
 * own. */
#define OF_LEAF_TIMES 1.5

/* Return 1 if its slow leaf explains it: most nodes of the leaf are outliers,
 * and it is at most twice as slow as they are; or the round did not set the
 * leaf apart, so that its own slowness contains the leaf's, as in rounds before
 * a round that did. */
static int
diagnosis_is_of_leaf(const struct diagnosis *d,
    const struct diagnosis_series *s, uint32_t node)
{
	const json_t *at = json_object_get(d->leaf_index,
	    roster_by_id(d->roster, node)->leaf);
	uint32_t leaf = (uint32_t)json_integer_value(at);
	const struct track *t = judge_track(s->judge, JUDGE_NODE, node), *l;
	double effect = track_effect(t);
	const struct incident *between, *k;

	if (at == NULL)
		return 0;
	/* How much of the slow uplink a node uses is chance. */
	between = incident_between(d, leaf);
	if (between != NULL)
		return effect < 2 * between->confirm.report.effect;
	l = judge_track(s->judge, JUDGE_LEAF, leaf);
	k = incident_find(d, JUDGE_LEAF, leaf);
	if (l == NULL || k == NULL)
		return 0;
	if (l->crowd)
		return effect < 2 * track_effect(l);
	if (!k->confirm.is_done || !confirm_is_place(k->confirm.finding))
		return 0;
	return (l->votes & 1) != 0
	    ? track_effect_at(t, 0) < judge_least(s->judge)
	    : effect <
		OF_LEAF_TIMES * fmax(track_effect(l), k->confirm.report.effect);
}

/* Echoes of a node are not judged for at most this long because it is unknown
 * whether it has a job. */
#define JOB_UNKNOWN_NS (120 * CLK_NS_PER_S)

/* Return 1 if it is unknown whether a job's traffic slows the echoes of a node:
 * since the first of its slow rounds the collector always had a run there. */
static int
diagnosis_is_job_unknown(const struct diagnosis *d,
    const struct diagnosis_series *s, uint32_t node)
{
	uint64_t age_ns = clk_ns() -
	    roster_by_id(d->roster, node)->host.jobs_ns;

	return s->sort >= CANARY_MAX &&
	    age_ns > (uint64_t)(d->o.judge.votes - 1) * s->every_ns &&
	    age_ns < JOB_UNKNOWN_NS;
}

/* Return 1 if a node that has no case gets none: it recovers with its leaf, or
 * a job may be the cause. */
static int
diagnosis_is_spared(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index)
{
	if (series_kind(s->sort).is_loss)
		return 0;
	if (judge_track(s->judge, kind, index)->clean > 0)
		return 1;
	if (kind == JUDGE_NODE && d->nodes[index].link_busy) {
		judge_forget(s->judge, kind, index);
		return 1;
	}
	return kind == JUDGE_NODE && diagnosis_is_job_unknown(d, s, index);
}

/* A named node gets an incident even if an earlier one was dismissed: a
 * confirmation run of one test does not show the result of another test. */
static void
diagnosis_open_incidents(struct diagnosis *d, struct diagnosis_series *s,
    enum judge_kind kind, const struct diagnosis_source *from)
{
	uint32_t left = judge_outliers(s->judge, kind);

	for (uint32_t i = 0; left > 0 && i < judge_count(s->judge, kind); i++) {
		struct incident *k = incident_find(d, kind, i);

		if (judge_track(s->judge, kind, i)->state < JUDGE_OUTLIER)
			continue;
		left--;
		if (k == NULL && diagnosis_is_spared(d, s, kind, i))
			continue;
		if (kind != JUDGE_NODE || !diagnosis_is_of_leaf(d, s, i))
			fault_outlier_open(d, s, kind, i, from);
		else if (k != NULL && k->fault->is_judged &&
		    k->verdict == VERDICT_WARN && k != d->pass.of)
			incident_end(d, k, VERDICT_OK, INCIDENT_OF_LEAF);
	}
}

/* Share of the ranks' time; at this limit a message takes a hundred times as
 * long. */
#define WAITS_MOST 0.99

/* Return the smallest difference that counts, as a share of the round's typical
 * value: large enough to affect an application, and more than busy cores
 * explain. If messages wait for a core most of the time, it is chance which
 * node waits longest. Bandwidths wait for the link instead, so this does not
 * apply to them. */
static double
diagnosis_least_of(const struct diagnosis *d, int sort, size_t count,
    const struct host_trouble_signs *typical)
{
	struct series_kind kind = series_kind(sort);
	double waits = typical->of[HOST_TROUBLE_RANKS];
	double delay_s = typical->of[HOST_TROUBLE_DELAY];
	double *x, x_typical;
	size_t told = 0;

	if ((sort < CANARY_MAX && kind.is_rate) ||
	    (sort >= CANARY_MAX && kind.least_s == 0))
		return 0;
	x = xcalloc(count + 1, sizeof(*x));
	for (size_t i = 0; i < count; i++) {
		x[i] = d->obs[i].x;
		told += !isnan(d->nodes[d->obs[i].place].wait_ratio);
	}
	x_typical = exp(robust_median(x, count));
	free(x);
	if (sort >= CANARY_MAX)
		return log1p((kind.least_s + (isnan(delay_s) ? 0 : delay_s)) /
		    x_typical);
	/* With many nodes only the worst have a row with this value. */
	return 2 * told > count ? -log1p(-fmin(waits, WAITS_MOST)) : 0;
}

/* Let the judge of a series process a round. Return the number of measured
 * nodes, or 0 if there are too few. */
static size_t
diagnosis_hear_judge(struct diagnosis *d, struct diagnosis_series *s,
    const struct round *round, int heard)
{
	const struct judge_change *changes;
	struct host_trouble_signs typical;
	size_t count;

	recent_begin(d, s);
	count = diagnosis_observe(d, round, s->sort, heard);
	if (count < SCORE_PEERS_MIN)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct drift *own = series_drift_of(s, d->obs[i].place);

		d->obs[i].mean = own != NULL ? own->mean : 0;
		d->obs[i].var = own != NULL ? own->var : 0;
		d->obs[i].mean_n = own != NULL ? own->n : 0;
	}
	diagnosis_look_at_hosts(d, count, &typical);
	judge_set_least(s->judge,
	    diagnosis_least_of(d, s->sort, count, &typical));
	judge_round(s->judge, d->obs, count, d->busy, &changes);
	for (size_t i = 0; i < count; i++)
		if (d->obs[i].peer_count > 0)
			d->nodes[d->obs[i].place].judged_ns = clk_ns();
	return count;
}

/* Report a round to all kinds that use it. */
static void
diagnosis_hear_faults(struct diagnosis *d, struct diagnosis_series *s,
    size_t count, const struct diagnosis_source *from,
    const struct round *round)
{
	recent_hear(d, s, round);
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->hear_round != NULL)
			faults[i]->hear_round(d, s, count, from);
}

static void
diagnosis_hear(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round, int sort)
{
	int partners = (int)round->partners;
	struct diagnosis_series_key key = { from->class, sort, partners, "",
		round->device, round->bytes };
	struct diagnosis_series *s = diagnosis_series_at(d, &key);
	struct diagnosis_series *of[2] = { s, NULL }; /* all, and one rail */
	size_t count;

	if (s == NULL)
		return;
	if (series_kind(sort).is_loss)
		fault_loss_hear(d, round, sort == DIAGNOSIS_LOSS_SPINE);
	count = diagnosis_hear_judge(d, s, round, 1);
	if (count == 0)
		return;
	for (size_t i = 0; i < count && !series_kind(sort).is_loss; i++)
		fault_outlier_taken(d, s, d->obs[i].place, from);
	if (sort < CANARY_MAX)
		diagnosis_note_scores(d, round, sort, count);
	if (sort < CANARY_MAX && series_kind(sort).is_rate &&
	    key.device[0] == '\0' && key.bytes == 0)
		shares_hear(d, round);
	s->rounds++;
	if (s->heard_ns != 0 && s->every_ns == 0)
		s->every_ns = clk_ns() - s->heard_ns;
	else if (s->heard_ns != 0)
		s->every_ns = (3 * s->every_ns + clk_ns() - s->heard_ns) / 4;
	s->heard_ns = clk_ns();
	if (from->rail != NULL && from->rail[0] != '\0') {
		key.rail = from->rail;
		of[1] = diagnosis_series_at(d, &key);
	}
	if (of[1] != NULL) {
		count = diagnosis_hear_judge(d, of[1], round, 0);
		of[1]->heard_round = s->rounds;
	}
	for (int i = 0; i < 2 && of[i] != NULL; i++) {
		diagnosis_open_incidents(d, of[i], JUDGE_LEAF, from);
		diagnosis_open_incidents(d, of[i], JUDGE_NODE, from);
	}
	follow_up_look(d, s, count, from);
	/* The past of a rail is separate. */
	if (!series_kind(sort).is_loss)
		diagnosis_hear_faults(d, of[1] != NULL ? of[1] : s, count, from,
		    round);
	for (int i = 0; i < 2 && of[i] != NULL; i++)
		incidents_review(d, of[i]);
}

void
diagnosis_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round)
{
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->hear_record != NULL)
			faults[i]->hear_record(d, from, round);
	if (!round->is_canary || round->canary < 0)
		return;
	snprintf(d->mpi, sizeof(d->mpi), "%s", from->mpi);
	snprintf(d->launcher, sizeof(d->launcher), "%s", from->launcher);
	json_incref(from->slurm);
	json_decref(d->slurm);
	d->slurm = from->slurm;
	if (strcmp(from->campaign, NAMES_PASS_CAMPAIGN) == 0)
		confirm_run_record(d, from->run, round);
	else if (!round->is_congested)
		diagnosis_hear(d, from, round, round->canary);
}

void
diagnosis_counters(struct diagnosis *d, const char *run, const struct node *n,
    const struct nic_counters *most)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);

	if (strcmp(cn->run, run) != 0 || strcmp(cn->nic, most->nic) != 0) {
		snprintf(cn->run, sizeof(cn->run), "%s", run);
		snprintf(cn->nic, sizeof(cn->nic), "%s", most->nic);
		cn->drops_first = most->drops;
	}
	cn->drops = most->drops;
}

void
diagnosis_run_begun(struct diagnosis *d, const char *run)
{
	/* A run that starts while the confirmation run waits is over when that
	 * starts: it is alone. */
	if (d->pass.run[0] != '\0')
		d->pass.disturbed = strcmp(run, d->pass.run) != 0;
}

/* Runs that ended by these causes do not count against their nodes: they could
 * not run, or the collector was away. */
static const uint8_t blameless[CAUSE_MAX] = { [CAUSE_BUDGET] = 1,
	[CAUSE_BUSY] = 1,
	[CAUSE_HELD] = 1,
	[CAUSE_TOO_FEW_NODES] = 1,
	[CAUSE_CANCELLED] = 1,
	[CAUSE_COLLECTOR_LOST] = 1,
	[CAUSE_CONFIG] = 1 };

void
diagnosis_run_missed(struct diagnosis *d, const struct diagnosis_end *e,
    const struct node *n)
{
	struct diagnosis_node *cn = diagnosis_node(d, n);

	/* If canaries use only part of the nodes, the others are never
	 * measured, and only records show which part. */
	if (e->how != END_MEASURES_NOT && !blameless[e->cause] &&
	    strcmp(e->campaign, NAMES_PASS_CAMPAIGN) != 0 &&
	    strcmp(cn->canary_run, e->run) != 0)
		cn->missed[e->how == END_MEASURES_RINGS]++;
}

void
diagnosis_run_over(struct diagnosis *d, const char *run)
{
	for (int i = 0; faults[i] != NULL; i++)
		if (faults[i]->run_over != NULL)
			faults[i]->run_over(d, run);
	confirm_run_over(d, run);
}

void
diagnosis_mesh(struct diagnosis *d, const struct round *round)
{
	/* Its confirmation runs are launched like the last canaries. */
	struct diagnosis_source from = { round->run, "mesh",
		DIAGNOSIS_MESH_CLASS, d->mpi, d->launcher, d->slurm, NULL };
	int class = round->mesh;

	if (class < 0)
		return;
	diagnosis_hear(d, &from, round, DIAGNOSIS_ECHO_LEAF + class);
	/* Losses at a spine do not count against the nodes at its ends. */
	if (class == MESH_SPINE &&
	    fault_spine_is_open(d, series_fact(d, WHAT_SPINE)))
		fault_loss_forget_leaves(d);
	else
		diagnosis_hear(d, &from, round, DIAGNOSIS_LOSS_LEAF + class);
	fault_loss_conclude(d);
}
