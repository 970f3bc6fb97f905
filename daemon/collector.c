/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.c - dispatch each message of an agent to the part that handles it,
 * and send the messages of the parts to the node's current session.
 */
#include "daemon/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/run/run_agents.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_show.h"
#include "daemon/series/series.h"
#include "daemon/cluster/roster.h"
#include "daemon/enrolment.h"
#include "daemon/objective_feed.h"
#include "daemon/evidence/counters.h"
#include "daemon/evidence/job_reports.h"
#include "daemon/evidence/round.h"
#include "daemon/agents/enroll.h"
#include "daemon/agents/session.h"
#include "daemon/react/node_health.h"
#include "daemon/react/react.h"
#include "daemon/store/store.h"
#include "schema/record.h"

#define TOLD_TERM_EVERY_NS (3600 * CLK_NS_PER_S)
#define HEALTH_TICK_NS     (1 * CLK_NS_PER_S)
/* A loop over 10,000 nodes takes 0.1 ms. */
#define ROSTER_TICK_NS    (CLK_NS_PER_S / 2)
#define DIAGNOSIS_TICK_NS CLK_NS_PER_S
#define TRUST_COUNT       64 /* agents a tick that get new lists */
/* Agents wait for a second at least. */
#define IN_BAND_EVERY_NS (5 * CLK_NS_PER_S)
#define ORDER_MARGIN_NS  (300 * CLK_NS_PER_S)

struct collector {
	struct store *store;
	struct series *series;
	struct collector_options o;
	uint64_t roster_ns; /* of the last roster_tick */
	struct roster *roster;
	struct runs *runs;
	struct diagnosis *diagnosis;
	uint64_t diagnosis_ns; /* of the last diagnosis_tick */
	struct sessions *sessions;
	struct enrolment *enrolment;
	uint64_t told_term_ns; /* when an alarm was raised for a term */
	int held; /* no messages are read until the store has room */
	struct mesh *mesh;
	struct jobs *jobs;                 /* NULL: none */
	struct objective_feed *objectives; /* NULL: none */
	void (*changed)(void *arg, const struct run *r);
	void *changed_arg;
	struct node_health *health;
	uint64_t health_ns; /* of the last node_health_tick */
	char *crl;          /* PEM, or NULL */
	size_t trust_next;  /* of the roster; from here on they lack it */
};

/* A hello that waits for the store's list of acknowledgements. */
struct greeting {
	struct collector *c;
	struct node *node;
	uint64_t serial;
	json_int_t version; /* of the protocol, if hello had a choice; or 0 */
	json_t *runs;       /* that live there */
};

/* Only to agents whose inventory asks for it: older ones would end the
 * session. */
static void
collector_trust_send(struct collector *c, struct node *n)
{
	json_t *msg;

	if (n->session == NULL || !n->greeted ||
	    !member_bool(n->inventory, "certificates"))
		return;
	msg = json_pack("{s:b}", "renew", enroll_is_on(c->o.enroll));
	if (c->crl != NULL)
		json_object_set_new(msg, "crl", text_json(c->crl));
	(void)session_send(n->session, WIRE_TRUST, msg);
}

void
collector_set_crl(struct collector *c, const char *crl)
{
	free(c->crl);
	c->crl = crl == NULL ? NULL : xstrdup(crl);
	c->trust_next = 0;
}

void
collector_set_topo(struct collector *c, const struct topo *topo)
{
	roster_set_topo(c->roster, topo);
	diagnosis_leaves_changed(c->diagnosis);
}

void
collector_warm(struct collector *c, const char *class, const json_t *record)
{
	struct round round;

	series_record_old(c->series, class, record);
	round_read(c->roster, record, &round);
	diagnosis_score_old(c->diagnosis, &round);
	round_clear(&round);
}

static void
collector_greet(struct greeting *g, json_t *acks)
{
	struct node *n = g->node;
	struct collector *c = g->c;
	json_t *welcome;

	if (n->serial != g->serial || n->session == NULL)
		return; /* gone meanwhile */
	n->greeted = 1;
	welcome = json_pack("{s:I, s:I, s:O, s:o}", "heartbeat_ms",
	    (json_int_t)(n->heartbeat_ns / CLK_NS_PER_MS), "silence_ms",
	    (json_int_t)(roster_silence_ns(c->roster, n) / CLK_NS_PER_MS),
	    "acks", acks, "keep", runs_keep(c->runs, n, g->runs));
	if (c->o.term > 1)
		json_object_set_new(welcome, "term",
		    json_integer((json_int_t)c->o.term));
	/* An agent that offered a choice expects the answer. */
	if (g->version > 0)
		json_object_set_new(welcome, "version",
		    json_integer(g->version));
	if (member_bool(n->inventory, "links"))
		json_object_set_new(welcome, "links_ms",
		    json_integer((json_int_t)(c->o.links_ns / CLK_NS_PER_MS)));
	(void)session_send(n->session, WIRE_WELCOME, welcome);
	collector_trust_send(c, n);
	runs_hello(c->runs, n, g->runs);
	mesh_greeted(c->mesh, n);
	node_health_greeted(c->health, n);
}

static void
collector_acks_cb(int status, json_t *result, void *arg)
{
	struct greeting *g = arg;
	json_t *acks = status == 0 && json_is_array(result)
	    ? json_incref(result)
	    : json_array();

	if (status != -ECANCELED)
		collector_greet(g, acks);
	json_decref(acks);
	json_decref(result);
	json_decref(g->runs);
	free(g);
}

/* Return the ids in spool, [{run, seq}]; NULL if one is malformed. */
static json_t *
collector_spool_runs(const json_t *spool)
{
	json_t *runs = json_array(), *v;
	size_t i;

	json_array_foreach (spool, i, v) {
		json_t *run = json_object_get(v, "run");

		if (!json_is_string(run) ||
		    record_run_check(json_string_value(run)) < 0) {
			json_decref(runs);
			return NULL;
		}
		json_array_append(runs, run);
	}
	return runs;
}

/* Two agents with one name: the newer one replaces the older one only if the
 * older one does not respond, or if it is the same process that has reconnected
 * before we noticed the loss. */
static int
collector_double_check(struct collector *c, struct node *n, const json_t *msg,
    const char *addr, struct err *err)
{
	const char *boot = json_string_value(json_object_get(msg, "boot"));
	struct session *old = n == NULL ? NULL : n->session;

	if (old == NULL)
		return 0;
	if (clk_ns() - n->last_ns < roster_late_ns(c->roster, n) &&
	    (n->boot == NULL || strcmp(n->boot, boot) != 0)) {
		err_say(err,
		    "two agents have the name %s, at %s and at %s: stop one "
		    "of them, or correct its agent.name",
		    n->name, session_addr(old), addr);
		(void)roster_event(c->store, n, "alarm", err->text);
		return -EBUSY;
	}
	session_set_arg(old, NULL);
	session_refuse(old, CAUSE_PEER_LOST, "replaced by a newer session");
	return 0;
}

/* The agent reports that it follows another collector and will not accept our
 * orders. The report may be false, so it has no other effect here. */
static void
collector_taken_over(struct collector *c, struct node *n)
{
	struct err text;
	size_t count = 0;

	err_say(&text,
	    "%.100s uses a collector of term %llu, but this one has term %llu: "
	    "if another collector has taken over, stop this one",
	    n->name, (unsigned long long)n->term,
	    (unsigned long long)c->o.term);
	if (!roster_event(c->store, n, "agent", text.text))
		return;
	log_warnx("%s", text.text);
	for (size_t i = 0; i < roster_ids(c->roster); i++) {
		const struct node *other = roster_by_id(c->roster, i);

		count += other->session != NULL && other->term > c->o.term;
	}
	/* The report of a single node raises no alarm. */
	if (count < 2 ||
	    (c->told_term_ns != 0 &&
		clk_ns() - c->told_term_ns < TOLD_TERM_EVERY_NS))
		return;
	c->told_term_ns = clk_ns();
	store_put_event(c->store, "alarm", n->name, text.text);
}

/* A collector that is not active sends no orders and accepts no agents. */
static int
collector_lead_check(const struct collector *c, struct err *err)
{
	if (c->store == NULL || store_leads(c->store))
		return 0;
	return err_set(err, -EAGAIN,
	    "this collector is a standby; the active one is %s",
	    store_leader(c->store));
}

static int
collector_hello(void *ctx, struct session *s, json_t *msg,
    enum cause *ret_cause, struct err *err)
{
	struct collector *c = ctx;
	const char *name = json_string_value(json_object_get(msg, "node"));
	json_t *runs = collector_spool_runs(json_object_get(msg, "spool")),
	       *args;
	struct greeting *g;
	int rc;

	*ret_cause = CAUSE_CONFIG;
	if (hostlist_name_check(name) < 0 || runs == NULL) {
		err_say(err, "invalid %s in hello",
		    runs == NULL ? "spool" : "node name");
		json_decref(runs);
		return -EPROTO;
	}
	*ret_cause = CAUSE_BUSY;
	rc = collector_lead_check(c, err);
	if (rc == 0)
		rc = collector_double_check(c, roster_find(c->roster, name),
		    msg, session_addr(s), err);
	if (rc < 0) {
		json_decref(runs);
		return rc;
	}
	g = xcalloc(1, sizeof(*g));
	g->c = c;
	g->node = roster_hello(c->roster, msg, session_addr(s), s, clk_ns());
	g->serial = g->node->serial;
	g->node->term = member_unsigned(msg, "term");
	if (g->node->term > c->o.term)
		collector_taken_over(c, g->node);
	g->runs = json_incref(json_object_get(msg, "runs"));
	if (json_object_get(msg, "version_min") != NULL)
		g->version = member_int(msg, "version") < WIRE_VERSION
		    ? member_int(msg, "version")
		    : WIRE_VERSION;
	session_set_account(s, &g->node->work);
	session_set_arg(s, g->node);
	session_set_heartbeat(s, g->node->heartbeat_ns);
	args = json_pack("{s:o}", "runs", runs);
	if (json_array_size(runs) == 0)
		collector_acks_cb(0, NULL, g);
	else
		store_ask(c->store, STORE_ACKS, args, collector_acks_cb, g);
	json_decref(args);
	return 0;
}

static int
collector_enroll(void *ctx, uint64_t question, const char *addr,
    const json_t *msg, struct err *err)
{
	struct collector *c = ctx;
	int rc = collector_lead_check(c, err);

	return rc < 0 ? rc
		      : enrolment_ask(c->enrolment, question, addr, msg, err);
}

static void
collector_in_band_take(struct collector *c, const struct node *n,
    const json_t *list)
{
	struct in_band_report report;

	for (size_t i = 0; i < json_array_size(list) && i < JOB_REPORTS_MAX;
	     i++) {
		in_band_report_read(json_array_get(list, i), &report);
		jobs_in_band(c->jobs, n->name, &report);
	}
}

static void
collector_ras_take(struct collector *c, const struct node *n,
    const json_t *list)
{
	struct ras_report report;

	for (size_t i = 0; i < json_array_size(list) && i < JOB_REPORTS_MAX;
	     i++) {
		ras_report_read(json_array_get(list, i), &report);
		jobs_ras(c->jobs, n, &report);
		ras_report_clear(&report);
	}
}

static int
collector_message(void *ctx, struct session *s, enum wire_type type,
    json_t *msg, struct err *err)
{
	struct collector *c = ctx;
	struct node *n = session_arg(s);
	int rc;

	if (n == NULL)
		return 0; /* replaced */
	roster_alive(c->roster, n, clk_ns());
	switch (type) {
	case WIRE_HEARTBEAT:
		if (roster_beats_too_often(n, clk_ns()))
			return err_set(err, -EPROTO,
			    "the agent sends heartbeats more than twice as "
			    "often as it should");
		n->message_bytes = session_message_bytes(s);
		roster_heartbeat(c->roster, n, msg);
		/* Limits the rate, independent of the agent's messages. */
		if (clk_ns() - n->in_band_ns > IN_BAND_EVERY_NS &&
		    json_object_get(msg, "in_band") != NULL) {
			n->in_band_ns = clk_ns();
			collector_in_band_take(c, n,
			    json_object_get(msg, "in_band"));
		}
		if (clk_ns() - n->ras_ns > IN_BAND_EVERY_NS &&
		    json_object_get(msg, "ras") != NULL) {
			n->ras_ns = clk_ns();
			collector_ras_take(c, n, json_object_get(msg, "ras"));
		}
		return 0;
	case WIRE_REFUSE:
		return err_set(err, -ECONNABORTED,
		    "closed by the agent: %.200s",
		    json_string_value(json_object_get(msg, "text")));
	case WIRE_HELLO:
		return err_set(err, -EPROTO,
		    "the agent sent a second hello in one session");
	case WIRE_ENROLL:
		return enrolment_renew(c->enrolment, n, s, msg, err);
	case WIRE_MESH_READY:
	case WIRE_MESH_REPORT:
		return mesh_message(c->mesh, n, type, msg, err);
	default:
		n->message_bytes = session_message_bytes(s);
		rc = runs_message(c->runs, n, type, msg,
		    type == WIRE_RECORDS ? session_lines(s) : NULL, err);
	}
	if (type == WIRE_RECORDS && !c->held && store_is_behind(c->store)) {
		c->held = 1;
		sessions_hold(c->sessions, 1);
	}
	return rc;
}

static void
collector_closed(void *ctx, struct session *s, const char *why)
{
	struct collector *c = ctx;
	struct node *n = session_arg(s);

	if (n != NULL && n->session == s)
		roster_gone(c->roster, n, why);
}

static const struct session_ops session_ops = { collector_hello,
	collector_message, collector_enroll, collector_closed };

static int
collector_reaches(struct collector *c, const struct node *n)
{
	struct err err;

	return n->session != NULL && n->greeted &&
	    collector_lead_check(c, &err) == 0;
}

static int
collector_send_to(void *ctx, struct node *n, enum wire_type type, json_t *msg)
{
	if (!collector_reaches(ctx, n)) {
		json_decref(msg);
		return -ENOTCONN;
	}
	return session_send(n->session, type, msg);
}

static int
collector_share(void *ctx, struct node *n, struct wire_frame *f)
{
	return collector_reaches(ctx, n) ? session_share(n->session, f)
					 : -ENOTCONN;
}

static void
collector_hang_up(void *ctx, struct node *n, const char *why)
{
	(void)ctx;
	if (n->session != NULL)
		session_refuse(n->session, CAUSE_DISK_FULL, why);
}

static void
collector_jobs_record(struct collector *c, const struct run *r,
    const struct round *round)
{
	size_t count = run_node_count(r);
	uint32_t *nodes = xcalloc(count + 1, sizeof(*nodes));

	for (size_t i = 0; i < count; i++)
		nodes[i] = (uint32_t)run_node_at(r, i)->id;
	jobs_canary(c->jobs, nodes, count, round);
	free(nodes);
}

static void
collector_committed(void *ctx, const struct run *r, const json_t *record,
    const struct record_line *line)
{
	struct collector *c = ctx;
	json_t *slurm = run_slurm(r);
	struct run_facts f = run_facts(r);
	struct diagnosis_source from = { f.run, f.campaign, f.class, f.mpi,
		f.launcher, slurm,
		strchr(f.devices, ',') == NULL ? f.devices : NULL };
	struct round round;

	/* A confirmation run of six nodes does not represent the cluster. */
	if (strcmp(f.campaign, NAMES_PASS_CAMPAIGN) != 0)
		series_record(c->series, f.class, record, line);
	round_read(c->roster, record, &round);
	diagnosis_record(c->diagnosis, &from, &round);
	if (c->jobs != NULL)
		collector_jobs_record(c, r, &round);
	if (round.is_rate)
		objective_feed_round(c->objectives);
	round_clear(&round);
	json_decref(slurm);
}

static void
collector_counters(void *ctx, const struct run *r, const struct node *n,
    const json_t *nics)
{
	struct collector *c = ctx;
	struct nic_counters most;

	if (counters_read(nics, &most) == 0)
		diagnosis_counters(c->diagnosis, run_facts(r).run, n, &most);
}

static void
collector_stuck(void *ctx, const struct run *r, const struct run_stuck *pairs,
    size_t count)
{
	struct diagnosis_stuck *tell = xcalloc(count, sizeof(*tell));
	struct run_facts f = run_facts(r);
	struct diagnosis_source from = { f.run, f.campaign, f.class, f.mpi,
		f.launcher, NULL, NULL };
	struct collector *c = ctx;

	for (size_t i = 0; i < count; i++)
		tell[i] = (struct diagnosis_stuck){ pairs[i].a, pairs[i].b,
			pairs[i].what, pairs[i].waited_s };
	diagnosis_stuck(c->diagnosis, &from, tell, count);
	free(tell);
}

static int
collector_avoid(void *ctx, const struct node *n, struct err *err)
{
	return diagnosis_avoid(((struct collector *)ctx)->diagnosis, n, err);
}

static void
collector_changed(void *ctx, const struct run *r)
{
	struct collector *c = ctx;
	struct run_facts f = run_facts(r);

	if (f.state == RUN_FINISHED)
		mesh_cover_run(c->mesh, r);
	if (c->changed != NULL)
		c->changed(c->changed_arg, r);
	if (f.state == RUN_STARTING)
		diagnosis_run_begun(c->diagnosis, f.run);
	if (!names_run_states[f.state].final)
		return;
	for (size_t i = 0; i < run_node_count(r); i++)
		diagnosis_run_missed(c->diagnosis,
		    &(struct diagnosis_end){ f.run, f.campaign, f.cause,
			!f.measures_all        ? END_MEASURES_NOT
			    : f.measures_rings ? END_MEASURES_RINGS
					       : END_MEASURES_PAIRS },
		    run_node_at(r, i));
	diagnosis_run_over(c->diagnosis, f.run);
}

static const struct runs_ops runs_ops = { collector_send_to, collector_share,
	collector_hang_up, collector_committed, collector_changed,
	collector_stuck, collector_avoid, collector_counters };

/* A confirmation run waits for its nodes like a scheduled run. */
static int
collector_order(void *ctx, const struct conf *campaign, char ret_run[64],
    struct err *err)
{
	struct collector *c = ctx;
	struct run_order o = { .campaign = NAMES_PASS_CAMPAIGN,
		.conf = campaign,
		.by = "confirmation run",
		.origin = RUN_BY_CONFIRMATION,
		.margin_ns = ORDER_MARGIN_NS };

	return runs_submit(c->runs, &o, ret_run, err);
}

static int
collector_may_have(void *ctx, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n)
{
	struct collector *c = ctx;

	return runs_may_have(c->runs, class, launcher, slurm, n);
}

static void
collector_verdict_changed(void *ctx, const struct diagnosis_verdict *v)
{
	struct collector *c = ctx;

	if (v->node != NULL)
		node_health_set(c->health, v->node, v->state,
		    v->is_open ? v->text : "");
}

static const struct diagnosis_ops diagnosis_ops = { collector_order,
	collector_may_have, collector_verdict_changed };

static void
collector_mesh_record(void *ctx, const json_t *record)
{
	struct collector *c = ctx;
	struct round round;

	series_record(c->series, "background", record, NULL);
	round_read(c->roster, record, &round);
	diagnosis_mesh(c->diagnosis, &round);
	round_clear(&round);
}

static void
collector_mesh_paths(void *ctx, const struct mesh_path *paths, size_t count,
    uint64_t until_unix_ns)
{
	struct collector *c = ctx;

	diagnosis_paths(c->diagnosis, paths, count);
	jobs_paths(c->jobs, paths, count, (int64_t)until_unix_ns);
}

static const struct mesh_ops mesh_ops = { collector_send_to,
	collector_mesh_record, collector_mesh_paths };

static json_t *
collector_shares(void *arg)
{
	return diagnosis_shares(((struct collector *)arg)->diagnosis);
}

static json_t *
collector_cases(void *arg)
{
	return diagnosis_json(((struct collector *)arg)->diagnosis, 0);
}

static enum verdict
collector_verdict(void *arg, const struct node *n)
{
	return diagnosis_of_node(((struct collector *)arg)->diagnosis, n);
}

static void
collector_lost_cb(struct node *n, void *arg)
{
	struct collector *c = arg;

	runs_lost(c->runs, n);
	if (n->session != NULL)
		session_refuse(n->session, CAUSE_TIMEOUT,
		    "timeout: no message from the agent");
}

/* Time in which we did not read does not count as silence. */
static void
collector_room_cb(void *arg)
{
	struct collector *c = arg;
	uint64_t now_ns = clk_ns();

	if (!c->held)
		return;
	c->held = 0;
	for (size_t i = 0; i < roster_count(c->roster); i++) {
		struct node *n = roster_at(c->roster, i);

		if (n->session != NULL)
			roster_alive(c->roster, n, now_ns);
	}
	sessions_hold(c->sessions, 0);
}

struct collector *
collector_new(struct event_base *base, struct store *store,
    struct series *series, const struct collector_options *o)
{
	struct session_limits sl = { o->silence_ns, o->agents_max,
		o->queue_bytes_max };
	struct collector *c = xcalloc(1, sizeof(*c));
	struct roster_limits rl;
	struct err err;

	c->store = store;
	c->series = series;
	c->o = *o;
	rl.heartbeat_ns = o->heartbeat_ns;
	rl.silence_ns = o->silence_ns;
	rl.topo = o->topo;
	rl.retention_ns = o->retention_ns;
	c->roster = roster_new(&rl, store, collector_lost_cb, c);
	c->runs = runs_new(c->roster, store, &runs_ops, c);
	runs_set_quota(c->runs, &o->quota);
	if (o->react != NULL)
		react_roster_set(o->react, c->roster);
	c->health = node_health_new(c->roster, o->react, collector_send_to, c);
	c->diagnosis = diagnosis_new(c->roster, store, &o->diagnosis,
	    &diagnosis_ops, c);
	c->sessions = sessions_new(base, &sl, &session_ops, c);
	if (store != NULL) /* benches have none */
		store_set_room_cb(store, collector_room_cb, c);
	c->enrolment = enrolment_new(base,
	    &(struct enrolment_options){ store, c->roster, c->sessions,
		o->enroll, o->munge_users, o->munge_socket });
	c->o.jobs.base = base;
	c->o.jobs.store = store;
	c->o.jobs.roster = c->roster;
	c->o.jobs.cases = collector_cases;
	c->o.jobs.verdict = collector_verdict;
	c->o.jobs.arg = c;
	c->objectives = objective_feed_new(&(struct objective_feed_options){
	    store, c->roster, o->objectives, o->objective_count, o->promised,
	    o->jobs.source != JOBS_OFF, collector_shares, c });
	if (jobs_open(&c->o.jobs, &c->jobs, &err) == 0 &&
	    mesh_new(c->roster, store, &c->o.mesh, &mesh_ops, c, &c->mesh,
		&err) == 0)
		return c;
	log_warnx("%s", err.text);
	collector_free(c);
	return NULL;
}

void
collector_free(struct collector *c)
{
	if (c == NULL)
		return;
	enrolment_free(c->enrolment);
	sessions_free(c->sessions);
	mesh_free(c->mesh);
	jobs_free(c->jobs);
	objective_feed_free(c->objectives);
	runs_free(c->runs);
	diagnosis_free(c->diagnosis);
	node_health_free(c->health);
	roster_free(c->roster);
	free(c->crl);
	free(c);
}

void
collector_mirror(struct collector *c, const json_t *nodes,
    const json_t *verdicts)
{
	if (nodes != NULL)
		roster_mirror(c->roster, nodes);
	if (verdicts == NULL)
		return;
	diagnosis_free(c->diagnosis);
	c->diagnosis = diagnosis_new(c->roster, c->store, &c->o.diagnosis,
	    &diagnosis_ops, c);
	diagnosis_load(c->diagnosis, verdicts);
}

struct roster *
collector_roster(struct collector *c)
{
	return c->roster;
}

struct runs *
collector_runs(struct collector *c)
{
	return c->runs;
}

struct mesh *
collector_mesh(struct collector *c)
{
	return c->mesh;
}

struct diagnosis *
collector_diagnosis(struct collector *c)
{
	return c->diagnosis;
}

struct sessions *
collector_sessions(struct collector *c)
{
	return c->sessions;
}

struct jobs *
collector_jobs(struct collector *c)
{
	return c->jobs;
}

struct objectives *
collector_objectives(struct collector *c)
{
	return objective_feed_objectives(c->objectives);
}

void
collector_load_objectives(struct collector *c)
{
	objective_feed_load(c->objectives);
}

void
collector_set_changed(struct collector *c,
    void (*changed)(void *arg, const struct run *r), void *arg)
{
	c->changed = changed;
	c->changed_arg = arg;
}

void
collector_tick(struct collector *c)
{
	uint64_t now_ns = clk_ns();

	if (!c->held && now_ns - c->roster_ns >= ROSTER_TICK_NS) {
		c->roster_ns = now_ns;
		roster_tick(c->roster, now_ns);
	}
	sessions_verify(c->sessions, now_ns);
	for (int i = 0;
	     i < TRUST_COUNT && c->trust_next < roster_count(c->roster); i++)
		collector_trust_send(c, roster_at(c->roster, c->trust_next++));
	runs_tick(c->runs);
	mesh_tick(c->mesh);
	if (now_ns - c->diagnosis_ns >= DIAGNOSIS_TICK_NS) {
		c->diagnosis_ns = now_ns;
		diagnosis_tick(c->diagnosis);
	}
	if (now_ns - c->health_ns >= HEALTH_TICK_NS) {
		c->health_ns = now_ns;
		node_health_tick(c->health);
		jobs_tick(c->jobs);
		objective_feed_tick(c->objectives);
	}
}
