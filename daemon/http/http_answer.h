/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_answer.h - an answer as bytes: its head, and an error.
 */
#ifndef DAEMON_HTTP_HTTP_ANSWER_H
#define DAEMON_HTTP_HTTP_ANSWER_H

#include <event2/buffer.h>

struct http_answer {
	int status;
	const char *type;    /* NULL: application/json */
	const char *headers; /* more of them, each ended by CRLF; may be NULL */
	int gzipped;         /* the body is gzipped already */
};

/* Append the status line and fields, without the body's length and the empty
 * line. */
void http_answer_head(struct evbuffer *out, const struct http_answer *a,
    int keep_alive);
/* {"error": {cause, message}} */
struct evbuffer *http_answer_error(const char *cause, const char *message);

#endif
