/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_verdicts.c - who is guilty, now and before.
 */
#include "common/str.h"
#include "daemon/http/http_route.h"

void
http_get_verdicts(struct http *h, struct http_request *req, const char *part)
{
	const char *text = http_param(&req->head, "all");
	int all = 0;

	(void)part;
	if (text != NULL && str_to_bool(text, &all) < 0)
		http_fail(req, 400, "config", "all must be yes or no");
	else
		http_reply_json(req, 200, view_verdicts(h->view, all));
}

void
http_get_verdict_history(struct http *h, struct http_request *req,
    const char *part)
{
	static const char *const names[] = { "kind", "subject", "#limit",
		NULL };
	json_t *args = json_object();

	(void)part;
	if (http_args(req, args, names) < 0)
		json_decref(args);
	else
		http_ask(h, req, STORE_VERDICTS, args);
}
