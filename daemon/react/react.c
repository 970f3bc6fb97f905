/* SPDX-License-Identifier: Apache-2.0 */
/*
 * react.c - reactions to bad nodes: limits of an hour and of nodes at once,
 * waiting, and undo.
 */
#include "daemon/react/react.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/conf.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/react/react_int.h"
#include "daemon/store/store.h"

#define HOUR_NS  (3600 * CLK_NS_PER_S)
#define KEY      "react/"
#define AGAIN_NS (600 * CLK_NS_PER_S) /* after a failure */

void
react_options_read(const struct conf *c, struct react_options *ret)
{
	*ret = (struct react_options){ .action = conf_string(c, "reaction",
					   "action"),
		.dry_run = conf_bool(c, "reaction", "dry_run"),
		.undo = conf_bool(c, "reaction", "undo"),
		.command = conf_string(c, "reaction", "command"),
		.nodes_per_hour = (int)conf_int(c, "reaction",
		    "nodes_per_hour"),
		.share_per_hour = conf_real(c, "reaction", "share_per_hour") };
}

struct react *
react_new(struct event_base *base, struct store *store,
    const struct react_options *o)
{
	struct react *r = xcalloc(1, sizeof(*r));

	r->base = base;
	r->store = store;
	r->o = *o;
	r->kind = react_kinds_find(o->action);
	TAILQ_INIT(&r->tasks);
	r->done = json_object();
	r->begun = json_object();
	return r;
}

void
react_roster_set(struct react *r, const struct roster *roster)
{
	r->roster = roster;
}

static void
react_task_free(struct react *r, struct react_task *t)
{
	if (t == NULL)
		return;
	TAILQ_REMOVE(&r->tasks, t, link);
	free(t);
}

void
react_free(struct react *r)
{
	struct react_task *t, *next;

	if (r == NULL)
		return;
	spawn_cancel(r->child);
	TAILQ_FOREACH_SAFE (t, &r->tasks, link, next)
		react_task_free(r, t);
	json_decref(r->done);
	json_decref(r->begun);
	free(r);
}

static void
react_say(struct react *r, const struct react_task *t, const char *what,
    const char *more)
{
	char text[600];

	snprintf(text, sizeof(text), "%s%s%s", what,
	    more[0] == '\0' ? "" : ": ", more);
	log_info("reaction %s: %s", t->node, text);
	store_put_event(r->store, "reaction", t->node, text);
}

static struct react_task *
react_task_find(const struct react *r, const char *node)
{
	struct react_task *t;

	TAILQ_FOREACH (t, &r->tasks, link)
		if (strcmp(t->node, node) == 0)
			return t;
	return NULL;
}

static int
react_is_done(const struct react *r, const char *node)
{
	return json_object_get(r->done, node) != NULL;
}

static void
react_task_add(struct react *r, const char *node, int undo, const char *text)
{
	struct react_task *t = react_task_find(r, node);

	if (t != NULL && t == r->now) {
		snprintf(t->then, sizeof(t->then), "%s",
		    t->undo != undo ? text : "");
		return;
	}
	if (t == NULL) {
		t = xcalloc(1, sizeof(*t));
		TAILQ_INSERT_TAIL(&r->tasks, t, link);
	}
	t->undo = undo;
	t->not_before_ns = 0;
	snprintf(t->node, sizeof(t->node), "%s", node);
	snprintf(t->text, sizeof(t->text), "%s", text);
}

/* The setting react/NODE. */
struct react_mark {
	enum { MARK_DONE, MARK_BEGUN, MARK_UNDOING } state;
	uint64_t unix_ns; /* 0: unknown */
};

/* Before the time, by state. */
static const char *const react_marks[] = { "", "begun ", "undoing " };

static void
react_mark_format(const struct react_mark *m, char ret[60])
{
	char when[40];

	clk_unix_format(m->unix_ns, when, sizeof(when));
	snprintf(ret, 60, "%s%s", react_marks[m->state], when);
}

static struct react_mark
react_mark_parse(const char *value)
{
	struct react_mark m = { MARK_DONE, 0 };
	struct tm tm = { .tm_isdst = 0 };
	const char *rest;
	double second = 0; /* its fraction */
	time_t at_s = 0;

	for (size_t i = 1; i < ARRAY_LEN(react_marks); i++)
		if (strncmp(value, react_marks[i], strlen(react_marks[i])) == 0)
			m.state = i;
	rest = strptime(value + strlen(react_marks[m.state]),
	    "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest != NULL) {
		at_s = timegm(&tm);
		second = strtod(rest, NULL);
	}
	if (at_s > 0 && second >= 0 && second < 1)
		m.unix_ns = (uint64_t)at_s * CLK_NS_PER_S +
		    (uint64_t)(second * 1000 + 0.5) * CLK_NS_PER_MS;
	return m;
}

/* unix_ns: time of the action. */
static void
react_done_set(struct react *r, const char *node, uint64_t unix_ns)
{
	struct react_mark m = { MARK_DONE, unix_ns };
	char key[300], value[60];

	json_object_set_new(r->done, node, json_true());
	json_object_del(r->begun, node);
	snprintf(key, sizeof(key), KEY "%s", node);
	react_mark_format(&m, value);
	store_put_setting(r->store, key, value, NULL, NULL);
}

static void
react_done_remove(struct react *r, const char *node)
{
	char key[300];

	json_object_del(r->done, node);
	json_object_del(r->begun, node);
	snprintf(key, sizeof(key), KEY "%s", node);
	store_put_setting(r->store, key, NULL, NULL, NULL);
}

/* Actions before a restart count for the limit of an hour, too. */
static void
react_begun_count(struct react *r, uint64_t unix_ns)
{
	uint64_t now_ns = clk_ns(), now_unix_ns = clk_unix_ns();
	uint64_t age_ns = now_unix_ns - unix_ns;

	if (unix_ns == 0 || unix_ns > now_unix_ns || age_ns >= HOUR_NS)
		return;
	r->begun_ns[r->begun_at++ % REACT_BEGUN] = now_ns > age_ns
	    ? now_ns - age_ns
	    : 1;
}

/* The command of a node ran when the collector stopped. */
static void
react_lost(struct react *r, const char *node, const struct react_mark *m)
{
	struct react_task lost = { .undo = m->state == MARK_UNDOING };

	snprintf(lost.node, sizeof(lost.node), "%s", node);
	react_say(r, &lost,
	    lost.undo ? "undo: result unknown" : "result unknown",
	    "the collector stopped while the command ran; it does not repeat "
	    "the command: check the node");
	if (lost.undo)
		react_done_remove(r, node);
	else
		react_done_set(r, node, m->unix_ns);
}

/* Query Slurm for the result of reactions that had begun; a command may have
 * run or not, and is not repeated. */
void
react_load(struct react *r, const json_t *settings)
{
	const char *key, *node;
	struct react_mark m;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)settings, key, v) {
		if (strncmp(key, KEY, strlen(KEY)) != 0 || !json_is_string(v))
			continue;
		node = key + strlen(KEY);
		m = react_mark_parse(json_string_value(v));
		if (m.state != MARK_UNDOING)
			react_begun_count(r, m.unix_ns);
		if (m.state == MARK_DONE)
			json_object_set_new(r->done, node, json_true());
		else if (r->kind == NULL || r->kind->asks)
			json_object_set_new(r->begun, node, json_true());
		else
			react_lost(r, node, &m);
	}
}

/* A waiting task in that direction is obsolete. */
static void
react_task_drop(struct react *r, const char *node, int undo)
{
	struct react_task *t = react_task_find(r, node);

	if (t != NULL && t != r->now && t->undo == undo)
		react_task_free(r, t);
}

static int
react_is_now(const struct react *r, const char *node)
{
	return r->now != NULL && strcmp(r->now->node, node) == 0;
}

void
react_bad(struct react *r, const char *node, const char *text)
{
	react_task_drop(r, node, 1);
	if (r->kind != NULL &&
	    (!react_is_done(r, node) || react_is_now(r, node)))
		react_task_add(r, node, 0, text);
}

void
react_well(struct react *r, const char *node)
{
	react_task_drop(r, node, 0);
	if (r->kind == NULL ||
	    (!react_is_done(r, node) && !react_is_now(r, node) &&
		json_object_get(r->begun, node) == NULL))
		return;
	if (r->o.undo || react_is_now(r, node))
		react_task_add(r, node, 1, "has recovered");
	else
		react_done_remove(r, node); /* the next time counts again */
}

/* Finish the task of a reaction. A failed one does not count for the limit of
 * an hour. */
void
react_finish(struct react *r, enum react_result result, const char *text)
{
	struct react_task *t = r->now, was = *t;
	uint64_t now_unix_ns = clk_unix_ns();

	r->now = NULL;
	r->child = NULL;
	if (!t->undo && result != REACT_DONE)
		r->begun_ns[r->begun_at] = 0;
	t->then[0] = '\0';
	switch (result) {
	case REACT_DONE:
		react_say(r, t, t->undo ? r->kind->undone : r->kind->done,
		    text);
		if (t->undo)
			react_done_remove(r, t->node);
		else
			react_done_set(r, t->node, now_unix_ns);
		break;
	case REACT_LEFT:
		react_say(r, t, "skipped", text);
		react_done_remove(r, t->node);
		break;
	case REACT_FAILED:
		react_say(r, t, "failed; retrying", text);
		/* Slurm may have done it without a reply: query it. */
		if (!t->undo && r->kind->asks)
			json_object_set_new(r->begun, t->node, json_true());
		else if (!t->undo)
			react_done_remove(r, t->node);
		else if (react_is_done(r, t->node))
			react_done_set(r, t->node, now_unix_ns);
		t->not_before_ns = clk_ns() + AGAIN_NS;
		t = NULL;
		break;
	}
	react_task_free(r, t);
	if (was.then[0] != '\0' && was.undo)
		react_bad(r, was.node, was.then);
	else if (was.then[0] != '\0')
		react_well(r, was.node);
}

/* Return 1 if the limits permit another node; otherwise log it once. */
static int
react_may_begin(struct react *r, struct react_task *t, size_t nodes)
{
	int share = (int)ceil(r->o.share_per_hour * (double)nodes);
	int limit = share < r->o.nodes_per_hour ? share : r->o.nodes_per_hour;
	uint64_t now_ns = clk_ns();
	char text[300];
	int begun = 0;

	for (size_t i = 0; i < REACT_BEGUN; i++)
		begun += r->begun_ns[i] != 0 &&
		    now_ns - r->begun_ns[i] < HOUR_NS;
	if (begun < limit)
		return 1;
	if (!t->told) {
		snprintf(text, sizeof(text),
		    "limit of %d nodes per hour reached "
		    "(reaction.nodes_per_hour, reaction.share_per_hour); "
		    "waiting to react to: %.100s",
		    limit, t->text);
		react_say(r, t, "delayed", text);
	}
	t->told = 1;
	return 0;
}

static struct react_task *
react_task_next(struct react *r, size_t nodes)
{
	uint64_t now_ns = clk_ns();
	struct react_task *t;

	TAILQ_FOREACH (t, &r->tasks, link)
		if (t->not_before_ns <= now_ns &&
		    (t->undo || react_may_begin(r, t, nodes)))
			return t;
	return NULL;
}

/* The active collector acts only after the start is stored, so that its
 * successor knows of it. */
static void
react_begun_cb(int status, json_t *result, void *arg)
{
	struct react *r = arg;

	json_decref(result);
	if (status == 0)
		r->kind->begin(r, r->now);
	else if (status != -ECANCELED)
		react_finish(r, REACT_FAILED,
		    "cannot record the reaction in the store");
}

void
react_tick(struct react *r, size_t nodes)
{
	char key[300], value[60];
	struct react_mark m;
	struct react_task *t;
	size_t oldest = 0;

	if (r->kind == NULL || r->now != NULL || !store_leads(r->store))
		return;
	t = react_task_next(r, nodes);
	if (t == NULL)
		return;
	for (size_t i = 1; i < REACT_BEGUN; i++)
		if (r->begun_ns[i] < r->begun_ns[oldest])
			oldest = i;
	r->begun_at = oldest;
	if (!t->undo)
		r->begun_ns[oldest] = clk_ns();
	if (r->o.dry_run) {
		react_say(r, t,
		    t->undo ? "dry run, would undo" : "dry run, would act",
		    t->text);
		/* once for each change to bad */
		if (!t->undo)
			json_object_set_new(r->done, t->node, json_true());
		else
			json_object_del(r->done, t->node);
		react_task_free(r, t);
		return;
	}
	r->now = t;
	snprintf(key, sizeof(key), KEY "%s", t->node);
	m.state = t->undo ? MARK_UNDOING : MARK_BEGUN;
	m.unix_ns = clk_unix_ns();
	react_mark_format(&m, value);
	store_put_setting(r->store, key, value, react_begun_cb, r);
}

void
react_spawned(struct react *r, struct spawned *child)
{
	r->child = child;
	if (child == NULL)
		react_finish(r, REACT_FAILED, strerror(errno));
}

void
react_spawn(struct react *r, char *const *argv, char *const *env, spawn_cb *cb)
{
	react_spawned(r, spawn_start(r->base, argv, env, cb, r));
}
