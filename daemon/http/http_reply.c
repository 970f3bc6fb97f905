/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_reply.c - answers: heads, bodies whole or in pieces, gzip.
 */
#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "common/clk.h"
#include "common/str.h"
#include "daemon/http/http_int.h"

#define GZIP_MIN  1024 /* bytes; below, the head costs more than it saves */
#define GZIP_BITS (15 + 16) /* 16: gzip instead of zlib */
#define PIECE_LOW 65536     /* a stream's next piece is asked for below this */
#define STREAM_NS (15 * CLK_NS_PER_S)

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
	{ 422, "Unprocessable Content" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
};

const char *
http_status_text(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (status_rows[i].status == status)
			return status_rows[i].text;
	return "Unknown";
}

/* Everything a browser could be talked into is forbidden: the page needs its
 * own script, style and API and nothing else. */
static const char safety[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self';"
    " style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

/* Days and months in English whatever the locale. */
static void
put_date(struct evbuffer *out)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = (time_t)(clk_unix_ns() / CLK_NS_PER_S);
	struct tm tm;

	gmtime_r(&now, &tm);
	evbuffer_add_printf(out,
	    "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n",
	    days + (size_t)tm.tm_wday * 3, tm.tm_mday,
	    months + (size_t)tm.tm_mon * 3, tm.tm_year + 1900, tm.tm_hour,
	    tm.tm_min, tm.tm_sec);
}

static void
put_head(struct http_conn *c, const struct http_answer *a)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", a->status,
	    http_status_text(a->status));
	put_date(out);
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
	/* Said either way: HTTP/1.0 and 1.1 differ in what goes unsaid. */
	evbuffer_add_printf(out, "Connection: %s\r\n",
	    c->keep_alive ? "keep-alive" : "close");
}

/* The gzipped body, or NULL when that did not work; it is only smaller. */
static struct evbuffer *
gzip(struct evbuffer *body)
{
	size_t len = evbuffer_get_length(body);
	z_stream z = { .next_in = evbuffer_pullup(body, -1),
		.avail_in = (uInt)len };
	struct evbuffer_iovec space;
	struct evbuffer *out;
	uLong bound;
	int rc;

	if (len > UINT32_MAX / 2 ||
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_BITS, 8,
		Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	out = evbuffer_new();
	bound = deflateBound(&z, (uLong)len);
	if (evbuffer_reserve_space(out, (ev_ssize_t)bound, &space, 1) < 1) {
		deflateEnd(&z);
		evbuffer_free(out);
		return NULL;
	}
	z.next_out = space.iov_base;
	z.avail_out = (uInt)space.iov_len;
	rc = deflate(&z, Z_FINISH);
	space.iov_len = z.total_out;
	deflateEnd(&z);
	if (rc == Z_STREAM_END && evbuffer_commit_space(out, &space, 1) == 0)
		return out;
	evbuffer_free(out);
	return NULL;
}

static struct evbuffer *
maybe_gzip(const struct http_request *req, struct http_answer *a,
    struct evbuffer *body)
{
	struct evbuffer *small;

	if (a->gzipped || !req->head.accepts_gzip ||
	    evbuffer_get_length(body) < GZIP_MIN)
		return body;
	small = gzip(body);
	if (small == NULL)
		return body;
	a->gzipped = 1;
	evbuffer_free(body);
	return small;
}

static void
send_answer(struct http_conn *c, const struct http_answer *a,
    struct evbuffer *body)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	put_head(c, a);
	if (a->status != 304)
		evbuffer_add_printf(out, "Content-Length: %zu\r\n",
		    evbuffer_get_length(body));
	evbuffer_add_printf(out, "\r\n");
	if (!c->head_only)
		evbuffer_add_buffer(out, body);
	http_conn_flush(c);
}

void
http_reply(struct http_request *req, const struct http_answer *a,
    struct evbuffer *body)
{
	struct http_answer answer = *a;
	struct http_conn *c = req->conn;

	if (body == NULL)
		body = evbuffer_new();
	if (c != NULL) {
		assert(c->state == CONN_BUSY);
		body = maybe_gzip(req, &answer, body);
		c->all->answered(req->name, a->status, c->all->arg);
		c->req = NULL;
		send_answer(c, &answer, body);
	}
	evbuffer_free(body);
	http_request_free(req);
}

static struct evbuffer *
error_body(const char *cause, const char *message)
{
	struct evbuffer *body = evbuffer_new();
	json_t *text = json_string(message);
	json_t *error = json_pack("{s:{s:s,s:o}}", "error", "cause", cause,
	    "message", text != NULL ? text : json_string("(not UTF-8)"));
	char *dump = json_dumps(error, JSON_COMPACT);

	evbuffer_add_printf(body, "%s\n", dump);
	free(dump);
	json_decref(error);
	return body;
}

void
http_fail(struct http_request *req, int status, const char *cause,
    const char *message)
{
	http_reply(req, &(struct http_answer){ .status = status },
	    error_body(cause, message));
}

void
http_conn_fail(struct http_conn *c, int status, const char *cause,
    const char *message)
{
	struct evbuffer *body = error_body(cause, message);

	http_request_free(c->req);
	c->req = NULL;
	c->keep_alive = 0; /* where the next request begins is unknown */
	c->head_only = 0;
	c->all->answered("none", status, c->all->arg);
	send_answer(c, &(struct http_answer){ .status = status }, body);
	evbuffer_free(body);
}

void
http_allow(struct http_request *req, uint64_t limit_ns)
{
	if (req->conn != NULL)
		http_conn_set_state(req->conn, req->conn->state, limit_ns);
}

int
http_gone(const struct http_request *req)
{
	return req->conn == NULL;
}

void
http_drop(struct http_request *req)
{
	struct http_conn *c = req->conn;

	if (c != NULL) {
		c->req = NULL;
		c->want_more = 0;
		http_conn_close(c);
	}
	http_request_free(req);
}

static void
want_more(struct http_conn *c)
{
	c->want_more = 1;
	http_conn_set_state(c, CONN_STREAM, STREAM_NS);
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) <= PIECE_LOW)
		bufferevent_trigger(c->bev, EV_WRITE,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void
http_stream_begin(struct http_request *req, const struct http_answer *a,
    http_request_cb *more, void *arg)
{
	struct http_conn *c = req->conn;

	assert(c != NULL && c->state == CONN_BUSY);
	c->more = more;
	c->more_arg = arg;
	c->chunked = req->head.minor >= 1;
	if (!c->chunked)
		c->keep_alive = 0; /* the end of the stream is the end */
	c->all->answered(req->name, a->status, c->all->arg);
	put_head(c, a);
	evbuffer_add_printf(bufferevent_get_output(c->bev), "%s\r\n",
	    c->chunked ? "Transfer-Encoding: chunked\r\n" : "");
	bufferevent_setwatermark(c->bev, EV_WRITE, PIECE_LOW, 0);
	want_more(c);
}

void
http_stream_add(struct http_request *req, struct evbuffer *piece)
{
	struct http_conn *c = req->conn;
	size_t len = evbuffer_get_length(piece);
	struct evbuffer *out;

	assert(c != NULL && c->state == CONN_STREAM);
	out = bufferevent_get_output(c->bev);
	if (len > 0 && !c->head_only) {
		if (c->chunked)
			evbuffer_add_printf(out, "%zx\r\n", len);
		evbuffer_add_buffer(out, piece);
		if (c->chunked)
			evbuffer_add(out, "\r\n", 2);
	}
	want_more(c);
}

void
http_stream_end(struct http_request *req)
{
	struct http_conn *c = req->conn;

	if (c != NULL) {
		c->req = NULL;
		c->want_more = 0;
		bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
		if (c->chunked && !c->head_only)
			evbuffer_add(bufferevent_get_output(c->bev),
			    "0\r\n\r\n", 5);
		http_conn_flush(c);
	}
	http_request_free(req);
}
