/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the list of runs, their states, and what they share: everything
 * that happens to a run passes through here to its part.
 */
#include "daemon/run_int.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/options.h"

#define SEED_MAX 9007199254740991ULL /* exact as a JSON number */

/* 20261120-191446-3f2a: when in UTC, and chance. */
static void
id_make(const struct runs *rs, char ret[64])
{
	char id[64];
	time_t now = (time_t)(clk_unix_ns() / CLK_NS_PER_S);
	struct tm tm;
	char when[32];

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	do
		snprintf(id, sizeof(id), "%s-%04x", when,
		    (unsigned)(rng_entropy() & 0xffff));
	while (run_find(rs, id) != NULL);
	memcpy(ret, id, sizeof(id));
}

int
run_conf_read(struct run *r, char *why, size_t why_bytes)
{
	static const char *const classes[] = { "background", "exclusive" };
	struct conf *c = r->conf;
	char seed[32];
	int rc;

	r->exclusive = conf_choice(c, "campaign", "class") == 1;
	r->class = classes[r->exclusive];
	r->mpi = conf_string(c, "campaign", "mpi");
	r->launcher = launcher_find(conf_string(c, "campaign", "launcher"));
	if (r->launcher == NULL) {
		snprintf(why, why_bytes, "%s: unknown launcher",
		    conf_where(c, "campaign", "launcher"));
		return -EINVAL;
	}
	r->deadline_ns = conf_span_ns(c, "campaign", "deadline");
	r->start_limit_ns = conf_span_ns(c, "campaign", "start_limit");
	r->priority = conf_int(c, "campaign", "priority");
	r->preempts = conf_bool(c, "campaign", "preempt");
	r->seed = (uint64_t)conf_int(c, "campaign", "seed");
	if (r->seed != 0)
		return 0;
	while (r->seed == 0)
		r->seed = rng_entropy() & SEED_MAX;
	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	rc = conf_set(c, "campaign", "seed", seed, "drawn", why, why_bytes);
	/* The text in conf may have moved. */
	r->mpi = conf_string(c, "campaign", "mpi");
	return rc;
}

struct run *
run_new(struct runs *rs, const char *campaign, const char *by,
    struct conf *conf)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->all = rs;
	r->conf = conf; /* handed over */
	r->campaign = xstrdup(campaign);
	r->by = xstrdup(by);
	r->created_ns = r->step_ns = clk_ns();
	r->created_unix_ns = clk_unix_ns();
	TAILQ_INIT(&r->spawns);
	TAILQ_INSERT_HEAD(&rs->live, r, link);
	return r;
}

void
run_nodes_clear(struct run *r)
{
	admit_release(r);
	for (size_t i = 0; i < r->node_count; i++)
		free(r->nodes[i].text);
	free(r->nodes);
	r->nodes = NULL;
	r->node_count = 0;
}

static void
run_free(struct run *r)
{
	run_nodes_clear(r);
	launch_spawns_clear(r);
	conf_free(r->conf);
	json_decref(r->progress);
	free(r->campaign);
	free(r->by);
	free(r->phase);
	free(r->test);
	free(r->stderr_tail);
	free(r);
}

struct runs *
runs_new(struct roster *roster, struct store *store, uint64_t late_ns,
    const struct runs_ops *ops, void *ctx)
{
	struct runs *rs = xcalloc(1, sizeof(*rs));

	rs->roster = roster;
	rs->store = store;
	rs->late_ns = late_ns;
	rs->ops = ops;
	rs->ctx = ctx;
	rs->born_ns = clk_ns();
	TAILQ_INIT(&rs->live);
	TAILQ_INIT(&rs->ended);
	return rs;
}

void
runs_set_costs(struct runs *rs, struct costs *costs)
{
	rs->costs = costs;
}

static void
list_free(struct run_list *list)
{
	struct run *r, *next;

	TAILQ_FOREACH_SAFE (r, list, link, next)
		run_free(r);
}

void
runs_free(struct runs *rs)
{
	if (rs == NULL)
		return;
	list_free(&rs->live);
	list_free(&rs->ended);
	free(rs);
}

struct run *
run_find_live(const struct runs *rs, const char *id)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (strcmp(r->id, id) == 0)
			return r;
	return NULL;
}

struct run *
run_find(const struct runs *rs, const char *id)
{
	struct run *r = run_find_live(rs, id);

	if (r != NULL)
		return r;
	TAILQ_FOREACH (r, &rs->ended, link)
		if (strcmp(r->id, id) == 0)
			return r;
	return NULL;
}

int
run_is_final(const struct run *r)
{
	return names_run_states[r->state].final;
}

struct node *
run_head(const struct run *r)
{
	return r->node_count == 0 ? NULL : r->nodes[0].node;
}

long
run_node_index(const struct run *r, const struct node *n)
{
	for (size_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].node == n)
			return (long)i;
	return -ENOENT;
}

int
run_send(const struct run *r, struct node *n, enum wire_type type, json_t *msg)
{
	return r->all->ops->send(r->all->ctx, n, type, msg);
}

void
run_step_set(struct run *r, enum step step)
{
	r->step = step;
	r->step_ns = clk_ns();
}

static json_t *
nodes_json(const struct run *r)
{
	json_t *names = json_array();

	for (size_t i = 0; i < r->node_count; i++)
		json_array_append_new(names,
		    json_string(r->nodes[i].node->name));
	return names;
}

static void
time_put(json_t *o, const char *key, uint64_t unix_ns)
{
	json_object_set_new(o, key,
	    unix_ns == 0 ? json_null() : json_integer((json_int_t)unix_ns));
}

json_t *
run_json(const struct run *r)
{
	int64_t per_node = conf_int(r->conf, "campaign", "ranks_per_node");
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, "
			      "s:I, s:s, s:I}",
	    "run", r->id, "campaign", r->campaign, "class", r->class, "mpi",
	    r->mpi, "state", names_run_states[r->state].name, "cause",
	    names_causes[r->cause].name, "text", r->text, "nodes",
	    nodes_json(r), "ranks",
	    (json_int_t)((int64_t)r->node_count * per_node), "seed",
	    (json_int_t)r->seed, "by", r->by, "records",
	    (json_int_t)r->records);

	json_object_set_new(o, "head",
	    r->node_count == 0 ? json_null()
			       : json_string(r->nodes[0].node->name));
	time_put(o, "created_unix_ns", r->created_unix_ns);
	time_put(o, "started_unix_ns", r->started_unix_ns);
	time_put(o, "ended_unix_ns", r->ended_unix_ns);
	if (r->progress != NULL && !run_is_final(r))
		json_object_set(o, "progress", r->progress);
	return o;
}

static void
run_put(const struct run *r)
{
	json_t *o = run_json(r);
	char *text = conf_render_given(r->conf);

	json_object_del(o, "progress");
	json_object_set_new(o, "campaign_text", json_string(text));
	store_put_run(r->all->store, o, NULL, NULL);
	json_decref(o);
	free(text);
}

void
run_state_set(struct run *r, enum run_state state, enum cause cause,
    const char *text)
{
	char span[24], line[SIGN_TEXT_MAX + 160];
	uint64_t now_ns = clk_ns();
	int begins = now_ns - r->created_ns < CLK_NS_PER_MS ||
	    r->state == state;

	assert(begins || !run_is_final(r));
	clk_span_format(now_ns - r->created_ns, span, sizeof(span));
	snprintf(line, sizeof(line), "campaign %s %s%s%s%s%s%s", r->campaign,
	    names_run_states[state].name, cause == CAUSE_NONE ? "" : ", ",
	    cause == CAUSE_NONE ? "" : names_causes[cause].name,
	    text[0] == '\0' ? "" : ": ", text, begins ? "" : " after ");
	if (!begins)
		strncat(line, span, sizeof(line) - strlen(line) - 1);
	r->state = state;
	r->cause = cause;
	snprintf(r->text, sizeof(r->text), "%s", text);
	if (run_is_final(r))
		r->ended_unix_ns = clk_unix_ns();
	log_info("run %s: %s", r->id, line);
	store_put_event(r->all->store, "run", r->id, line);
	run_put(r);
	r->all->ops->changed(r->all->ctx, r);
}

void
run_end_send(struct run *r, struct node *n, const char *text)
{
	/* A node without a session ends the run by itself after its grace, or
	 * is told in welcome. */
	(void)run_send(r, n, WIRE_END,
	    json_pack("{s:s, s:I, s:s}", "run", r->id, "grace_ms",
		(json_int_t)(RUN_GRACE_NS / CLK_NS_PER_MS), "text", text));
}

static void
end_all(struct run *r)
{
	r->ended = 1;
	for (size_t i = 0; i < r->node_count; i++)
		run_end_send(r, r->nodes[i].node,
		    names_run_states[r->state].name);
}

void
run_finish(struct run *r, enum run_state state, enum cause cause,
    const char *text)
{
	if (run_is_final(r))
		return;
	run_state_set(r, state, cause, text);
	for (size_t i = 0; state == RUN_FINISHED && i < r->node_count; i++)
		r->nodes[i].node->used_unix_ns = r->ended_unix_ns;
	cost_end(r);
	r->decide_ns = 0;
	r->resume_ns = 0;
	run_step_set(r, STEP_LEAVE);
	/* A finished launcher is given time to leave by itself. */
	if (state != RUN_FINISHED)
		end_all(r);
}

/* Final, but its nodes are held until its processes are gone. */
static void
leave_tick(struct run *r)
{
	uint64_t since_ns = clk_ns() - r->step_ns;
	int gone = !r->launcher_runs && TAILQ_EMPTY(&r->spawns);

	if (!r->ended && (gone || since_ns >= RUN_LEAVE_NS))
		end_all(r);
	if (r->ended && (gone || since_ns >= RUN_RELEASE_NS))
		run_step_set(r, STEP_DONE);
}

/* Off the live list; the oldest ended one is forgotten. */
static void
retire(struct run *r)
{
	struct runs *rs = r->all;
	struct run *last;

	admit_release(r);
	launch_spawns_clear(r);
	TAILQ_REMOVE(&rs->live, r, link);
	TAILQ_INSERT_HEAD(&rs->ended, r, link);
	if (++rs->ended_count <= RUN_ENDED_MAX)
		return;
	last = TAILQ_LAST(&rs->ended, run_list);
	TAILQ_REMOVE(&rs->ended, last, link);
	rs->ended_count--;
	run_free(last);
}

static void
run_tick(struct run *r)
{
	switch (r->step) {
	case STEP_WAIT:
		admit_tick(r);
		break;
	case STEP_PREPARE:
	case STEP_LAUNCH:
	case STEP_FIRST:
	case STEP_RUN:
		launch_tick(r);
		verdict_tick(r);
		break;
	case STEP_LEAVE:
		leave_tick(r);
		break;
	case STEP_DONE:
		break;
	}
	if (r->step == STEP_DONE)
		retire(r);
}

/* The highest priority below a bound, of runs that live; INT64_MIN: none. */
static int64_t
priority_below(const struct runs *rs, int64_t bound)
{
	int64_t best = INT64_MIN;
	const struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (r->priority < bound && r->priority > best)
			best = r->priority;
	return best;
}

void
runs_tick(struct runs *rs)
{
	int64_t priority = priority_below(rs, INT64_MAX);
	struct run *r, *next;

	rs->tick++;
	/* By priority, and the oldest of one first: it has waited longest. */
	while (priority != INT64_MIN) {
		for (r = TAILQ_LAST(&rs->live, run_list); r != NULL; r = next) {
			next = TAILQ_PREV(r, run_list, link);
			if (r->priority == priority)
				run_tick(r);
		}
		priority = priority_below(rs, priority);
	}
	intake_tick(rs);
}

/* A copy of conf that the overrides have changed. */
static int
conf_copy(const struct run_order *o, struct conf **ret, char *why,
    size_t why_bytes)
{
	char *text = conf_render_given(o->conf);
	struct conf *c = NULL;
	const char *key;
	json_t *v;
	int rc;

	rc = conf_parse(options_campaign, o->campaign, text, &c, why,
	    why_bytes);
	free(text);
	json_object_foreach ((json_t *)(uintptr_t)o->overrides, key, v) {
		char section[64];
		const char *dot = strchr(key, '.');

		if (rc < 0)
			break;
		if (dot == NULL || !json_is_string(v) ||
		    (size_t)(dot - key) >= sizeof(section)) {
			snprintf(why, why_bytes,
			    "override %.60s: expected section.key and a text",
			    key);
			rc = -EINVAL;
			break;
		}
		snprintf(section, sizeof(section), "%.*s", (int)(dot - key),
		    key);
		rc = conf_set(c, section, dot + 1, json_string_value(v),
		    "override", why, why_bytes);
	}
	if (rc == 0)
		rc = options_campaign_check(c, why, why_bytes);
	if (rc == 0)
		*ret = c;
	else
		conf_free(c);
	return rc;
}

int
runs_submit(struct runs *rs, const struct run_order *o, char ret_run[64],
    char *why, size_t why_bytes)
{
	struct conf *c;
	struct run *r;
	int rc;

	rc = conf_copy(o, &c, why, why_bytes);
	if (rc < 0)
		return rc;
	r = run_new(rs, o->campaign, o->by, c);
	rc = run_conf_read(r, why, why_bytes);
	if (rc < 0) {
		TAILQ_REMOVE(&rs->live, r, link);
		run_free(r);
		return rc;
	}
	id_make(rs, r->id);
	r->margin_ns = o->margin_ns != 0 && o->margin_ns < RUN_GIVE_UP_NS
	    ? o->margin_ns
	    : RUN_GIVE_UP_NS;
	run_state_set(r, RUN_PENDING, CAUSE_NONE, "");
	memcpy(ret_run, r->id, sizeof(r->id));
	admit_tick(r);
	return 0;
}

void
runs_miss(struct runs *rs, const char *campaign, const struct conf *conf,
    enum cause cause, const char *text, const char *by)
{
	struct run_order o = { .campaign = campaign, .conf = conf, .by = by };
	char why[RUN_WHY_MAX];
	struct conf *c;
	struct run *r;

	if (conf_copy(&o, &c, why, sizeof(why)) < 0)
		return; /* it was checked when it was read */
	r = run_new(rs, campaign, by, c);
	(void)run_conf_read(r, why, sizeof(why));
	id_make(rs, r->id);
	run_state_set(r, RUN_MISSED, cause, text);
	run_step_set(r, STEP_DONE);
}

int
runs_cancel(struct runs *rs, const char *run, const char *by, char *why,
    size_t why_bytes)
{
	struct run *r = run_find(rs, run);
	char text[RUN_WHY_MAX];

	if (r == NULL) {
		snprintf(why, why_bytes, "no live run %.64s", run);
		return -ENOENT;
	}
	if (run_is_final(r)) {
		snprintf(why, why_bytes, "run %s is %s already", r->id,
		    names_run_states[r->state].name);
		return -EALREADY;
	}
	snprintf(text, sizeof(text), "cancelled by %s", by);
	run_finish(r, RUN_CANCELLED, CAUSE_CANCELLED, text);
	return 0;
}

size_t
runs_stop_all(struct runs *rs, const char *by)
{
	char text[RUN_WHY_MAX];
	size_t count = 0;
	struct run *r;

	snprintf(text, sizeof(text), "stopped by %s", by);
	TAILQ_FOREACH (r, &rs->live, link) {
		if (run_is_final(r))
			continue;
		run_finish(r, RUN_CANCELLED, CAUSE_CANCELLED, text);
		count++;
	}
	return count;
}

/* What a node says about a run that it takes part in. */
static int
message_for(struct run *r, struct node *n, enum wire_type type,
    const json_t *msg, char *why)
{
	switch (type) {
	case WIRE_PROGRESS:
		return intake_progress(r, msg);
	case WIRE_PREPARED:
		return launch_prepared(r, n, msg);
	case WIRE_LAUNCHED:
		return launch_launched(r, n, msg);
	case WIRE_SPAWN_ASK:
		return launch_spawn_ask(r, n, msg, why);
	case WIRE_SPAWNED:
		return launch_spawned(r, n, msg);
	case WIRE_EXITED:
		return launch_exited(r, n, msg);
	case WIRE_RANK_LOST:
		return verdict_rank_lost(r, n, msg);
	case WIRE_COUNTERS:
		return intake_counters(r, n, msg);
	case WIRE_SPOOL_LOST:
		return 0;
	default:
		snprintf(why, RUN_WHY_MAX, "%s is not expected here",
		    wire_messages[type].name);
		return -EPROTO;
	}
}

static void
spool_lost(struct runs *rs, const struct node *n, const json_t *msg)
{
	char text[RUN_WHY_MAX];

	snprintf(text, sizeof(text),
	    "spool full: %lld records of run %.64s dropped (%lld bytes)",
	    (long long)json_integer_value(json_object_get(msg, "records")),
	    json_string_value(json_object_get(msg, "run")),
	    (long long)json_integer_value(json_object_get(msg, "bytes")));
	log_warnx("node %s: %s", n->name, text);
	store_put_event(rs->store, "alarm", n->name, text);
}

int
runs_message(struct runs *rs, struct node *n, enum wire_type type,
    const json_t *msg, char why[RUN_WHY_MAX])
{
	const char *id = json_string_value(json_object_get(msg, "run"));
	struct run *r;

	if (type == WIRE_SPOOL_LOST)
		spool_lost(rs, n, msg);
	if (type == WIRE_RECORDS)
		return intake_records(rs, n, msg, why);
	r = run_find_live(rs, id);
	/* A run that has ended meanwhile: the message is late, not wrong. */
	if (r == NULL)
		return 0;
	if (run_node_index(r, n) < 0) {
		log_debug("node %s: %s about run %s, which it has left",
		    n->name, wire_messages[type].name, id);
		return 0;
	}
	return message_for(r, n, type, msg, why);
}

static int
has_run(const json_t *runs, const char *id)
{
	json_t *v;
	size_t i;

	json_array_foreach (runs, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), id) == 0)
			return 1;
	return 0;
}

json_t *
runs_keep(struct runs *rs, const struct node *n, const json_t *runs)
{
	json_t *keep = json_array();
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (!r->ended && r->step != STEP_WAIT &&
		    run_node_index(r, n) >= 0 && has_run(runs, r->id))
			json_array_append_new(keep, json_string(r->id));
	return keep;
}

/* n is back and does not know of a run that it should take part in. */
static void
run_gone(struct run *r, struct node *n)
{
	if (r->step == STEP_PREPARE) {
		/* Its promise is gone with the session: ask again. */
		launch_prepare(r);
	} else if (r->resume_ns != 0 && n == run_head(r)) {
		/* The run may have ended while we were away: what is left of
		 * it is in the spool and comes now. */
		verdict_sign(r, SIGN_NO_END, RUN_FAILED, CAUSE_COLLECTOR_LOST,
		    clk_ns(), "ended on %s while the collector was away",
		    n->name);
	} else if (n == run_head(r) || r->launcher->relays) {
		verdict_sign(r, SIGN_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
		    n->last_ns == 0 ? clk_ns() : n->last_ns,
		    "agent of %s restarted or gave the run up", n->name);
	}
}

void
runs_hello(struct runs *rs, struct node *n, const json_t *runs)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link) {
		int there;

		if (run_is_final(r) || r->step == STEP_WAIT ||
		    run_node_index(r, n) < 0)
			continue;
		there = has_run(runs, r->id);
		if (!there)
			run_gone(r, n);
		if (r->resume_ns != 0 && n == run_head(r)) {
			r->resume_ns = 0;
			log_info("run %s: its head %s is back, %s", r->id,
			    n->name, there ? "it goes on" : "without it");
		}
	}
}

void
runs_lost(struct runs *rs, struct node *n)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link) {
		if (run_is_final(r) || r->step == STEP_WAIT ||
		    run_node_index(r, n) < 0)
			continue;
		verdict_sign(r, SIGN_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
		    n->last_ns, "agent of %s went silent", n->name);
	}
}

json_t *
runs_json(struct runs *rs)
{
	json_t *a = json_array();
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		json_array_append_new(a, run_json(r));
	TAILQ_FOREACH (r, &rs->ended, link)
		json_array_append_new(a, run_json(r));
	return a;
}

json_t *
runs_json_one(struct runs *rs, const char *run)
{
	struct run *r = run_find(rs, run);
	json_t *o;
	char *text;

	if (r == NULL)
		return NULL;
	o = run_json(r);
	text = conf_render_given(r->conf);
	json_object_set_new(o, "campaign_text", json_string(text));
	free(text);
	return o;
}

size_t
runs_live(const struct runs *rs)
{
	const struct run *r;
	size_t count = 0;

	TAILQ_FOREACH (r, &rs->live, link)
		count += (size_t)!run_is_final(r);
	return count;
}

const char *
runs_find_campaign(const struct runs *rs, const char *campaign)
{
	const struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (!run_is_final(r) && strcmp(r->campaign, campaign) == 0)
			return r->id;
	return NULL;
}

const char *
runs_on_node(const struct runs *rs, const struct node *n)
{
	const struct run *r;

	if (n->exclusive == NULL && n->shared == 0)
		return NULL;
	TAILQ_FOREACH (r, &rs->live, link)
		if (run_node_index(r, n) >= 0)
			return r->id;
	return NULL;
}

const char *
run_id(const struct run *r)
{
	return r->id;
}

const char *
run_campaign(const struct run *r)
{
	return r->campaign;
}

const char *
run_class(const struct run *r)
{
	return r->class;
}

const char *
run_mpi(const struct run *r)
{
	return r->mpi;
}

const char *
run_launcher(const struct run *r)
{
	return conf_string(r->conf, "campaign", "launcher");
}

enum run_state
run_state_of(const struct run *r)
{
	return r->state;
}

enum cause
run_cause_of(const struct run *r)
{
	return r->cause;
}

size_t
run_node_count(const struct run *r)
{
	return r->node_count;
}

struct node *
run_node_at(const struct run *r, size_t i)
{
	return r->nodes[i].node;
}

double
run_ended_unix_s(const struct run *r)
{
	return (double)r->ended_unix_ns / (double)CLK_NS_PER_S;
}
