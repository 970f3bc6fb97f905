/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.c - give the world's measurements to the diagnosis as records, play the
 * confirmation runs that it orders, and compare its verdicts with the faults.
 * The clock is simulated.
 */
#include "tests/sim/verdict/play.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "tests/evidence.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/diagnosis/stats/confirm.h"
#include "daemon/store/store.h"
#include "probes/sampling/pair_medians.h"
#include "schema/mesh.h"
#include "schema/options.h"
#include "schema/record.h"
#include "schema/scores.h"
#include "tests/sim/verdict/defaults.h"
#include "tests/sim/verdict/world.h"

#define START_NS     1000000000000000ULL
#define RUN_NS       (45 * CLK_NS_PER_S) /* of a confirmation run, */
#define FOLLOW_NS    (20 * CLK_NS_PER_S) /* of a follow-up run */
#define TICK_NS      (15 * CLK_NS_PER_S) /* without one */
#define PASS_NODES   CONFIRM_NODES_MAX
#define ECHOES       120 /* of a pair in an epoch, */
#define LARGE        30  /* large ones among them */
#define RINGS        2
#define INCAST_TURNS 4 /* in a round, */
#define PASS_TURNS   8 /* and in a confirmation run */

struct play {
	struct world *w;
	struct topo *topo;
	struct roster *roster;
	struct diagnosis *d;
	int *order;
	double *port; /* share of its rate, by node */
	char names[20000][8];
	/* by node, then by leaf: last state; ever detected, ever named */
	uint8_t *state[2], *detected[2], *named[2];
	int fleet_told;
	/* Open findings about spines; was the faulty one ever detected, ever
	 * named? */
	int spines_told, spine_detected, spine_named;
	char pass[PASS_NODES][8];
	size_t pass_count;
	int pass_bw, pass_incast, pass_one_way, pass_match, pass_follow;
	long pass_rounds;
	int runs, verbose;
	uint32_t pass_rail;
	struct mesh_path *paths; /* of an epoch */
	size_t path_count;
	struct play_result *ret;
	uint64_t healed_ns;     /* 0: not yet */
	json_t *open, *learned; /* the store: open verdicts, and "recent" */
};
static struct play *on; /* the store's, and the clock's */
static uint64_t now_ns;

static int all_in(const struct play *p, uint8_t *const list[2]);

static uint64_t
clock_ns(void)
{
	return now_ns;
}

/* ---- verdicts ---- */

static int
is_named(const struct fault *f, const json_t *o)
{
	const char *what = member_text(o, "what");
	const char *verdict = member_text(o, "verdict");
	char rail[16];

	static const char *const whats[FAULT_MAX] = { "", "node", "node",
		"leaf", "link", "spine", "spine", "fleet", "host", "port",
		"rail", "link", "node", "link", "mtu", "mtu", "mtu", "spine" };
	int bad = strcmp(verdict, "bad") == 0 ||
	    member_text(o, "other_leaf")[0] != '\0';

	for (int i = 0; f->kind == FAULT_RAIL && i < SCENARIO_FAULTS; i++) {
		snprintf(rail, sizeof(rail), "eth%u", on->w->faults[i].member);
		if (on->w->faults[i].f == f &&
		    strcmp(member_text(o, "rail"), rail) != 0)
			return 0;
	}
	if (f->every_ns > 0 && strcmp(what, "intermittent") == 0)
		return 1;
	return strcmp(what, whats[f->kind]) == 0 &&
	    (bad || f->kind == FAULT_HOST || f->kind == FAULT_PORT ||
		f->kind == FAULT_FLEET || strcmp(what, "drift") == 0);
}

/* If large messages detected the fault, the verdict must have its direction. */
static int
is_directed(const struct world *w, const struct fault *f, uint32_t index,
    const json_t *verdict)
{
	const struct world_fault *x = &w->faults[f - w->s->faults];

	return (f->kind != FAULT_ONE_WAY && f->kind != FAULT_UPLINK_ONE_WAY) ||
	    strcmp(member_text(verdict, "test"), "bw") != 0 ||
	    strcmp(member_text(json_object_get(verdict, "confirmation"),
		       "direction"),
		x->hit[index] == 2 ? "send" : "receive") == 0;
}

static const struct world_fault *
spine_fault(const struct world *w)
{
	for (int i = 0; i < SCENARIO_FAULTS; i++)
		if (w->faults[i].f->kind == FAULT_SPINE ||
		    w->faults[i].f->kind == FAULT_CORE ||
		    w->faults[i].f->kind == FAULT_SPINE_MTU ||
		    w->faults[i].f->kind == FAULT_SPINE_DEAD)
			return &w->faults[i];
	return NULL;
}

/* Does the subject list exactly the faulty spine and those that measurements
 * cannot distinguish from it? */
static int
is_spine_told(const struct world *w, const char *subject)
{
	const struct world_fault *x = spine_fault(w);
	struct hostlist told;
	char name[32];
	int ret;

	if (x == NULL || hostlist_parse(subject, &told, NULL) < 0)
		return 0;
	if (x->f->kind == FAULT_CORE)
		snprintf(name, sizeof(name), "core%u", x->member);
	else
		snprintf(name, sizeof(name), "pod%u-spine%u", x->pod,
		    x->member);
	ret = hostlist_has(&told, name) &&
	    told.count == (size_t)w->s->cluster.spines;
	hostlist_clear(&told);
	return ret;
}

static void
hear_spine(struct play *p, const json_t *o, int is_open)
{
	const struct world_fault *x = spine_fault(p->w);
	int is_right = is_spine_told(p->w, member_text(o, "subject"));

	p->spines_told += is_open ? 1 : -1;
	if (x == NULL || p->w->begin_ns == 0 || !is_right) {
		p->ret->warned += is_open;
		p->ret->alarms += is_open;
		return;
	}
	p->spine_detected |= is_open;
	p->spine_named |= is_open && is_named(x->f, o);
}

/* A fault of at least this share of the nodes is a fault of the fleet. */
#define FLEET_SHARE 0.25

static int
is_fleet(const struct scenario *s)
{
	const struct fault *f = &s->faults[0];

	return f->kind == FAULT_FLEET ||
	    (f->kind == FAULT_NODE &&
		f->count >= FLEET_SHARE * s->cluster.nodes);
}

static void
note_minutes(struct play *p)
{
	uint8_t *const *const lists[] = { p->detected, p->named };
	uint64_t since_ns = now_ns - p->w->begin_ns;

	for (int i = 0; i < 2 && p->w->begin_ns != 0; i++)
		if (p->ret->minutes[i] == 0 && all_in(p, lists[i]))
			p->ret->minutes[i] = (double)since_ns / 60e9;
	if (p->healed_ns == 0 || now_ns < p->healed_ns)
		return;
	if (json_object_size(p->open) > 0)
		p->ret->minutes[2] = 0;
	else if (p->ret->minutes[2] == 0)
		p->ret->minutes[2] = (double)(now_ns - p->healed_ns) / 60e9;
}

static void
hear_verdict(struct play *p, const json_t *o)
{
	const char *kind = member_text(o, "kind");
	const char *subject = member_text(o, "subject");
	const char *verdict = member_text(o, "verdict");
	const char *what = member_text(o, "what");
	int is_leaf = strcmp(kind, "leaf") == 0;
	int is_open = strcmp(verdict, "warn") == 0 ||
	    strcmp(verdict, "bad") == 0;
	const struct fault *f;
	const char *other;
	unsigned a, b, index;
	char key[600];
	uint8_t *state;

	snprintf(key, sizeof(key), "%s %s", kind, subject);
	if (is_open)
		json_object_set_new(p->open, key, json_deep_copy(o));
	else
		json_object_del(p->open, key);
	if (p->verbose)
		printf("  %8.2f h %s %s: %s\n",
		    (double)(now_ns - START_NS) / 3.6e12, verdict, what,
		    member_text(o, "text"));
	if (strcmp(kind, "fleet") == 0) {
		p->fleet_told = is_open;
		if (is_fleet(p->w->s))
			return;
		p->ret->alarms += is_open;
		return;
	}
	if (strcmp(kind, "spine") == 0) {
		hear_spine(p, o, is_open);
		return;
	}
	if (is_leaf && sscanf(subject, "leaf%u", &index) == 1)
		a = b = 0;
	else if (is_leaf ? sscanf(subject, "10.%u.%u.", &a, &b) != 2
			 : sscanf(subject, "n%u", &index) != 1)
		return;
	else if (is_leaf)
		index = (a - 78) * 256 + b;
	f = world_guilt(p->w, is_leaf, index);
	/* With two leaves both are named: they cannot be distinguished. */
	other = member_text(o, "other_leaf");
	if (is_leaf && f == NULL && sscanf(other, "10.%u.%u.", &a, &b) == 2) {
		index = (a - 78) * 256 + b;
		f = world_guilt(p->w, 1, index);
	}
	state = &p->state[is_leaf][index];
	if (f == NULL || p->w->begin_ns == 0) {
		p->ret->warned += is_open && *state == 0;
		p->ret->alarms += strcmp(verdict, "bad") == 0 && *state < 2;
	} else {
		p->detected[is_leaf][index] |= (uint8_t)is_open;
		p->named[is_leaf][index] |= (uint8_t)(is_named(f, o) &&
		    is_directed(p->w, f, index, o));
	}
	*state = !is_open ? 0 : strcmp(verdict, "bad") == 0 ? 2 : 1;
}

void
store_put_verdict(struct store *st, const json_t *o,
    const struct store_event *event)
{
	(void)st;
	(void)event;
	hear_verdict(on, o);
	note_minutes(on);
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	/* Spines without names. */
	if (strcmp(subject, "spines") == 0) {
		on->ret->alarms += spine_fault(on->w) == NULL;
		on->spine_detected |= on->w->begin_ns != 0;
	}
	if (on->verbose && strcmp(kind, "alarm") == 0)
		printf("  %8.2f h alarm %s: %s\n",
		    (double)(now_ns - START_NS) / 3.6e12, subject, text);
}

void
store_put_baseline(struct store *st, const char *name, const json_t *body)
{
	(void)st;
	(void)name;
	json_decref(on->learned);
	on->learned = json_deep_copy(body);
}

/* ---- measurements ---- */

static double
unit_of(double x, enum world_test test)
{
	return test != WORLD_LAT ? 1e10 * exp(-x) : 1e-5 * exp(x);
}

static void
hear_canary(struct play *p, enum world_test test)
{
	struct diagnosis_source from = { "watch-1", "watch", "background",
		"openmpi", "agents", NULL, NULL };
	const struct scenario *s = p->w->s;
	uint32_t n = p->w->nodes;
	struct pair_medians *pairs = pair_medians_new(test == WORLD_BW, (int)n,
	    1);
	const char *key = test == WORLD_BW ? "q75" : "q25";
	const char **names = xcalloc(n, sizeof(*names));
	double *q = xcalloc(n, sizeof(*q));
	json_t *rows = json_array(), *record;
	double typical, bound;
	char rail[16];

	snprintf(rail, sizeof(rail), "eth%u", p->w->rail);
	if (s->cluster.rails > 1)
		from.rail = rail;
	for (int k = 0; k <
	     (test == WORLD_BW ? s->cluster.bw_partners : s->cluster.partners);
	     k++) {
		rng_shuffle(&p->w->rng, p->order, n);
		for (uint32_t i = 0; i + 1 < n; i += 2) {
			int a = p->order[i], b = p->order[i + 1];

			pair_medians_add(pairs, a, b,
			    unit_of(world_pair(p->w, (uint32_t)a, (uint32_t)b,
					test),
				test));
		}
	}
	typical = pair_medians_typical(pairs);
	bound = pair_medians_bound(pairs);
	for (uint32_t i = 0; i < n; i++) {
		int slow, partners;

		names[i] = p->names[i];
		q[i] = pair_medians_score(pairs, (int)i);
		if (n > RECORD_ROWS_MAX || isnan(q[i]))
			continue;
		partners = pair_medians_partners(pairs, (int)i, bound, &slow);
		json_array_append_new(rows,
		    json_pack("{s:s, s:f, s:i, s:i}", "node", names[i], key,
			q[i], "partners", partners, "slow_partners", slow));
		if (s->cluster.waits > 0)
			json_object_set_new(json_array_get(rows,
						json_array_size(rows) - 1),
			    "wait_ratio",
			    json_real(s->cluster.waits *
				(0.97 + 0.03 * rng_unit(&p->w->rng))));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:f, s:o}", "probe", "canary",
	    "test", test == WORLD_BW ? "bw" : "lat", "phase", "wild",
	    "partners", "match", "p50", typical, "nodes", rows);
	if (n > RECORD_ROWS_MAX)
		json_object_set_new(record, "scores",
		    record_scores_make(names, q, n, key));
	evidence_record(p->d, p->roster, &from, record);
	json_decref(record);
	pair_medians_free(pairs);
	free(names);
	free(q);
}

static json_t *
incast_rows(struct play *p, uint32_t count, char (*names)[8], size_t turns)
{
	json_t *rows = json_array();
	double x[PASS_TURNS];

	for (uint32_t i = 0; i < count; i++) {
		for (size_t k = 0; k < turns; k++)
			x[k] = world_receives(p->w,
			    (uint32_t)atoi(names[i] + 1));
		json_array_append_new(rows,
		    json_pack("{s:s, s:f}", "node", names[i], "q75",
			unit_of(robust_quantile(x, turns, 0.25),
			    WORLD_INCAST)));
	}
	return rows;
}

static void
hear_incast(struct play *p)
{
	struct diagnosis_source from = { "watch-2", "watch-incast",
		"background", "openmpi", "agents", NULL, NULL };
	json_t *record = json_pack("{s:s, s:s, s:s, s:s, s:f, s:o}", "probe",
	    "canary", "test", "incast", "phase", "wild", "partners", "ring",
	    "p50", 1e10, "nodes",
	    incast_rows(p, p->w->nodes, p->names, INCAST_TURNS));

	evidence_record(p->d, p->roster, &from, record);
	json_decref(record);
}

/* Draw a binomial number from the gaps between losses, which are rare. */
static int
lost_of(struct rng *r, double share)
{
	double rest = log1p(-share), at = 0;
	int count = 0;

	for (;;) {
		at += 1 + floor(log(1 - rng_unit(r)) / rest);
		if (!(at <= ECHOES))
			return count;
		count++;
	}
}

struct mesh_ends {
	int lost[2 * RINGS], count;
	double x[2 * RINGS];
};

static int
int_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Add a pair to the list of the largest losses, as mesh_gather.c does. */
static void
hear_lost(json_t *pairs, const char *a, const char *b, int lost)
{
	size_t at = json_array_size(pairs);

	while (at > 0 &&
	    lost > json_integer_value(
		       json_object_get(json_array_get(pairs, at - 1), "lost")))
		at--;
	if (lost > 0)
		json_array_insert_new(pairs, at,
		    json_pack("{s:s, s:s, s:i}", "a", a, "b", b, "lost", lost));
	if (json_array_size(pairs) > RECORD_PAIRS_MAX)
		json_array_remove(pairs, RECORD_PAIRS_MAX);
}

/* Return the record of an epoch of a class: two rings within each leaf, or of
 * all. Add its paths. */
static json_t *
mesh_record(struct play *p, int far)
{
	struct world *w = p->w;
	struct mesh_ends *ends = xcalloc(w->nodes, sizeof(*ends));
	json_t *rows = json_array(), *pairs = json_array(), *record;

	for (int k = 0; k < RINGS; k++)
		for (uint32_t at = 0, end; at < w->nodes; at = end) {
			for (end = at; end < w->nodes &&
			     (far || w->leaf[end] == w->leaf[at]);
			     end++)
				p->order[end] = (int)end;
			rng_shuffle(&w->rng, &p->order[at], end - at);
			for (uint32_t i = at; end - at > 1 && i < end; i++) {
				int a = p->order[i];
				int b = p->order[i + 1 < end ? i + 1 : at];
				double x = world_pair(w, (uint32_t)a,
				    (uint32_t)b, WORLD_LAT);
				int lost = lost_of(&w->rng,
				    world_loss(w, (uint32_t)a, (uint32_t)b));

				int hole = world_is_hole(w, (uint32_t)a,
				    (uint32_t)b);

				if (world_is_dead(w, (uint32_t)a, (uint32_t)b))
					lost = ECHOES;
				p->paths[p->path_count++] = (struct mesh_path){
					(uint32_t)a, (uint32_t)b,
					(uint32_t)(ECHOES - lost),
					(uint32_t)lost,
					hole || lost == ECHOES ? 0 : LARGE,
					hole || lost == ECHOES ? LARGE : 0, 0,
					8972, 9000, 0
				};
				hear_lost(pairs, p->names[a], p->names[b],
				    lost);
				ends[a].x[ends[a].count] = x;
				ends[b].x[ends[b].count] = x;
				ends[a].lost[ends[a].count++] = lost;
				ends[b].lost[ends[b].count++] = lost;
			}
		}
	for (uint32_t i = 0; i < w->nodes; i++) {
		struct mesh_ends *e = &ends[i];
		int lost = 0, all = 0;

		if (e->count == 0)
			continue;
		for (int k = 0; k < e->count; k++)
			all += e->lost[k];
		/* the better half, as mesh_gather.c says */
		qsort(e->lost, (size_t)e->count, sizeof(int), int_order);
		for (int k = 0; k < e->count / 2; k++)
			lost += e->lost[k];
		json_array_append_new(rows,
		    json_pack("{s:s, s:i, s:i, s:f, s:i, s:i}", "node",
			p->names[i], "n", e->count * ECHOES - all, "lost", all,
			"q25",
			5e-5 *
			    exp(robust_quantile(e->x, (size_t)e->count, 0.25)),
			"good_lost", lost, "good_sent", e->count / 2 * ECHOES));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "probe", "mesh",
	    "test", far ? "spine" : "leaf", "run", "mesh-1", "phase", "wild",
	    "nodes", rows, "pairs", pairs);
	free(ends);
	for (uint32_t i = 0; i < w->nodes; i++)
		p->order[i] = (int)i;
	return record;
}

/* The collector evaluates the paths of an epoch before its records. */
static void
hear_mesh(struct play *p)
{
	json_t *records[] = { mesh_record(p, 0), mesh_record(p, 1) };

	diagnosis_paths(p->d, p->paths, p->path_count);
	for (int far = 0; far < 2; far++) {
		evidence_mesh(p->d, p->roster, records[far]);
		json_decref(records[far]);
	}
}

/* ---- confirmation runs ---- */

static int
order(void *ctx, const struct conf *campaign, char ret_run[64], struct err *err)
{
	struct play *p = ctx;
	const char *at = conf_string(campaign, "campaign", "nodes");

	(void)err;
	p->pass_count = 0;
	while (p->pass_count < PASS_NODES && at[0] == 'n') {
		snprintf(p->pass[p->pass_count++], sizeof(p->pass[0]), "%.6s",
		    at);
		at += 6;
		at += at[0] == ',';
	}
	at = conf_string(campaign, "mpi", "devices");
	p->pass_rail = at[0] == '\0' ? 0 : (uint32_t)atoi(at + strlen("eth"));
	p->pass_bw = strcmp(conf_string(campaign, "canary", "tests"), "bw") ==
	    0;
	p->pass_incast = strcmp(conf_string(campaign, "canary", "tests"),
			     "incast") == 0;
	p->pass_follow = strncmp(conf_string(campaign, "campaign", "about"),
			     "follow", 6) == 0;
	p->pass_one_way = strcmp(conf_string(campaign, "canary", "partners"),
			      "one-way") == 0;
	p->pass_rounds = conf_int(campaign, "canary", "rounds_min");
	p->pass_match = strcmp(conf_string(campaign, "canary", "partners"),
			    "match") == 0;
	snprintf(ret_run, 64, "pass-%d", ++p->runs);
	return 0;
}

/* A node connects or reconnects, with this share of its port's rate. */
static void
hello(struct play *p, uint32_t i, const char *addr, double share)
{
	static int session;
	int slow = p->w->kind[i] && p->w->s->cluster.kind_known;
	json_t *msg = json_pack("{s:s, s:s, s:s, s:{s:b, s:b, s:s, "
				"s:[{s:s, s:I}]}}",
	    "node", p->names[i], "boot", "one", "software", COALMINE_VERSION,
	    "inventory", "one_way", 1, "incast", 1, "cpu",
	    slow ? "an old CPU" : "a CPU", "nics", "name", "ib0", "speed_bps",
	    (json_int_t)(1e11 * share));
	struct node *n = roster_hello(p->roster, msg, addr,
	    (struct session *)(void *)&session, now_ns);

	n->greeted = 1;
	p->port[i] = share;
	json_decref(msg);
}

/* Agents report the CPU load and the port rate of their nodes. */
static void
tell_nodes(struct play *p)
{
	for (uint32_t i = 0; i < p->w->nodes; i++) {
		struct node *n = roster_by_id(p->roster, i);
		double share = 1;
		char addr[64];

		n->host.cpu = 0.02 + 0.05 * rng_unit(&p->w->rng);
		n->host.wait_s = 0;
		n->host.net = p->w->job_end_ns[i] == 0
		    ? 0.02 * rng_unit(&p->w->rng)
		    : 0.2 + 0.7 * rng_unit(&p->w->rng);
		n->host.jobs = n->host.net;
		for (int k = 0; k < SCENARIO_FAULTS; k++) {
			const struct world_fault *x = &p->w->faults[k];

			if (!x->hit[i] || x->is_leaf || x->now == 0)
				continue;
			if (x->f->kind == FAULT_HOST)
				n->host.cpu = 0.7;
			if (x->f->kind == FAULT_PORT)
				share = 1 - x->now;
		}
		snprintf(addr, sizeof(addr), "%s", n->addr);
		if (share != p->port[i])
			hello(p, i, addr, share);
	}
}

/* Return the median of a pair's measurements in a confirmation run. */
static double
pass_median(struct play *p, uint32_t a, uint32_t b, int times)
{
	enum world_test test = p->pass_bw ? WORLD_BW : WORLD_LAT;
	double x[16];

	for (int k = 0; k < times; k++)
		x[k] = p->pass_one_way ? world_way(p->w, a, b, test)
				       : world_pair(p->w, a, b, test);
	return unit_of(robust_median(x, (size_t)times), test);
}

static json_t *
pass_pair(struct play *p, const char *a_name, const char *b_name)
{
	uint32_t a = (uint32_t)atoi(a_name + 1), b = (uint32_t)atoi(b_name + 1);
	double forth, back;

	if (!p->pass_one_way)
		return json_pack("{s:s, s:s, s:f}", "a", a_name, "b", b_name,
		    "p50",
		    pass_median(p, a, b,
			p->pass_bw           ? 3
			    : p->pass_follow ? 4
					     : 16));
	forth = pass_median(p, a, b, 3);
	back = pass_median(p, b, a, 3);
	return json_pack("{s:s, s:s, s:f, s:f, s:f}", "a", a_name, "b", b_name,
	    "p50", (forth + back) / 2, "forth", forth, "back", back);
}

/* Measure rounds of concurrent pairs of all nodes. The pairs are random; a pair
 * that was never drawn has no value. */
static void
pass_grid(struct play *p, json_t *grid)
{
	enum world_test test = p->pass_bw ? WORLD_BW : WORLD_LAT;
	size_t count = p->pass_count;
	struct pair_medians *met = pair_medians_new(p->pass_bw, (int)count, 1);
	int at[PASS_NODES];

	for (size_t i = 0; i < count; i++)
		at[i] = (int)i;
	for (long r = 0; r < p->pass_rounds; r++) {
		rng_shuffle(&p->w->rng, at, count);
		for (size_t i = 0; i + 1 < count; i += 2)
			pair_medians_add(met, at[i], at[i + 1],
			    unit_of(world_pair(p->w,
					(uint32_t)atoi(p->pass[at[i]] + 1),
					(uint32_t)atoi(p->pass[at[i + 1]] + 1),
					test),
				test));
	}
	for (size_t a = 0; a < count; a++) {
		json_t *row = json_array();

		for (size_t b = 0; b < a; b++) {
			double x = pair_medians_median(met, (int)a, (int)b);

			json_array_append_new(row,
			    isnan(x) ? json_null() : json_real(x));
		}
		json_array_append_new(grid, row);
	}
	pair_medians_free(met);
}

static void
run_pass(struct play *p)
{
	struct diagnosis_source from = { "", NAMES_PASS_CAMPAIGN, "background",
		"openmpi", "agents", NULL, NULL };
	json_t *pairs = json_array(), *record;
	json_t *names = json_array(), *grid = json_array();
	size_t count = p->pass_count;
	char run[64];

	snprintf(run, sizeof(run), "pass-%d", p->runs);
	from.run = run;
	/* An earlier order starts first, as of a user who repeats a campaign.
	 */
	diagnosis_run_begun(p->d, "watch-2");
	diagnosis_run_begun(p->d, run);
	now_ns += p->pass_follow ? FOLLOW_NS : RUN_NS;
	world_step(p->w, now_ns);
	tell_nodes(p);
	p->w->rail = p->pass_rail;
	p->w->at_once = p->pass_incast ? count - 1
	    : p->pass_match            ? count / 2
				       : 1;
	for (size_t a = 0; !p->pass_incast && a < count; a++) {
		json_t *row = json_array();

		if (count > CONFIRM_NODES) {
			json_array_append_new(names, json_string(p->pass[a]));
			continue;
		}

		for (size_t b = 0; b < a; b++) {
			json_t *o = pass_pair(p, p->pass[a], p->pass[b]);

			json_array_append(row, json_object_get(o, "p50"));
			json_array_append_new(pairs, o);
		}
		json_array_append_new(names, json_string(p->pass[a]));
		json_array_append_new(grid, row);
	}
	if (!p->pass_incast && count > CONFIRM_NODES)
		pass_grid(p, grid);
	p->w->at_once = SIZE_MAX;
	p->pass_count = 0;
	record = json_pack("{s:s, s:s, s:s, s:o, s:{s:o, s:o}}", "probe",
	    "canary", "test", p->pass_bw ? "bw" : "lat", "phase", "isolated",
	    "pairs", pairs, "grid", "nodes", names, "p50", grid);
	if (p->pass_incast) {
		json_object_set_new(record, "test", json_string("incast"));
		json_object_set_new(record, "nodes",
		    incast_rows(p, (uint32_t)count, p->pass, PASS_TURNS));
	}
	evidence_record(p->d, p->roster, &from, record);
	diagnosis_run_over(p->d, run);
	json_decref(record);
}

/* ---- a round ---- */

static void
hear_round(struct play *p, uint64_t round_ns)
{
	struct world *w = p->w;

	now_ns = round_ns + rng_below(&w->rng, 60 * CLK_NS_PER_S);
	world_step(w, now_ns);
	tell_nodes(p);
	w->rail = (uint32_t)((round_ns - START_NS) / w->s->every_ns %
	    (uint64_t)w->s->cluster.rails);
	hear_canary(p, WORLD_LAT);
	if (w->s->cluster.bw)
		hear_canary(p, WORLD_BW);
	if (w->s->cluster.incast)
		hear_incast(p);
	p->path_count = 0;
	if (w->s->cluster.mesh)
		hear_mesh(p);
	/* Ticks and the runs that they order, until the next round. */
	while (now_ns < round_ns + w->s->every_ns - RUN_NS) {
		diagnosis_tick(p->d);
		if (p->pass_count > 0)
			run_pass(p);
		else
			now_ns += TICK_NS;
	}
}

/* Are all faulty parts in the list? */
static int
all_in(const struct play *p, uint8_t *const list[2])
{
	int guilty = 0;

	if (p->fleet_told && is_fleet(p->w->s))
		return 1;
	if (spine_fault(p->w) != NULL)
		return list == p->named ? p->spine_named : p->spine_detected;
	for (int leaf = 0; leaf < 2; leaf++)
		for (uint32_t i = 0; i < (leaf ? p->w->leaves : p->w->nodes);
		     i++) {
			if (world_guilt(p->w, leaf, i) == NULL)
				continue;
			if (!list[leaf][i])
				return 0;
			guilty++;
		}
	return guilty > 0;
}

/* At the end of the fault: are all faulty parts still reported, and is a faulty
 * node ok? */
static void
look_at_guilty(struct play *p)
{
	p->ret->kept = spine_fault(p->w) != NULL ? p->spines_told > 0
	    : is_fleet(p->w->s)                  ? p->fleet_told
						 : 1;
	for (int leaf = 0; leaf < 2; leaf++)
		for (uint32_t i = 0; i < (leaf ? p->w->leaves : p->w->nodes);
		     i++) {
			if (world_guilt(p->w, leaf, i) == NULL)
				continue;
			p->ret->kept &= p->state[leaf][i] != 0;
			p->ret->green |= !leaf &&
			    diagnosis_of_node(p->d,
				roster_by_id(p->roster, i)) == VERDICT_OK;
		}
}

/* Write the topology file that an import would make; without a topology path
 * stays "". */
static void
topology_write_file(const struct play *p, char path[64])
{
	const struct world *w = p->w;
	FILE *f;
	int fd;

	if (!w->s->cluster.topology)
		return;
	snprintf(path, 64, "/tmp/bench_verdict.XXXXXX");
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f == NULL)
		fatal("%s", path);
	for (uint32_t i = 0; i < w->nodes; i++) {
		fprintf(f, "leaf%04u %s", w->leaf[i], p->names[i]);
		if (i == 0 || w->leaf[i] != w->leaf[i - 1])
			fprintf(f, " up=pod%u-spine[0-%d]",
			    world_pod(w, w->leaf[i]), w->s->cluster.spines - 1);
		fprintf(f, "\n");
	}
	for (int k = 0; k < w->s->cluster.pods && w->s->cluster.pods > 1; k++)
		for (int i = 0; i < w->s->cluster.spines; i++)
			fprintf(f, "pod%d-spine%d - up=core[0-%d]\n", k, i,
			    w->s->cluster.spines - 1);
	if (fclose(f) != 0)
		fatal("%s", path);
}

static void
cluster_new(struct play *p, const struct diagnosis_options *o)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };
	static const struct diagnosis_ops ops = { order, NULL, NULL };
	uint32_t in_leaf = 0;
	char path[64] = "";
	struct err err;

	for (uint32_t i = 0; i < p->w->nodes; i++)
		snprintf(p->names[i], sizeof(p->names[i]), "n%05u", i % 100000);
	topology_write_file(p, path);
	if (topo_load(path, 24, &p->topo, &err) < 0)
		fatalx("%s", err.text);
	unlink(path);
	if (p->w->s->cluster.leaves_known)
		limits.topo = p->topo;
	p->roster = roster_new(&limits, NULL, NULL, NULL);
	for (uint32_t i = 0; i < p->w->nodes; i++) {
		uint32_t l = p->w->leaf[i];
		char addr[32];

		in_leaf = i > 0 && p->w->leaf[i - 1] == l ? in_leaf + 1 : 1;
		snprintf(addr, sizeof(addr), "10.%u.%u.%u", 78 + l / 256,
		    l % 256, in_leaf);
		hello(p, i, addr, 1);
	}
	p->d = diagnosis_new(p->roster, NULL, o, &ops, p);
}

/* Another collector takes over with the state in the store. */
static void
restart(struct play *p, const struct diagnosis_options *o)
{
	static const struct diagnosis_ops ops = { order, NULL, NULL };
	json_t *baselines, *verdicts = json_array(), *v;
	const char *key;

	diagnosis_keep(p->d);
	diagnosis_free(p->d);
	p->pass_count = 0;
	p->d = diagnosis_new(p->roster, NULL, o, &ops, p);
	baselines = json_pack("[{s:s, s:O}]", "name", DIAGNOSIS_RECENT, "body",
	    p->learned);
	diagnosis_load_baselines(p->d, baselines);
	json_object_foreach (p->open, key, v)
		json_array_append_new(verdicts, json_deep_copy(v));
	diagnosis_load(p->d, verdicts);
	json_decref(verdicts);
	json_decref(baselines);
}

static void
options_default(struct diagnosis_options *ret)
{
	struct conf *c;
	struct err err;

	if (conf_parse(options_find("coalmined"), "defaults", "", &c, &err) < 0)
		fatalx("%s", err.text);
	memset(ret, 0, sizeof(*ret));
	ret->judge = *judge_defaults();
	ret->stale_ns = conf_span_ns(c, "verdict", "stale");
	ret->second_pass = conf_bool(c, "verdict", "second_pass");
	ret->second_pass_per_hour = (int)conf_int(c, "verdict",
	    "second_pass_per_hour");
	ret->follow_up = (int)conf_int(c, "verdict", "follow_up");
	ret->baseline = "commissioning";
	conf_free(c);
}

/* If the fault changes between rounds, it starts before its first round and
 * ends after the start of its last round. */
static void
begin_and_end(struct play *p, int r, int begin, int end, uint64_t round_ns)
{
	uint64_t every_ns = p->w->s->every_ns;
	uint64_t some_ns = p->w->s->between ? rng_below(&p->w->rng, every_ns)
					    : 0;

	if (r == begin - p->w->s->between)
		p->w->begin_ns = round_ns + some_ns;
	if (p->w->s->between && r == end - 1)
		p->w->end_ns = p->healed_ns = round_ns + some_ns;
	if (r == end) {
		p->w->begin_ns = 0;
		p->healed_ns = p->w->s->between ? p->healed_ns : round_ns;
	}
}

void
play(const struct scenario *s, int rounds, uint64_t seed, int verbose,
    struct play_result *ret)
{
	struct play *p = xcalloc(1, sizeof(*p));
	struct diagnosis_options o;
	uint64_t round_ns = START_NS;
	int begin = s->calm, end = s->calm + rounds;

	memset(ret, 0, sizeof(*ret));
	log_set_level(LOG_LEVEL_ERROR);
	now_ns = START_NS;
	clk_set_source(clock_ns, clock_ns);
	options_default(&o);
	o.seed = seed;
	on = p;
	p->ret = ret;
	p->verbose = verbose;
	p->w = world_new(s, seed);
	p->w->at_once = SIZE_MAX;
	p->order = xcalloc(p->w->nodes, sizeof(*p->order));
	p->port = xcalloc(p->w->nodes, sizeof(*p->port));
	p->paths = xcalloc(p->w->nodes, 2 * RINGS * sizeof(*p->paths));
	for (uint32_t i = 0; i < p->w->nodes; i++)
		p->order[i] = (int)i;
	for (int k = 0; k < 2; k++) {
		p->state[k] = xcalloc(p->w->nodes, 1);
		p->detected[k] = xcalloc(p->w->nodes, 1);
		p->named[k] = xcalloc(p->w->nodes, 1);
	}
	p->open = json_object();
	cluster_new(p, &o);
	for (int r = 0; r < end + s->heal; r++, round_ns += s->every_ns) {
		begin_and_end(p, r, begin, end, round_ns);
		if (s->restart != 0 &&
		    r == begin + s->restart - (s->restart > 0))
			restart(p, &o);
		if (r == end)
			look_at_guilty(p);
		if (r == end) /* from now on guilty ones are innocent */
			ret->cleared = 0;
		hear_round(p, round_ns);
		if (r >= begin && r < end && ret->detected == 0 &&
		    all_in(p, p->detected))
			ret->detected = r - begin + 1;
		if (r >= begin && r < end && ret->named == 0 &&
		    all_in(p, p->named))
			ret->named = r - begin + 1;
	}
	ret->cleared = !p->fleet_told && p->spines_told == 0;
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < p->w->nodes; i++)
			ret->cleared &= !p->state[k][i] ||
			    world_guilt(p->w, k, i) == NULL;
	ret->runs = p->runs;
	ret->hours = (double)(end + s->heal) * (double)s->every_ns / 3.6e12;
	diagnosis_free(p->d);
	json_decref(p->open);
	json_decref(p->learned);
	roster_free(p->roster);
	topo_free(p->topo);
	world_free(p->w);
	for (int k = 0; k < 2; k++) {
		free(p->state[k]);
		free(p->detected[k]);
		free(p->named[k]);
	}
	free(p->order);
	free(p->port);
	free(p->paths);
	free(p);
	clk_set_source(NULL, NULL);
}
