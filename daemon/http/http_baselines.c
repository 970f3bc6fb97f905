/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_baselines.c - canaries over time, and baselines: the canary records of
 * a run under a name, which stay when the run's own are deleted. One name is
 * the collector's own: what it has learned of the recent weeks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/schedule/campaign.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/http/http_route.h"

#define NAME_MAX_BYTES CAMPAIGN_NAME_MAX

void
http_get_canaries(struct http *h, struct http_request *req, const char *part)
{
	static const char *const names[] = { "campaign", "test", "phase",
		"#from_unix_ns", "#to_unix_ns", "#limit", NULL };
	json_t *args = json_object();

	(void)part;
	if (http_args(req, args, names) < 0)
		json_decref(args);
	else
		http_ask(h, req, STORE_CANARIES, args);
}

void
http_get_baselines(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_ask(h, req, STORE_BASELINES, json_object());
}

static void
baseline_cb(int status, json_t *result, void *arg)
{
	struct http_request *req = arg;

	if (status < 0)
		http_fail_errno(req, status, NULL);
	else if (json_array_size(result) == 0)
		http_fail(req, 404, "not-found", "no baseline of that name");
	else
		http_reply_json(req, 200,
		    json_incref(json_array_get(result, 0)));
	json_decref(result);
}

void
http_get_baseline(struct http *h, struct http_request *req, const char *part)
{
	json_t *args;

	if (strcmp(part, DIAGNOSIS_RECENT) == 0) {
		http_reply_json(req, 200,
		    json_pack("{s:s, s:I, s:o}", "name", part, "at_unix_ns",
			(json_int_t)clk_unix_ns(), "body",
			view_recent(h->view)));
		return;
	}
	args = json_pack("{s:s}", "name", part);
	store_ask(h->store, STORE_BASELINES, args, baseline_cb, req);
	json_decref(args);
}

static int
may_name(struct http_request *req, const char *name)
{
	if (strcmp(name, DIAGNOSIS_RECENT) != 0)
		return 1;
	http_fail(req, 409, "state",
	    DIAGNOSIS_RECENT " is what the collector learns by itself");
	return 0;
}

struct pin {
	struct http *h;
	struct http_request *req;
	char name[NAME_MAX_BYTES + 1];
	char run[64];
};

static void
pin_put(struct pin *p, const json_t *records)
{
	json_t *body = json_pack("{s:s, s:O}", "run", p->run, "records",
	    records);

	store_put_baseline(p->h->store, p->name, body);
	view_pin(p->h->view, p->name, body);
	store_put_event(p->h->store, "order", p->name, "baseline pinned");
	json_decref(body);
	http_reply_json(p->req, 200,
	    json_pack("{s:s, s:s, s:I}", "name", p->name, "run", p->run,
		"records", (json_int_t)json_array_size(records)));
}

static void
records_cb(int status, json_t *result, void *arg)
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
		pin_put(p, result);
	}
	json_decref(result);
	free(p);
}

void
http_post_baseline(struct http *h, struct http_request *req, const char *part)
{
	json_t *body = http_body(req), *args;
	const char *run = json_string_value(json_object_get(body, "run"));
	struct pin *p;

	if (body == NULL)
		return;
	if (campaign_name_check(part) < 0 || run == NULL ||
	    strlen(run) >= sizeof(p->run)) {
		http_fail(req, 400, "config",
		    "a baseline takes a name as a campaign's, and a run");
		json_decref(body);
		return;
	}
	if (!may_name(req, part)) {
		json_decref(body);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->h = h;
	p->req = req;
	snprintf(p->name, sizeof(p->name), "%s", part);
	snprintf(p->run, sizeof(p->run), "%s", run);
	if (strcmp(run, DIAGNOSIS_RECENT) == 0) {
		json_t *recent = view_recent(h->view);

		records_cb(0, json_incref(json_object_get(recent, "records")),
		    p);
		json_decref(recent);
		json_decref(body);
		return;
	}
	args = json_pack("{s:s, s:s}", "run", run, "probe", "canary");
	store_ask(h->store, STORE_RECORDS, args, records_cb, p);
	json_decref(args);
	json_decref(body);
}

void
http_post_unpin(struct http *h, struct http_request *req, const char *part)
{
	if (!may_name(req, part))
		return;
	store_put_baseline(h->store, part, NULL);
	view_pin(h->view, part, NULL);
	store_put_event(h->store, "order", part, "baseline dropped");
	http_reply_json(req, 200, json_pack("{s:s}", "name", part));
}
