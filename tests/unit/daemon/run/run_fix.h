/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_fix.h - the run machine with a simulated cluster: a clock that the test
 * sets, a store that answers on demand, and agents that only receive. Included
 * by tests only, after cmocka.h.
 */
#ifndef TESTS_RUN_FIX_H
#define TESTS_RUN_FIX_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/frame.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/run/run_agents.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_order.h"
#include "daemon/store/store.h"
#include "schema/options.h"

/* Of three nodes, n1 its head. */
#define FIX_CAMPAIGN                                                           \
	"[campaign]\nnodes_min = 3\ndeadline = 60s\nstart_limit = 10s\n"
/* The same by a launcher on the head. */
#define FIX_COMMAND FIX_CAMPAIGN "launcher = command\n"

#define SENT_MAX  256
#define BEAT_NS   (2 * CLK_NS_PER_S)
#define LOST_NS   (10 * CLK_NS_PER_S)
#define UNIX_0_NS (1795000000 * CLK_NS_PER_S)

struct fix {
	struct roster *roster;
	struct runs *runs;
	uint64_t now_ns;
	struct {
		char node[32];
		enum wire_type type;
		json_t *msg;
	} sent[SENT_MAX];
	size_t sent_count;
	/* The store: callbacks that wait for their commit. */
	struct {
		store_cb *cb;
		void *arg;
	} put[SENT_MAX];
	size_t put_count;
	json_t *end_record; /* the answer to STORE_RECORDS */
	json_t *stored_run; /* the answer to STORE_RUN, or NULL */
	int writable;
	unsigned events;
	unsigned committed;
	unsigned hang_ups;
	unsigned stuck_count;
	char stuck[80]; /* the newest pair */
	char avoid[8];  /* a node to avoid */
	char last_state[16];
	char setting[200]; /* the newest, except the budget's */
	char budget[1000];
};
static struct fix fix;

static inline uint64_t
fix_clock(void)
{
	return fix.now_ns;
}

static inline uint64_t
fix_unix(void)
{
	return UNIX_0_NS + fix.now_ns;
}

/* The store's calls, as the machine makes them. */
void
store_put_record(struct store *st, const json_t *record,
    const struct record_line *line, store_cb *cb, void *arg)
{
	(void)st;
	(void)line;
	(void)record;
	assert_true(fix.put_count < SENT_MAX);
	fix.put[fix.put_count].cb = cb;
	fix.put[fix.put_count++].arg = arg;
}

void
store_put_run(struct store *st, const json_t *run,
    const struct store_event *event, store_cb *cb, void *arg)
{
	(void)st;
	fix.events += event != NULL;
	(void)cb;
	(void)arg;
	assert_non_null(json_object_get(run, "campaign_text"));
	snprintf(fix.last_state, sizeof(fix.last_state), "%s",
	    json_string_value(json_object_get(run, "state")));
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	(void)kind;
	(void)subject;
	(void)text;
	fix.events++;
}

void
store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg)
{
	(void)st;
	(void)cb;
	(void)arg;
	if (strcmp(key, "budget") == 0)
		snprintf(fix.budget, sizeof(fix.budget), "%s", value);
	else
		snprintf(fix.setting, sizeof(fix.setting), "%s=%s", key, value);
}

void
store_health(struct store *st, struct store_health *ret)
{
	(void)st;
	memset(ret, 0, sizeof(*ret));
	ret->writable = fix.writable;
}

void
store_ask(struct store *st, enum store_question what, const json_t *args,
    store_cb *cb, void *arg)
{
	(void)st;
	(void)args;
	if (what == STORE_RECORDS)
		cb(0,
		    fix.end_record == NULL ? json_array()
					   : json_pack("[O]", fix.end_record),
		    arg);
	else if (what == STORE_RUN && fix.stored_run != NULL)
		cb(0, json_incref(fix.stored_run), arg);
	else
		cb(-ENOENT, NULL, arg);
}

/* All that was put is committed, or fails. */
static inline void
fix_commit(int status)
{
	for (size_t i = 0; i < fix.put_count; i++)
		if (fix.put[i].cb != NULL)
			fix.put[i].cb(status, NULL, fix.put[i].arg);
	fix.put_count = 0;
}

static inline int
fix_send(void *ctx, struct node *n, enum wire_type type, json_t *msg)
{
	(void)ctx;
	if (n->session == NULL) {
		json_decref(msg);
		return -ENOTCONN;
	}
	assert_true(fix.sent_count < SENT_MAX);
	snprintf(fix.sent[fix.sent_count].node, 32, "%s", n->name);
	fix.sent[fix.sent_count].type = type;
	fix.sent[fix.sent_count++].msg = msg;
	return 0;
}

static inline int
fix_share(void *ctx, struct node *n, struct wire_frame *f)
{
	json_t *msg;
	struct err err;
	int type = wire_parse(f->bytes + FRAME_HEAD_BYTES,
	    f->len_bytes - FRAME_HEAD_BYTES, WIRE_COLLECTOR, &msg, &err);

	assert_true(type >= 0);
	json_object_del(msg, "type");
	return fix_send(ctx, n, (enum wire_type)type, msg);
}

static inline void
fix_hang_up(void *ctx, struct node *n, const char *why)
{
	(void)ctx;
	(void)n;
	(void)why;
	fix.hang_ups++;
}

static inline void
fix_committed(void *ctx, const struct run *r, const json_t *record,
    const struct record_line *line)
{
	(void)line;
	(void)ctx;
	(void)r;
	(void)record;
	fix.committed++;
}

static inline void
fix_changed(void *ctx, const struct run *r)
{
	(void)ctx;
	(void)r;
}

static inline void
fix_stuck(void *ctx, const struct run *r, const struct run_stuck *pairs,
    size_t count)
{
	const struct run_stuck *s = &pairs[count - 1];

	(void)ctx;
	(void)r;
	snprintf(fix.stuck, sizeof(fix.stuck), "%s %s %s", s->a->name,
	    s->b->name, s->what);
	fix.stuck_count += (int)count;
}

static inline int
fix_avoid(void *ctx, const struct node *n, struct err *err)
{
	(void)ctx;
	return strcmp(n->name, fix.avoid) == 0
	    ? err_set(err, 1, "%s: large packets are lost", n->name)
	    : 0;
}

static const struct runs_ops fix_ops = { fix_send, fix_share, fix_hang_up,
	fix_committed, fix_changed, fix_stuck, fix_avoid, NULL };

static inline void
fix_lost_cb(struct node *n, void *arg)
{
	(void)arg;
	runs_lost(fix.runs, n);
}

/* Forget the messages sent so far. */
static inline void
fix_forget(void)
{
	for (size_t i = 0; i < fix.sent_count; i++)
		json_decref(fix.sent[i].msg);
	fix.sent_count = 0;
}

/* How many such messages went to node (NULL: any). */
static inline size_t
fix_sent(const char *node, enum wire_type type)
{
	size_t count = 0;

	for (size_t i = 0; i < fix.sent_count; i++)
		count += fix.sent[i].type == type &&
		    (node == NULL || strcmp(fix.sent[i].node, node) == 0);
	return count;
}

static inline json_t *
fix_last(enum wire_type type)
{
	for (size_t i = fix.sent_count; i-- > 0;)
		if (fix.sent[i].type == type)
			return fix.sent[i].msg;
	return NULL;
}

static inline struct node *
fix_node(const char *name)
{
	return roster_find(fix.roster, name);
}

static inline void
fix_hello(const char *name)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:{s:b}}", "node", name, "boot",
	    "b", "software", "0", "inventory", "starts", 1);
	/* Never looked into: only whether it is there counts. */
	struct session *s = (struct session *)&fix;

	roster_hello(fix.roster, o, "10.0.0.1", s, fix.now_ns)->greeted = 1;
	json_decref(o);
}

static inline void
fix_setup(int nodes)
{
	struct roster_limits limits = { BEAT_NS, LOST_NS, NULL, 0 };
	char name[16];

	memset(&fix, 0, sizeof(fix));
	fix.now_ns = 1000 * CLK_NS_PER_S;
	fix.writable = 1;
	clk_set_source(fix_clock, fix_unix);
	fix.roster = roster_new(&limits, NULL, fix_lost_cb, NULL);
	fix.runs = runs_new(fix.roster, NULL, &fix_ops, NULL);
	for (int i = 1; i <= nodes; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		fix_hello(name);
	}
}

static inline void
fix_teardown(void)
{
	fix_commit(0);
	fix_forget();
	runs_free(fix.runs);
	roster_free(fix.roster);
	clk_set_source(NULL, NULL);
}

/* Let time pass in steps of 250 ms; all nodes but the named one send
 * heartbeats. */
static inline void
fix_pass(double seconds, const char *silent)
{
	for (double t = 0; t < seconds; t += 0.25) {
		fix.now_ns += CLK_NS_PER_S / 4;
		for (size_t i = 0; i < roster_count(fix.roster); i++) {
			struct node *n = roster_at(fix.roster, i);

			if (n->session != NULL &&
			    (silent == NULL || strcmp(n->name, silent) != 0))
				roster_alive(fix.roster, n, fix.now_ns);
		}
		roster_tick(fix.roster, fix.now_ns);
		runs_tick(fix.runs);
	}
}

static inline int
fix_submit(const char *text, char run[64], struct err *err)
{
	struct run_order o = { .campaign = "c", .by = "test" };
	struct conf *c;
	int rc;

	if (conf_parse(options_campaign, "t", text, &c, err) < 0)
		fail_msg("%s", err->text);
	o.conf = c;
	rc = runs_submit(fix.runs, &o, run, err);
	conf_free(c);
	return rc;
}

static inline void
fix_submitted(char run[64], const char *text)
{
	struct err err;

	if (fix_submit(text, run, &err) < 0)
		fail_msg("%s", err.text);
}

static inline enum run_state
fix_state(const char *run)
{
	return run_find(fix.runs, run)->state;
}

static inline void
fix_failed(const char *run, enum run_state state, enum cause cause,
    const char *text)
{
	const struct run *r = run_find(fix.runs, run);

	assert_int_equal(r->state, state);
	assert_int_equal(r->cause, cause);
	if (strstr(r->text, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", r->text, text);
	if (cause != CAUSE_STUCK) /* another may have been ordered since */
		assert_string_equal(fix.last_state,
		    names_run_states[state].name);
}

/* Deliver msg, without its type, as from the wire; frees msg. */
static inline int
fix_says(const char *node, enum wire_type type, json_t *msg)
{
	struct err err;
	int rc;

	assert_non_null(msg);
	rc = runs_message(fix.runs, fix_node(node), type, msg, NULL, &err);
	json_decref(msg);
	return rc;
}

static inline json_t *
fix_record(const char *run, int seq, const char *probe)
{
	json_t *o = json_pack("{s:s, s:i, s:s}", "run", run, "seq", seq,
	    "probe", probe);

	if (strcmp(probe, "phase") == 0)
		json_object_update_new(o,
		    json_pack("{s:s, s:s, s:i, s:i}", "event", "begin", "phase",
			"isolated", "visit", 1, "visits", 4));
	else if (strcmp(probe, "begin") == 0)
		json_object_update_new(o,
		    json_pack("{s:s, s:s, s:[], s:{}, "
			      "s:i, s:{}}",
			"version", "0", "mpi", "openmpi", "nodes", "roles",
			"seed", 1, "options"));
	return o;
}

static inline json_t *
fix_end(const char *run, int seq, const char *status)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:s}", "run", run, "seq", seq,
	    "probe", "end", "records", seq, "status", status);
}

/* Deliver one record in one message; frees record. */
static inline int
fix_sends(const char *node, const char *run, json_t *record)
{
	return fix_says(node, WIRE_RECORDS,
	    json_pack("{s:s, s:[o]}", "run", run, "records", record));
}

static inline void
fix_exited(const char *node, const char *run, int id, int status)
{
	fix_says(node, WIRE_EXITED,
	    json_pack("{s:s, s:i, s:i, s:s}", "run", run, "id", id, "status",
		status, "stderr", ""));
}

/* All processes that agents started have ended on all three nodes. */
static inline void
fix_over(const char *run, int status)
{
	fix_exited("n1", run, 1, status);
	fix_exited("n2", run, 1, status);
	fix_exited("n3", run, 1, status);
}

static inline void
fix_prepared(const char *node, const char *run)
{
	assert_int_equal(fix_says(node, WIRE_PREPARED,
			     json_pack("{s:s, s:b}", "run", run, "ok", 1)),
	    0);
}

/* A run of three nodes, with n1 as head, which gets the launch message. */
static inline void
fix_launched(char run[64], const char *text)
{
	fix_submitted(run, text);
	fix_prepared("n1", run);
	fix_prepared("n2", run);
	fix_prepared("n3", run);
}

/* And to its first record. */
static inline void
fix_running(char run[64], const char *text)
{
	fix_launched(run, text);
	assert_int_equal(fix_sent("n1", WIRE_LAUNCH) +
		fix_sent("n1", WIRE_START),
	    1);
	for (int i = 1; i <= 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		fix_says(name, WIRE_LAUNCHED,
		    json_pack("{s:s, s:b, s:i}", "run", run, "ok", 1, "pid",
			5));
	}
	fix_sends("n1", run, fix_record(run, 1, "begin"));
	fix_commit(0);
	assert_int_equal(run_find(fix.runs, run)->state, RUN_RUNNING);
}

#endif
