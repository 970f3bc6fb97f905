/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_records.c - all records of a run as one array, page by page: they may
 * exceed the memory, and must not wait in it for a slow reader. The next page
 * is read when the last one has been sent.
 */
#include <stdlib.h>

#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/http/http_int.h"
#include "daemon/http/http_answer.h"

struct walk {
	struct http *h;
	struct http_request *req;
	json_t *args;
	int begun;    /* the stream is */
	int more;     /* the store has another page */
	int64_t left; /* records that may still be sent */
};

static void http_records_page_cb(int status, json_t *result, void *arg);

static void
http_records_walk_free(struct walk *w)
{
	json_decref(w->args);
	free(w);
}

static void
http_records_ask_page(struct walk *w)
{
	json_object_set_new(w->args, "limit", json_integer(w->left));
	store_ask_for(w->h->store, STORE_RECORDS, w->args, w->req,
	    http_records_page_cb, w);
}

static void
http_records_free_page(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	json_decref(arg);
}

static void
http_records_more_cb(struct http_request *req, void *arg)
{
	struct walk *w = arg;

	if (!http_gone(req) && w->more) {
		http_records_ask_page(w);
		return;
	}
	http_stream_end(req);
	http_records_walk_free(w);
}

/* The first page decides: an error or a short answer is sent as usual. */
static void
http_records_page_cb(int status, json_t *result, void *arg)
{
	const json_t *text = json_object_get(result, "text");
	size_t len = json_string_length(text);
	struct http_answer ok = { .status = 200 };
	struct walk *w = arg;
	struct evbuffer *body;

	if (status < 0 || (w->begun && http_gone(w->req))) {
		/* Close the connection in the middle: the peer detects that the
		 * answer is incomplete. */
		if (w->begun)
			http_drop(w->req);
		else
			http_fail_errno(w->req, status, NULL);
		json_decref(result);
		http_records_walk_free(w);
		return;
	}
	w->left -= member_int(result, "count");
	w->more = w->left > 0 && member_bool(result, "more");
	json_object_set(w->args, "after_seq",
	    json_object_get(result, "last_seq"));
	/* Append the text of the records, without the brackets of the array. */
	body = evbuffer_new();
	evbuffer_add(body, w->begun ? "," : "[", len > 0 || !w->begun);
	if (len > 0)
		evbuffer_add_reference(body, json_string_value(text), len,
		    http_records_free_page, result);
	else
		json_decref(result);
	if (!w->more)
		evbuffer_add(body, "]\n", 2);
	if (!w->begun && (!w->more || http_gone(w->req))) {
		http_reply(w->req, &ok, body);
		http_records_walk_free(w);
		return;
	}
	if (!w->begun &&
	    http_stream_begin(w->req, &ok, http_records_more_cb, w) < 0) {
		http_fail(w->req, 503, "busy", "too many slow clients: retry");
		evbuffer_free(body);
		http_records_walk_free(w);
		return;
	}
	w->begun = 1;
	http_stream_add(w->req, body);
	evbuffer_free(body);
}

void
http_get_records(struct http *h, struct http_request *req, const char *part)
{
	static const char *const names[] = { "#after_seq", "#limit", "probe",
		NULL };
	json_t *args = json_pack("{s:s,s:b}", "run", part, "text", 1);
	struct walk *w;

	if (args == NULL) {
		http_fail(req, 400, "config", "the run's name is not UTF-8");
		return;
	}
	if (http_args(req, args, names) < 0) {
		json_decref(args);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->h = h;
	w->req = req;
	w->args = args;
	w->left = INT64_MAX;
	if (json_object_get(args, "limit") != NULL)
		w->left = member_int(args, "limit");
	http_records_ask_page(w);
}
