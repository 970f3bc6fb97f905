/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_zip.h - the body of an answer, compressed by gzip in steps.
 */
#ifndef DAEMON_HTTP_HTTP_ZIP_H
#define DAEMON_HTTP_HTTP_ZIP_H

#include <event2/buffer.h>
#include <stddef.h>

#include "daemon/http/http_answer.h"

/* A body that is compressed in steps. Takes body and copies a; NULL, without
 * taking body, if it would not be smaller, or on failure. */
struct http_zip *http_zip_new(const struct http_answer *a,
    struct evbuffer *body);
void http_zip_free(struct http_zip *z); /* NULL is allowed */
/* Compress up to this many bytes; return 1 at the end. */
int http_zip_step(struct http_zip *z, size_t bytes);
/* Return the answer and, once, its body as it is to be sent. */
struct http_answer *http_zip_answer(struct http_zip *z);
struct evbuffer *http_zip_take(struct http_zip *z);

#endif
