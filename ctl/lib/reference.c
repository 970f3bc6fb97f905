/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.c - rows of published results, and those nearest to a request.
 */
#include "ctl/lib/reference.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/member.h"
#include "common/str.h"

#define FILE_MOST  (1U << 20)
#define ROWS_MOST  100000
#define RANKS_NEAR 2.0 /* factor between ranks that are compared */
#define BYTES_NEAR 4.0
#define GBPS_NEAR  1.5

/* ---- files ---- */

static const struct reference_field {
	const char *member;
	enum { TEXT, NUMBER, OP, BYTES, RATE } kind;
} fields[] = {
	{ "gpu", TEXT },
	{ "fabric", TEXT },
	{ "gbps", NUMBER },
	{ "nodes", NUMBER },
	{ "ranks", NUMBER },
	{ "op", OP },
	{ "bytes", BYTES },
	{ "busbw_bytes_per_s", RATE },
};

/* Return the value of a word, NULL if it is invalid. */
static json_t *
reference_value(const struct reference_field *f, const char *word)
{
	const struct bench_op *op = bench_op_find(word);
	uint64_t bytes;
	double number;
	char *end;

	if (f->kind == TEXT)
		return json_string(word);
	if (f->kind == OP)
		return op == NULL ? NULL : json_string(op->name);
	if (f->kind == BYTES)
		return str_to_bytes(word, &bytes) < 0 || bytes == 0
		    ? NULL
		    : json_real((double)bytes);
	number = strtod(word, &end);
	if (*end != '\0' || !(number > 0) || !(number < 1e9))
		return NULL;
	return json_real(f->kind == RATE ? number * 1e9 : number);
}

/* "GPU FABRIC GBPS NODES RANKS COLLECTIVE BYTES BUSBW"; "-": not stated, which
 * collective, bytes and busbw cannot be. */
static int
reference_row_add(char *words, const json_t *source, json_t *rows)
{
	json_t *row = json_copy((json_t *)(uintptr_t)source), *value = NULL;
	char *save = NULL, *word = strtok_r(words, " \t", &save);
	size_t i = 0;

	for (; i < ARRAY_LEN(fields) && word != NULL; i++) {
		if (strcmp(word, "-") != 0 || fields[i].kind >= OP) {
			value = reference_value(&fields[i], word);
			if (value == NULL)
				break;
			json_object_set_new(row, fields[i].member, value);
		}
		word = strtok_r(NULL, " \t", &save);
	}
	if (i < ARRAY_LEN(fields) || word != NULL ||
	    json_array_size(rows) >= ROWS_MOST) {
		json_decref(row);
		return -EINVAL;
	}
	json_array_append_new(rows, row);
	return 0;
}

int
reference_parse(const char *path, char *text, json_t *rows, struct err *err)
{
	static const char *const keys[] = { "source", "date", "read", "about" };
	json_t *source = json_object();
	char *rest = text, *line;
	int number = 0, rc = 0;

	while (rc == 0 && rest != NULL && (line = str_line(&rest)) != NULL) {
		char *sign = strstr(line, " = ");
		char *value = sign == NULL ? NULL : sign + 3;

		number++;
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (sign != NULL)
			*sign = '\0';
		if (value != NULL && strcmp(line, "row") == 0) {
			if (reference_row_add(value, source, rows) < 0)
				rc = err_set(err, -EINVAL,
				    "%s:%d: row: expected GPU FABRIC GBPS "
				    "NODES RANKS COLLECTIVE BYTES BUSBW, with "
				    "- for what is not known",
				    path, number);
			continue;
		}
		if (value == NULL || STR_FIND(keys, line) < 0)
			rc = err_set(err, -EINVAL,
			    "%s:%d: expected source, date, read, about or row "
			    "= VALUE",
			    path, number);
		else if (strcmp(value, "-") == 0)
			json_object_del(source, line);
		else if (json_object_set_new(source, line, json_string(value)) <
		    0)
			rc = err_set(err, -EINVAL, "%s:%d: %s is not UTF-8",
			    path, number, line);
		/* A source begins what is known of it. */
		if (rc == 0 && strcmp(line, "source") == 0)
			for (size_t i = 1; i < ARRAY_LEN(keys); i++)
				json_object_del(source, keys[i]);
	}
	json_decref(source);
	return rc;
}

int
reference_read(json_t **ret, struct err *err)
{
	const char *folder = getenv("COALMINE_REFERENCE");
	json_t *rows = json_array();
	char pattern[4096], *text;
	glob_t found = { 0 };
	size_t bytes;
	int rc = 0;

	snprintf(pattern, sizeof(pattern), "%s/*.conf",
	    folder != NULL ? folder : COALMINE_REFERENCE_DIR);
	(void)glob(pattern, 0, NULL, &found);
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
		rc = file_read(found.gl_pathv[i], FILE_MOST, &text, &bytes,
		    err);
		if (rc < 0)
			break;
		rc = reference_parse(found.gl_pathv[i], text, rows, err);
		free(text);
	}
	globfree(&found);
	if (rc < 0)
		json_decref(rows);
	else
		*ret = rows;
	return rc;
}

/* ---- the nearest ---- */

/* 1 when a row is of the same class of machine. A row without a GPU is the
 * site's own, for any. The network does not matter within a node. */
static int
reference_is_like(const json_t *row, const struct reference_class *c)
{
	double nodes = member_number(row, "nodes");
	double gbps = member_number(row, "gbps");
	const char *gpu = member_text(row, "gpu");
	const char *fabric = member_text(row, "fabric");

	if (nodes > 0 && (nodes > 1) != (c->nodes > 1))
		return 0;
	if (gpu[0] != '\0' && strcasecmp(gpu, c->gpu) != 0)
		return 0;
	if (c->nodes < 2)
		return 1;
	if (c->fabric[0] != '\0' && (gpu[0] != '\0' || fabric[0] != '\0') &&
	    strcasecmp(fabric, c->fabric) != 0)
		return 0;
	return !(gbps > 0) || !(c->gbps > 0) ||
	    fabs(log(gbps / c->gbps)) <= log(GBPS_NEAR);
}

/* Return how far a row is from the request, NAN if it is not comparable. */
static double
reference_distance(const json_t *row, const struct reference_class *c)
{
	double ranks = member_number(row, "ranks");
	double bytes = member_number(row, "bytes");
	double by_ranks = ranks > 0 ? fabs(log(ranks / c->ranks)) : 0;
	double by_bytes = fabs(log(bytes / c->bytes));

	if (strcmp(member_text(row, "op"), c->op) != 0 ||
	    !reference_is_like(row, c) || by_ranks > log(RANKS_NEAR) ||
	    by_bytes > log(BYTES_NEAR))
		return NAN;
	return by_ranks + by_bytes;
}

/* The nearest row of a source that is not in taken. */
static const json_t *
reference_nearest(const json_t *rows, const struct reference_class *c,
    const json_t *taken)
{
	const json_t *best = NULL, *row;
	double least = INFINITY;
	size_t i;

	json_array_foreach (rows, i, row) {
		double far = reference_distance(row, c);

		if (far < least &&
		    json_object_get(taken, member_text(row, "about")) == NULL) {
			least = far;
			best = row;
		}
	}
	return best;
}

json_t *
reference_match(const json_t *rows, const struct reference_class *c)
{
	json_t *ret = json_array(), *taken = json_object();

	while (json_array_size(ret) < REFERENCE_ROWS) {
		const json_t *row = reference_nearest(rows, c, taken);

		if (row == NULL)
			break;
		json_object_set_new(taken, member_text(row, "about"),
		    json_true());
		json_array_append(ret, (json_t *)(uintptr_t)row);
	}
	json_decref(taken);
	return ret;
}

/* ---- written ---- */

int
reference_print(const struct bench_series *s, const char *source)
{
	if (s->op == NULL || s->per_rank || s->ranks <= 0)
		return -EINVAL;
	printf("source = %s\nabout = %s\n", source, s->name);
	for (size_t i = 0; i < s->count; i++) {
		const struct bench_point *p = &s->points[i];
		double busbw = p->bytes / p->s * bench_bus_factor(s);

		if (busbw > 0 && isfinite(busbw) && !(p->wrong > 0))
			printf("row = - - - - %d %s %.0f %.4g\n", s->ranks,
			    s->op->name, p->bytes, busbw / 1e9);
	}
	return 0;
}
