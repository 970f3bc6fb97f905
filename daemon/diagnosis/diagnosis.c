/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/diagnosis/diagnosis_int.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/judge/loss.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"
#include "schema/scores.h"

struct diagnosis *
diagnosis_new(struct roster *roster, struct store *store,
    const struct diagnosis_options *o, const struct diagnosis_ops *ops,
    void *ctx)
{
	struct diagnosis *c = xcalloc(1, sizeof(*c));

	c->roster = roster;
	c->store = store;
	c->o = *o;
	c->ops = ops;
	c->ctx = ctx;
	c->leaf_index = json_object();
	TAILQ_INIT(&c->cases);
	TAILQ_INIT(&c->promises);
	rng_seed(&c->rng, rng_entropy());
	return c;
}

void
diagnosis_free(struct diagnosis *c)
{
	struct incident *k;

	if (c == NULL)
		return;
	series_drift_free(c);
	confirm_run_clear(&c->pass);
	shortfall_free(c);
	while ((k = TAILQ_FIRST(&c->cases)) != NULL) {
		TAILQ_REMOVE(&c->cases, k, link);
		incident_free(k);
	}
	for (size_t i = 0; i < c->series_count; i++)
		judge_free(c->series[i].judge);
	for (size_t i = 0; i < c->node_count; i++) {
		free(c->nodes[i].boot);
		free(c->nodes[i].trouble);
	}
	free(c->nodes);
	json_decref(c->leaf_index);
	json_decref(c->slurm);
	free(c->leaves);
	free(c->obs);
	free(c->busy);
	free(c);
}

struct diagnosis_node *
diagnosis_node(struct diagnosis *c, const struct node *n)
{
	if (n->id >= c->node_count) {
		size_t want = n->id + n->id / 2 + 16;

		c->nodes = xreallocarray(c->nodes, want, sizeof(*c->nodes));
		for (; c->node_count < want; c->node_count++) {
			struct diagnosis_node *fresh = &c->nodes[c->node_count];

			*fresh = (struct diagnosis_node){ .wait_ratio = NAN };
			for (int i = 0; i < CANARY_MAX; i++)
				fresh->z[i] = NAN;
		}
	}
	return &c->nodes[n->id];
}

uint32_t
diagnosis_leaf(struct diagnosis *c, const char *leaf)
{
	const json_t *at = json_object_get(c->leaf_index, leaf);

	if (leaf[0] == '\0')
		return SCORE_NO_LEAF;
	if (at != NULL)
		return (uint32_t)json_integer_value(at);
	c->leaves = xreallocarray(c->leaves, c->leaf_count + (size_t)1,
	    sizeof(*c->leaves));
	snprintf(c->leaves[c->leaf_count], sizeof(*c->leaves), "%s", leaf);
	json_object_set_new(c->leaf_index, leaf,
	    json_integer((json_int_t)c->leaf_count));
	return c->leaf_count++;
}

int
diagnosis_partners(const json_t *object)
{
	for (int i = 0; i < PARTNERS_MAX; i++)
		if (strcmp(names_partners[i],
			member_text(object, "partners")) == 0)
			return i;
	return PARTNERS_RING;
}

struct diagnosis_series *
diagnosis_series_of(struct diagnosis *c, const char *class, int sort,
    int partners)
{
	struct diagnosis_series *s;

	for (size_t i = 0; i < c->series_count; i++) {
		s = &c->series[i];
		if (s->sort == sort && s->partners == partners &&
		    strcmp(s->class, class) == 0)
			return s;
	}
	if (c->series_count == ARRAY_LEN(c->series) ||
	    strlen(class) >= sizeof(s->class))
		return NULL;
	s = &c->series[c->series_count++];
	snprintf(s->class, sizeof(s->class), "%s", class);
	s->sort = sort;
	s->partners = partners;
	s->judge = judge_new(&c->o.judge);
	series_drift_begin(c, s);
	return s;
}

/* The agent is another process than the one that was heard, or gone. What is
 * known of the node is void: it is not green until it is measured again. */
static void
forget_node(struct diagnosis *c, const struct node *n, const char *why)
{
	struct diagnosis_node *cn = diagnosis_node(c, n);
	struct incident *k = incident_find(c, JUDGE_NODE, (uint32_t)n->id);

	cn->heard_ns = 0;
	for (size_t i = 0; i < c->series_count; i++)
		judge_forget(c->series[i].judge, JUDGE_NODE, (uint32_t)n->id);
	if (k != NULL)
		incident_end(c, k, VERDICT_UNKNOWN, why);
}

/* Its agent is another process than the one that was measured. */
static int
is_new_boot(const struct node *n, const struct diagnosis_node *cn)
{
	return n->boot != NULL && cn->boot != NULL &&
	    strcmp(n->boot, cn->boot) != 0;
}

static void
node_tick(struct diagnosis *c, const struct node *n)
{
	struct diagnosis_node *cn = diagnosis_node(c, n);

	if (!is_new_boot(n, cn))
		return;
	free(cn->boot);
	cn->boot = xstrdup(n->boot);
	forget_node(c, n,
	    "its agent has started anew: unknown until it is measured");
}

void
diagnosis_tick(struct diagnosis *c)
{
	for (size_t i = 0; i < roster_count(c->roster); i++)
		node_tick(c, roster_by_id(c->roster, i));
	confirm_run_tick(c);
	series_drift_tick(c);
}

static void
make_room(struct diagnosis *c, size_t count)
{
	if (count <= c->obs_cap)
		return;
	c->obs_cap = count + count / 2;
	c->obs = xreallocarray(c->obs, c->obs_cap, sizeof(*c->obs));
	c->busy = xreallocarray(c->busy, c->obs_cap, 1);
}

/* Nodes of one kind are peers: those whose fastest NIC is as fast. */
static uint32_t
peers_of(const struct node *n)
{
	const json_t *nic;
	double fastest = 0;
	size_t i;

	json_array_foreach (json_object_get(n->inventory, "nics"), i, nic)
		fastest = fmax(fastest,
		    json_number_value(json_object_get(nic, "speed_bps")));
	/* Half octaves: 25, 40, 100, 200 and 400 Gbit/s are all apart. */
	return fastest <= 1e6 ? 0 : (uint32_t)lrint(2 * log2(fastest / 1e6));
}

static void
observe_one(struct diagnosis *c, size_t n, const struct node *node, double x)
{
	c->obs[n].place = (uint32_t)node->id;
	c->obs[n].peers = peers_of(node);
	c->obs[n].leaf = diagnosis_leaf(c, node->leaf);
	c->obs[n].x = x;
}

/* The better half of a node's pairs counts: who has good partners is
 * innocent. */
static size_t
observe_losses(struct diagnosis *c, const json_t *record)
{
	const json_t *rows = json_object_get(record, "nodes"), *o;
	size_t n = 0, i;

	make_room(c, json_array_size(rows));
	json_array_foreach (rows, i, o) {
		const struct node *node = roster_find(c->roster,
		    member_text(o, "node"));
		double lost = member_number(o, "good_lost");
		double sent = member_number(o, "good_sent");

		if (node != NULL && lost >= 0 && sent >= 1)
			observe_one(c, n++, node,
			    loss_number(
				loss_share((uint64_t)lost, (uint64_t)sent)));
	}
	return n;
}

/* Who met how many, and how its host was: of those that have a row. */
static void
hear_rows(struct diagnosis *c, const json_t *record)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(record, "nodes"), i, o) {
		const struct node *n = roster_find(c->roster,
		    member_text(o, "node"));
		struct diagnosis_node *cn;

		if (n == NULL)
			continue;
		cn = diagnosis_node(c, n);
		cn->wait_ratio = member_number(o, "wait_ratio");
		cn->partners = (uint32_t)json_integer_value(
		    json_object_get(o, "partners"));
		cn->slow_partners = (uint32_t)json_integer_value(
		    json_object_get(o, "slow_partners"));
	}
}

void
diagnosis_heard(struct diagnosis *c, const struct node *n)
{
	struct diagnosis_node *cn = diagnosis_node(c, n);

	cn->heard_ns = clk_ns();
	cn->partners = cn->slow_partners = 0; /* until a row says so */
	cn->wait_ratio = NAN;
	if (cn->boot == NULL && n->boot != NULL)
		cn->boot = xstrdup(n->boot);
}

size_t
diagnosis_observe(struct diagnosis *c, const json_t *record, int sort,
    int heard)
{
	struct series_kind kind = series_kind(sort);
	struct record_scores all;
	size_t n = 0;

	if (kind.is_loss)
		return observe_losses(c, record);
	record_scores_read(record, kind.is_rate ? "q75" : "q25", &all);
	make_room(c, all.count);
	for (size_t i = 0; i < all.count; i++) {
		const struct node *node = roster_find(c->roster,
		    all.list[i].node);
		double x = log(all.list[i].q);

		if (node == NULL)
			continue;
		if (heard)
			diagnosis_heard(c, node);
		observe_one(c, n++, node, kind.is_rate ? -x : x);
	}
	record_scores_clear(&all);
	if (heard)
		hear_rows(c, record);
	return n;
}

void
diagnosis_load_heard(struct diagnosis *c, const json_t *heard)
{
	uint64_t now_unix_ns = clk_unix_ns();
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)heard, name, v) {
		const struct node *n = roster_find(c->roster, name);
		uint64_t at_unix_ns = (uint64_t)json_integer_value(v);
		struct diagnosis_node *cn;

		if (n == NULL || n->boot == NULL || n->boot_unix_ns == 0 ||
		    at_unix_ns < n->boot_unix_ns || at_unix_ns > now_unix_ns)
			continue;
		cn = diagnosis_node(c, n);
		if (cn->heard_ns != 0)
			continue; /* in this life */
		/* Before the machine's start it wraps, as differences do. */
		cn->heard_ns = clk_ns() - (now_unix_ns - at_unix_ns);
		free(cn->boot);
		cn->boot = xstrdup(n->boot);
	}
}

static void
signs_of(struct diagnosis *c, const struct node *n,
    struct host_trouble_signs *ret)
{
	ret->of[HOST_TROUBLE_PRESSURE] = n->host.cpu;
	ret->of[HOST_TROUBLE_STEAL] = n->host.steal;
	ret->of[HOST_TROUBLE_DELAY] = n->host.wait_s;
	ret->of[HOST_TROUBLE_RANKS] = diagnosis_node(c, n)->wait_ratio;
}

static void
look_at_hosts(struct diagnosis *c, size_t count)
{
	struct host_trouble_signs *all = xcalloc(count, sizeof(*all)), typical;
	char text[HOST_TROUBLE_TEXT_MAX];

	for (size_t i = 0; i < count; i++)
		signs_of(c, roster_by_id(c->roster, c->obs[i].place), &all[i]);
	host_trouble_typical(all, count, &typical);
	for (size_t i = 0; i < count; i++) {
		struct diagnosis_node *cn = &c->nodes[c->obs[i].place];

		c->busy[i] = (uint8_t)host_trouble_trouble(&all[i], &typical,
		    text);
		if (!c->busy[i])
			continue;
		free(cn->trouble);
		cn->trouble = xstrdup(text);
	}
	free(all);
}

/* The judge's z of every node of a round, for those who look. */
static void
note_scores(struct diagnosis *c, const char *run, int test, size_t count)
{
	c->round_nodes = count;
	for (size_t i = 0; i < count; i++) {
		struct diagnosis_node *cn = diagnosis_node(c,
		    roster_by_id(c->roster, c->obs[i].place));

		if (isnan(c->obs[i].z))
			continue;
		if (strcmp(cn->score_run, run) != 0)
			for (int t = 0; t < CANARY_MAX; t++)
				cn->z[t] = NAN;
		snprintf(cn->score_run, sizeof(cn->score_run), "%s", run);
		cn->z[test] = (float)c->obs[i].z;
	}
}

void
diagnosis_score_old(struct diagnosis *c, const json_t *record)
{
	int test = names_test_find(member_text(record, "test"));
	const struct score_leaf *leaves;
	size_t count;

	if (strcmp(member_text(record, "probe"), "canary") != 0 || test < 0 ||
	    strcmp(member_text(record, "phase"),
		names_phases[PHASE_CONGESTED]) == 0)
		return;
	count = diagnosis_observe(c, record, test, 0);
	if (c->score == NULL)
		c->score = score_new();
	score_round(c->score, c->obs, count, c->o.judge.effect_min, &leaves);
	note_scores(c, member_text(record, "run"), test, count);
}

double
diagnosis_score(const struct diagnosis *c, const struct node *n)
{
	double worst = NAN;

	for (int i = 0; n->id < c->node_count && i < CANARY_MAX; i++)
		worst = fmax(worst, (double)c->nodes[n->id].z[i]);
	return worst; /* fmax passes NAN over */
}

double
diagnosis_threshold(const struct diagnosis *c)
{
	size_t count = c->round_nodes > 0 ? c->round_nodes
					  : roster_count(c->roster);

	return count > 0 ? judge_threshold(&c->o.judge, count) : NAN;
}

void
diagnosis_hear(struct diagnosis *c, const struct diagnosis_source *from,
    const json_t *record, int sort)
{
	struct diagnosis_series *s = diagnosis_series_of(c, from->class, sort,
	    diagnosis_partners(record));
	const struct judge_change *changes;
	size_t count, n;

	if (s == NULL)
		return;
	count = diagnosis_observe(c, record, sort, 1);
	if (count < SCORE_PEERS_MIN)
		return;
	look_at_hosts(c, count);
	n = judge_round(s->judge, c->obs, count, c->busy, &changes);
	if (sort < CANARY_MAX)
		note_scores(c, from->run, sort, count);
	for (size_t i = 0; i < n; i++)
		if (changes[i].to == JUDGE_SUSPECT)
			incident_suspect(c, s, changes[i].kind,
			    changes[i].index, from);
	if (!series_kind(sort).is_loss)
		series_drift_hear(c, s, count, from, record);
	incidents_review(c, s, from->run);
}

void
diagnosis_record(struct diagnosis *c, const struct diagnosis_source *from,
    const json_t *record)
{
	int test = names_test_find(member_text(record, "test"));

	shortfall_record(c, from, record);
	if (strcmp(member_text(record, "probe"), "canary") != 0 || test < 0)
		return;
	snprintf(c->mpi, sizeof(c->mpi), "%s", from->mpi);
	snprintf(c->launcher, sizeof(c->launcher), "%s", from->launcher);
	json_incref(from->slurm);
	json_decref(c->slurm);
	c->slurm = from->slurm;
	if (strcmp(from->campaign, NAMES_PASS_CAMPAIGN) == 0)
		confirm_run_record(c, from->run, record);
	else if (strcmp(member_text(record, "phase"),
		     names_phases[PHASE_CONGESTED]) != 0)
		diagnosis_hear(c, from, record, test);
}

static int
is_loss(const char *counter)
{
	static const char *const words[] = { "drop", "discard", "_errors" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(counter, words[i]) != NULL)
			return 1;
	return 0;
}

static int64_t
traffic(const json_t *counters)
{
	return json_integer_value(json_object_get(counters, "rx_bytes")) +
	    json_integer_value(json_object_get(counters, "tx_bytes"));
}

void
diagnosis_counters(struct diagnosis *c, const char *run, const struct node *n,
    const json_t *nics)
{
	struct diagnosis_node *cn = diagnosis_node(c, n);
	const json_t *nic, *most = NULL;
	int64_t drops = 0;
	const char *key;
	json_t *v;
	size_t i;

	json_array_foreach (nics, i, nic)
		if (most == NULL ||
		    traffic(json_object_get(nic, "counters")) >
			traffic(json_object_get(most, "counters")))
			most = nic;
	if (most == NULL)
		return;
	json_object_foreach (json_object_get(most, "counters"), key, v)
		if (is_loss(key))
			drops += json_integer_value(v);
	if (strcmp(cn->run, run) != 0 ||
	    strcmp(cn->nic, member_text(most, "nic")) != 0) {
		snprintf(cn->run, sizeof(cn->run), "%s", run);
		snprintf(cn->nic, sizeof(cn->nic), "%s",
		    member_text(most, "nic"));
		cn->drops_first = drops;
	}
	cn->drops = drops;
}

void
diagnosis_run_over(struct diagnosis *c, const char *run)
{
	shortfall_over(c, run);
	confirm_run_over(c, run);
}

enum verdict
diagnosis_of_node(const struct diagnosis *c, const struct node *n)
{
	const struct incident *k = incident_find(c, JUDGE_NODE,
	    (uint32_t)n->id);
	const struct diagnosis_node *cn = n->id < c->node_count
	    ? &c->nodes[n->id]
	    : NULL;

	/* A new boot at once, not only from the next tick on. */
	if (!roster_is_up(n) || cn == NULL || cn->heard_ns == 0 ||
	    is_new_boot(n, cn) || clk_ns() - cn->heard_ns > c->o.stale_ns)
		return VERDICT_UNKNOWN;
	return k != NULL ? k->verdict : VERDICT_OK;
}

void
diagnosis_counts(const struct diagnosis *c, size_t ret[VERDICT_MAX])
{
	memset(ret, 0, VERDICT_MAX * sizeof(*ret));
	for (size_t i = 0; i < roster_count(c->roster); i++)
		ret[diagnosis_of_node(c, roster_by_id(c->roster, i))]++;
}
