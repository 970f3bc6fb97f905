/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_state.c - runs from their order to their end.
 */
#include "daemon/run/run_state.h"
#include "daemon/run/hold.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_show.h"
#include "daemon/run/wireup.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/log.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"

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
	hold_release(r);
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
	strbuf_clear(&r->unanswered);
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
	json_decref(r->overrides);
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
	rs->unused = json_object();
	TAILQ_INIT(&rs->live);
	TAILQ_INIT(&rs->ended);
	return rs;
}

static void
run_state_list_free(struct run_list *list)
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
	run_state_list_free(&rs->live);
	run_state_list_free(&rs->ended);
	json_decref(rs->unused);
	json_decref(rs->turns);
	free(rs);
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
	/* Limit the names: ten thousand would fill the event. */
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
	/* A node without a session ends the run after its grace, or when the
	 * welcome message does not list it. */
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
	hold_cost_end(r);
	r->decide_ns = 0;
	r->resume_ns = 0;
	run_step_set(r, STEP_LEAVE);
	/* A finished launcher gets time to exit. */
	if (state != RUN_FINISHED)
		run_end_all(r);
}
