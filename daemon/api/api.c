/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - nodes, campaigns and runs as JSON.
 */
#include "daemon/api/api.h"

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
#include "daemon/run/run_show.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/schedule.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/agents/enroll.h"
#include "daemon/collector.h"
#include "daemon/agents/session.h"
#include "daemon/cluster/differences.h"
#include "daemon/cluster/roster.h"
#include "daemon/run/run.h"
#include "daemon/store/store.h"
#include "daemon/jobs/jobs.h"
#include "daemon/api/api_int.h"

#define INCIDENTS_MAX 1000 /* more are as many */

struct api *
api_new(const struct api_parts *parts)
{
	struct api *api = xcalloc(1, sizeof(*api));

	api->p = *parts;
	api->born_unix_ns = clk_unix_ns();
	api->born_ns = clk_ns();
	return api;
}

void
api_free(struct api *api)
{
	if (api == NULL)
		return;
	for (size_t i = 0; i < api->count; i++)
		free((char *)(uintptr_t)api->counts[i].campaign);
	free(api->counts);
	free(api->nodes);
	json_decref(api->differences);
	free(api);
}

/* Return the row; creates it if it is missing. */
static struct api_run_count *
api_count_of(struct api *api, const char *campaign, int state)
{
	struct api_run_count *c;

	for (size_t i = 0; i < api->count; i++)
		if (api->counts[i].state == state &&
		    strcmp(api->counts[i].campaign, campaign) == 0)
			return &api->counts[i];
	api->counts = xreallocarray(api->counts, api->count + 1,
	    sizeof(api->counts[0]));
	c = &api->counts[api->count++];
	memset(c, 0, sizeof(*c));
	c->campaign = xstrdup(campaign);
	c->state = state;
	return c;
}

static void
api_success_set(struct api *api, const char *campaign, double unix_s)
{
	struct campaign *c = campaigns_find(api->p.campaigns, campaign);

	api_count_of(api, campaign, RUN_FINISHED)->last_success_unix_s = unix_s;
	if (c != NULL)
		c->last_success_unix_s = unix_s;
}

static void
api_last_set(struct api *api, const char *campaign, const char *run,
    enum run_state state)
{
	struct campaign *c = campaigns_find(api->p.campaigns, campaign);

	if (c == NULL)
		return;
	snprintf(c->last_run, sizeof(c->last_run), "%s", run);
	c->last_state = state;
}

/* Note a run that did not start or timed out. */
static void
api_news_note(struct api_run_count *c, const struct run_facts *f)
{
	if (clk_ns() - c->news_ns > API_NEWS_NS)
		c->news_count = 0;
	c->news_count++;
	c->news_ns = clk_ns();
	c->news_cause = f->cause;
	c->news_by_user = f->by_user;
}

/* Withdraw the news after a later run of the campaign has sent a record, or
 * finished. A run of a user does not show that scheduled runs start. */
static void
api_news_clear(struct api *api, const struct run_facts *f)
{
	for (size_t i = 0; i < api->count; i++) {
		struct api_run_count *c = &api->counts[i];

		if (f->created_ns > c->news_ns &&
		    (f->state == RUN_FINISHED ||
			(f->state == RUN_RUNNING &&
			    c->state != RUN_TIMED_OUT)) &&
		    (!f->by_user || c->news_by_user) &&
		    strcmp(c->campaign, f->campaign) == 0)
			c->news_count = 0;
	}
}

void
api_run_changed(void *arg, const struct run *r)
{
	struct api *api = arg;
	struct run_facts f = run_facts(r);
	struct api_run_count *c;

	api_last_set(api, f.campaign, f.run, f.state);
	if (f.state == RUN_MISSED || f.state == RUN_OVERDUE ||
	    f.state == RUN_NONSTART)
		api->silence[f.state][f.cause]++;
	api_news_clear(api, &f);
	if (!names_run_states[f.state].final)
		return;
	c = api_count_of(api, f.campaign, (int)f.state);
	c->count++;
	if (f.state == RUN_MISSED || f.state == RUN_TIMED_OUT ||
	    f.state == RUN_NONSTART)
		api_news_note(c, &f);
	if (f.state == RUN_FINISHED)
		api_success_set(api, f.campaign, f.ended_unix_s);
}

void
api_load(struct api *api, const json_t *runs)
{
	size_t i = json_array_size(runs);

	/* Process the oldest first, so that the newest remains. */
	while (i-- > 0) {
		const json_t *o = json_array_get(runs, i);
		const char *campaign = member_text(o, "campaign");
		const char *run = member_text(o, "run");
		int state = STR_FIND(names_run_states, member_text(o, "state"));

		if (campaign[0] == '\0' || run[0] == '\0' || state < 0)
			continue;
		api_last_set(api, campaign, run, (enum run_state)state);
		if (state == RUN_FINISHED)
			api_success_set(api, campaign,
			    (double)member_int(o, "ended_unix_ns") / 1e9);
	}
}

size_t
api_run_counts(struct api *api, const struct api_run_count **ret)
{
	*ret = api->counts;
	return api->count;
}

void
api_nodes(struct api *api, struct strbuf *ret)
{
	struct diagnosis *d = collector_diagnosis(api->p.collector);
	struct roster *r = collector_roster(api->p.collector);

	strbuf_add(ret, "[", 1);
	for (size_t i = 0; i < roster_count(r); i++) {
		struct node *n = roster_at(r, i);
		const char *run = runs_on_node(collector_runs(api->p.collector),
		    n);
		double score = diagnosis_score(d, n);
		char pending[DIAGNOSIS_PENDING_MAX];

		if (i > 0)
			strbuf_add(ret, ",", 1);
		roster_text(n, ret);
		if (run != NULL)
			strbuf_addf(ret, ",\"run\":\"%s\"", run);
		if (isfinite(score))
			strbuf_addf(ret, ",\"score\":%.17g", score);
		if (diagnosis_pending(d, n, pending))
			strbuf_addf(ret, ",\"pending\":\"%s\"", pending);
		strbuf_addf(ret, ",\"verdict\":\"%s\"}",
		    names_verdicts[diagnosis_of_node(d, n)]);
	}
	strbuf_add(ret, "]", 1);
}

json_t *
api_node(struct api *api, const char *node)
{
	const struct node *n = roster_find(collector_roster(api->p.collector),
	    node);
	const struct diagnosis *d = collector_diagnosis(api->p.collector);
	char pending[DIAGNOSIS_PENDING_MAX];
	json_t *o, *evidence;
	const char *run;
	double score;

	if (n == NULL)
		return NULL;
	o = roster_json(n);
	run = runs_on_node(collector_runs(api->p.collector), n);
	if (run != NULL)
		json_object_set_new(o, "run", json_string(run));
	score = diagnosis_score(d, n);
	if (!isnan(score))
		json_object_set_new(o, "score", json_real(score));
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[diagnosis_of_node(d, n)]));
	if (diagnosis_pending(d, n, pending))
		json_object_set_new(o, "pending", json_string(pending));
	evidence = diagnosis_node_json(d, n);
	if (evidence != NULL)
		json_object_set_new(o, "evidence", evidence);
	if (isfinite(api_outlier_threshold(api)))
		json_object_set_new(o, "outlier_threshold",
		    json_real(api_outlier_threshold(api)));
	return o;
}

int
api_has_jobs(struct api *api)
{
	return collector_jobs(api->p.collector) != NULL;
}

void
api_job_owner(struct api *api, const char *user, char ret[API_OWNER_BYTES])
{
	_Static_assert(API_OWNER_BYTES == JOBS_OWNER_BYTES, "the same text");
	jobs_owner(collector_jobs(api->p.collector), user, ret);
}

json_t *
api_job_ras(struct api *api, const json_t *job)
{
	return jobs_ras_json(collector_jobs(api->p.collector), job);
}

json_t *
api_jobs_ras(struct api *api)
{
	return jobs_ras_list(collector_jobs(api->p.collector));
}

void
api_jobs_ras_counts(struct api *api, size_t ret[JOB_FINDING_MAX])
{
	jobs_ras_counts(collector_jobs(api->p.collector), ret);
}

json_t *
api_verdicts(struct api *api, int all)
{
	return diagnosis_json(collector_diagnosis(api->p.collector), all);
}

json_t *
api_suspects(struct api *api)
{
	return diagnosis_suspects(collector_diagnosis(api->p.collector));
}

json_t *
api_links(struct api *api)
{
	return diagnosis_links(collector_diagnosis(api->p.collector), NULL);
}

json_t *
api_node_links(struct api *api, const char *node)
{
	const struct node *n = roster_find(collector_roster(api->p.collector),
	    node);

	return n != NULL
	    ? diagnosis_node_links(collector_diagnosis(api->p.collector), n)
	    : NULL;
}

json_t *
api_link_health(struct api *api)
{
	return diagnosis_link_health(collector_diagnosis(api->p.collector));
}

json_t *
api_shares(struct api *api)
{
	return diagnosis_shares(collector_diagnosis(api->p.collector));
}

json_t *
api_objectives(struct api *api)
{
	return objectives_json(collector_objectives(api->p.collector),
	    clk_unix_ns());
}

size_t
api_objectives_count(struct api *api)
{
	return objectives_count(collector_objectives(api->p.collector));
}

void
api_objective(struct api *api, size_t at, struct objectives_view *ret)
{
	objectives_look(collector_objectives(api->p.collector), at,
	    clk_unix_ns(), ret);
}

/* Health checks and clients ask often; a comparison of all nodes takes at most
 * 1 / SHARE_OF of the time. */
#define SHARE_OF 100

json_t *
api_differences(struct api *api)
{
	struct roster *r = collector_roster(api->p.collector);
	uint64_t now_ns = clk_ns();
	struct differences *d;

	if (api->differences != NULL &&
	    now_ns - api->differences_ns < SHARE_OF * api->differences_took_ns)
		return json_incref(api->differences);
	d = differences_new();
	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (roster_is_watched(n))
			differences_add(d, n->name, n->leaf, n->inventory);
	}
	json_decref(api->differences);
	api->differences = differences_end(d);
	api->differences_ns = clk_ns();
	api->differences_took_ns = api->differences_ns - now_ns;
	return json_incref(api->differences);
}

json_t *
api_recent(struct api *api)
{
	return diagnosis_recent(collector_diagnosis(api->p.collector));
}

size_t
api_incidents(struct api *api, struct api_incident *ret, size_t cap)
{
	struct diagnosis_open *list = xcalloc(cap, sizeof(*list));
	size_t count = diagnosis_open_cases(collector_diagnosis(
						api->p.collector),
	    list, cap);

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct api_incident){ list[i].kind, list[i].subject,
			list[i].text, list[i].what, list[i].verdict };
	free(list);
	return count;
}

double
api_outlier_threshold(struct api *api)
{
	return diagnosis_threshold(collector_diagnosis(api->p.collector));
}

size_t
api_expiries(struct api *api, struct api_expiry ret[API_EXPIRIES])
{
	struct sessions_expiry e;
	size_t count = 0;

	sessions_expiry(collector_sessions(api->p.collector), &e);
	const struct api_expiry all[API_EXPIRIES] = {
		{ "ca", "", e.ca_unix_s },
		{ "collector", "", e.collector_unix_s },
		{ "agent", e.agent, e.agent_unix_s },
	};
	for (size_t i = 0; i < API_EXPIRIES; i++)
		if (all[i].end_unix_s != 0)
			ret[count++] = all[i];
	return count;
}

struct events *
api_events(struct api *api)
{
	return api->p.events;
}

const struct series *
api_series(struct api *api)
{
	return api->p.series;
}

const char *
api_cluster_name(struct api *api)
{
	return api->p.cluster != NULL ? api->p.cluster : "";
}

json_t *
api_cluster(struct api *api)
{
	struct roster *r = collector_roster(api->p.collector);
	struct diagnosis_open open[INCIDENTS_MAX];
	size_t counts[VERDICT_MAX];
	json_t *verdicts = json_object();

	api_verdict_counts(api, counts);
	for (size_t i = 0; i < VERDICT_MAX; i++)
		json_object_set_new(verdicts, names_verdicts[i],
		    json_integer((json_int_t)counts[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, "
			 "s:o, s:I}",
	    "cluster", api->p.cluster, "collector", text_json(api->p.who),
	    "url", text_json(api->p.url), "page", text_json(api->p.page),
	    "version", COALMINE_VERSION, "at_unix_ns",
	    (json_int_t)clk_unix_ns(), "nodes", (json_int_t)roster_count(r),
	    "reporting",
	    (json_int_t)(roster_count_state(r, AGENT_OK) +
		roster_count_state(r, AGENT_BUSY)),
	    "lost", (json_int_t)roster_count_state(r, AGENT_LOST),
	    "maintenance", (json_int_t)roster_count_state(r, AGENT_MAINTENANCE),
	    "verdicts", verdicts, "incidents",
	    (json_int_t)diagnosis_open_cases(collector_diagnosis(
						 api->p.collector),
		open, INCIDENTS_MAX));
}

void
api_verdict_counts(struct api *api, size_t ret[VERDICT_MAX])
{
	diagnosis_counts(collector_diagnosis(api->p.collector), ret);
}

size_t
api_node_list(struct api *api, const struct api_node **ret)
{
	struct roster *r = collector_roster(api->p.collector);
	size_t count = roster_count(r);

	if (count > api->nodes_cap) {
		api->nodes_cap = count + count / 4;
		api->nodes = xreallocarray(api->nodes, api->nodes_cap,
		    sizeof(*api->nodes));
	}
	for (size_t i = 0; i < count; i++) {
		const struct node *n = roster_at(r, i);

		api->nodes[i] = (struct api_node){ .name = n->name,
			.leaf = n->leaf,
			.state = n->state,
			.since_unix_ns = n->since_unix_ns,
			.last_seen_unix_ns = n->last_seen_unix_ns,
			.maintenance_until_unix_ns =
			    n->maintenance.until_unix_ns,
			.numbers = n->numbers,
			.score = diagnosis_score(collector_diagnosis(
						     api->p.collector),
			    n),
			.verdict = diagnosis_of_node(collector_diagnosis(
							 api->p.collector),
			    n) };
	}
	*ret = api->nodes;
	return count;
}

static void
api_schedule_put(struct api *api, json_t *o, const struct campaign *c)
{
	json_object_set_new(o, "enabled",
	    json_boolean(scheduler_is_enabled(api->p.scheduler, c)));
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
api_last_put(json_t *o, const struct campaign *c)
{
	if (c->last_run[0] == '\0')
		return;
	json_object_set_new(o, "last_run", json_string(c->last_run));
	json_object_set_new(o, "last_state",
	    json_string(names_run_states[c->last_state].name));
}

static json_t *
api_campaign_json(struct api *api, const struct campaign *c)
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
		api_schedule_put(api, o, c);
	}
	api_last_put(o, c);
	return o;
}

json_t *
api_campaigns(struct api *api)
{
	const struct campaign *c;
	json_t *a = json_array();

	TAILQ_FOREACH (c, campaigns_list(api->p.campaigns), link)
		json_array_append_new(a, api_campaign_json(api, c));
	return a;
}

json_t *
api_campaign(struct api *api, const char *name)
{
	const struct campaign *c = campaigns_find(api->p.campaigns, name);
	json_t *o;

	if (c == NULL)
		return NULL;
	o = api_campaign_json(api, c);
	if (c->text != NULL)
		json_object_set_new(o, "text", text_json(c->text));
	return o;
}

json_t *
api_campaign_validate(const char *name, const char *text)
{
	struct schedule schedule;
	struct conf *c;
	char *rendered;
	struct err err;
	json_t *o;

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
api_runs(struct api *api, int is_brief)
{
	return runs_json(collector_runs(api->p.collector), is_brief);
}

json_t *
api_run(struct api *api, const char *run)
{
	return runs_json_one(collector_runs(api->p.collector), run);
}

json_t *
api_schedule(struct api *api)
{
	const struct campaign *c;
	json_t *a = json_array();

	TAILQ_FOREACH (c, campaigns_list(api->p.campaigns), link) {
		json_t *o;

		if (c->conf == NULL || c->path == NULL ||
		    !schedule_has(&c->schedule))
			continue;
		o = json_pack("{s:s}", "campaign", c->name);
		api_schedule_put(api, o, c);
		api_last_put(o, c);
		json_array_append_new(a, o);
	}
	return a;
}
