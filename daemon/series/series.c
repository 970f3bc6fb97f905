/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - select the number of a row of series_rows from a record: whether
 * the record fits, its labels, and whether the number replaces the previous
 * one; and load the records from before a start.
 */
#include "daemon/series/series.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/series/series_rows.h"
#include "daemon/store/store.h"
#include "schema/names_gpu.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"
#include "schema/record.h"

#define SAMPLES_MAX  256   /* of a family */
#define NODES_MAX    65536 /* of one whose labels are nodes */
#define LABELS_BYTES 512
#define WORD_MAX     63
#define INT_MAX_     65535
#define DEPTH_MAX    3 /* a record, an array in it, and one in that */

struct family {
	struct series_sample *list;
	size_t count, cap;
	json_t *index; /* labels: place in list */
};

struct series {
	size_t rows;
	struct family *families; /* by the first row of each */
};

/* A place in a record: the record, and its parents. */
struct place {
	const json_t *at[DEPTH_MAX]; /* the record first */
	size_t depth;
	const struct record_line *line; /* may be NULL */
	const char *class;
	int is_new;
};

struct series *
series_new(void)
{
	struct series *s = xcalloc(1, sizeof(*s));

	while (series_rows[s->rows].family != NULL)
		s->rows++;
	s->families = xcalloc(s->rows, sizeof(*s->families));
	return s;
}

void
series_free(struct series *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->rows; i++) {
		struct family *f = &s->families[i];

		for (size_t k = 0; k < f->count; k++) {
			free(f->list[k].labels);
			free(f->list[k].run);
			free(f->list[k].hist);
		}
		free(f->list);
		json_decref(f->index);
	}
	free(s->families);
	free(s);
}

static struct family *
series_family_of(const struct series *s, size_t row)
{
	while (row > 0 &&
	    strcmp(series_rows[row - 1].family, series_rows[row].family) == 0)
		row--;
	return &s->families[row];
}

size_t
series_samples(const struct series *s, size_t row,
    const struct series_sample **ret)
{
	const struct family *f = series_family_of(s, row);

	*ret = f->list;
	return f->count;
}

/* Use the first len bytes of a path in our own table. */
static void
series_word_of(const char *path, size_t len, char ret[WORD_MAX + 1])
{
	assert(len <= WORD_MAX);
	memcpy(ret, path, len);
	ret[len] = '\0';
}

/* Return the number of a member of o, or of a nested member: "interval.lo". */
static double
series_number_at(const json_t *o, const char *path)
{
	const char *dot = strchr(path, '.');
	char outer[WORD_MAX + 1];

	if (dot == NULL)
		return member_number(o, path);
	series_word_of(path, (size_t)(dot - path), outer);
	return member_number(json_object_get(o, outer), dot + 1);
}

/* Return 1 if all of these members, separated by blanks, exist and are above 0.
 */
static int
series_has_all(const json_t *o, const char *paths)
{
	char path[WORD_MAX + 1];

	while (paths != NULL && *paths != '\0') {
		size_t len = strcspn(paths, " ");

		series_word_of(paths, len, path);
		if (!(series_number_at(o, path) > 0))
			return 0;
		paths += len + strspn(paths + len, " ");
	}
	return 1;
}

static int
series_is_plain(const char *word)
{
	size_t len = 0;
	char c;

	for (; (c = word[len]) != '\0'; len++)
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '.' || c == '_' ||
			c == '+' || c == '-'))
			return 0;
	return len > 0 && len <= WORD_MAX;
}

/* Return the label's value, "" for no label; NULL if the record has no
 * permitted value. */
static const char *
series_label_value(const struct series_label *l, const struct place *p,
    char scratch[24])
{
	const json_t *v = NULL;
	const char *word;
	double number;

	for (size_t i = p->depth; v == NULL && i-- > 0;)
		v = json_object_get(p->at[i], l->from);
	word = json_is_string(v) ? json_string_value(v) : "";
	switch (l->kind) {
	case SERIES_FIXED:
		return l->from;
	case SERIES_CLASS:
		return series_is_plain(p->class) ? p->class : NULL;
	case SERIES_TEST:
		return STR_FIND(names_tests, word) >= 0 ? word : NULL;
	case SERIES_WORD:
		for (size_t i = 0; i < l->count; i++)
			if (strcmp(l->words[i], word) == 0)
				return word;
		return NULL;
	case SERIES_NAME:
		return series_is_plain(word) ? word : NULL;
	case SERIES_NODE:
		return hostlist_name_check(word) >= 0 ? word : NULL;
	case SERIES_DEVICE:
		return v == NULL ? "" : names_gpu_is_device(word) ? word : NULL;
	case SERIES_BYTES:
		if (v == NULL)
			return "";
		number = json_number_value(v);
		if (!(number >= 1 && number <= INT_MAX_))
			return NULL;
		snprintf(scratch, 24, "%d", (int)number);
		return scratch;
	case SERIES_INT:
		number = json_is_number(v) ? json_number_value(v) : -1;
		if (!(number >= (double)l->count && number <= INT_MAX_))
			return NULL;
		snprintf(scratch, 24, "%d", (int)number);
		return scratch;
	}
	return NULL;
}

/* Write {test="lat",phase="isolated"}. Return 0 if the record lacks a label. */
static int
series_labels_write(const struct series_row *row, const struct place *p,
    char ret[LABELS_BYTES])
{
	size_t len = 0, name_bytes, value_bytes;
	const char *name;

	for (size_t i = 0; i < SERIES_LABELS_MAX && row->labels[i].name != NULL;
	     i++) {
		char scratch[24];
		const char *value = series_label_value(&row->labels[i], p,
		    scratch);

		if (value == NULL)
			return 0;
		if (value[0] == '\0')
			continue;
		name = row->labels[i].name;
		name_bytes = strlen(name);
		value_bytes = strlen(value);
		if (len + name_bytes + value_bytes + 6 > LABELS_BYTES)
			return 0;
		/* for each row of each record: printf takes longer */
		ret[len] = len == 0 ? '{' : ',';
		len++;
		memcpy(ret + len, name, name_bytes);
		len += name_bytes;
		memcpy(ret + len, "=\"", 2);
		len += 2;
		memcpy(ret + len, value, value_bytes);
		len += value_bytes;
		ret[len++] = '"';
	}
	memcpy(ret + len, "}", 2);
	return 1;
}

static struct series_sample *
series_sample_of(struct family *f, const char *labels, size_t max)
{
	const json_t *at;

	if (f->index == NULL)
		f->index = json_object();
	at = json_object_get(f->index, labels);
	if (at != NULL)
		return &f->list[json_integer_value(at)];
	if (f->count == max)
		return NULL;
	if (f->count == f->cap) {
		f->cap = f->cap * 2 + 16;
		f->list = xreallocarray(f->list, f->cap, sizeof(*f->list));
	}
	json_object_set_new(f->index, labels,
	    json_integer((json_int_t)f->count));
	f->list[f->count] = (struct series_sample){ .labels = xstrdup(labels) };
	return &f->list[f->count++];
}

static void
series_take_number(struct series *s, size_t index, const struct place *p)
{
	const struct series_row *row = &series_rows[index];
	const json_t *record = p->at[0], *inner = p->at[p->depth - 1];
	int has = series_has_all(inner, row->needs);
	double value = row->value != NULL && has
	    ? series_number_at(inner, row->value)
	    : NAN;
	char labels[LABELS_BYTES];
	struct series_sample *sample;
	const char *run;
	double bytes;

	if (row->over != NULL)
		value /= series_number_at(inner, row->over);
	if ((row->keep == SERIES_LAST && !isfinite(value)) ||
	    ((row->keep == SERIES_LARGEST || row->keep == SERIES_MERGED) &&
		!has) ||
	    !series_labels_write(row, p, labels))
		return;
	sample = series_sample_of(series_family_of(s, index), labels,
	    row->each != NULL ? NODES_MAX : SAMPLES_MAX);
	/* Records may arrive while older ones are still read from the store. */
	if (sample == NULL || (sample->is_new && !p->is_new))
		return;
	sample->is_new = p->is_new;
	switch (row->keep) {
	case SERIES_LARGEST:
		/* A sweep is one run, whose largest message counts. */
		run = member_text(record, "run");
		bytes = member_number(record, "bytes");
		if (sample->run != NULL && strcmp(sample->run, run) == 0 &&
		    !(bytes >= sample->bytes))
			break;
		free(sample->run);
		sample->run = xstrdup(run);
		sample->bytes = bytes;
		sample->value = value;
		break;
	case SERIES_NEWEST:
	case SERIES_LAST:
		sample->value = value;
		break;
	case SERIES_COUNT:
		sample->value += p->is_new;
		break;
	case SERIES_LACKING:
		sample->value += p->is_new && !has;
		break;
	case SERIES_MERGED:
		if (!p->is_new)
			break;
		if (sample->hist == NULL) {
			sample->hist = xcalloc(1, sizeof(*sample->hist));
			hist_clear(sample->hist);
		}
		record_hist_merge(record, p->line, sample->hist);
		break;
	}
}

/* Process the elements of an array of the place, and of nested arrays:
 * "rails.nodes". */
static void
series_take_each(struct series *s, size_t index, const struct place *p,
    const char *path)
{
	size_t len = strcspn(path, "."), i;
	const char *rest = path[len] == '.' ? path + len + 1 : NULL;
	struct place inner = *p;
	char name[WORD_MAX + 1];
	const json_t *v;

	assert(p->depth < DEPTH_MAX);
	series_word_of(path, len, name);
	inner.depth++;
	member_foreach (p->at[p->depth - 1], name, i, v) {
		inner.at[p->depth] = v;
		if (rest != NULL)
			series_take_each(s, index, &inner, rest);
		else
			series_take_number(s, index, &inner);
	}
}

static int
series_fits(const char *have, const char *want)
{
	return want == NULL || (have[0] == want[0] && strcmp(have, want) == 0);
}

static void
series_record_take(struct series *s, const char *class, const json_t *record,
    const struct record_line *line, int is_new)
{
	struct place p = { .at = { record },
		.depth = 1,
		.line = line,
		.class = class,
		.is_new = is_new };
	const char *probe = member_text(record, "probe");
	const char *of = member_text(record, "of");
	const char *baseline = member_text(record, "baseline");
	int test = STR_FIND(names_tests, member_text(record, "test"));
	const char *unit = test >= 0 ? names_tests[test].unit : "";

	for (size_t i = 0; i < s->rows; i++) {
		const struct series_row *row = &series_rows[i];

		if (!series_fits(probe, row->probe) ||
		    !series_fits(of, row->of) ||
		    !series_fits(baseline, row->baseline) ||
		    !series_fits(unit, row->unit))
			continue;
		if (row->each != NULL)
			series_take_each(s, i, &p, row->each);
		else
			series_take_number(s, i, &p);
	}
}

void
series_record(struct series *s, const char *class, const json_t *record,
    const struct record_line *line)
{
	series_record_take(s, class, record, line, 1);
}

void
series_record_old(struct series *s, const char *class, const json_t *record)
{
	series_record_take(s, class, record, NULL, 0);
}

#define WARM_RUNS 20 /* enough for all campaigns of a busy site */

/* The oldest first, so the newest wins; one run at a time, because the store's
 * answers are whole runs in memory. */
struct warm {
	struct store *store;
	series_warm_cb *take;
	void *arg;
	json_t *runs; /* newest first; the last is next */
	json_t *run;  /* whose records were requested */
};

static void series_next_run(struct warm *w);

static void
series_records_cb(int status, json_t *result, void *arg)
{
	struct warm *w = arg;
	const json_t *record;
	size_t i;

	if (status == 0)
		json_array_foreach (result, i, record)
			w->take(w->arg, member_text(w->run, "class"), record);
	json_decref(result);
	series_next_run(w);
}

static void
series_next_run(struct warm *w)
{
	size_t left;
	json_t *args;

	do {
		left = json_array_size(w->runs);
		json_decref(w->run);
		w->run = NULL;
		if (left == 0) {
			json_decref(w->runs);
			free(w);
			return;
		}
		w->run = json_incref(json_array_get(w->runs, left - 1));
		json_array_remove(w->runs, left - 1);
		/* The mesh's records are many, large and soon replaced. The six
		 * nodes of a confirmation run, one of them slow, do not
		 * represent the cluster. */
	} while (strcmp(member_text(w->run, "campaign"), "mesh") == 0 ||
	    strcmp(member_text(w->run, "campaign"), NAMES_PASS_CAMPAIGN) == 0);
	args = json_pack("{s:O,s:i}", "run", json_object_get(w->run, "run"),
	    "limit", 1000);
	store_ask(w->store, STORE_RECORDS, args, series_records_cb, w);
	json_decref(args);
}

static void
series_runs_cb(int status, json_t *result, void *arg)
{
	struct warm *w = arg;

	w->runs = status == 0 ? result : json_array();
	log_debug("series: reading the records of %zu earlier runs",
	    json_array_size(w->runs));
	series_next_run(w);
}

void
series_warm(struct store *store, series_warm_cb *take, void *arg)
{
	struct warm *w = xcalloc(1, sizeof(*w));
	json_t *args = json_pack("{s:s,s:i}", "state", "finished", "limit",
	    WARM_RUNS);

	w->store = store;
	w->take = take;
	w->arg = arg;
	store_ask(store, STORE_RUNS, args, series_runs_cb, w);
	json_decref(args);
}
