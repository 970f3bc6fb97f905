/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/tuner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

#define FORMAT     "coalmine-tuning"
#define VERSION    1
#define BYTES_MAX  (16u << 20)
#define COUNT_MAX  9007199254740992.0 /* 2^53: exact in JSON */
#define NUMBER_MAX 1e18

struct tuner *
tuner_table_get(struct tuner_table *tt, uint32_t src, uint32_t dst)
{
	for (size_t i = 0; i < tt->count; i++)
		if (tt->pairs[i].src == src && tt->pairs[i].dst == dst)
			return &tt->pairs[i].tuner;
	tt->pairs = xreallocarray(tt->pairs, tt->count + 1, sizeof(*tt->pairs));
	memset(&tt->pairs[tt->count], 0, sizeof(*tt->pairs));
	tt->pairs[tt->count].src = src;
	tt->pairs[tt->count].dst = dst;
	return &tt->pairs[tt->count++].tuner;
}

void
tuner_table_clear(struct tuner_table *tt)
{
	free(tt->pairs);
	tt->pairs = NULL;
	tt->count = 0;
}

/* ---- writing ---- */

static json_t *
fits_json(const struct tuner_fits *f)
{
	json_t *staged = json_array();

	for (uint32_t i = 0; i < f->count; i++)
		json_array_append_new(staged,
		    json_pack("{s:f, s:f, s:f, s:f}", "setup_s",
			f->staged[i].setup_s, "chunk_s", f->staged[i].chunk_s,
			"in_bytes_per_s", f->staged[i].in_per_s,
			"out_bytes_per_s", f->staged[i].out_per_s));
	return json_pack("{s:{s:f, s:f}, s:o}", "direct", "setup_s",
	    f->direct.setup_s, "bytes_per_s", f->direct.bytes_per_s, "staged",
	    staged);
}

static json_t *
row_json(const struct tuner *t, uint32_t k)
{
	const struct tuner_row *r = &t->rows[k];
	json_t *ways = json_array();

	for (uint32_t i = 0; i <= t->fits.count; i++)
		json_array_append_new(ways,
		    json_pack("{s:f, s:f, s:I, s:I}", "setup_s",
			r->line[i].setup_s, "bytes_per_s",
			r->line[i].bytes_per_s, "chunks",
			(json_int_t)r->chunks[i], "carried_bytes",
			(json_int_t)r->carried[i]));
	return json_pack("{s:I, s:I, s:I, s:b, s:I, s:f, s:f, s:o}", "class",
	    (json_int_t)k, "transfers", (json_int_t)r->transfers, "last_bytes",
	    (json_int_t)r->last_bytes, "direct", (int)r->direct, "since",
	    (json_int_t)r->since, "direct_s", r->direct_s, "several_s",
	    r->several_s, "ways", ways);
}

static json_t *
pair_json(const struct tuner_pair *p)
{
	json_t *rows = json_array();

	for (uint32_t k = 0; k < TUNER_CLASSES; k++)
		if (p->tuner.rows[k].transfers > 0)
			json_array_append_new(rows, row_json(&p->tuner, k));
	return json_pack("{s:I, s:I, s:I, s:o, s:o}", "src", (json_int_t)p->src,
	    "dst", (json_int_t)p->dst, "chunks_max",
	    (json_int_t)p->tuner.chunks_max, "fits", fits_json(&p->tuner.fits),
	    "rows", rows);
}

static json_t *
table_json(const struct tuner_table *tt)
{
	json_t *pairs = json_array();

	for (size_t i = 0; i < tt->count; i++)
		json_array_append_new(pairs, pair_json(&tt->pairs[i]));
	return json_pack("{s:s, s:i, s:s, s:I, s:o}", "format", FORMAT,
	    "version", VERSION, "machine", tt->machine, "written_unix_s",
	    (json_int_t)(clk_unix_ns() / CLK_NS_PER_S), "pairs", pairs);
}

/* Beside the file, on disk, then in its place. */
static int
replace(const char *path, const char *text)
{
	char *next = xasprintf("%s.new", path);
	size_t len = strlen(text), at = 0;
	int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int rc = fd < 0 ? -errno : 0;

	while (rc == 0 && at < len) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno != EINTR)
			rc = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(next, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(next);
	free(next);
	return rc;
}

int
tuner_save(const struct tuner_table *tt, const char *path, struct err *err)
{
	json_t *j = table_json(tt);
	char *text = json_dumps(j, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	int rc = text == NULL ? -ENOMEM : replace(path, text);

	if (rc < 0)
		err_say(err, "%.200s: %s", path, strerror(-rc));
	free(text);
	json_decref(j);
	return rc;
}

/* ---- reading ---- */

struct reading {
	const char *path;
	struct err *err;
	int rc; /* of the first that is wrong */
};

static void
complain(struct reading *rd, const char *key, const char *what)
{
	if (rd->rc < 0)
		return;
	err_say(rd->err, "%.160s: %s: %s", rd->path, key, what);
	rd->rc = -EPROTO;
}

static double
number(struct reading *rd, const json_t *j, const char *key, double min,
    double max)
{
	const json_t *v = json_object_get(j, key);
	double x = json_number_value(v);

	if (!json_is_number(v) || !isfinite(x) || x < min || x > max) {
		complain(rd, key, "not a number in its range");
		return min;
	}
	return x;
}

static uint64_t
count(struct reading *rd, const json_t *j, const char *key, double max)
{
	if (!json_is_integer(json_object_get(j, key)))
		complain(rd, key, "not a whole number");
	return (uint64_t)number(rd, j, key, 0, max);
}

static const json_t *
list(struct reading *rd, const json_t *j, const char *key, size_t max)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_array(v) || json_array_size(v) > max)
		complain(rd, key, "not a list, or too long");
	return v;
}

static void
fits_parse(struct reading *rd, const json_t *j, struct tuner_fits *f)
{
	const json_t *d = json_object_get(j, "direct");
	const json_t *staged = list(rd, j, "staged", TUNER_WAYS_MAX - 1);

	f->direct.setup_s = number(rd, d, "setup_s", 0, NUMBER_MAX);
	f->direct.bytes_per_s = number(rd, d, "bytes_per_s", 1, NUMBER_MAX);
	for (size_t i = 0; rd->rc == 0 && i < json_array_size(staged); i++) {
		const json_t *s = json_array_get(staged, i);
		struct paths_staged *h = &f->staged[f->count++];

		h->setup_s = number(rd, s, "setup_s", 0, NUMBER_MAX);
		h->chunk_s = number(rd, s, "chunk_s", 0, NUMBER_MAX);
		h->in_per_s = number(rd, s, "in_bytes_per_s", 1, NUMBER_MAX);
		h->out_per_s = number(rd, s, "out_bytes_per_s", 1, NUMBER_MAX);
	}
}

static void
row_parse(struct reading *rd, const json_t *j, struct tuner *t)
{
	const json_t *ways = list(rd, j, "ways", t->fits.count + 1);
	uint64_t k = count(rd, j, "class", TUNER_CLASSES - 1);
	struct tuner_row *r = &t->rows[k];

	r->transfers = count(rd, j, "transfers", COUNT_MAX);
	r->last_bytes = count(rd, j, "last_bytes", COUNT_MAX);
	r->direct = json_is_true(json_object_get(j, "direct"));
	r->since = (uint32_t)count(rd, j, "since", UINT32_MAX);
	r->direct_s = number(rd, j, "direct_s", 0, NUMBER_MAX);
	r->several_s = number(rd, j, "several_s", 0, NUMBER_MAX);
	if (rd->rc == 0 &&
	    (r->last_bytes == 0 || tuner_class(r->last_bytes) != k))
		complain(rd, "last_bytes", "not of its class");
	for (uint32_t i = 0; rd->rc == 0 && i <= t->fits.count; i++) {
		const json_t *w = json_array_get(ways, i);

		r->line[i].setup_s = number(rd, w, "setup_s", 0, NUMBER_MAX);
		r->line[i].bytes_per_s = number(rd, w, "bytes_per_s", 1e-9,
		    NUMBER_MAX);
		r->chunks[i] = (uint32_t)count(rd, w, "chunks", t->chunks_max);
		r->carried[i] = count(rd, w, "carried_bytes", COUNT_MAX);
	}
}

static void
pair_parse(struct reading *rd, const json_t *j, struct tuner_table *tt)
{
	uint32_t src = (uint32_t)count(rd, j, "src", UINT32_MAX);
	uint32_t dst = (uint32_t)count(rd, j, "dst", UINT32_MAX);
	const json_t *rows = list(rd, j, "rows", TUNER_CLASSES);
	struct tuner *t = tuner_table_get(tt, src, dst);

	memset(t, 0, sizeof(*t));
	t->chunks_max = (uint32_t)number(rd, j, "chunks_max", 1,
	    PATHS_CHUNKS_MAX);
	fits_parse(rd, json_object_get(j, "fits"), &t->fits);
	for (size_t i = 0; rd->rc == 0 && i < json_array_size(rows); i++)
		row_parse(rd, json_array_get(rows, i), t);
}

static void
table_parse(struct reading *rd, const json_t *j, struct tuner_table *tt)
{
	const char *format = json_string_value(json_object_get(j, "format"));
	const char *of = json_string_value(json_object_get(j, "machine"));
	const json_t *pairs = list(rd, j, "pairs", TUNER_PAIRS_MAX);

	if (format == NULL || strcmp(format, FORMAT) != 0)
		complain(rd, "format", "is not " FORMAT);
	if (count(rd, j, "version", 1e6) != VERSION)
		complain(rd, "version", "is not 1");
	if (of == NULL)
		complain(rd, "machine", "is missing");
	if (rd->rc == 0 && strcmp(of, tt->machine) != 0) {
		err_say(rd->err, "%.160s: is of %.60s, and this is %.60s",
		    rd->path, of, tt->machine);
		rd->rc = -ESTALE;
	}
	for (size_t i = 0; rd->rc == 0 && i < json_array_size(pairs); i++)
		pair_parse(rd, json_array_get(pairs, i), tt);
}

int
tuner_parse(struct tuner_table *tt, const char *path, const char *text,
    size_t text_bytes, struct err *err)
{
	struct reading rd = { path, err, 0 };
	struct tuner_table got = { .count = 0 };
	json_error_t error;
	json_t *j = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES,
	    &error);

	snprintf(got.machine, sizeof(got.machine), "%s", tt->machine);
	if (j == NULL)
		return err_set(err, -EPROTO, "%.160s:%d: %s", path, error.line,
		    error.text);
	table_parse(&rd, j, &got);
	json_decref(j);
	if (rd.rc < 0) {
		tuner_table_clear(&got);
		return rd.rc;
	}
	tuner_table_clear(tt);
	*tt = got; /* handed over */
	return 0;
}

int
tuner_load(struct tuner_table *tt, const char *path, struct err *err)
{
	char *text;
	size_t n;
	int rc = file_read(path, BYTES_MAX, &text, &n, err);

	if (rc < 0)
		return rc;
	rc = tuner_parse(tt, path, text, n, err);
	free(text);
	return rc;
}
