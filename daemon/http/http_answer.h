/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_answer.h - the head of an HTTP answer, and the body of an error.
 */
#ifndef DAEMON_HTTP_HTTP_ANSWER_H
#define DAEMON_HTTP_HTTP_ANSWER_H

#include <event2/buffer.h>

/* The head of an answer. */
struct http_answer {
	int status;
	const char *type; /* NULL: application/json */
	/* Further header fields, each ended by CRLF; NULL: none. */
	const char *headers;
	int gzipped; /* the body is gzipped already */
};

/* Append the status line and the header fields to out, without the length of
 * the body and the empty line. */
void http_answer_head(struct evbuffer *out, const struct http_answer *a,
    int keep_alive);
/* Return the body {"error": {cause, message}}; the caller owns it. */
struct evbuffer *http_answer_error(const char *cause, const char *message);

#endif
