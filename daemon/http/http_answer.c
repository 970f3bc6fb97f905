/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_answer.c - an answer as bytes, independent of connections.
 */
#include "daemon/http/http_answer.h"
#include "daemon/http/http_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clk.h"
#include "common/str.h"
#include "common/text.h"

static const struct status_row {
	int status;
	const char *text;
} status_rows[] = {
	{ 200, "OK" },
	{ 202, "Accepted" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
};

/* Forbid everything except the page's own script, style and API, so that
 * injected contents have no effect in a browser. */
static const char safety[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self';"
    " style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

void
http_answer_head(struct evbuffer *out, const struct http_answer *a,
    int keep_alive)
{
	/* In English, independent of the locale. */
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = (time_t)(clk_unix_ns() / CLK_NS_PER_S);
	const char *text = "Unknown";
	struct tm tm;

	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (status_rows[i].status == a->status)
			text = status_rows[i].text;
	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", a->status, text);
	gmtime_r(&now, &tm);
	evbuffer_add_printf(out,
	    "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n",
	    days + (size_t)tm.tm_wday * 3, tm.tm_mday,
	    months + (size_t)tm.tm_mon * 3, tm.tm_year + 1900, tm.tm_hour,
	    tm.tm_min, tm.tm_sec);
	evbuffer_add_printf(out, "Content-Type: %s\r\n",
	    a->type != NULL ? a->type : "application/json");
	evbuffer_add(out, safety, sizeof(safety) - 1);
	if (a->headers != NULL)
		evbuffer_add_printf(out, "%s", a->headers);
	else
		evbuffer_add_printf(out, "Cache-Control: no-store\r\n");
	if (a->gzipped)
		evbuffer_add_printf(out,
		    "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n");
	/* Always sent, since the defaults of HTTP/1.0 and 1.1 differ. */
	evbuffer_add_printf(out, "Connection: %s\r\n",
	    keep_alive ? "keep-alive" : "close");
}

struct evbuffer *
http_answer_error(const char *cause, const char *message)
{
	struct evbuffer *body = evbuffer_new();
	json_t *error = json_pack("{s:{s:s,s:o}}", "error", "cause", cause,
	    "message", text_json(message));
	char *dump = json_dumps(error, JSON_COMPACT);

	evbuffer_add_printf(body, "%s\n", dump);
	free(dump);
	json_decref(error);
	return body;
}
