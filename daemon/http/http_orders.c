/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_orders.c - what changes something. Every order is told to the event
 * log by the part that carries it out, with who gave it.
 */
#include <errno.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/member.h"
#include "daemon/http/http_route.h"
#include "schema/strict.h"

#define BODY_DEPTH_MAX  8
#define BACKUP_LIMIT_NS (600 * CLK_NS_PER_S)

json_t *
http_body(struct http_request *req)
{
	size_t len = evbuffer_get_length(req->body);
	json_t *body = NULL;
	struct err err;

	if (len == 0)
		return json_object();
	if (strict_object((const char *)evbuffer_pullup(req->body, -1), len,
		BODY_DEPTH_MAX, &body, &err) == 0)
		return body;
	err_say(&err, "the body is not right: %s", err.text);
	http_fail(req, 400, "config", err.text);
	return NULL;
}

static int
overrides_fit(const json_t *overrides)
{
	const char *key;
	json_t *value;

	if (overrides == NULL)
		return 1;
	if (!json_is_object(overrides))
		return 0;
	json_object_foreach ((json_t *)(uintptr_t)overrides, key, value)
		if (!json_is_string(value) || strchr(key, '.') == NULL)
			return 0;
	return 1;
}

static void
submit(struct http *h, struct http_request *req, const char *campaign,
    const json_t *body)
{
	const json_t *overrides = json_object_get(body, "overrides");
	char run[64] = "";
	struct err err = { 0 };
	int rc;

	if (!overrides_fit(overrides)) {
		http_fail(req, 400, "config",
		    "overrides must be an object "
		    "of \"section.key\": \"value\"");
		return;
	}
	rc = view_submit(h->view, campaign, member_text_or(body, "text", NULL),
	    overrides, req->who, run, &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_reply_json(req, 200, json_pack("{s:s}", "run", run));
}

void
http_post_run(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_body(req);

	if (body == NULL)
		return;
	submit(h, req, part, body);
	json_decref(body);
}

void
http_post_validate(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_body(req);
	const char *name, *text;

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
		    view_campaign_validate(h->view,
			name != NULL ? name : "campaign", text));
	json_decref(body);
}

void
http_post_cancel(struct http *h, struct http_request *req, const char *part)
{
	struct err err = { 0 };
	int rc;

	rc = view_cancel(h->view, part, req->who, &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_reply_json(req, 200, json_pack("{s:s}", "run", part));
}

static void
set_schedule(struct http *h, struct http_request *req, const char *campaign,
    int enabled)
{
	struct err err = { 0 };
	int rc;

	rc = view_schedule_enable(h->view, campaign, enabled, req->who, &err);
	if (rc < 0)
		http_fail_errno(req, rc, err.text);
	else
		http_reply_json(req, 200,
		    json_pack("{s:s,s:b}", "campaign", campaign, "enabled",
			enabled));
}

void
http_post_enable(struct http *h, struct http_request *req, const char *part)
{
	set_schedule(h, req, part, 1);
}

void
http_post_disable(struct http *h, struct http_request *req, const char *part)
{
	set_schedule(h, req, part, 0);
}

void
http_post_stop(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_reply_json(req, 200,
	    json_pack("{s:i}", "ended", view_stop_all(h->view, req->who)));
}

void
http_post_backup(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_body(req);
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
