/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_budget.c - what will run, what it may cost, what was exercised.
 */
#include "common/clk.h"
#include "common/str.h"
#include "daemon/http/http_route.h"

#define HOURS_MAX 336 /* a fortnight */

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
	    view_forecast(h->view, (uint64_t)hours * 3600 * CLK_NS_PER_S));
}

void
http_get_budget(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_reply_json(req, 200, view_budget_json(h->view));
}

void
http_get_coverage(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_reply_json(req, 200, view_coverage(h->view));
}
