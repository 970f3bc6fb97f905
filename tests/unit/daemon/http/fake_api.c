/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_api.c - a cluster simulated in memory behind api.h, for tests of its
 * callers. fake_nodes_count and the fake_ answers may be set first.
 */
#include "tests/unit/daemon/http/fake_api.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/events/events.h"
#include "schema/node_numbers.h"

struct fake fake = { .nodes = 12 };

static enum agent_state
fake_state(int i)
{
	static const enum agent_state states[] = { AGENT_OK, AGENT_OK, AGENT_OK,
		AGENT_LATE, AGENT_OK, AGENT_OK, AGENT_BUSY, AGENT_OK,
		AGENT_LOST, AGENT_OK, AGENT_OK };

	return states[i % 11];
}

/* Small clusters have leaves of four, like the lab. */
static void
fake_leaf(int i, char ret[32])
{
	snprintf(ret, 32, "leaf%d", i / (fake.nodes > 48 ? 32 : 4) + 1);
}

/* All but one are like their peers. */
static double
fake_score(int i)
{
	return i + 1 == fake.scored ? 9.5 : (i * 7 % 11 - 5) / 8.0;
}

static json_t *
fake_node(int i)
{
	json_int_t now = (json_int_t)clk_unix_ns();
	char name[32], leaf[32];
	json_t *node;

	snprintf(name, sizeof(name), "node%d", i + 1);
	fake_leaf(i, leaf);
	node = json_pack("{s:s,s:s,s:I,s:I,s:s,s:s,"
			 "s:{s:i,s:[{s:s,s:s,s:s,s:f}]},s:i,s:f,s:s,s:s}",
	    "node", fake.first_node != NULL && i == 0 ? fake.first_node : name,
	    "state", names_agent_states[fake_state(i)], "since_unix_ns",
	    now - (json_int_t)(3600 * CLK_NS_PER_S), "last_seen_unix_ns",
	    now - (json_int_t)(i % 11 == 8 ? 5000 * CLK_NS_PER_S : 1), "addr",
	    "10.0.0.1", "software", "0.1.0", "inventory", "cores", 64, "nics",
	    "name", "mlx5_0", "kind", "infiniband", "state", "ACTIVE",
	    "speed_bps", 4e11, "spool_bytes", 100 * i, "load", 0.1, "leaf",
	    leaf, "verdict", names_verdicts[VERDICT_OK]);
	if (fake.scored)
		json_object_set_new(node, "score", json_real(fake_score(i)));
	return node;
}

void
api_nodes(struct api *api, struct strbuf *ret)
{
	json_t *list = json_array();
	char *text;

	(void)api;
	fake.made_ns += fake.make_ns;
	for (int i = 0; i < fake.nodes; i++)
		json_array_append_new(list, fake_node(i));
	text = json_dumps(list, JSON_COMPACT);
	strbuf_add(ret, text, strlen(text));
	free(text);
	json_decref(list);
}

size_t
api_node_list(struct api *api, const struct api_node **ret)
{
	static struct api_node *nodes;
	static struct {
		char name[32];
		char leaf[32];
		double numbers[NODE_NUMBERS];
	} * texts;
	uint64_t now = clk_unix_ns();

	(void)api;
	nodes = xreallocarray(nodes, (size_t)fake.nodes + 1, sizeof(*nodes));
	texts = xreallocarray(texts, (size_t)fake.nodes + 1, sizeof(*texts));
	for (int i = 0; i < fake.nodes; i++) {
		snprintf(texts[i].name, sizeof(texts[i].name), "node%d", i + 1);
		fake_leaf(i, texts[i].leaf);
		texts[i].numbers[0] = 100 * i; /* spool_bytes */
		nodes[i] = (struct api_node){ .name = texts[i].name,
			.leaf = texts[i].leaf,
			.state = fake_state(i),
			.since_unix_ns = fake.since_unix_ns != 0
			    ? fake.since_unix_ns
			    : now - 3600 * CLK_NS_PER_S,
			.last_seen_unix_ns = now -
			    (i % 11 == 8 ? 5000 * CLK_NS_PER_S : 1),
			.numbers = texts[i].numbers,
			.score = fake.scored ? fake_score(i) : NAN };
	}
	if (fake.first_node != NULL && fake.nodes > 0)
		nodes[0].name = fake.first_node;
	*ret = nodes;
	return (size_t)fake.nodes;
}

json_t *
api_node(struct api *api, const char *node)
{
	(void)api;
	for (int i = 0; i < fake.nodes; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node%d", i + 1);
		if (strcmp(node, name) == 0) {
			json_t *one = fake_node(i);

			json_object_set_new(one, "outlier_threshold",
			    json_real(api_outlier_threshold(api)));
			return one;
		}
	}
	return NULL;
}

/* node3 is slow, and so is the uplink of leaf2. */
json_t *
api_job_ras(struct api *api, const json_t *job)
{
	(void)api;
	(void)job;
	return NULL;
}

json_t *
api_jobs_ras(struct api *api)
{
	(void)api;
	return json_array();
}

void
api_jobs_ras_counts(struct api *api, size_t ret[JOB_FINDING_MAX])
{
	(void)api;
	memset(ret, 0, JOB_FINDING_MAX * sizeof(*ret));
	ret[JOB_STALLED] = 1;
}

int
api_has_jobs(struct api *api)
{
	(void)api;
	return fake.jobs;
}

void
api_job_owner(struct api *api, const char *user, char ret[API_OWNER_BYTES])
{
	(void)api;
	snprintf(ret, API_OWNER_BYTES, "user-of-%.200s", user);
}

json_t *
api_verdicts(struct api *api, int all)
{
	(void)api;
	(void)all;
	if (fake.verdicts != NULL)
		return json_deep_copy(fake.verdicts);
	return json_pack("[{s:s,s:s,s:s,s:s,s:s,s:I},{s:s,s:s,s:s,s:s,s:s,s:I}"
			 "]",
	    "kind", "node", "subject", "node3", "verdict", "bad", "what",
	    "node", "text", "node3: 28 % slower than 5 of 5 partners",
	    "since_unix_ns", (json_int_t)1, "kind", "leaf", "subject", "leaf2",
	    "verdict", "warn", "what", "link", "text",
	    "leaf2: 40 % slower than other leaves", "since_unix_ns",
	    (json_int_t)1);
}

json_t *
api_recent(struct api *api)
{
	(void)api;
	return json_pack("{s:s, s:[{s:s, s:s}]}", "run", "", "records", "probe",
	    "canary", "test", "lat");
}

void
orders_pin(struct api *api, const char *name, const json_t *body,
    const char *by)
{
	(void)api;
	(void)by;
	(void)name;
	(void)body;
}

int
orders_node_maintain(struct api *api, const char *node, uint64_t span_ns,
    const char *reason, const char *by, struct err *err)
{
	(void)api;
	(void)by;
	(void)reason;
	if (strcmp(node, "node1") == 0)
		return 0;
	return err_set(err, -ENOENT, "no node %s for %g s", node,
	    (double)span_ns / 1e9);
}

int
orders_node_forget(struct api *api, const char *node, const char *by,
    struct err *err)
{
	(void)api;
	(void)by;
	return err_set(err, -EBUSY, "%s is connected", node);
}

int
orders_pin_check(const char *name)
{
	if (strchr(name, '/') != NULL || name[0] == '\0' || name[0] == '-')
		return -EINVAL;
	return strcmp(name, API_RECENT) == 0 ? -EBUSY : 0;
}

double
api_outlier_threshold(struct api *api)
{
	(void)api;
	return 3.5;
}

size_t
api_expiries(struct api *api, struct api_expiry ret[API_EXPIRIES])
{
	(void)api;
	ret[0] = (struct api_expiry){ "ca", "", 2000000000 };
	ret[1] = (struct api_expiry){ "agent", "node7", 1900000000 };
	return 2;
}

/* Two sinks, one of them away for a minute. */
struct events *
api_events(struct api *api)
{
	(void)api;
	return (struct events *)&fake;
}

size_t
events_count(const struct events *e)
{
	return e == NULL ? 0 : 2;
}

void
events_look(struct events *e, size_t at, struct events_sink *ret)
{
	(void)e;
	*ret = at == 0
	    ? (struct events_sink){ .name = "nats n1:4222", .sent = 7 }
	    : (struct events_sink){ .name = "webhook h:80",
		      .refused = 1,
		      .expired = 2,
		      .failures = 3,
		      .oldest_unix_ns = clk_unix_ns() - 60 * CLK_NS_PER_S,
		      .error = "status 503" };
}

void
events_tell(struct events *e, const struct store_event *event)
{
	(void)e;
	if (fake.told == NULL)
		fake.told = json_array();
	json_array_append_new(fake.told,
	    json_pack("{s:s, s:s, s:s, s:O}", "kind", event->kind, "subject",
		event->subject, "text", event->text, "body",
		(json_t *)(uintptr_t)event->body));
}

const struct series *
api_series(struct api *api)
{
	static struct series *empty;

	(void)api;
	if (empty == NULL)
		empty = series_new();
	return fake.series != NULL ? fake.series : empty;
}

size_t
api_incidents(struct api *api, struct api_incident *ret, size_t cap)
{
	static const struct api_incident cases[] = {
		{ "node", "node3", "node3: 28 % slower than 5 of 5 partners",
		    WHAT_NODE, VERDICT_BAD },
		{ "leaf", "leaf2", "leaf2: 40 % slower than other leaves",
		    WHAT_LINK, VERDICT_WARN },
	};

	(void)api;
	assert(cap >= 2);
	memcpy(ret, cases, sizeof(cases));
	return 2;
}

const char *
api_cluster_name(struct api *api)
{
	(void)api;
	return fake.cluster != NULL ? fake.cluster : "";
}

json_t *
api_cluster(struct api *api)
{
	return json_pack("{s:s, s:s, s:I, s:i, s:i, s:i, s:{s:i}, s:i}",
	    "cluster", api_cluster_name(api), "url", "https://here:1",
	    "at_unix_ns", (json_int_t)clk_unix_ns(), "nodes", fake.nodes,
	    "reporting", fake.nodes, "lost", 0, "verdicts", "ok", fake.nodes,
	    "incidents", 0);
}

void
api_verdict_counts(struct api *api, size_t ret[VERDICT_MAX])
{
	(void)api;
	memset(ret, 0, VERDICT_MAX * sizeof(*ret));
	ret[VERDICT_OK] = (size_t)fake.nodes - 1;
	ret[VERDICT_BAD] = 1;
}

json_t *
api_campaigns(struct api *api)
{
	(void)api;
	return json_pack("[{s:s,s:s,s:b,s:b},{s:s,s:b,s:s}]", "campaign",
	    "quick", "class", "exclusive", "ok", 1, "enabled", 1, "campaign",
	    "broken", "ok", 0, "error", "broken.conf:3: unknown key");
}

json_t *
api_campaign(struct api *api, const char *name)
{
	(void)api;
	return strcmp(name, "quick") == 0 || strcmp(name, "matrix") == 0
	    ? json_pack("{s:s,s:s}", "campaign", name, "text", "[campaign]\n")
	    : NULL;
}

json_t *
api_campaign_validate(const char *name, const char *text)
{
	fake.made_ns += fake.make_ns;
	(void)name;
	return json_pack("{s:b}", "ok", text[0] == '[');
}

json_t *
api_runs(struct api *api, int is_brief)
{
	(void)is_brief;
	(void)api;
	return fake.runs != NULL ? json_deep_copy(fake.runs) : json_array();
}

json_t *
api_run(struct api *api, const char *run)
{
	json_t *one;
	size_t i;

	(void)api;
	json_array_foreach (fake.runs, i, one)
		if (strcmp(json_string_value(json_object_get(one, "run")),
			run) == 0)
			return json_deep_copy(one);
	return NULL;
}

json_t *
api_schedule(struct api *api)
{
	(void)api;
	return json_pack("[{s:s,s:b,s:i,s:I,s:s}]", "campaign", "quick",
	    "enabled", 1, "every_s", 300, "next_unix_ns",
	    (json_int_t)(clk_unix_ns() + 100 * CLK_NS_PER_S), "last_state",
	    "finished");
}

int
orders_submit(struct api *api, const char *campaign, const char *text,
    const json_t *overrides, const char *by, char ret_run[64],
    char **ret_unseen, struct err *err)
{
	(void)api;
	(void)text;
	(void)overrides;
	(void)ret_unseen;
	snprintf(fake.last_by, sizeof(fake.last_by), "%s", by);
	if (strcmp(campaign, "quick") == 0) {
		snprintf(ret_run, 64, "quick-1");
		return 0;
	}
	return err_set(err, -ENOENT, "no campaign %s", campaign);
}

int
orders_cancel(struct api *api, const char *run, const char *by, struct err *err)
{
	(void)api;
	(void)by;
	if (strcmp(run, "live-1") == 0)
		return 0;
	return err_set(err, -EALREADY, "run %s is over", run);
}

int
orders_token(struct api *api, const char *names, int uses, uint64_t span_ns,
    const char *by, char *ret_token, struct err *err)
{
	(void)api;
	(void)by;
	(void)uses;
	(void)span_ns;
	if (strcmp(names, "*") != 0)
		return err_set(err, -EINVAL, "no such names");
	strcpy(ret_token, "coalmine1-a-b");
	return 0;
}

int
orders_stop_all(struct api *api, const char *by)
{
	(void)api;
	(void)by;
	fake.stopped++;
	return 2;
}

int
orders_schedule_enable(struct api *api, const char *campaign, int enabled,
    const char *by, struct err *err)
{
	(void)api;
	(void)campaign;
	(void)by;
	(void)err;
	fake.enabled = enabled;
	return 0;
}

json_t *
diags_json(struct api *api)
{
	(void)api;
	return fake.diags != NULL ? json_deep_copy(fake.diags) : json_array();
}

size_t
api_run_counts(struct api *api, const struct api_run_count **ret)
{
	static const struct api_run_count rows[] = {
		{ .campaign = "quick",
		    .state = RUN_FINISHED,
		    .count = 7,
		    .last_success_unix_s = 1.7e9 },
		{ .campaign = "canary",
		    .state = RUN_FINISHED,
		    .count = 70,
		    .last_success_unix_s = 1800000000.125 },
		{ .campaign = "quick",
		    .state = RUN_FAILED,
		    .count = 1,
		    .last_success_unix_s = 1.7e9 },
	};

	(void)api;
	*ret = rows;
	return 3;
}

json_t *
forecast_json(struct api *api, uint64_t span_ns)
{
	(void)api;
	(void)span_ns;
	return json_pack("[{s:s,s:I,s:s},{s:s,s:I,s:s,s:s}]", "campaign",
	    "quick", "at_unix_ns",
	    (json_int_t)(clk_unix_ns() + 600 * CLK_NS_PER_S), "answer", "runs",
	    "campaign", "quick", "at_unix_ns",
	    (json_int_t)(clk_unix_ns() + 7200 * CLK_NS_PER_S), "answer",
	    "missed", "why", "a blackout from 08:00 to 18:00");
}

json_t *
api_budget_json(struct api *api)
{
	(void)api;
	return json_object();
}

json_t *
api_identifiable(struct api *api)
{
	(void)api;
	return json_object();
}

json_t *
api_differences(struct api *api)
{
	(void)api;
	return json_pack("{s:[]}", "differences");
}

json_t *
api_coverage(struct api *api)
{
	(void)api;
	return json_object();
}

json_t *
api_links(struct api *api)
{
	(void)api;
	return json_pack("[{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:f,s:b},"
			 "{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:f,s:b}]",
	    "node", "node2", "leaf", "leaf1", "port", "mlx5_1/1", "kind",
	    "flap", "counter", "link_downed", "errors", 1, "span_s", 900,
	    "looks", 3, "looks_with_errors", 1, "usual", 0.01, "named", 0,
	    "node", "node3", "leaf", "leaf1", "port", "mlx5_0/1", "kind",
	    "corruption", "counter", "symbol_error", "errors", 4120, "span_s",
	    2100, "looks", 7, "looks_with_errors", 7, "usual", 0.001, "named",
	    1);
}

json_t *
api_node_links(struct api *api, const char *node)
{
	(void)api;
	return json_pack("{s:s, s:b, s:[{s:s, s:{s:s,s:f,s:s,s:s},"
			 "s:[{s:s,s:s,s:f,s:f,s:i,s:b}]}]}",
	    "node", node, "watched", 1, "ports", "port", "mlx5_0/1", "is",
	    "state", "ACTIVE", "speed_bps", 4e11, "pcie", "gen 5 x8",
	    "pcie_max", "gen 5 x16", "counters", "counter", "symbol_error",
	    "kind", "corruption", "hour", 1203.4, "day", 3900.25, "total", 4120,
	    "named", 1);
}

/* Two classes; one port of the second is the worst of its kind. */
json_t *
api_link_health(struct api *api)
{
	(void)api;
	return json_pack("{s:[{s:s,s:i,s:{}},{s:s,s:i,s:{s:{s:i,s:i}}}],"
			 "s:[{s:s,s:s,s:s,s:s,s:f,s:f}]}",
	    "classes", "class", "no GPU", "ports", 4, "kinds", "class",
	    "8 nvidia", "ports", 160, "kinds", "corruption", "errors", 31,
	    "ports", 1, "worst", "node", "node3", "port", "ib\"0/1", "counter",
	    "symbol_error", "kind", "corruption", "hour", 12.5, "day", 31.0);
}

json_t *
api_shares(struct api *api)
{
	(void)api;
	return json_object();
}

/* Fields of objectives are set by tests. */
json_t *
api_objectives(struct api *api)
{
	(void)api;
	return json_array();
}

size_t
api_objectives_count(struct api *api)
{
	(void)api;
	return fake.objective_count;
}

void
api_objective(struct api *api, size_t at, struct objectives_view *ret)
{
	(void)api;
	*ret = fake.objectives[at];
}

/* Half of the pairs, no leaves to speak of, and a limit on bytes alone. */
void
api_always(struct api *api, struct api_always *ret)
{
	static struct hist rtt_s;

	(void)api;
	memset(ret, 0, sizeof(*ret));
	ret->coverage[0] = (struct api_share){ "pairs", 3, 6 };
	ret->coverage[1] = (struct api_share){ "leaves", 0, 0 };
	ret->coverage[2] = (struct api_share){ "links", 4, 4 };
	ret->coverage[3] = (struct api_share){ "uplinks", 0, 2 };
	ret->budget[0] = (struct api_budget){ "bytes", 1e9, 5e8, 0, 7e8 };
	ret->budget[1] = (struct api_budget){ "node_seconds", 0, 60, 0, 60 };
	ret->mesh_nodes = 4;
	hist_clear(&rtt_s);
	hist_add_many(&rtt_s, 16e-6, 10);
	ret->mesh[MESH_SPINE] = (struct api_mesh){ 10, 2, 0, &rtt_s };
	ret->silence[RUN_MISSED][CAUSE_BUSY] = 3;
}
