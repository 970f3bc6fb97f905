/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - nodes, campaigns, runs and orders as JSON: what each answer is put
 * together from.
 */
#include "daemon/view/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/schedule/campaign.h"
#include "daemon/agents/enroll.h"
#include "daemon/collector.h"
#include "daemon/agents/session.h"
#include "daemon/cluster/roster.h"
#include "daemon/run/run.h"
#include "daemon/store/store.h"
#include "daemon/jobs/jobs.h"
#include "daemon/view/view_int.h"

#define INCIDENTS_MAX 1000 /* more are as many */

struct view *
view_new(const struct view_parts *parts)
{
	struct view *v = xcalloc(1, sizeof(*v));

	v->p = *parts;
	v->born_unix_ns = clk_unix_ns();
	v->born_ns = clk_ns();
	return v;
}

void
view_free(struct view *v)
{
	if (v == NULL)
		return;
	for (size_t i = 0; i < v->count; i++)
		free((char *)(uintptr_t)v->counts[i].campaign);
	free(v->counts);
	free(v->nodes);
	free(v);
}

/* The row, made if need be. */
static struct view_run_count *
view_count_of(struct view *v, const char *campaign, int state)
{
	struct view_run_count *c;

	for (size_t i = 0; i < v->count; i++)
		if (v->counts[i].state == state &&
		    strcmp(v->counts[i].campaign, campaign) == 0)
			return &v->counts[i];
	v->counts = xreallocarray(v->counts, v->count + 1,
	    sizeof(v->counts[0]));
	c = &v->counts[v->count++];
	memset(c, 0, sizeof(*c));
	c->campaign = xstrdup(campaign);
	c->state = state;
	return c;
}

static void
view_success_set(struct view *v, const char *campaign, double unix_s)
{
	struct campaign *c = campaigns_find(v->p.campaigns, campaign);

	view_count_of(v, campaign, RUN_FINISHED)->last_success_unix_s = unix_s;
	if (c != NULL)
		c->last_success_unix_s = unix_s;
}

static void
view_last_set(struct view *v, const char *campaign, const char *run,
    enum run_state state)
{
	struct campaign *c = campaigns_find(v->p.campaigns, campaign);

	if (c == NULL)
		return;
	snprintf(c->last_run, sizeof(c->last_run), "%s", run);
	c->last_state = state;
}

void
view_run_changed(struct view *v, const struct run *r)
{
	struct run_facts f = run_facts(r);

	view_last_set(v, f.campaign, f.run, f.state);
	if (f.state == RUN_MISSED || f.state == RUN_OVERDUE ||
	    f.state == RUN_NONSTART) {
		struct view_silence *news = &v->news[f.state][f.cause];

		v->silence[f.state][f.cause]++;
		if (clk_ns() - news->last_ns > VIEW_NEWS_NS)
			news->count = 0;
		news->count++;
		news->last_ns = clk_ns();
	}
	if (!names_run_states[f.state].final)
		return;
	view_count_of(v, f.campaign, (int)f.state)->count++;
	if (f.state == RUN_FINISHED)
		view_success_set(v, f.campaign, f.ended_unix_s);
}

void
view_load(struct view *v, const json_t *runs)
{
	size_t i = json_array_size(runs);

	/* The oldest first, so that the newest stays. */
	while (i-- > 0) {
		const json_t *o = json_array_get(runs, i);
		const char *campaign = member_text(o, "campaign");
		const char *run = member_text(o, "run");
		int state = STR_FIND(names_run_states, member_text(o, "state"));

		if (campaign[0] == '\0' || run[0] == '\0' || state < 0)
			continue;
		view_last_set(v, campaign, run, (enum run_state)state);
		if (state == RUN_FINISHED)
			view_success_set(v, campaign,
			    (double)member_int(o, "ended_unix_ns") / 1e9);
	}
}

size_t
view_run_counts(struct view *v, const struct view_run_count **ret)
{
	*ret = v->counts;
	return v->count;
}

void
view_nodes(struct view *v, struct strbuf *ret)
{
	struct diagnosis *d = collector_diagnosis(v->p.collector);
	struct roster *r = collector_roster(v->p.collector);

	strbuf_add(ret, "[", 1);
	for (size_t i = 0; i < roster_count(r); i++) {
		struct node *n = roster_at(r, i);
		const char *run = runs_on_node(collector_runs(v->p.collector),
		    n);
		double score = diagnosis_score(d, n);

		if (i > 0)
			strbuf_add(ret, ",", 1);
		roster_text(n, ret);
		if (run != NULL)
			strbuf_addf(ret, ",\"run\":\"%s\"", run);
		if (isfinite(score))
			strbuf_addf(ret, ",\"score\":%.17g", score);
		strbuf_addf(ret, ",\"verdict\":\"%s\"}",
		    names_verdicts[diagnosis_of_node(d, n)]);
	}
	strbuf_add(ret, "]", 1);
}

json_t *
view_node(struct view *v, const char *node)
{
	const struct node *n = roster_find(collector_roster(v->p.collector),
	    node);
	const struct diagnosis *d = collector_diagnosis(v->p.collector);
	json_t *o, *evidence;
	const char *run;
	double score;

	if (n == NULL)
		return NULL;
	o = roster_json(n);
	run = runs_on_node(collector_runs(v->p.collector), n);
	if (run != NULL)
		json_object_set_new(o, "run", json_string(run));
	score = diagnosis_score(d, n);
	if (!isnan(score))
		json_object_set_new(o, "score", json_real(score));
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[diagnosis_of_node(d, n)]));
	evidence = diagnosis_node_json(d, n);
	if (evidence != NULL)
		json_object_set_new(o, "evidence", evidence);
	if (isfinite(view_outlier_threshold(v)))
		json_object_set_new(o, "outlier_threshold",
		    json_real(view_outlier_threshold(v)));
	return o;
}

int
view_has_jobs(struct view *v)
{
	return v->p.jobs != NULL;
}

void
view_job_owner(struct view *v, const char *user, char ret[VIEW_OWNER_BYTES])
{
	_Static_assert(VIEW_OWNER_BYTES == JOBS_OWNER_BYTES, "the same text");
	jobs_owner(v->p.jobs, user, ret);
}

json_t *
view_verdicts(struct view *v, int all)
{
	return diagnosis_json(collector_diagnosis(v->p.collector), all);
}

json_t *
view_links(struct view *v)
{
	return diagnosis_links(collector_diagnosis(v->p.collector), NULL);
}

json_t *
view_node_links(struct view *v, const char *node)
{
	const struct node *n = roster_find(collector_roster(v->p.collector),
	    node);

	return n != NULL
	    ? diagnosis_node_links(collector_diagnosis(v->p.collector), n)
	    : NULL;
}

json_t *
view_link_health(struct view *v)
{
	return diagnosis_link_health(collector_diagnosis(v->p.collector));
}

json_t *
view_shares(struct view *v)
{
	return diagnosis_shares(collector_diagnosis(v->p.collector));
}

json_t *
view_recent(struct view *v)
{
	return diagnosis_recent(collector_diagnosis(v->p.collector));
}

static void
view_event_put(struct view *v, const char *subject, const char *what,
    const char *by, const char *more)
{
	char text[300];

	snprintf(text, sizeof(text), "%s by %s%s%s", what, by,
	    more[0] == '\0' ? "" : ": ", more);
	log_info("order %s: %s", subject, text);
	store_put_event(v->p.store, "order", subject, text);
}

int
view_pin_check(const char *name)
{
	if (campaign_name_check(name) < 0)
		return -EINVAL;
	return strcmp(name, VIEW_RECENT) == 0 ? -EBUSY : 0;
}

void
view_pin(struct view *v, const char *name, const json_t *body, const char *by)
{
	store_put_baseline(v->p.store, name, body);
	view_event_put(v, name,
	    body != NULL ? "baseline pinned" : "baseline dropped", by, "");
	diagnosis_pin(collector_diagnosis(v->p.collector), name, body);
}

size_t
view_incidents(struct view *v, struct view_incident *ret, size_t cap)
{
	struct diagnosis_open *list = xcalloc(cap, sizeof(*list));
	size_t count = diagnosis_open_cases(collector_diagnosis(v->p.collector),
	    list, cap);

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct view_incident){ list[i].kind, list[i].subject,
			list[i].what, list[i].verdict };
	free(list);
	return count;
}

double
view_outlier_threshold(struct view *v)
{
	return diagnosis_threshold(collector_diagnosis(v->p.collector));
}

size_t
view_expiries(struct view *v, struct view_expiry ret[VIEW_EXPIRIES])
{
	struct sessions_expiry e;
	size_t count = 0;

	sessions_expiry(collector_sessions(v->p.collector), &e);
	const struct view_expiry all[VIEW_EXPIRIES] = {
		{ "ca", "", e.ca_unix_s },
		{ "collector", "", e.collector_unix_s },
		{ "agent", e.agent, e.agent_unix_s },
	};
	for (size_t i = 0; i < VIEW_EXPIRIES; i++)
		if (all[i].end_unix_s != 0)
			ret[count++] = all[i];
	return count;
}

struct events *
view_events(struct view *v)
{
	return v->p.events;
}

const struct series *
view_series(struct view *v)
{
	return v->p.series;
}

const char *
view_cluster_name(struct view *v)
{
	return v->p.cluster != NULL ? v->p.cluster : "";
}

json_t *
view_cluster(struct view *v)
{
	struct roster *r = collector_roster(v->p.collector);
	struct diagnosis_open open[INCIDENTS_MAX];
	size_t counts[VERDICT_MAX];
	json_t *verdicts = json_object();

	view_verdict_counts(v, counts);
	for (size_t i = 0; i < VERDICT_MAX; i++)
		json_object_set_new(verdicts, names_verdicts[i],
		    json_integer((json_int_t)counts[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:o, "
			 "s:I}",
	    "cluster", v->p.cluster, "collector", text_json(v->p.who), "url",
	    text_json(v->p.url), "page", text_json(v->p.page), "version",
	    COALMINE_VERSION, "at_unix_ns", (json_int_t)clk_unix_ns(), "nodes",
	    (json_int_t)roster_count(r), "reporting",
	    (json_int_t)(roster_count_state(r, AGENT_OK) +
		roster_count_state(r, AGENT_BUSY)),
	    "lost", (json_int_t)roster_count_state(r, AGENT_LOST), "verdicts",
	    verdicts, "incidents",
	    (json_int_t)diagnosis_open_cases(collector_diagnosis(
						 v->p.collector),
		open, INCIDENTS_MAX));
}

void
view_verdict_counts(struct view *v, size_t ret[VERDICT_MAX])
{
	diagnosis_counts(collector_diagnosis(v->p.collector), ret);
}

size_t
view_node_list(struct view *v, const struct view_node **ret)
{
	struct roster *r = collector_roster(v->p.collector);
	size_t count = roster_count(r);

	if (count > v->nodes_cap) {
		v->nodes_cap = count + count / 4;
		v->nodes = xreallocarray(v->nodes, v->nodes_cap,
		    sizeof(*v->nodes));
	}
	for (size_t i = 0; i < count; i++) {
		const struct node *n = roster_at(r, i);

		v->nodes[i] = (struct view_node){ .name = n->name,
			.leaf = n->leaf,
			.state = n->state,
			.since_unix_ns = n->since_unix_ns,
			.last_seen_unix_ns = n->last_seen_unix_ns,
			.spool_bytes = n->spool_bytes,
			.score = diagnosis_score(collector_diagnosis(
						     v->p.collector),
			    n),
			.verdict = diagnosis_of_node(collector_diagnosis(
							 v->p.collector),
			    n) };
	}
	*ret = v->nodes;
	return count;
}

static void
view_schedule_put(struct view *v, json_t *o, const struct campaign *c)
{
	json_object_set_new(o, "enabled",
	    json_boolean(scheduler_is_enabled(v->p.agenda, c)));
	json_object_set_new(o, "every_s",
	    json_real((double)c->schedule.every_ns / 1e9));
	json_object_set_new(o, "at",
	    json_string(conf_string(c->conf, "schedule", "at")));
	json_object_set_new(o, "window",
	    json_string(conf_string(c->conf, "schedule", "window")));
	if (c->next_unix_ns != 0)
		json_object_set_new(o, "next_unix_ns",
		    json_integer((json_int_t)c->next_unix_ns));
}

static void
view_last_put(json_t *o, const struct campaign *c)
{
	if (c->last_run[0] == '\0')
		return;
	json_object_set_new(o, "last_run", json_string(c->last_run));
	json_object_set_new(o, "last_state",
	    json_string(names_run_states[c->last_state].name));
}

static json_t *
view_campaign_json(struct view *v, const struct campaign *c)
{
	static const char *const keys[] = { "about", "class", "mpi", "launcher",
		"nodes" };
	json_t *o = json_pack("{s:s, s:b, s:s}", "campaign", c->name, "ok",
	    c->conf != NULL, "source", c->path == NULL ? "order" : c->path);

	if (c->error != NULL)
		json_object_set_new(o, "error", text_json(c->error));
	if (c->conf != NULL) {
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			json_object_set_new(o, keys[i],
			    json_string(
				conf_string(c->conf, "campaign", keys[i])));
		view_schedule_put(v, o, c);
	}
	view_last_put(o, c);
	return o;
}

json_t *
view_campaigns(struct view *v)
{
	const struct campaign *c;
	json_t *a = json_array();

	TAILQ_FOREACH (c, campaigns_list(v->p.campaigns), link)
		json_array_append_new(a, view_campaign_json(v, c));
	return a;
}

json_t *
view_campaign(struct view *v, const char *name)
{
	const struct campaign *c = campaigns_find(v->p.campaigns, name);
	json_t *o;

	if (c == NULL)
		return NULL;
	o = view_campaign_json(v, c);
	if (c->text != NULL)
		json_object_set_new(o, "text", text_json(c->text));
	return o;
}

json_t *
view_campaign_validate(struct view *v, const char *name, const char *text)
{
	struct schedule schedule;
	struct conf *c;
	char *rendered;
	struct err err;
	json_t *o;

	(void)v;
	if (campaign_parse(name, text, &c, &schedule, &err) < 0)
		return json_pack("{s:b, s:o}", "ok", 0, "error",
		    text_json(err.text));
	rendered = conf_render_given(c);
	o = json_pack("{s:b, s:o}", "ok", 1, "rendered", text_json(rendered));
	free(rendered);
	conf_free(c);
	return o;
}

json_t *
view_runs(struct view *v)
{
	return runs_json(collector_runs(v->p.collector));
}

json_t *
view_run(struct view *v, const char *run)
{
	return runs_json_one(collector_runs(v->p.collector), run);
}

json_t *
view_schedule(struct view *v)
{
	const struct campaign *c;
	json_t *a = json_array();

	TAILQ_FOREACH (c, campaigns_list(v->p.campaigns), link) {
		json_t *o;

		if (c->conf == NULL || c->path == NULL ||
		    !schedule_has(&c->schedule))
			continue;
		o = json_pack("{s:s}", "campaign", c->name);
		view_schedule_put(v, o, c);
		view_last_put(o, c);
		json_array_append_new(a, o);
	}
	return a;
}

int
view_submit(struct view *v, const char *campaign, const char *text,
    const json_t *overrides, const char *by, char ret_run[64], struct err *err)
{
	const struct campaign *c = campaigns_find(v->p.campaigns, campaign);
	struct run_order o = { .campaign = campaign,
		.by = by,
		.overrides = overrides };
	struct schedule schedule;
	struct conf *own = NULL;
	int rc;

	if (campaign_name_check(campaign) < 0)
		return err_set(err, -EINVAL, "not a name for a campaign");
	if (text != NULL) {
		rc = campaign_parse(campaign, text, &own, &schedule, err);
		if (rc < 0)
			return rc;
		campaigns_submit(v->p.campaigns, campaign, text, own,
		    &schedule);
	} else if (c == NULL) {
		return err_set(err, -ENOENT,
		    "no campaign %s; coalctl campaign list shows them",
		    campaign);
	} else if (c->error != NULL) {
		return err_set(err, -EINVAL, "%s", c->error);
	}
	o.conf = text != NULL ? own : c->conf;
	rc = runs_submit(collector_runs(v->p.collector), &o, ret_run, err);
	conf_free(own);
	if (rc == 0)
		view_event_put(v, campaign, "run ordered", by, ret_run);
	return rc;
}

int
view_cancel(struct view *v, const char *run, const char *by, struct err *err)
{
	int rc = runs_cancel(collector_runs(v->p.collector), run, by, err);

	if (rc == 0)
		view_event_put(v, run, "cancelled", by, "");
	return rc;
}

int
view_stop_all(struct view *v, const char *by)
{
	size_t count = runs_stop_all(collector_runs(v->p.collector), by);
	char more[64];

	snprintf(more, sizeof(more), "%zu runs ended", count);
	view_event_put(v, "stop", "everything stopped", by, more);
	return (int)count;
}

int
view_token(struct view *v, const char *names, int uses, uint64_t span_ns,
    const char *by, char *ret_token, struct err *err)
{
	const struct enroll_order o = { names, uses,
		(int64_t)(span_ns / CLK_NS_PER_S) };
	char text[200];
	int rc = enroll_token_new(v->p.enroll, &o, time(NULL), ret_token, err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "for %.100s", names);
	view_event_put(v, "enroll", "a token to enrol", by, text);
	return 0;
}

int
view_schedule_enable(struct view *v, const char *campaign, int enabled,
    const char *by, struct err *err)
{
	struct campaign *c = campaigns_find(v->p.campaigns, campaign);

	if (c == NULL)
		return err_set(err, -ENOENT,
		    "no campaign %s; coalctl campaign list shows them",
		    campaign);
	if (c->conf == NULL || c->path == NULL || !schedule_has(&c->schedule))
		return err_set(err, -EINVAL, "campaign %s has no schedule",
		    campaign);
	scheduler_enable(v->p.agenda, c, enabled);
	view_event_put(v, campaign,
	    enabled ? "schedule enabled" : "schedule disabled", by, "");
	return 0;
}
