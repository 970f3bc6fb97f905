/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_read.c - read requests: the cluster's state from memory through api.h,
 * stored data through the store's reader thread. Lists are arrays, single items
 * objects.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/api/forecast.h"
#include "daemon/diags/diags.h"
#include "daemon/http/http_int.h"
#include "daemon/http/http_answer.h"
#include "daemon/http/http_parse.h"

/* With 15 digits 0.1 stays 0.1. */
#define HTTP_JSON      (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define CHECK_LIMIT_NS (600 * CLK_NS_PER_S)
#define PORT_MAX       65535
#define PORT_DEFAULT   "9100" /* node_exporter, which most nodes have */
#define HOURS_MAX      336    /* a fortnight */
/* An active collector is considered dead after this long without contact: of
 * its database session, if it has no lease; of its regular reports, whose clock
 * may differ from ours by half a minute. */
#define CLUSTER_LEASE_NS ((int64_t)(30 * CLK_NS_PER_S))
#define CLUSTER_TOLD_NS  ((int64_t)(90 * CLK_NS_PER_S))

static const struct errno_row {
	int rc;
	int status;
	const char *cause;
	const char *message;
} errno_rows[] = {
	{ -ENOENT, 404, "not-found", "not found" },
	{ -EINVAL, 400, "config", "bad request" },
	{ -EEXIST, 409, "exists", "already exists" },
	{ -EALREADY, 409, "state", "already in that state" },
	{ -EBUSY, 409, "busy", "in use" },
	{ -EACCES, 403, "forbidden", "permission denied for the collector" },
	{ -EPERM, 403, "forbidden", "permission denied for the collector" },
	{ -EAGAIN, 503, "busy", "too many requests are waiting: retry" },
	{ -ETIMEDOUT, 503, "timeout", "timeout: request less data" },
	{ -ECANCELED, 503, "cancelled", "the collector is stopping" },
	{ -ENOTCONN, 503, "away", "the store's database is unreachable" },
	{ -ENOTSUP, 501, "config",
	    "use the tools of the database server: pg_dump" },
	{ -ENOSPC, 507, "disk-full", "no space left on the disk" },
};

void
http_fail_errno(struct http_request *req, int rc, const char *message)
{
	for (size_t i = 0; i < ARRAY_LEN(errno_rows); i++) {
		const struct errno_row *row = &errno_rows[i];

		if (row->rc != rc)
			continue;
		http_fail(req, row->status, row->cause,
		    message != NULL && message[0] != '\0' ? message
							  : row->message);
		return;
	}
	http_fail(req, 500, "internal",
	    message != NULL && message[0] != '\0' ? message : strerror(-rc));
}

static void
http_read_free_text(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	free(arg);
}

/* Takes text. headers may be NULL. */
static void
http_read_reply_text(struct http_request *req, int status, char *text,
    const char *headers)
{
	struct evbuffer *body = evbuffer_new();

	evbuffer_add_reference(body, text, strlen(text), http_read_free_text,
	    text);
	evbuffer_add(body, "\n", 1);
	http_reply(req,
	    &(struct http_answer){ .status = status, .headers = headers },
	    body);
}

void
http_reply_json(struct http_request *req, int status, json_t *value)
{
	char *text = value != NULL
	    ? json_dumps(value, HTTP_JSON | JSON_ENCODE_ANY)
	    : NULL;

	json_decref(value);
	if (text == NULL)
		http_fail(req, 500, "internal", "the reply is not JSON");
	else
		http_read_reply_text(req, status, text, NULL);
}

static void
http_read_store_answer_cb(int status, json_t *result, void *arg)
{
	struct http_request *req = arg;

	if (status < 0)
		http_fail_errno(req, status, NULL);
	else
		http_reply_json(req, 200, result);
}

void
http_ask(struct http *h, struct http_request *req, enum store_question what,
    json_t *args)
{
	store_ask_for(h->store, what, args, req, http_read_store_answer_cb,
	    req);
	json_decref(args);
}

int
http_args(struct http_request *req, json_t *args, const char *const *names)
{
	struct err err;

	for (; *names != NULL; names++) {
		int is_number = **names == '#', rc = 0;
		const char *name = *names + is_number;
		const char *value = http_param(&req->head, name);
		int64_t number;

		if (value == NULL)
			continue;
		if (!is_number)
			rc = json_object_set_new(args, name,
			    json_string(value));
		else if (str_to_int(value, 0, INT64_MAX, &number) == 0)
			json_object_set_new(args, name, json_integer(number));
		else
			rc = -EINVAL;
		if (rc == 0)
			continue;
		err_say(&err, "%s must be %s", name,
		    is_number ? "a whole number" : "UTF-8");
		http_fail(req, 400, "config", err.text);
		return -EINVAL;
	}
	return 0;
}

void
http_get_counters(struct http *h, struct http_request *req, const char *part)
{
	http_ask(h, req, STORE_COUNTERS,
	    json_pack("{s:o}", "run", text_json(part)));
}

void
http_post_check(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_allow(req, CHECK_LIMIT_NS);
	http_ask(h, req, STORE_CHECK, json_object());
}

void
http_get_version(struct http *h, struct http_request *req, const char *part)
{
	static const char *const seen[] = { [HTTP_JOBS_NONE] = NULL,
		[HTTP_JOBS_OWN] = "own",
		[HTTP_JOBS_ALL] = "all" };

	(void)part;
	http_reply_json(req, 200,
	    json_pack("{s:s,s:s,s:i,s:b,s:s,s:s*}", "name", "coalmine",
		"version", COALMINE_VERSION, "api", 1, "active",
		store_leads(h->store), "cluster", api_cluster_name(h->api),
		"jobs", seen[http_jobs_seen(h, req)]));
}

void
http_get_faults(struct http *h, struct http_request *req, const char *part)
{
	json_t *list = json_array();

	(void)h;
	(void)part;
	for (int i = 0; i < WHAT_MAX; i++)
		json_array_append_new(list,
		    json_pack("{s:s,s:s,s:o,s:s}", "what", names_whats[i].name,
			"verdicts", names_whats[i].verdicts, "text",
			text_json(names_whats[i].text), "step",
			names_whats[i].step));
	http_reply_json(req, 200, list);
}

/* The store's alarm is one of the health checks. */
void
http_get_diags(struct http *h, struct http_request *req, const char *part)
{
	json_t *diags = diags_json(h->api);
	struct store_health health;

	(void)part;
	store_health(h->store, &health);
	if (!health.leads) {
		/* A standby has no agents, so these checks would be wrong. */
		json_array_clear(diags);
		json_array_append_new(diags,
		    json_pack("{s:s,s:o,s:s}", "severity", "info", "text",
			text_json(health.alarm), "remedy",
			"send orders to the active collector; this standby "
			"takes over automatically"));
	} else if (health.alarm[0] != '\0')
		json_array_append_new(diags,
		    json_pack("{s:s,s:o,s:s}", "severity",
			health.writable ? "warn" : "bad", "text",
			text_json(health.alarm), "remedy",
			health.writable
			    ? "fix the named fault; if a file was moved aside, "
			      "inspect it, then restart the collector to clear "
			      "this alarm"
			    : "free space on the collector's disk, or repair "
			      "it; writing continues automatically"));
	http_reply_json(req, 200, diags);
}

/* ---- clusters that share a database ---- */

/* Write the state of a cluster, in one word and a text: anything not measured,
 * lost or without a collector is never green. */
static void
http_read_cluster_judge(json_t *o)
{
	const json_t *verdicts = json_object_get(o, "verdicts");
	json_int_t nodes = member_int(o, "nodes"), lost = member_int(o, "lost");
	json_int_t reporting = member_int(o, "reporting");
	const struct {
		json_int_t count;
		const char *one, *many;
		enum verdict is;
	} parts[] = {
		{ lost, "lost", "lost",
		    lost == nodes ? VERDICT_BAD : VERDICT_WARN },
		{ member_int(verdicts, "bad"), "bad", "bad", VERDICT_BAD },
		{ member_int(verdicts, "warn"), "outlier", "outliers",
		    VERDICT_WARN },
		{ member_int(o, "incidents"), "open incident", "open incidents",
		    VERDICT_WARN },
	};
	json_int_t away = member_int(o, "maintenance");
	enum verdict is = reporting + away < nodes ? VERDICT_WARN
	    : member_int(verdicts, "ok") == 0      ? VERDICT_UNKNOWN
						   : VERDICT_OK;
	struct strbuf text = { 0 };

	strbuf_addf(&text, "%lld of %lld nodes report", (long long)reporting,
	    (long long)nodes);
	if (away > 0)
		strbuf_addf(&text, ", %lld in maintenance", (long long)away);
	if (is == VERDICT_UNKNOWN)
		strbuf_addf(&text, ", no measurement yet");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].count == 0)
			continue;
		strbuf_addf(&text, ", %lld %s", (long long)parts[i].count,
		    parts[i].count == 1 ? parts[i].one : parts[i].many);
		if (is == VERDICT_UNKNOWN || parts[i].is > is)
			is = parts[i].is;
	}
	if (!member_bool(o, "active")) { /* whatever it told */
		is = VERDICT_BAD;
		strbuf_clear(&text);
		strbuf_addf(&text, "no collector");
	}
	json_object_set_new(o, "verdict", json_string(names_verdicts[is]));
	json_object_set_new(o, "text", text_json(text.text));
	strbuf_clear(&text);
}

/* silent_ns: time since the last contact of its active collector; below 0: none
 * is active. */
static json_t *
http_read_cluster_json(const json_t *row, uint64_t now_unix_ns)
{
	int64_t silent_ns = member_int(row, "silent_ns");
	int64_t lease_ns = member_int(row, "lease_ns"), age_ns;
	json_t *o = json_loads(member_text(row, "told"), 0, NULL);

	if (!json_is_object(o)) {
		json_decref(o);
		o = json_object();
	}
	age_ns = (int64_t)now_unix_ns - member_int(o, "at_unix_ns");
	json_object_set(o, "cluster", json_object_get(row, "cluster"));
	json_object_set_new(o, "self", json_false());
	json_object_set_new(o, "active",
	    json_boolean(silent_ns >= 0 && age_ns < CLUSTER_TOLD_NS &&
		silent_ns <= (lease_ns > 0 ? lease_ns : CLUSTER_LEASE_NS)));
	http_read_cluster_judge(o);
	return o;
}

struct clusters_question {
	struct http_request *req;
	json_t *own; /* NULL: of another collector */
};

static void
http_read_clusters_cb(int status, json_t *rows, void *arg)
{
	struct clusters_question *q = arg;
	json_t *list = json_array(), *row;
	size_t i;

	if (q->own != NULL)
		json_array_append(list, q->own);
	json_array_foreach (rows, i, row)
		if (q->own == NULL ||
		    !json_equal(json_object_get(row, "cluster"),
			json_object_get(q->own, "cluster")))
			json_array_append_new(list,
			    http_read_cluster_json(row, clk_unix_ns()));
	if (status == 0)
		http_reply_json(q->req, 200, json_incref(list));
	else
		http_fail_errno(q->req, status, NULL);
	json_decref(list);
	json_decref(rows);
	json_decref(q->own);
	free(q);
}

void
http_get_clusters(struct http *h, struct http_request *req, const char *part)
{
	struct clusters_question *q = xcalloc(1, sizeof(*q));

	(void)part;
	q->req = req;
	if (store_leads(h->store)) {
		q->own = api_cluster(h->api);
		json_object_set_new(q->own, "self", json_true());
		json_object_set_new(q->own, "active", json_true());
		http_read_cluster_judge(q->own);
	}
	if (api_cluster_name(h->api)[0] != '\0')
		store_ask_for(h->store, STORE_CLUSTERS, NULL, req,
		    http_read_clusters_cb, q);
	else
		http_read_clusters_cb(0, json_array(), q);
}

/* ---- runs ---- */

struct runs_question {
	struct http *h;
	struct http_request *req;
	json_t *args;
};

static int
http_read_text_fits(const json_t *run, const char *key, const json_t *args)
{
	const char *want = member_text_or(args, key, NULL);
	const char *have = member_text_or(run, key, NULL);

	return want == NULL || (have != NULL && strcmp(want, have) == 0);
}

/* A run in memory is newer than its row and has progress. A live run without a
 * row began after the query. */
static void
http_read_merge_live(const struct runs_question *q, json_t *list)
{
	json_t *live = api_runs(q->h->api,
	    member_int(q->args, "listed") == STORE_LISTED_BRIEF);
	json_t *run = NULL, *stored;
	size_t i, j;

	json_array_foreach (list, i, stored) {
		const json_t *id = json_object_get(stored, "run");

		json_array_foreach (live, j, run)
			if (json_equal(json_object_get(run, "run"), id))
				break;
		if (j == json_array_size(live))
			continue;
		if (http_read_text_fits(run, "state", q->args))
			json_array_set(list, i, run);
		else
			json_array_remove(list, i--);
		json_array_remove(live, j);
	}
	json_array_foreach (live, i, run) {
		int state = STR_FIND(names_run_states,
		    member_text(run, "state"));

		if (state >= 0 && !names_run_states[state].final &&
		    json_object_get(q->args, "before") == NULL &&
		    json_object_get(q->args, "node") == NULL &&
		    http_read_text_fits(run, "state", q->args) &&
		    http_read_text_fits(run, "campaign", q->args))
			json_array_insert(list, 0, run);
	}
	json_decref(live);
}

static void
http_read_runs_cb(int status, json_t *result, void *arg)
{
	struct runs_question *q = arg;
	json_t *list = json_object_get(result, "runs");
	char headers[100], *text;

	if (http_gone(q->req)) { /* the interface may be, too */
		json_decref(result);
		http_drop(q->req);
	} else if (status < 0) {
		http_fail_errno(q->req, status, NULL);
	} else {
		http_read_merge_live(q, list);
		snprintf(headers, sizeof(headers),
		    "Cache-Control: no-store\r\nCoalmine-Next: %lld\r\n",
		    (long long)member_int(result, "next"));
		text = json_dumps(list, HTTP_JSON);
		http_read_reply_text(q->req, 200, text,
		    member_int(result, "next") != 0 ? headers : NULL);
		json_decref(result);
	}
	json_decref(q->args);
	free(q);
}

void
http_get_runs(struct http *h, struct http_request *req, const char *part)
{
	static const char *const names[] = { "campaign", "state", "node",
		"#limit", "#before", NULL };
	const char *text = http_param(&req->head, "brief");
	struct runs_question *q;
	json_t *args = json_object();
	int is_brief = 0;

	(void)part;
	if (http_args(req, args, names) < 0) {
		json_decref(args);
		return;
	}
	if (text != NULL && str_to_bool(text, &is_brief) < 0) {
		json_decref(args);
		http_fail(req, 400, "config", "brief must be yes or no");
		return;
	}
	json_object_set_new(args, "listed",
	    json_integer(is_brief ? STORE_LISTED_BRIEF : STORE_LISTED_SHORT));
	/* Only the list of names shows whether a node is in it. */
	json_object_set_new(args, "brief",
	    json_integer(is_brief && json_object_get(args, "node") == NULL));
	q = xcalloc(1, sizeof(*q));
	q->h = h;
	q->req = req;
	q->args = args;
	store_ask_for(h->store, STORE_RUNS, args, req, http_read_runs_cb, q);
}

void
http_get_run(struct http *h, struct http_request *req, const char *part)
{
	json_t *run = api_run(h->api, part);

	if (run != NULL)
		http_reply_json(req, 200, run);
	else
		http_ask(h, req, STORE_RUN,
		    json_pack("{s:o}", "run", text_json(part)));
}

void
http_get_metrics(struct http *h, struct http_request *req, const char *part)
{
	struct store_health health;
	struct metrics_in in = { .api = h->api,
		.health = &health,
		.http = &h->counts,
		.http_connections = http_conns_count(h->conns) };
	struct evbuffer *body = evbuffer_new();
	struct strbuf page = { 0 };

	(void)part;
	store_health(h->store, &health);
	metrics_render(&in, &page);
	evbuffer_add_reference(body, page.text, page.len_bytes,
	    http_read_free_text, page.text);
	http_reply(req,
	    &(struct http_answer){ .status = 200, .type = METRICS_TYPE }, body);
}

void
http_get_health(struct http *h, struct http_request *req, const char *part)
{
	struct evbuffer *body = evbuffer_new();
	struct store_health health;

	(void)part;
	store_health(h->store, &health);
	evbuffer_add_printf(body, "%s\n",
	    health.writable ? "ok" : health.alarm);
	http_reply(req,
	    &(struct http_answer){ .status = health.writable ? 200 : 503,
		.type = "text/plain; charset=utf-8" },
	    body);
}

/* ---- nodes ---- */

static void
http_read_text_add(struct strbuf *to, const char *key, const char *value)
{
	json_t *text = text_json(value);
	char *dump = json_dumps(text, JSON_ENCODE_ANY);

	strbuf_addf(to, ",\"%s\":%s", key, dump != NULL ? dump : "null");
	free(dump);
	json_decref(text);
}

void
http_get_nodes(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "brief");
	const struct api_node *n;
	int is_brief = 0;
	struct strbuf all = { 0 };
	size_t count;

	(void)part;
	if (text != NULL && str_to_bool(text, &is_brief) < 0) {
		http_fail(req, 400, "config", "brief must be yes or no");
		return;
	}
	if (!is_brief) {
		api_nodes(h->api, &all);
		http_read_reply_text(req, 200, all.text,
		    NULL); /* handed over */
		return;
	}
	/* Ten thousand of these take a megabyte, complete ones sixteen. A
	 * node's name has no character that JSON escapes. */
	strbuf_add(&all, "[", 1);
	for (count = api_node_list(h->api, &n); count > 0; count--, n++) {
		strbuf_addf(&all,
		    "%s{\"node\":\"%s\",\"state\":\"%s\","
		    "\"since_unix_ns\":%" PRIu64 ",\"verdict\":\"%s\"",
		    all.len_bytes > 1 ? "," : "", n->name,
		    names_agent_states[n->state], (uint64_t)n->since_unix_ns,
		    names_verdicts[n->verdict]);
		if (n->leaf[0] != '\0')
			http_read_text_add(&all, "leaf", n->leaf);
		if (!isnan(n->score))
			strbuf_addf(&all, ",\"score\":%.17g", n->score);
		strbuf_add(&all, "}", 1);
	}
	strbuf_add(&all, "]", 1);
	http_read_reply_text(req, 200, all.text, NULL); /* handed over */
}

/* Agents listen on no port: the targets are other exporters on the nodes, so
 * that all have the same names. Lost nodes stay in the list: Prometheus detects
 * that they do not respond. */
void
http_get_targets(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "port");
	json_t *list = json_array();
	const struct api_node *nodes;
	size_t count = api_node_list(h->api, &nodes);
	int64_t port;

	(void)part;
	if (str_to_int(text != NULL ? text : PORT_DEFAULT, 1, PORT_MAX, &port) <
	    0) {
		json_decref(list);
		http_fail(req, 400, "config", "port must be 1 to 65535");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct api_node *n = &nodes[i];
		char at[300];

		snprintf(at, sizeof(at), "%s:%lld", n->name, (long long)port);
		json_array_append_new(list,
		    json_pack("{s:[s],s:{s:s,s:s,s:s}}", "targets", at,
			"labels", "__meta_coalmine_node", n->name,
			"__meta_coalmine_leaf", n->leaf,
			"__meta_coalmine_state", names_agent_states[n->state]));
	}
	http_reply_json(req, 200, list);
}

void
http_get_forecast(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "hours");
	int64_t hours = 24;

	(void)part;
	if (text != NULL && str_to_int(text, 1, HOURS_MAX, &hours) < 0) {
		http_fail(req, 400, "config", "hours must be 1 to 336");
		return;
	}
	http_reply_json(req, 200,
	    forecast_json(h->api, (uint64_t)hours * 3600 * CLK_NS_PER_S));
}

/* ---- baselines ---- */

static void
http_read_baseline_cb(int status, json_t *result, void *arg)
{
	struct http_request *req = arg;

	if (status < 0)
		http_fail_errno(req, status, NULL);
	else if (json_array_size(result) == 0)
		http_fail(req, 404, "not-found",
		    "no baseline with this name; coalctl baseline show lists "
		    "the baselines");
	else
		http_reply_json(req, 200,
		    json_incref(json_array_get(result, 0)));
	json_decref(result);
}

void
http_get_baseline(struct http *h, struct http_request *req, const char *part)
{
	json_t *args;

	if (strcmp(part, API_RECENT) == 0 && store_leads(h->store)) {
		http_reply_json(req, 200,
		    json_pack("{s:s, s:I, s:o}", "name", part, "at_unix_ns",
			(json_int_t)clk_unix_ns(), "body", api_recent(h->api)));
		return;
	}
	args = json_pack("{s:o}", "name", text_json(part));
	store_ask_for(h->store, STORE_BASELINES, args, req,
	    http_read_baseline_cb, req);
	json_decref(args);
}

void
http_get_verdicts(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "all");
	int all = 0;

	(void)part;
	if (text != NULL && str_to_bool(text, &all) < 0)
		http_fail(req, 400, "config", "all must be yes or no");
	else if (!store_leads(h->store) && all)
		http_fail_standby(h, req); /* normal nodes have none */
	else if (!store_leads(h->store))
		http_ask(h, req, STORE_VERDICTS, json_pack("{s:b}", "open", 1));
	else
		http_reply_json(req, 200, api_verdicts(h->api, all));
}
