/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.c - one message of an agent goes to the one part that it concerns; what a
 * part wants sent goes to the session that the node has now.
 */
#include "daemon/net/hub.h"

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
#include "daemon/series/series.h"
#include "daemon/cluster/roster.h"
#include "daemon/net/enroll.h"
#include "daemon/net/session.h"
#include "daemon/react/react.h"
#include "daemon/store/store.h"
#include "schema/record.h"

#define STANDINGS_TICK_NS (1 * CLK_NS_PER_S)
/* A walk over 10,000 nodes takes 0.1 ms. */
#define ROSTER_TICK_NS (CLK_NS_PER_S / 2)
#define COURT_TICK_NS  CLK_NS_PER_S
#define TRUST_COUNT    64 /* agents a tick that get new lists */
/* Agents wait for a second at least. */
#define IN_BAND_EVERY_NS (5 * CLK_NS_PER_S)
#define RENEW_EVERY_NS   (CLK_NS_PER_S / 2)
#define ORDER_MARGIN_NS  (300 * CLK_NS_PER_S)

struct hub {
	struct store *store;
	struct series *series;
	struct hub_options o;
	uint64_t roster_ns; /* of the last roster_tick */
	struct roster *roster;
	struct runs *runs;
	struct diagnosis *diagnosis;
	uint64_t court_ns; /* of the last diagnosis_tick */
	struct sessions *sessions;
	struct log_limit refused;   /* enrolments, as events */
	struct enroll_munge *munge; /* NULL: nobody by munge */
	uint64_t told_term;         /* of a collector that took over */
	int held; /* agents are not listened to until the store has room */
	struct mesh *mesh;
	struct standings *standings;
	uint64_t standings_ns; /* of their last tick */
	char *crl;             /* PEM, or NULL */
	size_t trust_next;     /* of the roster; from here on they lack it */
};

/* A hello whose acknowledgements the store is asked for. */
struct greeting {
	struct hub *h;
	struct node *node;
	uint64_t serial;
	json_int_t version; /* what is spoken, when hello gave a choice; or 0 */
	json_t *runs;       /* that live there */
	json_t *acks;
};

/* Only to agents whose inventory asks for it: older ones would end the
 * session. */
static void
hub_trust_send(struct hub *h, struct node *n)
{
	json_t *msg;

	if (n->session == NULL || !n->greeted ||
	    !member_bool(n->inventory, "certificates"))
		return;
	msg = json_pack("{s:b}", "renew", enroll_is_on(h->o.enroll));
	if (h->crl != NULL)
		json_object_set_new(msg, "crl", text_json(h->crl));
	(void)session_send(n->session, WIRE_TRUST, msg);
}

void
hub_set_crl(struct hub *h, const char *crl)
{
	free(h->crl);
	h->crl = crl == NULL ? NULL : xstrdup(crl);
	h->trust_next = 0;
}

static void
hub_greet(struct greeting *g, json_t *acks)
{
	struct node *n = g->node;
	struct hub *h = g->h;
	json_t *welcome;

	if (n->serial != g->serial || n->session == NULL)
		return; /* gone meanwhile */
	n->greeted = 1;
	welcome = json_pack("{s:I, s:I, s:O, s:o}", "heartbeat_ms",
	    (json_int_t)(n->heartbeat_ns / CLK_NS_PER_MS), "silence_ms",
	    (json_int_t)(roster_silence_ns(h->roster, n) / CLK_NS_PER_MS),
	    "acks", acks, "keep", runs_keep(h->runs, n, g->runs));
	if (h->o.term > 1)
		json_object_set_new(welcome, "term",
		    json_integer((json_int_t)h->o.term));
	if (g->version > 0) /* whoever gave a choice knows the answer */
		json_object_set_new(welcome, "version",
		    json_integer(g->version));
	if (member_bool(n->inventory, "links"))
		json_object_set_new(welcome, "links_ms",
		    json_integer((json_int_t)(h->o.links_ns / CLK_NS_PER_MS)));
	(void)session_send(n->session, WIRE_WELCOME, welcome);
	hub_trust_send(h, n);
	runs_hello(h->runs, n, g->runs);
	mesh_greeted(h->mesh, n);
}

static void
hub_copied_cb(int status, json_t *result, void *arg)
{
	struct greeting *g = arg;

	json_decref(result);
	if (status < 0) /* it is sent again */
		json_array_clear(g->acks);
	if (status != -ECANCELED)
		hub_greet(g, g->acks);
	json_decref(g->acks);
	json_decref(g->runs);
	free(g);
}

/* Records that the copy lacks are not acknowledged, so they are sent again. */
static void
hub_acks_cb(int status, json_t *result, void *arg)
{
	struct greeting *g = arg;
	struct store *st = g->h->store;
	int awaits = st != NULL && store_awaits_copy(st);
	struct store_health health = { 0 };

	if (awaits)
		store_health(st, &health);
	g->acks = status == 0 && json_is_array(result) &&
		health.copy != COPY_AWAY
	    ? json_incref(result)
	    : json_array();
	json_decref(result);
	if (awaits && json_array_size(g->acks) > 0)
		store_when_copied(st, hub_copied_cb, g);
	else
		hub_copied_cb(0, NULL, g);
}

/* The ids in spool, [{run, seq}]; NULL when one is not an id. */
static json_t *
hub_spool_runs(const json_t *spool)
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

/* Two agents with one name: the newer wins only where the older is silent or
 * is the same process, which has lost its connection before we noticed. */
static int
hub_double_check(struct hub *h, struct node *n, const json_t *msg,
    const char *addr, struct err *err)
{
	const char *boot = json_string_value(json_object_get(msg, "boot"));
	struct session *old = n == NULL ? NULL : n->session;

	if (old == NULL)
		return 0;
	if (clk_ns() - n->last_ns < roster_late_ns(h->roster, n) &&
	    (n->boot == NULL || strcmp(n->boot, boot) != 0)) {
		err_say(err,
		    "%s has a session from %s already; second agent at %s",
		    n->name, session_addr(old), addr);
		(void)roster_event(h->store, n, "alarm", err->text);
		return -EBUSY;
	}
	session_set_arg(old, NULL);
	session_refuse(old, CAUSE_PEER_LOST, "replaced by a newer session");
	return 0;
}

/* An agent that it names follows another collector, and will not follow us. It
 * may lie: nothing ends here by what one says. */
static void
hub_taken_over(struct hub *h, const char *name, uint64_t term)
{
	struct err text;

	if (h->told_term >= term)
		return;
	h->told_term = term;
	err_say(&text,
	    "%.100s follows a collector of term %llu, and this one is of term "
	    "%llu: where another machine has taken over, end this one",
	    name, (unsigned long long)term, (unsigned long long)h->o.term);
	log_warnx("%s", text.text);
	store_put_event(h->store, "alarm", name, text.text);
}

/* A collector that does not lead gives no orders and takes no agents. */
static int
hub_lead_check(const struct hub *h, struct err *err)
{
	if (h->store == NULL || store_leads(h->store))
		return 0;
	return err_set(err, -EAGAIN,
	    "this collector is a standby; the active one is %s",
	    store_leader(h->store));
}

static int
hub_hello(void *ctx, struct session *s, json_t *msg, enum cause *ret_cause,
    struct err *err)
{
	struct hub *h = ctx;
	const char *name = json_string_value(json_object_get(msg, "node"));
	json_t *runs = hub_spool_runs(json_object_get(msg, "spool")), *args;
	struct greeting *g;
	int rc;

	*ret_cause = CAUSE_CONFIG;
	if (hostlist_name_check(name) < 0 || runs == NULL) {
		err_say(err, "hello with a bad %s",
		    runs == NULL ? "spool" : "node name");
		json_decref(runs);
		return -EPROTO;
	}
	if (member_unsigned(msg, "term") > h->o.term)
		hub_taken_over(h, name, member_unsigned(msg, "term"));
	*ret_cause = CAUSE_BUSY;
	rc = hub_lead_check(h, err);
	if (rc == 0)
		rc = hub_double_check(h, roster_find(h->roster, name), msg,
		    session_addr(s), err);
	if (rc < 0) {
		json_decref(runs);
		return rc;
	}
	g = xcalloc(1, sizeof(*g));
	g->h = h;
	g->node = roster_hello(h->roster, msg, session_addr(s), s, clk_ns());
	g->serial = g->node->serial;
	g->runs = json_incref(json_object_get(msg, "runs"));
	if (json_object_get(msg, "version_min") != NULL)
		g->version = member_int(msg, "version") < WIRE_VERSION
		    ? member_int(msg, "version")
		    : WIRE_VERSION;
	session_set_arg(s, g->node);
	session_set_heartbeat(s, g->node->heartbeat_ns);
	args = json_pack("{s:o}", "runs", runs);
	if (json_array_size(runs) == 0)
		hub_acks_cb(0, NULL, g);
	else
		store_ask(h->store, STORE_ACKS, args, hub_acks_cb, g);
	json_decref(args);
	return 0;
}

/* A certificate that waits for the disk. */
struct signing {
	struct hub *h;
	struct node *renews; /* and of which session; NULL: a stranger */
	uint64_t serial;     /* or his question */
	char *node, *addr, *pem;
	char *munge; /* the collector's credential for it, or NULL */
};

/* Failed enrolments are logged at a limited rate. */
static void
hub_stranger_refused(struct hub *h, const char *node, const char *addr,
    const char *why)
{
	uint64_t hidden;
	struct err text;

	if (!log_limit_tell(&h->refused, addr, why, clk_ns(), &hidden))
		return;
	err_say(&text, "enrolment from %.60s as %.64s refused: %s", addr, node,
	    why);
	if (h->store != NULL)
		store_put_event(h->store, "alarm", "enroll", text.text);
}

static void
hub_not_renewed(struct hub *h, struct node *n, const char *addr,
    const char *why)
{
	struct err text;

	err_say(&text, "its certificate was not renewed: %s", why);
	sessions_complain(h->sessions, addr, n->name, text.text);
	(void)roster_event(h->store, n, "alarm", text.text);
	(void)session_send(n->session, WIRE_CERTIFICATE,
	    json_pack("{s:o}", "text", text_json(why)));
}

static void
hub_signed_cb(int status, void *arg)
{
	struct signing *g = arg;
	struct hub *h = g->h;
	struct node *n = g->renews, *known = roster_find(h->roster, g->node);
	json_t *answer = NULL;
	char text[200];

	if (status == 0) {
		answer = json_pack("{s:s, s:s*}", "cert", g->pem, "munge",
		    g->munge);
		/* Everything but a refusal is told to the event log. */
		snprintf(text, sizeof(text),
		    "certificate %s, asked for from %.60s",
		    n != NULL              ? "renewed"
			: g->munge != NULL ? "by munge"
					   : "by a token",
		    g->addr);
		log_info("node %s: %s", g->node, text);
		if (known != NULL)
			(void)roster_event(h->store, known, "agent", text);
		else if (h->store != NULL)
			store_put_event(h->store, "agent", g->node, text);
	}
	if (status == -ECANCELED)
		; /* a signal came first */
	else if (n == NULL) {
		if (answer == NULL)
			hub_stranger_refused(h, g->node, g->addr,
			    strerror(-status));
		sessions_answer(h->sessions, g->serial, json_incref(answer),
		    strerror(-status));
	} else if (n->session != NULL && n->serial == g->serial) {
		if (answer == NULL)
			hub_not_renewed(h, n, g->addr, strerror(-status));
		else
			(void)session_send(n->session, WIRE_CERTIFICATE,
			    json_incref(answer));
	}
	json_decref(answer);
	free(g->node);
	free(g->addr);
	free(g->pem);
	free(g->munge);
	free(g);
}

/* renews and serial as in struct signing. */
static int
hub_sign(struct hub *h, struct node *renews, uint64_t serial,
    const struct enroll_ask *ask, struct err *err)
{
	struct signing *g;
	char *pem;
	int rc = enroll_sign(h->o.enroll, ask, time(NULL), &pem, err);

	if (rc < 0)
		return rc;
	g = xcalloc(1, sizeof(*g));
	*g = (struct signing){ h, renews, serial, xstrdup(ask->node),
		xstrdup(ask->addr), pem,
		ask->munge != NULL ? xstrdup(ask->munge) : NULL };
	enroll_when_synced(h->o.enroll, hub_signed_cb, g);
	return 0;
}

static int
hub_is_connected(const struct hub *h, const char *node)
{
	const struct node *n = roster_find(h->roster, node);

	return n != NULL && n->session != NULL;
}

/* What a stranger shows is good, or not. */
static void
hub_munge_read(struct enroll_ask *ask, uint64_t question, struct err *why,
    void *arg)
{
	struct hub *h = arg;

	ask->connected = hub_is_connected(h, ask->node);
	if (ask->munge != NULL && hub_sign(h, NULL, question, ask, why) == 0)
		return;
	hub_stranger_refused(h, ask->node, ask->addr, why->text);
	sessions_answer(h->sessions, question, NULL, why->text);
}

static int
hub_enroll(void *ctx, uint64_t question, const char *addr, const json_t *msg,
    struct err *err)
{
	struct hub *h = ctx;
	const char *node = member_text(msg, "node");
	struct enroll_ask ask = { .node = node,
		.request = member_text(msg, "request"),
		.munge = member_text_or(msg, "munge", NULL),
		.addr = addr,
		.connected = hub_is_connected(h, node) };
	char authority[PKI_DIGEST_TEXT];
	int rc = hub_lead_check(h, err);

	if (rc < 0)
		return rc;
	if (ask.munge == NULL) {
		ask.token = member_text(msg, "token");
		rc = hub_sign(h, NULL, question, &ask, err);
	} else if (h->munge == NULL) {
		rc = err_set(err, -EACCES,
		    "this collector takes no credentials of munge: "
		    "enroll.munge_users is empty");
	} else {
		rc = enroll_authority(h->o.enroll, authority, err);
		if (rc == 0)
			rc = enroll_munge_ask(h->munge, &ask, authority,
			    question, err);
	}
	if (rc < 0)
		hub_stranger_refused(h, node, addr, err->text);
	return rc;
}

/* In a session, which goes on whatever the answer is; but each question costs
 * us four signatures. */
static int
hub_renew(struct hub *h, struct node *n, struct session *s, const json_t *msg,
    struct err *err)
{
	struct enroll_ask ask = { .node = n->name,
		.request = member_text(msg, "request"),
		.addr = session_addr(s) };
	X509 *old = NULL;
	struct err text;
	int rc;

	if (n->renewed_ns != 0 && clk_ns() - n->renewed_ns < RENEW_EVERY_NS)
		return err_set(err, -EPROTO,
		    "asks for certificates without a pause");
	n->renewed_ns = clk_ns();
	rc = session_cert(s, &old, &text);
	ask.old = old;
	if (rc == 0)
		rc = hub_sign(h, n, n->serial, &ask, &text);
	if (rc < 0)
		hub_not_renewed(h, n, ask.addr, text.text);
	X509_free(old);
	return 0;
}

static int
hub_message(void *ctx, struct session *s, enum wire_type type, json_t *msg,
    struct err *err)
{
	struct hub *h = ctx;
	struct node *n = session_arg(s);
	const json_t *in_band;
	int rc;

	if (n == NULL)
		return 0; /* replaced */
	roster_alive(h->roster, n, clk_ns());
	switch (type) {
	case WIRE_HEARTBEAT:
		roster_heartbeat(h->roster, n, msg);
		in_band = json_object_get(msg, "in_band");
		/* No more often than this, whatever an agent sends. */
		if (in_band != NULL && h->o.in_band != NULL &&
		    clk_ns() - n->in_band_ns > IN_BAND_EVERY_NS) {
			n->in_band_ns = clk_ns();
			h->o.in_band(h->o.arg, n->name, in_band);
		}
		return 0;
	case WIRE_REFUSE:
		return err_set(err, -ECONNABORTED, "agent ends it: %.200s",
		    json_string_value(json_object_get(msg, "text")));
	case WIRE_HELLO:
		return err_set(err, -EPROTO, "second hello");
	case WIRE_ENROLL:
		return hub_renew(h, n, s, msg, err);
	case WIRE_MESH_READY:
	case WIRE_MESH_REPORT:
		return mesh_message(h->mesh, n, type, msg, err);
	default:
		n->message_bytes = session_message_bytes(s);
		rc = runs_message(h->runs, n, type, msg, err);
	}
	if (type == WIRE_RECORDS && !h->held && store_is_behind(h->store)) {
		h->held = 1;
		sessions_hold(h->sessions, 1);
	}
	return rc;
}

static void
hub_closed(void *ctx, struct session *s, const char *why)
{
	struct hub *h = ctx;
	struct node *n = session_arg(s);

	if (n != NULL && n->session == s)
		roster_gone(h->roster, n, why);
}

static const struct session_ops session_ops = { hub_hello, hub_message,
	hub_enroll, hub_closed };

static int
hub_send_to(void *ctx, struct node *n, enum wire_type type, json_t *msg)
{
	struct err err;

	if (n->session == NULL || !n->greeted ||
	    hub_lead_check(ctx, &err) < 0) {
		json_decref(msg);
		return -ENOTCONN;
	}
	return session_send(n->session, type, msg);
}

static void
hub_hang_up(void *ctx, struct node *n, const char *why)
{
	(void)ctx;
	if (n->session != NULL)
		session_refuse(n->session, CAUSE_DISK_FULL, why);
}

static void
hub_committed(void *ctx, const struct run *r, const json_t *record)
{
	struct hub *h = ctx;
	json_t *slurm = run_slurm(r);
	struct run_facts f = run_facts(r);
	struct diagnosis_source from = { f.run, f.campaign, f.class, f.mpi,
		f.launcher, slurm,
		strchr(f.devices, ',') == NULL ? f.devices : NULL };

	/* A confirmation run of six nodes does not represent the cluster. */
	if (strcmp(f.campaign, NAMES_PASS_CAMPAIGN) != 0)
		series_record(h->series, f.class, record);
	diagnosis_record(h->diagnosis, &from, record);
	if (h->o.record != NULL)
		h->o.record(h->o.arg, r, record);
	json_decref(slurm);
}

static void
hub_counters(void *ctx, const struct run *r, const struct node *n,
    const json_t *nics)
{
	struct hub *h = ctx;

	diagnosis_counters(h->diagnosis, run_facts(r).run, n, nics);
}

static void
hub_stuck(void *ctx, const struct run *r, const struct run_stuck *s)
{
	struct run_facts f = run_facts(r);
	struct diagnosis_source from = { f.run, f.campaign, f.class, f.mpi,
		f.launcher, NULL, NULL };
	struct hub *h = ctx;

	diagnosis_stuck(h->diagnosis, &from, s->a, s->b, s->what, s->waited_s);
}

static int
hub_avoid(void *ctx, const struct node *n, struct err *err)
{
	return diagnosis_avoid(((struct hub *)ctx)->diagnosis, n, err);
}

static void
hub_changed(void *ctx, const struct run *r)
{
	struct hub *h = ctx;
	struct run_facts f = run_facts(r);

	if (f.state == RUN_FINISHED)
		mesh_cover_run(h->mesh, r);
	h->o.changed(h->o.arg, r);
	if (f.state == RUN_STARTING)
		diagnosis_run_begun(h->diagnosis, f.run);
	if (!names_run_states[f.state].final)
		return;
	for (size_t i = 0; i < run_node_count(r); i++)
		diagnosis_run_missed(h->diagnosis,
		    &(struct diagnosis_end){ f.run, f.campaign, f.cause,
			f.measures_all },
		    run_node_at(r, i));
	diagnosis_run_over(h->diagnosis, f.run);
}

static const struct runs_ops runs_ops = { hub_send_to, hub_hang_up,
	hub_committed, hub_changed, hub_stuck, hub_avoid, hub_counters };

/* A second pass waits for its nodes as a scheduled run does. */
static int
hub_order(void *ctx, const struct conf *campaign, char ret_run[64],
    struct err *err)
{
	struct hub *h = ctx;
	struct run_order o = { .campaign = NAMES_PASS_CAMPAIGN,
		.conf = campaign,
		.by = "confirmation run",
		.margin_ns = ORDER_MARGIN_NS };

	return runs_submit(h->runs, &o, ret_run, err);
}

static int
hub_may_have(void *ctx, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n)
{
	struct hub *h = ctx;

	return runs_may_have(h->runs, class, launcher, slurm, n);
}

static const struct diagnosis_ops diagnosis_ops = { hub_order, hub_may_have,
	NULL };

static void
hub_mesh_record(void *ctx, const json_t *record)
{
	struct hub *h = ctx;

	series_record(h->series, "background", record);
	diagnosis_mesh(h->diagnosis, record);
}

static void
hub_mesh_paths(void *ctx, const struct mesh_path *paths, size_t count,
    uint64_t until_unix_ns)
{
	struct hub *h = ctx;

	diagnosis_paths(h->diagnosis, paths, count);
	if (h->o.paths != NULL)
		h->o.paths(h->o.arg, paths, count, until_unix_ns);
}

static const struct mesh_ops mesh_ops = { hub_send_to, hub_mesh_record,
	hub_mesh_paths };

static void
hub_standing_of(void *ctx, const struct node *n, struct node_health *ret)
{
	static const enum exit_code codes[] = { [VERDICT_OK] = EXIT_CODE_OK,
		[VERDICT_WARN] = EXIT_CODE_WARN,
		[VERDICT_BAD] = EXIT_CODE_BAD,
		[VERDICT_UNKNOWN] = EXIT_CODE_UNKNOWN };
	struct hub *h = ctx;
	json_t *open = diagnosis_node_json(h->diagnosis, n);
	const char *text = json_string_value(json_object_get(open, "text"));

	ret->code = codes[diagnosis_of_node(h->diagnosis, n)];
	snprintf(ret->text, sizeof(ret->text), "%s", text != NULL ? text : "");
	json_decref(open);
}

static const struct node_health_ops node_health_ops = { hub_send_to,
	hub_standing_of };

static void
hub_lost_cb(struct node *n, void *arg)
{
	struct hub *h = arg;

	runs_lost(h->runs, n);
	if (n->session != NULL)
		session_refuse(n->session, CAUSE_TIMEOUT,
		    "silent for too "
		    "long");
}

/* Silence does not count while we did not read. */
static void
hub_room_cb(void *arg)
{
	struct hub *h = arg;
	uint64_t now_ns = clk_ns();

	if (!h->held)
		return;
	h->held = 0;
	for (size_t i = 0; i < roster_count(h->roster); i++) {
		struct node *n = roster_at(h->roster, i);

		if (n->session != NULL)
			roster_alive(h->roster, n, now_ns);
	}
	sessions_hold(h->sessions, 0);
}

struct hub *
hub_new(struct event_base *base, struct store *store, struct series *series,
    const struct hub_options *o)
{
	struct session_limits sl = { o->silence_ns, o->agents_max,
		o->queue_bytes_max };
	struct hub *h = xcalloc(1, sizeof(*h));
	struct roster_limits rl;
	struct err err;

	h->store = store;
	h->series = series;
	h->o = *o;
	rl.heartbeat_ns = o->heartbeat_ns;
	rl.silence_ns = o->silence_ns;
	rl.topo = o->topo;
	h->roster = roster_new(&rl, store, hub_lost_cb, h);
	h->runs = runs_new(h->roster, store, &runs_ops, h);
	runs_set_quota(h->runs, &o->quota);
	h->diagnosis = diagnosis_new(h->roster, store, &o->diagnosis,
	    &diagnosis_ops, h);
	h->sessions = sessions_new(base, &sl, &session_ops, h);
	if (store != NULL) /* benches have none */
		store_set_room_cb(store, hub_room_cb, h);
	h->standings = standings_new(h->roster, o->react, &node_health_ops, h);
	if (o->munge_users != NULL && o->munge_users[0] != '\0')
		h->munge = enroll_munge_open(base, o->munge_users,
		    o->munge_socket, hub_munge_read, h);
	if (mesh_new(h->roster, store, &h->o.mesh, &mesh_ops, h, &h->mesh,
		&err) == 0)
		return h;
	log_warnx("%s", err.text);
	hub_free(h);
	return NULL;
}

void
hub_free(struct hub *h)
{
	if (h == NULL)
		return;
	enroll_munge_close(h->munge);
	sessions_free(h->sessions);
	standings_free(h->standings);
	mesh_free(h->mesh);
	runs_free(h->runs);
	diagnosis_free(h->diagnosis);
	roster_free(h->roster);
	free(h->crl);
	free(h);
}

void
hub_mirror(struct hub *h, const json_t *nodes, const json_t *verdicts)
{
	if (nodes != NULL)
		roster_mirror(h->roster, nodes);
	if (verdicts == NULL)
		return;
	diagnosis_free(h->diagnosis);
	h->diagnosis = diagnosis_new(h->roster, h->store, &h->o.diagnosis,
	    &diagnosis_ops, h);
	diagnosis_load(h->diagnosis, verdicts);
}

struct roster *
hub_roster(struct hub *h)
{
	return h->roster;
}

struct runs *
hub_runs(struct hub *h)
{
	return h->runs;
}

struct mesh *
hub_mesh(struct hub *h)
{
	return h->mesh;
}

struct diagnosis *
hub_diagnosis(struct hub *h)
{
	return h->diagnosis;
}

struct sessions *
hub_sessions(struct hub *h)
{
	return h->sessions;
}

void
hub_tick(struct hub *h)
{
	uint64_t now_ns = clk_ns();

	if (!h->held && now_ns - h->roster_ns >= ROSTER_TICK_NS) {
		h->roster_ns = now_ns;
		roster_tick(h->roster, now_ns);
	}
	sessions_verify(h->sessions, now_ns);
	for (int i = 0;
	     i < TRUST_COUNT && h->trust_next < roster_count(h->roster); i++)
		hub_trust_send(h, roster_at(h->roster, h->trust_next++));
	runs_tick(h->runs);
	mesh_tick(h->mesh);
	if (now_ns - h->court_ns >= COURT_TICK_NS) {
		h->court_ns = now_ns;
		diagnosis_tick(h->diagnosis);
	}
	if (now_ns - h->standings_ns >= STANDINGS_TICK_NS) {
		h->standings_ns = now_ns;
		standings_tick(h->standings);
	}
}
