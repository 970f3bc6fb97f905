/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_page.c - the first page's files, part of the program and gzipped when
 * it was built.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "common/str.h"
#include "daemon/embed.h"
#include "daemon/http/http_int.h"
#include "daemon/http/http_answer.h"

#define GZIP_BITS (15 + 16)
#define ASSET_MAX (1024 * 1024) /* bytes, unpacked; the files are our own */

static const struct type_row {
	const char *end;
	const char *type;
} type_rows[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".txt", "text/plain; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
};

/* For the few clients that do not accept gzip. */
static struct evbuffer *
http_page_unpack(const struct embed *file)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)file->bytes,
		.avail_in = (uInt)file->size_bytes };
	struct evbuffer *body = evbuffer_new();
	unsigned char piece[16384];
	int rc = inflateInit2(&z, GZIP_BITS);

	while (rc == Z_OK && z.total_out < ASSET_MAX) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		rc = inflate(&z, Z_NO_FLUSH);
		evbuffer_add(body, piece, sizeof(piece) - z.avail_out);
	}
	inflateEnd(&z);
	return body;
}

void
http_get_asset(struct http *h, struct http_request *req, const char *part)
{
	struct http_answer a = { .status = 200,
		.type = "application/octet-stream",
		.gzipped = req->head.accepts_gzip };
	const struct embed *f = embed_page;
	const char *end = strrchr(part, '.');
	struct evbuffer *body;
	char etag[32], headers[128];

	(void)h;
	while (f->name != NULL && strcmp(f->name, part) != 0)
		f++;
	if (f->name == NULL) {
		http_fail(req, 404, "not-found", "unknown path");
		return;
	}
	for (size_t i = 0; end != NULL && i < ARRAY_LEN(type_rows); i++)
		if (strcmp(end, type_rows[i].end) == 0)
			a.type = type_rows[i].type;
	snprintf(etag, sizeof(etag), "\"%08lx\"",
	    crc32(0, f->bytes, (uInt)f->size_bytes));
	snprintf(headers, sizeof(headers),
	    "Cache-Control: no-cache\r\nETag: %s\r\n", etag);
	a.headers = headers;
	if (strcmp(req->head.etag, etag) == 0) {
		a.status = 304;
		a.gzipped = 0;
		body = NULL;
	} else if (a.gzipped) {
		body = evbuffer_new();
		evbuffer_add_reference(body, f->bytes, f->size_bytes, NULL,
		    NULL);
	} else {
		body = http_page_unpack(f);
	}
	http_reply(req, &a, body);
}

void
http_get_page(struct http *h, struct http_request *req, const char *part)
{
	(void)part;
	http_get_asset(h, req, "index.html");
}
