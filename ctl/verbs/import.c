/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - the tables of nccl-tests and of the OSU micro-benchmarks,
 * read and written by one list of their columns, and what a run has measured
 * beside them.
 */
#include "ctl/verbs/import.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "common/table.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

#define FILE_MAX_BYTES (16 << 20)
#define CELLS_MAX      24
#define NAME_BYTES     80

/* Sizes and the seconds that each takes, of one operation by one library. */
struct series {
	char name[NAME_BYTES]; /* begins with the operation */
	int by_baseline;       /* of a run */
	int ranks;             /* 0: not known */
	struct point {
		double bytes, s;
	} * points; /* in the order of the file */
	size_t count;
};

enum kind { SIZE, TIME, RATE, BUS_RATE, OTHER };

/* In the order of their places. Of a format's titles for one kind any may be in
 * a file; the first is written. */
static const struct column {
	const char *title, *format, *unit;
	enum kind kind;
	double scale;      /* to bytes, seconds or bytes a second */
	int width;         /* written so wide; 0: only read */
	const char *other; /* OTHER: written */
} columns[] = {
	{ "size", "nccl-tests", "(B)", SIZE, 1, 12, NULL },
	{ "count", "nccl-tests", "(elements)", OTHER, 1, 14, "N/A" },
	{ "type", "nccl-tests", "", OTHER, 1, 10, "N/A" },
	{ "redop", "nccl-tests", "", OTHER, 1, 8, "N/A" },
	{ "root", "nccl-tests", "", OTHER, 1, 8, "-1" },
	{ "time", "nccl-tests", "(us)", TIME, 1e-6, 9, NULL },
	{ "algbw", "nccl-tests", "(GB/s)", RATE, 1e9, 8, NULL },
	{ "busbw", "nccl-tests", "(GB/s)", BUS_RATE, 1e9, 8, NULL },
	{ "#wrong", "nccl-tests", "", OTHER, 1, 7, "0" },
	{ "Size", "osu", "", SIZE, 1, -10, NULL },
	{ "Avg Latency(us)", "osu", "", TIME, 1e-6, 18, NULL },
	{ "Latency (us)", "osu", "", TIME, 1e-6, 0, NULL },
	{ "Bandwidth (MB/s)", "osu", "", RATE, 1e6, 0, NULL },
};

static void
import_series_clear(struct series *s)
{
	free(s->points);
	memset(s, 0, sizeof(*s));
}

static void
import_series_add(struct series *s, double bytes, double seconds)
{
	s->points = xreallocarray(s->points, s->count + 1, sizeof(*s->points));
	s->points[s->count++] = (struct point){ bytes, seconds };
}

static double
import_series_at(const struct series *s, double bytes)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->points[i].bytes == bytes)
			return s->points[i].s;
	return NAN;
}

/* ---- reading ---- */

/* Cells of a line, which it cuts: of a header between two blanks or more, for
 * titles have one. */
static int
import_cells_cut(char *line, int blanks, char **ret)
{
	int count = 0;

	for (char *at = line + strspn(line, " \t#");
	     *at != '\0' && count < CELLS_MAX;) {
		char *end = at;

		while (*end != '\0' &&
		    (!isblank((unsigned char)*end) ||
			(blanks > 1 && !isblank((unsigned char)end[1]))))
			end++;
		ret[count++] = at;
		at = end + strspn(end, " \t");
		*end = '\0';
	}
	return count;
}

/* What a file's header has said. */
struct heading {
	const struct column *size, *value;
	int size_at, value_at;
};

static void
import_heading_read(char *line, struct heading *ret)
{
	char *cells[CELLS_MAX];
	struct heading h = { 0 };
	int count = import_cells_cut(line, 2, cells);

	for (int i = 0; i < count; i++) {
		int at = STR_FIND(columns, cells[i]);
		const struct column *c = at < 0 ? NULL : &columns[at];

		if (c == NULL)
			continue;
		if (c->kind == SIZE && h.size == NULL) {
			h.size = c;
			h.size_at = i;
		} else if ((c->kind == TIME || c->kind == RATE) &&
		    h.value == NULL) {
			h.value = c;
			h.value_at = i;
		}
	}
	if (h.size != NULL && h.value != NULL &&
	    strcmp(h.size->format, h.value->format) == 0)
		*ret = h;
}

/* "# OSU MPI Allreduce Latency Test v7.3", "# Collective test starting:
 * all_reduce_perf", "#  Rank  0 Group ...". */
static void
import_comment_read(const char *line, struct series *s)
{
	const char *at = strstr(line, "OSU MPI "), *end;

	if (at != NULL)
		at += strlen("OSU MPI ");
	else if ((at = strstr(line, "test starting:")) != NULL)
		at += strlen("test starting:");
	line += strspn(line, "# ");
	s->ranks += strncmp(line, "Rank ", 5) == 0;
	if (at == NULL || s->name[0] != '\0')
		return;
	at += strspn(at, " ");
	end = strstr(at, ", ");
	if (end != NULL && s->ranks == 0)
		(void)sscanf(end, ", %d ranks", &s->ranks);
	end = end != NULL ? end : strstr(at, " Test");
	snprintf(s->name, sizeof(s->name), "%.*s",
	    end != NULL ? (int)(end - at) : (int)strlen(at), at);
	/* of a file that anybody may have sent */
	for (char *p = s->name; *p != '\0'; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
}

static int
import_row_read(char *line, const struct heading *h, struct series *s)
{
	char *cells[CELLS_MAX];
	int count = import_cells_cut(line, 1, cells);
	double bytes, value;

	if (h->size == NULL || h->size_at >= count || h->value_at >= count ||
	    str_to_double(cells[h->size_at], 0, 1e18, &bytes) < 0 ||
	    str_to_double(cells[h->value_at], 0, 1e18, &value) < 0)
		return -1;
	value *= h->value->scale;
	if (value > 0)
		import_series_add(s, bytes,
		    h->value->kind == RATE ? bytes / value : value);
	return 0;
}

/* 0 or an exit code. */
static int
import_file_series(const char *path, struct series *ret)
{
	struct heading h = { 0 };
	char *text, *rest, *line;
	struct err err;
	size_t len;
	int at = 0;

	if (file_read(path, FILE_MAX_BYTES, &text, &len, &err) < 0)
		return ctl_fail("%s", err.text);
	for (rest = text; (line = str_line(&rest)) != NULL;) {
		line[strcspn(line, "\r")] = '\0';
		at++;
		if (line[strspn(line, " \t")] == '\0')
			continue;
		if (line[strspn(line, " \t")] == '#') {
			import_comment_read(line, ret);
			import_heading_read(line, &h);
		} else if (h.size != NULL &&
		    import_row_read(line, &h, ret) < 0) {
			free(text);
			return ctl_fail("%s:%d: no row of a table of %s", path,
			    at, h.size->format);
		}
	}
	free(text);
	if (ret->count == 0)
		return ctl_fail("%s: no table: allowed are those that "
				"nccl-tests and OSU's micro-benchmarks print",
		    path);
	if (ret->name[0] == '\0')
		snprintf(ret->name, sizeof(ret->name), "%s", path);
	return 0;
}

/* ---- writing ---- */

/* Letters of the operation that a text begins with are those of a name of a
 * run's: how many, "Allreduce Latency" and all_reduce_perf being allreduce. */
static size_t
import_same_operation(const char *text, const char *name)
{
	size_t n = 0;

	for (;; text++, name++) {
		text += strspn(text, "-_");
		name += strspn(name, "-_");
		if (*name == ' ' || *name == '\0')
			return n;
		if (tolower((unsigned char)*text) != *name)
			return 0;
		n++;
	}
}

/* What nccl-tests multiplies a rate by: the share of the bytes that the links
 * of one rank carry. */
static double
import_bus_factor(const char *name, int ranks)
{
	static const struct {
		const char *name;
		double factor;
	} rows[] = { { "allreduce", 2 }, { "allgather", 1 },
		{ "reduce-scatter", 1 }, { "alltoall", 1 }, { "gather", 1 },
		{ "scatter", 1 } };
	size_t best = 0, n;
	double factor = 1;

	for (size_t i = 0; i < ARRAY_LEN(rows) && ranks > 0; i++) {
		n = import_same_operation(name, rows[i].name);
		if (n > best)
			factor = rows[i].factor * (ranks - 1) / ranks;
		best = n > best ? n : best;
	}
	return factor;
}

/* Whatever is wider than its column stays apart from what is before it. */
static void
import_cell_print(int width, const char *text)
{
	if (width > 0)
		printf(" %*s", width - 1, text);
	else
		printf("%*s", width, text);
}

static void
import_value_print(const struct column *c, const struct series *s,
    const struct point *p)
{
	double rate = p->bytes / p->s / c->scale;
	char text[64];

	if (c->kind == SIZE)
		snprintf(text, sizeof(text), "%.0f", p->bytes);
	else if (c->kind == OTHER)
		snprintf(text, sizeof(text), "%s", c->other);
	else
		snprintf(text, sizeof(text), "%.2f",
		    c->kind == TIME ? p->s / c->scale
			: c->kind == RATE
			? rate
			: rate * import_bus_factor(s->name, s->ranks));
	/* as wide as the header with its mark */
	import_cell_print(c->width +
		(c->kind != SIZE       ? 0
			: c->width > 0 ? 2
				       : -2),
	    text);
}

static void
import_series_print(const struct series *s, const char *format)
{
	int units = strcmp(format, "nccl-tests") == 0;

	printf(units ? "# Collective test starting: %s" : "# OSU MPI %s",
	    s->name);
	if (s->ranks > 0)
		printf(", %d ranks", s->ranks);
	for (int unit = 0; unit <= units; unit++) {
		printf("\n# ");
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			if (strcmp(columns[i].format, format) == 0 &&
			    columns[i].width != 0)
				import_cell_print(columns[i].width,
				    unit ? columns[i].unit : columns[i].title);
	}
	putchar('\n');
	for (size_t k = 0; k < s->count; k++) {
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			if (strcmp(columns[i].format, format) == 0 &&
			    columns[i].width != 0)
				import_value_print(&columns[i], s,
				    &s->points[k]);
		putchar('\n');
	}
}

/* ---- of a run ---- */

struct series_list {
	struct series *all;
	size_t count;
};

static void
import_list_clear(struct series_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		import_series_clear(&l->all[i]);
	free(l->all);
}

/* The one of that name, which may be new. */
static struct series *
import_list_find(struct series_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->all[i].name, name) == 0)
			return &l->all[i];
	l->all = xreallocarray(l->all, l->count + 1, sizeof(*l->all));
	memset(&l->all[l->count], 0, sizeof(*l->all));
	snprintf(l->all[l->count].name, NAME_BYTES, "%s", name);
	return &l->all[l->count++];
}

/* By operation, and by what moved the bytes: the plan, or the baseline that it
 * was set beside. A plan is called "collective name=broadcast count=4", or
 * "allreduce count=4". */
static void
import_records_series(const json_t *records, struct series_list *ret)
{
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		int beside = records_is(r, "speedup", NULL);
		const char *op = print_member(r, "plan", "");
		double bytes = member_number(r, "bytes");
		double seconds = member_number(r,
		    beside ? "baseline_seconds" : "median_middle");
		char name[NAME_BYTES];
		struct series *s;

		if ((!beside && !records_is(r, NULL, "whole")) ||
		    !(bytes > 0) || !(seconds > 0))
			continue;
		if (strstr(op, "name=") != NULL)
			op = strstr(op, "name=") + strlen("name=");
		snprintf(name, sizeof(name), "%.*s by %.40s",
		    (int)strnlen(op,
			strcspn(op, " ") < 30 ? strcspn(op, " ") : 30),
		    op, beside ? print_member(r, "baseline", "?") : "coalmine");
		s = import_list_find(ret, name);
		s->by_baseline = beside;
		s->ranks = (int)member_number(r, "ranks");
		import_series_add(s, bytes, seconds);
	}
}

int
import_print_as(const json_t *records, const char *format)
{
	struct series_list list = { 0 };
	int rc = EXIT_CODE_OK;

	import_records_series(records, &list);
	for (size_t i = 0; i < list.count; i++) {
		printf("%s", i > 0 ? "\n" : "");
		import_series_print(&list.all[i], format);
	}
	if (list.count == 0)
		rc = ctl_fail("the run has no plan whose size is known");
	import_list_clear(&list);
	return rc;
}

static void
import_cell_s(struct table *t, double s)
{
	char text[PRINT_BYTES];

	print_quantity(s, "s", text);
	table_cell(t, "%s", isfinite(s) ? text : "-");
}

/* A size a line: the file's, the run's plan and its baseline of the same
 * operation. */
static int
import_beside_print(const struct series *file, const struct series_list *run)
{
	const struct series *of[2] = { NULL, NULL };
	size_t best[2] = { 0, 0 }, n;
	struct table *t;

	for (size_t i = 0; i < run->count; i++) {
		int side = run->all[i].by_baseline;

		n = import_same_operation(file->name, run->all[i].name);
		if (n > best[side])
			of[side] = &run->all[i];
		best[side] = n > best[side] ? n : best[side];
	}
	if (of[0] == NULL && of[1] == NULL)
		return ctl_fail("the run has measured nothing like %s",
		    file->name);
	printf("file: %s; run: %s; baseline: %s\n", file->name,
	    of[0] != NULL ? of[0]->name : "none",
	    of[1] != NULL ? of[1]->name : "none");
	t = table_new(">bytes|>file|>run|>run/file|>baseline|>baseline/file");
	for (size_t i = 0; i < file->count; i++) {
		const struct point *p = &file->points[i];

		table_cell(t, "%.0f", p->bytes);
		import_cell_s(t, p->s);
		for (int k = 0; k < 2; k++) {
			double s = of[k] == NULL
			    ? NAN
			    : import_series_at(of[k], p->bytes);

			import_cell_s(t, s);
			if (isfinite(s))
				table_cell(t, "%.2f", s / p->s);
			else
				table_cell(t, "-");
		}
	}
	table_print(t, stdout);
	table_free(t);
	return 0;
}

static void
import_series_json(const struct series *s)
{
	json_t *points = json_array();
	json_t *o = json_pack("{s:o, s:o}", "name", text_json(s->name),
	    "points", points);

	if (s->ranks > 0)
		json_object_set_new(o, "ranks", json_integer(s->ranks));
	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(points,
		    json_pack("{s:f, s:f}", "bytes", s->points[i].bytes,
			"seconds", s->points[i].s));
	print_json(o);
	json_decref(o);
}

static int
import(struct ctl *c)
{
	const char *format = opts_value(&c->opts, OPT_FORMAT);
	struct series_list run = { 0 };
	struct series file = { 0 };
	json_t *records = NULL;
	char *id = NULL;
	int rc;

	if (c->args_count > 1 && opts_given(&c->opts, OPT_JSON))
		return ctl_fail("--json is for a file alone: report RUN --json "
				"has what the run measured");
	format = format == NULL ? "nccl-tests" : format;
	rc = import_file_series(c->args[0], &file);
	if (rc == 0 && c->args_count > 1)
		rc = runs_find(c, c->args[1], &id);
	if (rc == 0 && id != NULL)
		rc = records_get(c, id, &records);
	if (rc == 0 && records != NULL) {
		import_records_series(records, &run);
		rc = import_beside_print(&file, &run);
	} else if (rc == 0 && opts_given(&c->opts, OPT_JSON)) {
		import_series_json(&file);
	} else if (rc == 0) {
		import_series_print(&file, format);
	}
	free(id);
	json_decref(records);
	import_list_clear(&run);
	import_series_clear(&file);
	return rc;
}

const struct verb verbs_import[] = {
	{ "import", NULL, "FILE [RUN]", 1, 2, "json format", "file",
	    "Read a table of nccl-tests or of OSU's micro-benchmarks.",
	    "FILE is what one of those programs has printed, the "
	    "out-of-place columns of nccl-tests. It is printed as the other "
	    "would, or with a run set beside what that run has measured of "
	    "the same sizes: the plan, and the MPI's or vendor's own "
	    "collective that it was timed with. report --format prints a run "
	    "so. Sizes are the bytes of records, which are those of "
	    "nccl-tests where a buffer has the blocks of all ranks; busbw is "
	    "its algbw by the share that one rank's links carry.",
	    import },
	{ 0 },
};
