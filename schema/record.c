/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - an engine is a child process of another user: its output is
 * checked field by field before it is stored.
 */
#include "schema/record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/member.h"
#include "common/xalloc.h"
#include "schema/record_fields.h"
#include "schema/strict.h"

static int __attribute__((format(printf, 2, 3)))
record_refuse(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vsay(err, fmt, ap);
	va_end(ap);
	return -EPROTO;
}

int
record_run_check(const char *run)
{
	size_t n = strlen(run);

	if (n == 0 || n > RECORD_RUN_MAX || run[0] == '-')
		return -EINVAL;
	for (; *run != '\0'; run++)
		if (!isascii((unsigned char)*run) ||
		    (!isalnum((unsigned char)*run) && *run != '-'))
			return -EINVAL;
	return 0;
}

static int
record_kind_matches(char kind, const json_t *v)
{
	switch (kind) {
	case 's':
		return json_is_string(v);
	case 'i':
		return json_is_integer(v) && json_integer_value(v) >= 0;
	case 'N':
		return json_is_number(v) || json_is_null(v);
	case 'a':
		return json_is_array(v);
	case 'o':
		return json_is_object(v);
	case 'O':
		return json_is_object(v) || json_is_null(v);
	default:
		return v != NULL;
	}
}

static int
record_fields_check(const struct record_field *f, const json_t *record,
    const struct record_line *line, struct err *err)
{
	for (; f->name != NULL; f++) {
		const json_t *v = json_object_get(record, f->name);

		if (f->check == record_is_hist && line != NULL &&
		    line->hist != NULL) {
			if (record_is_buckets(line->hist, line->hist_count))
				continue;
			return record_refuse(err, "%s has an invalid value",
			    f->name);
		}

		if (v == NULL && f->optional)
			continue;
		if (v == NULL)
			return record_refuse(err, "%s is missing", f->name);
		if (!record_kind_matches(f->kind, v))
			return record_refuse(err, "%s has the wrong type",
			    f->name);
		if (f->check != NULL && !f->check(v))
			return record_refuse(err, "%s has an invalid value",
			    f->name);
	}
	return 0;
}

/* No number without samples, no samples without numbers, and the histogram
 * counts each sample once. */
static int
record_numbers_check(const json_t *record, const struct record_line *line,
    struct err *err)
{
	json_int_t n = json_integer_value(json_object_get(record, "n"));
	json_int_t sum = 0;
	int null = json_is_null(json_object_get(record, "mean"));
	size_t i;
	json_t *pair;

	member_foreach (record, "hist", i, pair) {
		json_int_t count = json_integer_value(json_array_get(pair, 1));

		if (count < 0 || n < 0 || count > n - sum)
			return record_refuse(err,
			    "hist counts more values than n");
		sum += count;
	}
	for (i = 0; line != NULL && i < line->hist_count; i++) {
		if (n < 0 || line->hist[i].count > (uint64_t)(n - sum))
			return record_refuse(err,
			    "hist counts more values than n");
		sum += (json_int_t)line->hist[i].count;
	}
	if (sum != n)
		return record_refuse(err, "hist counts fewer values than n");
	if (null != (n == 0))
		return record_refuse(err, "mean and n are inconsistent");
	if (n == 0 && json_object_get(record, "cause") == NULL)
		return record_refuse(err,
		    "the record has neither a number nor a cause");
	return 0;
}

int
record_check(const json_t *record, const struct record_line *line,
    struct record_head *ret, struct err *err)
{
	const json_t *seq = json_object_get(record, "seq");
	const struct record_kind *kind;
	struct record_head h = { 0 };

	if (!json_is_object(record))
		return record_refuse(err, "not a JSON object");
	h.probe = json_string_value(json_object_get(record, "probe"));
	kind = h.probe == NULL ? NULL : record_kind_find(h.probe);
	if (kind == NULL)
		return record_refuse(err, "unknown probe %.32s",
		    h.probe == NULL ? "(none)" : h.probe);
	h.run = json_string_value(json_object_get(record, "run"));
	if (!json_object_get(record, "run") && !kind->numbered)
		h.run = "";
	else if (h.run == NULL || record_run_check(h.run) < 0)
		return record_refuse(err, "run is missing or malformed");
	if (!kind->numbered && seq != NULL)
		return record_refuse(err, "unexpected seq in %s", h.probe);
	if (kind->numbered && json_integer_value(seq) < 1)
		return record_refuse(err, "seq is missing or below 1");
	if (record_fields_check(kind->fields, record, line, err) < 0)
		return -EPROTO;
	if ((json_object_get(record, "hist") != NULL ||
		(line != NULL && line->hist != NULL)) &&
	    record_numbers_check(record, line, err) < 0)
		return -EPROTO;
	h.seq = (uint64_t)json_integer_value(seq);
	h.test = json_string_value(json_object_get(record, "test"));
	h.phase = json_string_value(json_object_get(record, "phase"));
	h.raw = strcmp(h.probe, "round") == 0;
	*ret = h;
	return 0;
}

int
record_parse(const char *line, size_t len_bytes, json_t **ret,
    struct record_head *ret_head, struct err *err)
{
	json_t *record;
	int rc;

	if (len_bytes > RECORD_LINE_MAX)
		return record_refuse(err, "longer than %d bytes",
		    RECORD_LINE_MAX);
	rc = strict_object(line, len_bytes, RECORD_DEPTH_MAX, &record, err);
	if (rc < 0)
		return rc;
	rc = record_check(record, NULL, ret_head, err);
	if (rc < 0)
		json_decref(record);
	else
		*ret = record; /* handed over */
	return rc;
}

struct record_line
record_line_at(const struct strict_lines *lines, size_t i)
{
	const struct strict_line *l;

	if (lines == NULL || i >= lines->count)
		return (struct record_line){ 0 };
	l = &lines->list[i];
	return (struct record_line){ .text = lines->text + l->from,
		.len_bytes = l->len_bytes,
		.cut_from = l->cut_from,
		.cut_to = l->cut_to,
		.hist = l->has_hist ? lines->buckets + l->bucket : NULL,
		.hist_count = l->bucket_end - l->bucket };
}

struct record_line
record_line_copy(const struct record_line *line)
{
	size_t hist_bytes = line->hist_count * sizeof(*line->hist);
	size_t text_bytes = (line->len_bytes + 7) & ~(size_t)7;
	struct record_line copy = *line;
	char *text;

	if (line->text == NULL)
		return copy;
	text = xreallocarray(NULL, 1, text_bytes + hist_bytes);
	memcpy(text, line->text, line->len_bytes);
	copy.text = text;
	if (line->hist != NULL)
		copy.hist = memcpy(text + text_bytes, line->hist, hist_bytes);
	return copy;
}

/* Counts that were added. A bucket that no check has passed is skipped. */
static uint64_t
record_bucket_add(struct hist *into, json_int_t at, uint64_t count)
{
	if (at < HIST_FIRST || at > HIST_LAST || count > HIST_COUNT_MAX)
		return 0;
	into->bucket[at - HIST_FIRST] += count;
	return count;
}

static void
record_hist_add(const json_t *array, const struct record_line *line,
    double mean, double min, double max, struct hist *into)
{
	uint64_t added = 0;
	size_t i;
	json_t *pair;

	json_array_foreach (array, i, pair)
		added += record_bucket_add(into,
		    json_integer_value(json_array_get(pair, 0)),
		    (uint64_t)json_integer_value(json_array_get(pair, 1)));
	for (i = 0; line != NULL && i < line->hist_count; i++)
		added += record_bucket_add(into, line->hist[i].index,
		    line->hist[i].count);
	if (added == 0)
		return;
	if (into->count == 0 || min < into->min)
		into->min = min;
	if (into->count == 0 || max > into->max)
		into->max = max;
	into->count += added;
	into->sum += mean * (double)added;
}

void
record_hist_merge(const json_t *record, const struct record_line *line,
    struct hist *into)
{
	record_hist_add(json_object_get(record, "hist"), line,
	    json_number_value(json_object_get(record, "mean")),
	    json_number_value(json_object_get(record, "min")),
	    json_number_value(json_object_get(record, "max")), into);
}

int
record_hist_read(const json_t *record, const struct record_line *line,
    struct hist *ret)
{
	const json_t *array = json_object_get(record, "hist");

	if (line != NULL && line->hist != NULL
		? !record_is_buckets(line->hist, line->hist_count)
		: !json_is_array(array) || !record_is_hist(array))
		return -EPROTO;
	hist_clear(ret);
	record_hist_merge(record, line, ret);
	return 0;
}

json_t *
record_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static void
record_put_number(json_t *record, const char *name, double x)
{
	json_object_set_new(record, name, record_number(x));
}

void
record_put_hist(json_t *record, const struct hist *h)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 },
		{ "p999", 0.999 } };
	json_t *buckets = json_array();

	json_object_set_new(record, "n", json_integer((json_int_t)h->count));
	record_put_number(record, "mean", hist_mean(h));
	record_put_number(record, "min", h->count == 0 ? NAN : h->min);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		record_put_number(record, quantiles[i].name,
		    hist_quantile(h, quantiles[i].q));
	record_put_number(record, "max", h->count == 0 ? NAN : h->max);
	for (int i = HIST_FIRST; i <= HIST_LAST; i++) {
		uint64_t count = h->bucket[i - HIST_FIRST];

		if (count > 0)
			json_array_append_new(buckets,
			    json_pack("[i,I]", i, (json_int_t)count));
	}
	json_object_set_new(record, "hist", buckets);
}
