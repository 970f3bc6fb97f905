/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_zip.h - compress the body of an answer by gzip in steps, so that a long
 * one does not block the loop.
 */
#ifndef DAEMON_HTTP_HTTP_ZIP_H
#define DAEMON_HTTP_HTTP_ZIP_H

#include <event2/buffer.h>
#include <stddef.h>

#include "daemon/http/http_answer.h"

/* Start to compress a body. Takes body, and copies a. Return NULL, without
 * taking body, if the body is too short to become smaller, or on failure. */
struct http_zip *http_zip_new(const struct http_answer *a,
    struct evbuffer *body);
void http_zip_free(struct http_zip *z); /* NULL is allowed */
/* Compress up to this many bytes. Return 1 at the end, otherwise 0. If
 * compression fails, the plain body remains. */
int http_zip_step(struct http_zip *z, size_t bytes);
/* Return the answer and, once, the body to send, which the caller owns. The
 * answer belongs to z. */
struct http_answer *http_zip_answer(struct http_zip *z);
struct evbuffer *http_zip_take(struct http_zip *z);

#endif
