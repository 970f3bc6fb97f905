/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_record.c - convert records to rows. A record's histogram is stored as a
 * BLOB of a fifth of its size, but only if unpacking restores it exactly;
 * otherwise it stays in the JSON body. So a record that is read equals the
 * record that was written.
 *
 * Bodies are long if they have lists with a row for every node. zstd compresses
 * these to a third in half the time of the fastest deflate; short bodies are
 * not compressed. Bodies deflated by older versions can still be read.
 */
#include "daemon/store/store_record.h"
#include "daemon/store/store_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "schema/record.h"

#define PACK_MIN_BYTES 256
#define PACK_MAX_BYTES (256U << 20) /* of a text */
#define PACK_LEVEL     1
#define HEAD_BYTES     4 /* length of the text, lowest byte first */

/* Return a new BLOB of at most three quarters of the text's size, or NULL if it
 * compresses less. */
static uint8_t *
store_record_pack(struct sql *db, const char *text, size_t len_bytes,
    size_t *ret_bytes)
{
	size_t cap_bytes = len_bytes / 4 * 3, bytes;
	uint8_t *blob;

	if (len_bytes < PACK_MIN_BYTES || len_bytes > PACK_MAX_BYTES)
		return NULL;
	/* a separate context for each text takes four times as long */
	if (db->packer == NULL && (db->packer = ZSTD_createCCtx()) != NULL) {
		(void)ZSTD_CCtx_setParameter(db->packer,
		    ZSTD_c_compressionLevel, PACK_LEVEL);
		(void)ZSTD_CCtx_setParameter(db->packer, ZSTD_c_checksumFlag,
		    1);
	}
	blob = malloc(cap_bytes);
	if (blob == NULL || db->packer == NULL) {
		free(blob);
		return NULL;
	}
	bytes = ZSTD_compress2(db->packer, blob + HEAD_BYTES,
	    cap_bytes - HEAD_BYTES, text, len_bytes);
	if (ZSTD_isError(bytes)) {
		free(blob);
		return NULL;
	}
	for (int i = 0; i < HEAD_BYTES; i++)
		blob[i] = (uint8_t)(len_bytes >> (8 * i));
	*ret_bytes = bytes + HEAD_BYTES;
	return blob;
}

void
store_pack_bind(struct sql_stmt *q, int at, char *text)
{
	size_t len_bytes = text != NULL ? strlen(text) : 0;
	size_t bytes = 0;
	uint8_t *blob = NULL;

	if (text != NULL && q->db->engine->packs)
		blob = store_record_pack(q->db, text, len_bytes, &bytes);
	if (blob != NULL) {
		free(text);
		sql_bind_given(q, at, SQL_BLOB, blob, bytes);
	} else {
		sql_bind_given(q, at, SQL_TEXT, text, len_bytes);
	}
}

static int
store_record_is_zstd(const uint8_t *frame, size_t bytes)
{
	return bytes >= 4 && frame[0] == (ZSTD_MAGICNUMBER & 0xff) &&
	    frame[1] == (ZSTD_MAGICNUMBER >> 8 & 0xff) &&
	    frame[2] == (ZSTD_MAGICNUMBER >> 16 & 0xff) &&
	    frame[3] == ZSTD_MAGICNUMBER >> 24;
}

/* Return 1 if the result has the expected length. */
static int
store_record_expand(const uint8_t *frame, size_t bytes, char *ret,
    size_t len_bytes)
{
	uLongf got = (uLongf)len_bytes;

	if (store_record_is_zstd(frame, bytes))
		return ZSTD_decompress(ret, len_bytes, frame, bytes) ==
		    len_bytes;
	return uncompress((Bytef *)ret, &got, frame, (uLong)bytes) == Z_OK &&
	    got == len_bytes;
}

static char *
store_record_unpack(const uint8_t *blob, size_t bytes)
{
	size_t len_bytes = 0;
	char *text;

	for (size_t i = 0; bytes > HEAD_BYTES && i < HEAD_BYTES; i++)
		len_bytes |= (size_t)blob[i] << (8 * i);
	if (len_bytes == 0 || len_bytes > PACK_MAX_BYTES)
		return NULL;
	text = malloc(len_bytes + 1);
	if (text == NULL ||
	    !store_record_expand(blob + HEAD_BYTES, bytes - HEAD_BYTES, text,
		len_bytes)) {
		free(text);
		return NULL;
	}
	text[len_bytes] = '\0';
	return text;
}

char *
store_pack_text(const struct sql_value *v)
{
	if (v->type == SQL_BLOB)
		return store_record_unpack(v->bytes, v->len_bytes);
	return v->type == SQL_TEXT ? strndup(v->bytes, v->len_bytes) : NULL;
}

char *
store_pack_column(struct sql_stmt *q, int column)
{
	struct sql_value v = sql_column(q, column);
	char *copy;

	if (v.type == SQL_NULL)
		return NULL;
	copy = store_pack_text(&v);
	if (copy == NULL)
		log_warnx("store: cannot decompress the body of a stored row");
	return copy;
}

/* Return the BLOB of a record's histogram, or NULL if it must stay in the body,
 * for example because its smallest value is not in its first bucket. The caller
 * frees. */
static uint8_t *
store_record_pack_hist(struct hist *h, const json_t *record,
    const struct record_line *line, long *ret_bytes)
{
	uint8_t *blob;

	if (record_hist_read(record, line, h) < 0 || h->count == 0)
		return NULL;
	blob = malloc(HIST_BLOB_MAX);
	*ret_bytes = blob != NULL ? hist_pack(h, blob, HIST_BLOB_MAX) : -1;
	if (*ret_bytes > 0)
		return blob;
	free(blob);
	return NULL;
}

/* The columns after run_id or id, seq and at_unix_ns. A new column needs a row
 * here, a migration, and an entry of the table in store_copy.c. */
static const struct column {
	const char *name;
	enum {
		COLUMN_RAW,
		COLUMN_TEXT,
		COLUMN_COUNT,
		COLUMN_NUMBER,
		COLUMN_HIST,
		COLUMN_BODY,
		COLUMN_CRC
	} what;
	const char *in, *key; /* a member of the record or of an object in it */
} columns[] = {
	{ "raw", COLUMN_RAW, NULL, NULL },
	{ "probe", COLUMN_TEXT, NULL, "probe" },
	{ "test", COLUMN_TEXT, NULL, "test" },
	{ "phase", COLUMN_TEXT, NULL, "phase" },
	{ "unit", COLUMN_TEXT, NULL, "unit" },
	{ "n", COLUMN_COUNT, NULL, "n" },
	{ "mean", COLUMN_NUMBER, NULL, "mean" },
	{ "min", COLUMN_NUMBER, NULL, "min" },
	{ "p50", COLUMN_NUMBER, NULL, "p50" },
	{ "p90", COLUMN_NUMBER, NULL, "p90" },
	{ "p99", COLUMN_NUMBER, NULL, "p99" },
	{ "p999", COLUMN_NUMBER, NULL, "p999" },
	{ "max", COLUMN_NUMBER, NULL, "max" },
	{ "of", COLUMN_TEXT, NULL, "of" },
	{ "value", COLUMN_NUMBER, NULL, "value" },
	{ "lo", COLUMN_NUMBER, "interval", "lo" },
	{ "hi", COLUMN_NUMBER, "interval", "hi" },
	{ "hist", COLUMN_HIST, NULL, "hist" },
	{ "body", COLUMN_BODY, NULL, NULL },
	{ "crc", COLUMN_CRC, NULL, NULL },
};
#define COLUMN_FIRST 4 /* index of the first column's parameter */

char *
store_record_insert(void)
{
	struct strbuf sql = { 0 };

	strbuf_addf(&sql, "INSERT INTO record (run_id, seq, at_unix_ns");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		strbuf_addf(&sql, ", %s", columns[i].name);
	strbuf_addf(&sql, ") VALUES (?1, ?2, ?3");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		strbuf_addf(&sql, ", ?%zu", COLUMN_FIRST + i);
	/* any other conflict is an error, not a copy */
	strbuf_addf(&sql, ") ON CONFLICT (run_id, seq) DO NOTHING");
	return sql.text;
}

/* A record that loses its lists gets a new id at the end if the engine would
 * leave its page partly empty: such a page is never merged with the next.
 * Nothing refers to the id. */
char *
store_record_update(const struct sql *db)
{
	struct strbuf sql = { 0 };

	strbuf_addf(&sql, "UPDATE record SET id = %s",
	    db->engine->moves_shrunk ? "CASE raw WHEN 0 THEN id ELSE"
				       " (SELECT max(id) + 1 FROM record) END"
				     : "id");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		strbuf_addf(&sql, ", %s = ?%zu", columns[i].name,
		    COLUMN_FIRST + i);
	strbuf_addf(&sql, " WHERE id = ?1");
	return sql.text;
}

/* Return the text of a record, as it arrived or newly made. The caller
 * frees. */
static char *
store_record_body(const json_t *record, const struct record_line *line,
    int has_blob)
{
	json_t *rest;
	char *text;

	if (line != NULL && line->text != NULL) {
		size_t cut = has_blob ? line->cut_from : line->len_bytes;
		size_t rest_at = has_blob ? line->cut_to : line->len_bytes;

		text = xreallocarray(NULL, 1, line->len_bytes + 1);
		memcpy(text, line->text, cut);
		memcpy(text + cut, line->text + rest_at,
		    line->len_bytes - rest_at);
		text[cut + line->len_bytes - rest_at] = '\0';
		return text;
	}
	rest = json_copy((json_t *)(uintptr_t)record);
	if (has_blob)
		json_object_del(rest, "hist");
	/* As many digits as the engine writes (probes/job/emit.h). */
	text = json_dumps(rest, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(rest);
	return text;
}

/* Return the CRC-32 of a record's body and of its histogram, which may be
 * NULL. */
static uint32_t
store_record_crc(const char *text, const void *hist, size_t hist_bytes)
{
	uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)text, strlen(text));

	return hist == NULL
	    ? crc
	    : (uint32_t)crc32_z(crc, (const Bytef *)hist, hist_bytes);
}

void
store_record_bind(struct sql_stmt *q, const json_t *record,
    const struct record_line *line, int raw, struct hist *scratch)
{
	long blob_bytes = 0;
	uint8_t *blob = store_record_pack_hist(scratch, record, line,
	    &blob_bytes);
	char *text = store_record_body(record, line, blob != NULL);
	int64_t crc = text == NULL
	    ? 0
	    : store_record_crc(text, blob, (size_t)blob_bytes);

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const struct column *c = &columns[i];
		const json_t *in = c->in == NULL
		    ? record
		    : json_object_get(record, c->in);
		const json_t *v = c->key == NULL ? NULL
						 : json_object_get(in, c->key);
		int at = COLUMN_FIRST + (int)i;

		if (c->what == COLUMN_RAW)
			sql_bind_int(q, at, raw);
		else if (c->what == COLUMN_CRC)
			sql_bind_int(q, at, crc);
		else if (c->what == COLUMN_HIST && blob != NULL)
			sql_bind_given(q, at, SQL_BLOB, blob,
			    (size_t)blob_bytes);
		else if (c->what == COLUMN_BODY)
			store_pack_bind(q, at, text); /* takes text */
		else if (c->what == COLUMN_TEXT)
			sql_bind_text(q, at, json_string_value(v));
		/* A value of another type stays NULL: unknown is never 0. */
		else if ((c->what == COLUMN_COUNT ||
			     c->what == COLUMN_NUMBER) &&
		    json_is_integer(v))
			sql_bind_int(q, at, json_integer_value(v));
		else if (c->what == COLUMN_NUMBER && json_is_real(v))
			q->db->engine->bind(q, at,
			    &(struct sql_value){ .type = SQL_REAL,
				.real = json_real_value(v) });
	}
}

/* Return 1 if the record is undamaged. A record of an older collector has no
 * CRC: 1 if it can be parsed. */
static int
store_record_is_whole(const char *text, const struct sql_value *hist,
    const struct sql_value *crc)
{
	json_t *o;

	if (text == NULL)
		return 0;
	if (crc->type == SQL_INT)
		return crc->integer ==
		    store_record_crc(text,
			hist->type == SQL_BLOB ? hist->bytes : NULL,
			hist->len_bytes);
	o = json_loads(text, 0, NULL);
	json_decref(o);
	return o != NULL;
}

/* Append the histogram as a member after the others. */
static int
store_record_hist_add(struct strbuf *to, const struct sql_value *blob)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	const char *comma = "";
	int rc = hist_unpack(blob->bytes, blob->len_bytes, h);

	if (rc == 0)
		strbuf_addf(to, ",\"hist\":[");
	for (int i = 0; rc == 0 && i < HIST_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		strbuf_addf(to, "%s[%d,%llu]", comma, i + HIST_FIRST,
		    (unsigned long long)h->bucket[i]);
		comma = ",";
	}
	if (rc == 0)
		strbuf_add(to, "]}", 2);
	free(h);
	return rc;
}

int
store_record_text(struct strbuf *to, struct sql_stmt *q, int body, int hist,
    int crc)
{
	char *text = store_pack_column(q, body);
	struct sql_value blob = sql_column(q, hist), sum = sql_column(q, crc);
	size_t len = text != NULL ? strlen(text) : 0, was = to->len_bytes;
	int rc = store_record_is_whole(text, &blob, &sum) ? 0 : -EBADMSG;

	if (rc == 0 && (blob.type != SQL_BLOB || len < 2)) {
		strbuf_add(to, text, len);
	} else if (rc == 0) {
		strbuf_add(to, text, len - 1);
		rc = store_record_hist_add(to, &blob) < 0 ? -EBADMSG : 0;
		if (rc < 0) {
			to->len_bytes = was;
			to->text[was] = '\0';
		}
	}
	free(text);
	return rc;
}
