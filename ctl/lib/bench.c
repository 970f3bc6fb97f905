/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - columns and operations of nccl-tests and of the OSU
 * micro-benchmarks, and series printed in their form.
 */
#include "ctl/lib/bench.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"

/* Of several titles of one kind in a format, any may be in a file. The one
 * with a width is written. */
static const struct bench_column columns[] = {
	{ "size", "nccl-tests", "(B)", BENCH_SIZE, 1, 12, NULL },
	{ "count", "nccl-tests", "(elements)", BENCH_OTHER, 1, 14, "N/A" },
	{ "type", "nccl-tests", "", BENCH_TEXT, 1, 10, "N/A" },
	{ "redop", "nccl-tests", "", BENCH_REDOP, 1, 8, "N/A" },
	{ "root", "nccl-tests", "", BENCH_OTHER, 1, 8, "-1" },
	{ "time", "nccl-tests", "(us)", BENCH_TIME, 1e-6, 9, NULL },
	{ "cputime", "nccl-tests", "(us)", BENCH_CPU_TIME, 1, 0, NULL },
	{ "algbw", "nccl-tests", "(GB/s)", BENCH_ALGBW, 1e9, 8, NULL },
	{ "busbw", "nccl-tests", "(GB/s)", BENCH_BUSBW, 1e9, 8, NULL },
	{ "#wrong", "nccl-tests", "", BENCH_WRONG, 1, 7, NULL },
	{ "timestamp", "nccl-tests", "", BENCH_STAMP, 1, 0, NULL },
	{ "Size", "osu", "", BENCH_SIZE, 1, -10, NULL },
	{ "Avg Latency(us)", "osu", "", BENCH_TIME, 1e-6, 18, NULL },
	{ "Latency (us)", "osu", "", BENCH_TIME, 1e-6, 0, NULL },
	{ "Pure Comm.(us)", "osu", "", BENCH_TIME, 1e-6, 0, NULL },
	{ "Bandwidth (MB/s)", "osu", "", BENCH_RATE, 1e6, 0, NULL },
	{ "Validation", "osu", "", BENCH_WRONG, 1, 0, NULL },
};

const struct bench_column *
bench_column_find(const char *format, const char *title)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strcmp(columns[i].format, format) == 0 &&
		    strcmp(columns[i].title, title) == 0)
			return &columns[i];
	return NULL;
}

/* ---- operations ---- */

/* What nccl-tests multiplies a rate by is the share of the bytes that the
 * links of one rank carry. */
static const struct bench_op ops[] = {
	{ "allreduce", 2, 0, 1, 0 },
	{ "allgather", 1, 0, 0, 1 },
	{ "reduce-scatter", 1, 0, 1, 0 },
	{ "alltoall", 1, 0, 0, 1 },
	{ "gather", 1, 0, 0, 1 },
	{ "scatter", 1, 0, 0, 1 },
	{ "broadcast", 1, 1, 0, 0 },
	{ "reduce", 1, 1, 1, 0 },
	/* Between two ranks: no collective, so no plan has these names. */
	{ "bandwidth", 1, 1, 0, 0 },
	{ "latency", 1, 1, 0, 0 },
};

/* Letters of names that are not those of ops, and the operation. Only OSU gives
 * all ranks equal blocks in the variants v and w. */
static const struct {
	const char *letters, *op;
	int only_osu;
} names[] = {
	{ "reducescatter", "reduce-scatter", 0 },
	{ "reducescatterblock", "reduce-scatter", 0 },
	{ "bcast", "broadcast", 0 },
	{ "allgatherv", "allgather", 1 },
	{ "gatherv", "gather", 1 },
	{ "scatterv", "scatter", 1 },
	{ "alltoallv", "alltoall", 1 },
	{ "alltoallw", "alltoall", 1 },
};

static int
bench_ends(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

const struct bench_op *
bench_op_find(const char *name)
{
	static const char *const ends[] = { "mpi", "perf", "latency",
		"personalizedexchange", "persistent" };
	static const char nonblocking[] = "nonblocking";
	char text[BENCH_NAME_BYTES], *word = text;
	const char *by = strstr(name, " by ");
	int is_osu = strstr(name, "_perf") == NULL;
	size_t n = 0;

	for (const char *at = name; *at != '\0' && at != by; at++)
		if (isalpha((unsigned char)*at) && n < sizeof(text) - 1)
			text[n++] = (char)tolower((unsigned char)*at);
	text[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (bench_ends(text, ends[i]))
			text[strlen(text) - strlen(ends[i])] = '\0';
	if (strncmp(text, nonblocking, strlen(nonblocking)) == 0)
		word += strlen(nonblocking);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i].letters) == 0 &&
		    (is_osu || !names[i].only_osu))
			return &ops[STR_FIND(ops, names[i].op)];
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (strcmp(word, ops[i].name) == 0)
			return &ops[i];
	return NULL;
}

/* NAN: the operation or its ranks are not known. */
double
bench_bus_factor(const struct bench_series *s)
{
	if (s->op == NULL || (!s->op->fixed && s->ranks <= 0))
		return NAN;
	return s->op->fixed ? s->op->factor
			    : s->op->factor * (s->ranks - 1) / s->ranks;
}

/* ---- series ---- */

void
bench_list_clear(struct bench_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->all[i].points);
	free(l->all);
	memset(l, 0, sizeof(*l));
}

struct bench_series *
bench_list_add(struct bench_list *l, struct bench_series *s)
{
	l->all = xreallocarray(l->all, l->count + 1, sizeof(*l->all));
	l->all[l->count] = *s;
	memset(s, 0, sizeof(*s));
	return &l->all[l->count++];
}

void
bench_series_add(struct bench_series *s, double bytes, double seconds,
    double wrong)
{
	s->points = xreallocarray(s->points, s->count + 1, sizeof(*s->points));
	s->points[s->count++] = (struct bench_point){ bytes, seconds, wrong };
}

void
bench_series_whole(struct bench_series *s, int ranks)
{
	for (size_t i = 0; s->per_rank && i < s->count; i++)
		s->points[i].bytes *= ranks;
	s->per_rank = 0;
}

const struct bench_point *
bench_series_at(const struct bench_series *s, double bytes)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->points[i].bytes == bytes)
			return &s->points[i];
	return NULL;
}

/* ---- printing ---- */

/* A text that is wider than its column stays apart from the one before it. */
static void
bench_cell_print(int width, const char *text)
{
	if (width > 0)
		printf(" %*s", width - 1, text);
	else
		printf("%*s", width, text);
}

static void
bench_value_print(const struct bench_column *c, const struct bench_series *s,
    const struct bench_point *p, double size_scale)
{
	double rate = p->bytes / p->s / c->scale, value = NAN;
	char text[64];

	if (c->kind == BENCH_SIZE)
		snprintf(text, sizeof(text), "%.0f", p->bytes / size_scale);
	else if (c->kind == BENCH_WRONG && isfinite(p->wrong))
		snprintf(text, sizeof(text), "%.6g", p->wrong);
	else if (c->other != NULL)
		snprintf(text, sizeof(text), "%s", c->other);
	else {
		value = c->kind == BENCH_TIME ? p->s / c->scale
		    : c->kind == BENCH_ALGBW  ? rate
		    : c->kind == BENCH_BUSBW  ? rate * bench_bus_factor(s)
					      : NAN;
		snprintf(text, sizeof(text), isfinite(value) ? "%.2f" : "N/A",
		    value);
	}
	/* as wide as the header with its mark */
	bench_cell_print(c->width +
		(c->kind != BENCH_SIZE ? 0
			: c->width > 0 ? 2
				       : -2),
	    text);
}

int
bench_series_print(const struct bench_series *s, const char *format)
{
	int nccl = strcmp(format, "nccl-tests") == 0;
	int blocks = !nccl && s->op != NULL && s->op->by_block;

	if ((nccl && s->per_rank) || (blocks && !s->per_rank && s->ranks <= 0))
		return -EINVAL;
	if (s->name[0] != '\0') {
		printf(nccl ? "# Collective test starting: %s" : "# OSU MPI %s",
		    s->name);
		if (s->ranks > 0)
			printf(", %d ranks", s->ranks);
		putchar('\n');
	}
	for (int unit = 0; unit <= nccl; unit++) {
		printf("# ");
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			if (strcmp(columns[i].format, format) == 0 &&
			    columns[i].width != 0)
				bench_cell_print(columns[i].width,
				    unit ? columns[i].unit : columns[i].title);
		putchar('\n');
	}
	for (size_t k = 0; k < s->count; k++) {
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			if (strcmp(columns[i].format, format) == 0 &&
			    columns[i].width != 0)
				bench_value_print(&columns[i], s, &s->points[k],
				    blocks && !s->per_rank ? s->ranks : 1);
		putchar('\n');
	}
	return 0;
}

json_t *
bench_series_json(const struct bench_series *s)
{
	json_t *points = json_array();
	json_t *o = json_pack("{s:o, s:o}", "name", text_json(s->name),
	    "points", points);

	if (s->op != NULL)
		json_object_set_new(o, "operation", json_string(s->op->name));
	if (s->ranks > 0)
		json_object_set_new(o, "ranks", json_integer(s->ranks));
	if (s->per_rank)
		json_object_set_new(o, "per_rank", json_true());
	for (size_t i = 0; i < s->count; i++) {
		json_t *p = json_pack("{s:f, s:f}", "bytes", s->points[i].bytes,
		    "seconds", s->points[i].s);

		if (s->points[i].wrong > 0)
			json_object_set_new(p, "wrong",
			    json_real(s->points[i].wrong));
		json_array_append_new(points, p);
	}
	return o;
}
