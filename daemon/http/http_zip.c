/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_zip.c - the body of an answer is compressed in steps, so that a long one
 * does not hold up the loop.
 */
#include "daemon/http/http_zip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/xalloc.h"

#define GZIP_MIN   1024 /* bytes; below, the head costs more than it saves */
#define GZIP_BITS  (15 + 16) /* 16: gzip instead of zlib */
#define GZIP_SPACE 16384

struct http_zip {
	struct http_answer answer;
	char *headers;
	struct evbuffer *plain, *packed;
	z_stream z;
	int is_failed;
};

/* On failure the plain body is sent. */
static void
http_zip_deflate(struct http_zip *z, const void *bytes, size_t len, int flush)
{
	struct evbuffer_iovec space;

	z->z.next_in = (Bytef *)(uintptr_t)bytes;
	z->z.avail_in = (uInt)len;
	do {
		if (evbuffer_reserve_space(z->packed, GZIP_SPACE, &space, 1) <
		    1) {
			z->is_failed = 1;
			return;
		}
		z->z.next_out = space.iov_base;
		z->z.avail_out = (uInt)space.iov_len;
		if (deflate(&z->z, flush) == Z_STREAM_ERROR)
			z->is_failed = 1;
		space.iov_len -= z->z.avail_out;
		if (evbuffer_commit_space(z->packed, &space, 1) < 0)
			z->is_failed = 1;
	} while (!z->is_failed && z->z.avail_out == 0);
}

int
http_zip_step(struct http_zip *z, size_t bytes)
{
	struct evbuffer_ptr at;
	struct evbuffer_iovec part;
	size_t left;

	for (;;) {
		evbuffer_ptr_set(z->plain, &at, z->z.total_in,
		    EVBUFFER_PTR_SET);
		left = evbuffer_get_length(z->plain) - z->z.total_in;
		if (left == 0 || z->is_failed || bytes == 0)
			break;
		evbuffer_peek(z->plain, (ev_ssize_t)left, &at, &part, 1);
		if (part.iov_len > bytes)
			part.iov_len = bytes;
		http_zip_deflate(z, part.iov_base, part.iov_len, Z_NO_FLUSH);
		bytes -= part.iov_len;
	}
	if (left > 0 && !z->is_failed)
		return 0;
	if (!z->is_failed)
		http_zip_deflate(z, NULL, 0, Z_FINISH);
	z->answer.gzipped = !z->is_failed;
	return 1;
}

struct http_zip *
http_zip_new(const struct http_answer *a, struct evbuffer *body)
{
	struct http_zip *z;

	if (evbuffer_get_length(body) < GZIP_MIN)
		return NULL;
	z = xcalloc(1, sizeof(*z));
	if (deflateInit2(&z->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_BITS, 8,
		Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return NULL;
	}
	z->answer = *a;
	if (a->headers != NULL)
		z->answer.headers = z->headers = xstrdup(a->headers);
	z->plain = body;
	z->packed = evbuffer_new();
	return z;
}

void
http_zip_free(struct http_zip *z)
{
	if (z == NULL)
		return;
	deflateEnd(&z->z);
	if (z->plain != NULL)
		evbuffer_free(z->plain);
	if (z->packed != NULL)
		evbuffer_free(z->packed);
	free(z->headers);
	free(z);
}

struct http_answer *
http_zip_answer(struct http_zip *z)
{
	return &z->answer;
}

struct evbuffer *
http_zip_take(struct http_zip *z)
{
	struct evbuffer **from = z->is_failed ? &z->plain : &z->packed;
	struct evbuffer *body = *from;

	*from = NULL;
	return body;
}
