/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_record.c - a record's histogram leaves the JSON for a BLOB of a fifth
 * of its size, but only when it comes back as it was: what hist_pack cannot
 * say stays in the body, so a record read is always the record that was put.
 *
 * What is long in a body are lists with a row for every node, of which a
 * quarter is left by the fastest deflate; short ones are not worth it.
 */
#include "daemon/store/store_record.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/store/store_text.h"
#include "schema/record.h"

#define PACK_MIN_BYTES 256
#define SMALL_BYTES    4096
#define PACK_MAX_BYTES (256U << 20) /* of a text; SQLite takes no more */
#define HEAD_BYTES     4            /* its length, the lowest byte first */

/* Into ret of cap_bytes; 0 when it does not fit, which is no gain. The small
 * window of a short text takes microseconds less to set up. */
static size_t
deflate_text(const char *text, size_t len_bytes, uint8_t *ret, size_t cap_bytes)
{
	int bits = len_bytes <= SMALL_BYTES ? 12 : MAX_WBITS;
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text,
		.avail_in = (uInt)len_bytes,
		.next_out = ret,
		.avail_out = (uInt)cap_bytes };
	int rc;

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, bits, bits - 7,
		Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	rc = deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? cap_bytes - z.avail_out : 0;
}

/* A new BLOB, or NULL when there is nothing to gain. */
static uint8_t *
pack(const char *text, size_t len_bytes, int *ret_bytes)
{
	size_t cap_bytes = len_bytes / 4 * 3, bytes = 0;
	uint8_t *blob;

	if (len_bytes < PACK_MIN_BYTES || len_bytes > PACK_MAX_BYTES)
		return NULL;
	blob = malloc(cap_bytes);
	if (blob != NULL)
		bytes = deflate_text(text, len_bytes, blob + HEAD_BYTES,
		    cap_bytes - HEAD_BYTES);
	if (bytes == 0) {
		free(blob);
		return NULL;
	}
	for (int i = 0; i < HEAD_BYTES; i++)
		blob[i] = (uint8_t)(len_bytes >> (8 * i));
	*ret_bytes = (int)(HEAD_BYTES + bytes);
	return blob;
}

void
store_pack_bind(sqlite3_stmt *q, int at, char *text)
{
	int bytes = 0, rc;
	uint8_t *blob = NULL;

	if (text != NULL)
		blob = pack(text, strlen(text), &bytes);
	if (blob != NULL) {
		free(text);
		rc = sqlite3_bind_blob(q, at, blob, bytes, free);
	} else {
		rc = sqlite3_bind_text(q, at, text, -1, free);
	}
	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG || rc == SQLITE_NOMEM);
}

static char *
unpack(const uint8_t *blob, size_t bytes)
{
	size_t len_bytes = 0;
	uLongf got;
	char *text;

	for (size_t i = 0; bytes > HEAD_BYTES && i < HEAD_BYTES; i++)
		len_bytes |= (size_t)blob[i] << (8 * i);
	if (len_bytes == 0 || len_bytes > PACK_MAX_BYTES)
		return NULL;
	text = malloc(len_bytes + 1);
	got = (uLongf)len_bytes;
	if (text == NULL ||
	    uncompress((Bytef *)text, &got, blob + HEAD_BYTES,
		(uLong)(bytes - HEAD_BYTES)) != Z_OK ||
	    got != len_bytes) {
		free(text);
		return NULL;
	}
	text[len_bytes] = '\0';
	return text;
}

char *
store_pack_column(sqlite3_stmt *q, int column)
{
	const char *text;
	char *copy;

	switch (sqlite3_column_type(q, column)) {
	case SQLITE_NULL:
		return NULL;
	case SQLITE_BLOB:
		copy = unpack(sqlite3_column_blob(q, column),
		    (size_t)sqlite3_column_bytes(q, column));
		break;
	default:
		text = (const char *)sqlite3_column_text(q, column);
		copy = text != NULL ? strdup(text) : NULL;
	}
	if (copy == NULL)
		log_warnx("store: a body cannot be read");
	return copy;
}

/* The BLOB of a record's histogram; NULL when it must stay in the body. The
 * caller frees. */
static uint8_t *
pack_hist(struct hist *h, const json_t *record, long *ret_bytes)
{
	const json_t *given = json_object_get(record, "hist");
	json_t *back;
	uint8_t *blob;
	int same;

	if (!json_is_array(given) || json_array_size(given) == 0)
		return NULL;
	if (record_hist_parse(given,
		json_number_value(json_object_get(record, "mean")),
		json_number_value(json_object_get(record, "min")),
		json_number_value(json_object_get(record, "max")), h) < 0)
		return NULL;
	back = record_hist_json(h);
	same = json_equal(back, given);
	json_decref(back);
	if (!same)
		return NULL;
	blob = malloc(HIST_BLOB_MAX);
	*ret_bytes = blob != NULL ? hist_pack(h, blob, HIST_BLOB_MAX) : -1;
	if (*ret_bytes > 0)
		return blob;
	free(blob);
	return NULL;
}

/* What is not a number is NULL: unknown is never 0. */
static void
bind_number(sqlite3_stmt *q, int at, const json_t *v)
{
	if (json_is_integer(v))
		sqlite3_bind_int64(q, at, json_integer_value(v));
	else if (json_is_real(v))
		sqlite3_bind_double(q, at, json_real_value(v));
}

static void
bind_text(sqlite3_stmt *q, int at, const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));
	int rc = sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);

	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG || rc == SQLITE_NOMEM);
}

/* Columns that are members of the same name. */
static void
bind_members(sqlite3_stmt *q, const json_t *record)
{
	static const char *const texts[] = { "probe", "test", "phase",
		"unit" }; /* from ?5 */
	static const char *const numbers[] = { "n", "mean", "min", "p50", "p90",
		"p99", "p999", "max" }; /* from ?9 */
	const json_t *interval = json_object_get(record, "interval");

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		bind_text(q, 5 + (int)i, record, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		bind_number(q, 9 + (int)i, json_object_get(record, numbers[i]));
	bind_text(q, 17, record, "of");
	bind_number(q, 18, json_object_get(record, "value"));
	bind_number(q, 19, json_object_get(interval, "lo"));
	bind_number(q, 20, json_object_get(interval, "hi"));
}

void
store_record_bind(sqlite3_stmt *q, const json_t *record, int raw,
    struct hist *scratch)
{
	long blob_bytes = 0;
	uint8_t *blob = pack_hist(scratch, record, &blob_bytes);

	sqlite3_bind_int64(q, 4, raw);
	bind_members(q, record);
	if (blob != NULL)
		sqlite3_bind_blob(q, 21, blob, (int)blob_bytes, free);
	store_pack_bind(q, 22,
	    store_text(record, blob != NULL ? "hist" : NULL));
}

static void
hist_text(struct strbuf *to, const struct hist *h)
{
	const char *comma = "";

	strbuf_addf(to, ",\"hist\":[");
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		strbuf_addf(to, "%s[%d,%llu]", comma, i + HIST_FIRST,
		    (unsigned long long)h->bucket[i]);
		comma = ",";
	}
	strbuf_add(to, "]", 1);
}

void
store_record_text(struct strbuf *to, sqlite3_stmt *q, int body, int hist)
{
	char *text = store_pack_column(q, body);
	const void *blob = sqlite3_column_blob(q, hist);
	size_t len = text != NULL ? strlen(text) : 0;
	struct hist *h;

	if (blob == NULL || len < 2 || text[len - 1] != '}') {
		strbuf_addf(to, "%s", len > 0 ? text : "{}");
		free(text);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	strbuf_add(to, text, len - 1);
	if (hist_unpack(blob, (size_t)sqlite3_column_bytes(q, hist), h) == 0)
		hist_text(to, h);
	else
		log_warnx("store: a histogram cannot be read");
	strbuf_add(to, "}", 1);
	free(h);
	free(text);
}
