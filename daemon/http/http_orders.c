/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_orders.c - orders, which change state. Orders to runs, schedules, nodes
 * and baselines are written to the event log, with their user, by the module
 * that carries them out; checks and copies of the store are not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/member.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/api/orders.h"
#include "daemon/http/http_int.h"
#include "pki/pki.h"
#include "schema/strict.h"

#define BODY_DEPTH_MAX  8
#define BACKUP_LIMIT_NS (600 * CLK_NS_PER_S)

/* Return the body as an object, an empty one without a body; NULL after an
 * error was sent. */
static json_t *
http_orders_body_read(struct http_request *req)
{
	size_t len = evbuffer_get_length(req->body);
	json_t *body = NULL;
	struct err err;

	if (len == 0)
		return json_object();
	if (strict_object((const char *)evbuffer_pullup(req->body, -1), len,
		BODY_DEPTH_MAX, &body, &err) == 0)
		return body;
	err_say(&err, "invalid body: %s", err.text);
	http_fail(req, 400, "config", err.text);
	return NULL;
}

struct order {
	struct http_request *req;
	json_t *answer;
};

static void
http_orders_order_stored_cb(int status, json_t *result, void *arg)
{
	struct order *o = arg;

	http_reply_json(o->req, status == 0 ? 200 : 202, o->answer);
	json_decref(result);
	free(o);
}

/* Answer an executed order once it is stored, so that it survives a restart.
 * Takes answer. */
static void
http_orders_reply_ordered(struct http *h, struct http_request *req,
    json_t *answer)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->req = req;
	o->answer = answer;
	store_when_stored(h->store, http_orders_order_stored_cb, o);
}

static void
http_orders_run(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req), *overrides, *value;
	struct err err = { 0 };
	char run[64] = "", *unseen = NULL;
	const char *key;
	int rc, fits;

	if (body == NULL)
		return;
	overrides = json_object_get(body, "overrides");
	fits = overrides == NULL || json_is_object(overrides);
	json_object_foreach (overrides, key, value)
		fits = fits && json_is_string(value) &&
		    strchr(key, '.') != NULL;
	if (!fits) {
		http_fail(req, 400, "config",
		    "overrides must be an object of "
		    "\"section.key\": \"value\"");
		json_decref(body);
		return;
	}
	rc = orders_submit(h->api, part, member_text_or(body, "text", NULL),
	    overrides, req->who, run, &unseen, &err);
	json_decref(body);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_orders_reply_ordered(h, req,
		    unseen == NULL ? json_pack("{s:s}", "run", run)
				   : json_pack("{s:s, s:s}", "run", run,
					 "unseen", unseen));
	free(unseen);
}

static void
http_orders_validate(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req);
	const char *name, *text;

	(void)h;
	(void)part;
	if (body == NULL)
		return;
	name = member_text_or(body, "name", NULL);
	text = member_text_or(body, "text", NULL);
	if (text == NULL)
		http_fail(req, 400, "config",
		    "the body must have name and text");
	else
		http_reply_json(req, 200,
		    api_campaign_validate(name != NULL ? name : "campaign",
			text));
	json_decref(body);
}

static void
http_orders_cancel(struct http *h, struct http_request *req, const char *part)
{
	struct err err = { 0 };
	int rc;

	rc = orders_cancel(h->api, part, req->who, &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_orders_reply_ordered(h, req,
		    json_pack("{s:s}", "run", part));
}

static void
http_orders_set_schedule(struct http *h, struct http_request *req,
    const char *campaign, int enabled)
{
	struct err err = { 0 };
	int rc;

	rc = orders_schedule_enable(h->api, campaign, enabled, req->who, &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_orders_reply_ordered(h, req,
		    json_pack("{s:s,s:b}", "campaign", campaign, "enabled",
			enabled));
}

static void
http_orders_enable(struct http *h, struct http_request *req, const char *part)
{
	http_orders_set_schedule(h, req, part, 1);
}

static void
http_orders_disable(struct http *h, struct http_request *req, const char *part)
{
	http_orders_set_schedule(h, req, part, 0);
}

static void
http_orders_stop(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_orders_reply_ordered(h, req,
	    json_pack("{s:i}", "ended", orders_stop_all(h->api, req->who)));
}

static void
http_orders_token(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req);
	const char *names = member_text_or(body, "names", NULL);
	const char *span = member_text(body, "for");
	json_int_t uses = member_int(body, "uses");
	char token[PKI_TOKEN_TEXT];
	struct err err = { 0 };
	uint64_t span_ns;
	int rc;

	(void)part;
	if (body == NULL)
		return;
	if (names == NULL || uses < 0 || uses > INT32_MAX ||
	    clk_span_parse(span, &span_ns) < 0) {
		http_fail(req, 400, "config",
		    "expected members names, for (a duration such as 1h) and "
		    "uses");
		json_decref(body);
		return;
	}
	rc = orders_token(h->api, names, (int)uses, span_ns, req->who, token,
	    &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_orders_reply_ordered(h, req,
		    json_pack("{s:s, s:o, s:I}", "token", token, "names",
			text_json(names), "for_ns", (json_int_t)span_ns));
	json_decref(body);
}

static void
http_orders_backup(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req);
	const char *path;

	(void)part;
	if (body == NULL)
		return;
	path = member_text_or(body, "path", NULL);
	if (path == NULL || path[0] != '/') {
		http_fail(req, 400, "config",
		    "path must be an absolute path on the collector's host");
	} else {
		http_allow(req, BACKUP_LIMIT_NS);
		http_ask(h, req, STORE_BACKUP,
		    json_pack("{s:s}", "path", path));
	}
	json_decref(body);
}

#define MAINTENANCE_MAX_NS (366 * 86400 * CLK_NS_PER_S)
#define REASON_BYTES_MAX   200

static void
http_orders_reply_node(struct http *h, struct http_request *req,
    const char *node, int rc, const struct err *err)
{
	if (rc < 0)
		http_fail_errno(req, rc, err->text);
	else
		http_orders_reply_ordered(h, req,
		    json_pack("{s:s}", "node", node));
}

static void
http_orders_maintain(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req);
	const char *reason = member_text(body, "reason");
	uint64_t span_ns = 0;
	struct err err;
	int rc;

	if (body == NULL)
		return;
	if (clk_span_parse(member_text(body, "for"), &span_ns) < 0 ||
	    span_ns == 0 || span_ns > MAINTENANCE_MAX_NS || reason[0] == '\0' ||
	    strlen(reason) > REASON_BYTES_MAX) {
		http_fail(req, 400, "config",
		    "expected members for (a duration up to 366d, such as 8h) "
		    "and reason (a text of up to 200 bytes)");
	} else {
		rc = orders_node_maintain(h->api, part, span_ns, reason,
		    req->who, &err);
		http_orders_reply_node(h, req, part, rc, &err);
	}
	json_decref(body);
}

static void
http_orders_maintain_end(struct http *h, struct http_request *req,
    const char *part)
{
	struct err err;
	int rc = orders_node_maintain(h->api, part, 0, "", req->who, &err);

	http_orders_reply_node(h, req, part, rc, &err);
}

static void
http_orders_forget(struct http *h, struct http_request *req, const char *part)
{
	struct err err;
	int rc = orders_node_forget(h->api, part, req->who, &err);

	http_orders_reply_node(h, req, part, rc, &err);
}

/* ---- baselines: named copies of the canary records of a run, which stay when
 * the run's records are deleted ---- */

/* Return 0 after an error was sent. */
static int
http_orders_may_pin(struct http_request *req, const char *name)
{
	int rc = orders_pin_check(name);

	if (rc == -EBUSY)
		http_fail(req, 409, "state",
		    API_RECENT
		    " is maintained by the collector and cannot be set");
	else if (rc < 0)
		http_fail(req, 400, "config",
		    "expected members name (letters, digits, - _ .) and run");
	return rc == 0;
}

struct pin {
	struct http *h;
	struct http_request *req;
	char *name;
	char run[64];
};

static void
http_orders_pin_cb(int status, json_t *result, void *arg)
{
	struct pin *p = arg;

	if (http_gone(p->req)) { /* the interface may be, too */
		http_drop(p->req);
	} else if (status < 0) {
		http_fail_errno(p->req, status, NULL);
	} else if (json_array_size(result) == 0) {
		http_fail(p->req, 409, "state",
		    "the run has no canary records to pin");
	} else {
		json_t *body = json_pack("{s:s, s:O}", "run", p->run, "records",
		    result);

		orders_pin(p->h->api, p->name, body, p->req->who);
		json_decref(body);
		http_orders_reply_ordered(p->h, p->req,
		    json_pack("{s:s, s:s, s:I}", "name", p->name, "run", p->run,
			"records", (json_int_t)json_array_size(result)));
	}
	json_decref(result);
	free(p->name);
	free(p);
}

static void
http_orders_baseline(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_orders_body_read(req), *args;
	const char *run = member_text_or(body, "run", NULL);
	struct pin *p;

	if (body == NULL)
		return;
	if (run == NULL || strlen(run) >= sizeof(p->run)) {
		http_fail(req, 400, "config",
		    "expected members name (letters, digits, - _ .) and run");
		json_decref(body);
		return;
	}
	if (!http_orders_may_pin(req, part)) {
		json_decref(body);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->h = h;
	p->req = req;
	p->name = xstrdup(part);
	snprintf(p->run, sizeof(p->run), "%s", run);
	if (strcmp(run, API_RECENT) == 0) {
		json_t *recent = api_recent(h->api);

		http_orders_pin_cb(0,
		    json_incref(json_object_get(recent, "records")), p);
		json_decref(recent);
		json_decref(body);
		return;
	}
	args = json_pack("{s:s, s:s}", "run", run, "probe", "canary");
	store_ask_for(h->store, STORE_RECORDS, args, req, http_orders_pin_cb,
	    p);
	json_decref(args);
	json_decref(body);
}

static void
http_orders_unpin_cb(int status, json_t *result, void *arg)
{
	struct pin *p = arg;

	if (http_gone(p->req)) { /* the interface may be, too */
		http_drop(p->req);
	} else if (status < 0) {
		http_fail_errno(p->req, status, NULL);
	} else if (json_array_size(result) == 0) {
		http_fail_errno(p->req, -ENOENT,
		    "no baseline with this name; coalctl baseline show lists "
		    "the baselines");
	} else {
		orders_pin(p->h->api, p->name, NULL, p->req->who);
		http_orders_reply_ordered(p->h, p->req,
		    json_pack("{s:s}", "name", p->name));
	}
	json_decref(result);
	free(p->name);
	free(p);
}

static void
http_orders_unpin(struct http *h, struct http_request *req, const char *part)
{
	struct pin *p;
	json_t *args;

	if (strcmp(part, API_RECENT) == 0 && !http_orders_may_pin(req, part))
		return;
	p = xcalloc(1, sizeof(*p));
	p->h = h;
	p->req = req;
	p->name = xstrdup(part);
	args = json_pack("{s:s}", "name", part);
	store_ask_for(h->store, STORE_BASELINES, args, req,
	    http_orders_unpin_cb, p);
	json_decref(args);
}

const struct http_route http_orders_routes[] = {
	{ "validate", HTTP_POST, "/api/v1/campaigns/validate", HTTP_MAY_READ,
	    .handle = http_orders_validate },
	{ "run-campaign", HTTP_POST, "/api/v1/campaigns/*/run", HTTP_MAY_ORDER,
	    .handle = http_orders_run },
	{ "cancel", HTTP_POST, "/api/v1/runs/*/cancel", HTTP_MAY_ORDER,
	    .handle = http_orders_cancel },
	{ "enable", HTTP_POST, "/api/v1/schedule/*/enable", HTTP_MAY_ORDER,
	    .handle = http_orders_enable },
	{ "disable", HTTP_POST, "/api/v1/schedule/*/disable", HTTP_MAY_ORDER,
	    .handle = http_orders_disable },
	{ "pin", HTTP_POST, "/api/v1/baselines/*", HTTP_MAY_ORDER,
	    .handle = http_orders_baseline },
	{ "unpin", HTTP_POST, "/api/v1/baselines/*/drop", HTTP_MAY_ORDER,
	    .handle = http_orders_unpin },
	{ "maintain", HTTP_POST, "/api/v1/nodes/*/maintain", HTTP_MAY_ORDER,
	    .handle = http_orders_maintain },
	{ "maintain-end", HTTP_POST, "/api/v1/nodes/*/maintain/end",
	    HTTP_MAY_ORDER, .handle = http_orders_maintain_end },
	{ "forget", HTTP_POST, "/api/v1/nodes/*/forget", HTTP_MAY_ORDER,
	    .handle = http_orders_forget },
	{ "token", HTTP_POST, "/api/v1/tokens", HTTP_MAY_ORDER,
	    .handle = http_orders_token },
	{ "backup", HTTP_POST, "/api/v1/db/backup", HTTP_MAY_ORDER,
	    .handle = http_orders_backup },
	{ "stop", HTTP_POST, "/api/v1/stop", HTTP_MAY_ORDER,
	    .handle = http_orders_stop },
	{ NULL, HTTP_GET, NULL, HTTP_MAY_NOTHING, .handle = NULL },
};
