/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the list of runs, their states and steps. Orders for them come
 * through run_order.c, what nodes say through run_agents.c, and what is
 * shown of them leaves through run_show.c.
 */
#include "daemon/run/run_int.h"
#include "daemon/run/admit.h"
#include "daemon/run/wireup.h"
#include "daemon/run/symptom.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/log.h"
#include "common/text.h"
#include "common/xalloc.h"

#define FEW_NODES 64

void
runs_quota_read(const struct conf *c, struct runs_quota *ret)
{
	ret->records = (uint64_t)conf_int(c, "quota", "run_records");
	ret->bytes = (uint64_t)conf_bytes(c, "quota", "run_bytes");
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
	TAILQ_INSERT_HEAD(&rs->live, r, link);
	return r;
}

void
run_shrink(struct run *r)
{
	admit_release(r);
	wireup_free(r);
	for (size_t i = 0; i < r->node_count; i++) {
		xstrset(&r->nodes[i].text, NULL);
		json_decref(r->nodes[i].networks);
		r->nodes[i].networks = NULL;
	}
	json_decref(r->progress);
	r->progress = NULL;
	run_nodes_changed(r);
	xstrset(&r->phase, NULL);
	xstrset(&r->test, NULL);
	xstrset(&r->stderr_tail, NULL);
	free(r->signs);
	r->signs = NULL;
	free(r->stuck);
	r->stuck = NULL;
	r->sign_count = r->stuck_count = 0;
}

void
run_free(struct run *r)
{
	run_shrink(r);
	free(r->nodes);
	conf_free(r->conf);
	json_decref(r->carried);
	json_decref(r->networks);
	free(r->campaign);
	free(r->by);
	free(r);
}

struct runs *
runs_new(struct roster *roster, struct store *store, const struct runs_ops *ops,
    void *ctx)
{
	struct runs *rs = xcalloc(1, sizeof(*rs));

	rs->roster = roster;
	rs->store = store;
	rs->ops = ops;
	rs->ctx = ctx;
	rs->born_ns = clk_ns();
	rs->turns = json_object();
	TAILQ_INIT(&rs->live);
	TAILQ_INIT(&rs->ended);
	return rs;
}

void
runs_set_quota(struct runs *rs, const struct runs_quota *quota)
{
	rs->quota = *quota;
}

void
runs_set_costs(struct runs *rs, struct costs *costs)
{
	rs->costs = costs;
}

void
runs_set_slurm(struct runs *rs, struct slurm *slurm)
{
	rs->slurm = slurm;
}

static void
run_list_free(struct run_list *list)
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
	run_list_free(&rs->live);
	run_list_free(&rs->ended);
	json_decref(rs->turns);
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

void
run_nodes_changed(struct run *r)
{
	free(r->places);
	r->places = NULL;
}

/* Every message of every node asks for it: large runs have a table. */
long
run_node_index(struct run *r, const struct node *n)
{
	if (r->node_count <= FEW_NODES) {
		for (size_t i = 0; i < r->node_count; i++)
			if (r->nodes[i].node == n)
				return (long)i;
		return -ENOENT;
	}
	if (r->places == NULL) {
		r->place_count = roster_count(r->all->roster);
		r->places = xcalloc(r->place_count + 1, sizeof(r->places[0]));
		for (size_t i = 0; i < r->node_count; i++)
			r->places[r->nodes[i].node->id] = (uint32_t)i + 1;
	}
	return n->id < r->place_count && r->places[n->id] > 0
	    ? (long)r->places[n->id] - 1
	    : -ENOENT;
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

void
run_state_set(struct run *r, enum run_state state, enum cause cause,
    const char *text)
{
	char span[24], line[SYMPTOM_TEXT_MAX + 160];
	uint64_t now_ns = clk_ns();
	int begins = now_ns - r->created_ns < CLK_NS_PER_MS ||
	    r->state == state;
	json_t *o, *body;

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
	utf8_format(r->text, sizeof(r->text), "%s", text);
	if (run_is_final(r))
		r->ended_unix_ns = clk_unix_ns();
	log_info("run %s: %s", r->id, line);
	o = run_json_whole(r);
	json_object_del(o, "progress");
	/* Ten thousand names would be most of the event. */
	body = run_json(r);
	json_object_del(body, "progress");
	json_object_del(body, "nodes");
	json_object_set_new(body, "node_count",
	    json_integer((json_int_t)r->node_count));
	store_put_run(r->all->store, o,
	    &(struct store_event){ "run", r->id, line, body }, NULL, NULL);
	json_decref(body);
	json_decref(o);
	r->all->ops->changed(r->all->ctx, r);
}

void
run_end_send(struct run *r, struct node *n, const char *text)
{
	/* A node without a session ends the run by itself after its grace, or
	 * is told in welcome. */
	(void)run_send(r, n, WIRE_END,
	    json_pack("{s:s, s:I, s:o}", "run", r->id, "grace_ms",
		(json_int_t)(RUN_GRACE_NS / CLK_NS_PER_MS), "text",
		text_json(text)));
}

void
run_end_all(struct run *r)
{
	r->ended = 1;
	if (r->launcher->end != NULL && r->launcher_runs)
		r->launcher->end(r);
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
		run_end_all(r);
}
