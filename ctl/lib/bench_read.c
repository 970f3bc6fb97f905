/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_read.c - tables of nccl-tests and OSU among the lines of NCCL, of
 * launchers and of batch systems that a job's output has.
 */
#include "ctl/lib/bench_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/xalloc.h"
#include "ctl/lib/line_tag.h"

#define FILE_MAX_BYTES (16 << 20)
#define CELLS_MAX      40 /* nccl-tests -I has 21, and a time */
#define FAR            1e18
#define SOURCES_MAX    1024 /* that print tables at the same time */

/* A header: where a row has what. */
struct heading {
	int line; /* 0: none yet */
	const struct bench_column *value;
	int size_at, value_at, wrong_at, redop_at; /* -1: not there */
	int cells;
	char is_text[CELLS_MAX + 1]; /* the rest are numbers, or N/A */
	const char *unusable;        /* the reason; NULL: rows can be read */
};

/* Lines with one tag: a program prints one table after the other. */
struct source {
	char tag[LINE_TAG_BYTES];
	struct bench_series open;
	struct heading heading;
	int is_osu, is_over; /* after the last row */
};

struct reader {
	const char *path;
	int line;
	struct source *sources;
	size_t sources_count;
	char prefix[LINE_TAG_BYTES]; /* of no known kind, before a title */
	struct bench_list *list;
	struct strbuf *notes;
	int other, other_first; /* lines of something else */
};

/* Cut a line into cells; blanks 2: titles of OSU, which have single blanks. */
static int
bench_read_cells(char *line, int blanks, char **ret)
{
	int count = 0;

	for (char *at = line + strspn(line, " \t");
	     *at != '\0' && count < CELLS_MAX;) {
		char *end = at;

		while (*end != '\0' &&
		    (!isblank((unsigned char)*end) ||
			(blanks > 1 && end[1] != '\0' &&
			    !isblank((unsigned char)end[1]))))
			end++;
		ret[count++] = at;
		at = end + strspn(end, " \t");
		*end = '\0';
	}
	return count;
}

static const char *
bench_read_label(const struct bench_series *s)
{
	return s->name[0] != '\0' ? s->name : "a table without a name";
}

/* End a source's table, if there is one. */
static void
bench_read_close(struct reader *r, struct source *src)
{
	struct bench_series *s = &src->open;

	if (s->count > 0)
		bench_list_add(r->list, s);
	else if (src->heading.line > 0 || s->name[0] != '\0')
		strbuf_addf(r->notes, "%s:%d: %s: skipped: %s\n", r->path,
		    s->line > 0 ? s->line : src->heading.line,
		    bench_read_label(s),
		    src->heading.unusable != NULL ? src->heading.unusable
			: src->heading.line > 0   ? "no rows"
						  : "no table of sizes");
	free(s->points);
	memset(s, 0, sizeof(*s));
	memset(&src->heading, 0, sizeof(src->heading));
	src->is_osu = src->is_over = 0;
	s->redop = -1;
}

/* NULL: none with this tag yet, and it is not to be made. */
static struct source *
bench_read_source(struct reader *r, const char *tag, int make)
{
	struct source *s;

	for (size_t i = r->sources_count; i-- > 0;)
		if (strcmp(r->sources[i].tag, tag) == 0)
			return &r->sources[i];
	if (!make || r->sources_count == SOURCES_MAX)
		return NULL;
	r->sources = xreallocarray(r->sources, r->sources_count + 1,
	    sizeof(*r->sources));
	s = &r->sources[r->sources_count++];
	memset(s, 0, sizeof(*s));
	snprintf(s->tag, sizeof(s->tag), "%s", tag);
	s->open.redop = -1;
	return s;
}

/* ---- comments ---- */

/* The line below a header of nccl-tests. Return 0 for units that the columns
 * are not known to have. */
static int
bench_read_is_units(const char *text)
{
	static const char *const units[] = { "(B)", "(elements)", "(us)",
		"(GB/s)" };
	char *copy = xstrdup(text), *cells[CELLS_MAX];
	int count = bench_read_cells(copy, 1, cells), known = 1;

	for (int i = 0; i < count; i++)
		known &= cells[i][0] != '(' || STR_FIND(units, cells[i]) >= 0;
	free(copy);
	return known;
}

/* "MPI-CUDA Allreduce Latency": after the library, its device and words in
 * capitals as MANAGED. "MPI_Put Latency" has no library before the name. */
static const char *
bench_read_osu_name(const char *at)
{
	static const char *const libraries[] = { "MPI", "NCCL", "RCCL", "xCCL",
		"XCCL", "HCCL", "oneCCL" };
	size_t i, n = strcspn(at, " -");

	for (i = 0; i < ARRAY_LEN(libraries); i++)
		if (strlen(libraries[i]) == n &&
		    strncmp(libraries[i], at, n) == 0)
			break;
	if (i == ARRAY_LEN(libraries))
		return at;
	at += strcspn(at, " ");
	for (;;) {
		size_t word;

		at += strspn(at, " ");
		word = strcspn(at, " ");
		if (word < 2 ||
		    strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") != word)
			return at;
		at += word;
	}
}

/* "# OSU MPI Allreduce Latency Test v7.3", "# Collective test starting:
 * all_reduce_perf". 1: it is a title. */
static int
bench_read_title(struct reader *r, struct source *src, const char *text)
{
	static const char osu[] = "OSU ", nccl[] = "Collective test starting:";
	struct bench_series *s = &src->open;
	const char *at, *end;
	int is_osu = strncmp(text, osu, strlen(osu)) == 0;

	if (is_osu)
		at = bench_read_osu_name(text + strlen(osu));
	else if (strncmp(text, nccl, strlen(nccl)) == 0)
		at = text + strlen(nccl);
	else
		return 0;
	at += strspn(at, " ");
	if (src->heading.line > 0 || s->name[0] != '\0')
		bench_read_close(r, src);
	end = strstr(at, ", ");
	if (end != NULL)
		(void)sscanf(end, ", %d ranks", &s->ranks);
	end = end != NULL ? end : strstr(at, " Test");
	snprintf(s->name, sizeof(s->name), "%.*s",
	    end != NULL ? (int)(end - at) : (int)strlen(at), at);
	/* of a file that anybody may have sent */
	for (char *p = s->name; *p != '\0'; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	for (size_t n = strlen(s->name); n > 0 && s->name[n - 1] == ' ';)
		s->name[--n] = '\0';
	s->op = bench_op_find(s->name);
	s->line = r->line;
	src->is_osu = is_osu;
	return 1;
}

/* Of the words of a comment those that are titles of a format. 1: a header. */
static int
bench_read_heading(const char *text, const char *format, struct heading *ret)
{
	char *copy = xstrdup(text), *cells[CELLS_MAX];
	int is_nccl = strcmp(format, "nccl-tests") == 0;
	struct heading h = { .size_at = -1, .wrong_at = -1, .redop_at = -1 };
	int titles = 0;

	h.cells = bench_read_cells(copy, is_nccl ? 1 : 2, cells);
	for (int i = h.cells - 1; i >= 0; i--) {
		const struct bench_column *c = bench_column_find(format,
		    cells[i]);

		if (c == NULL)
			continue;
		titles++;
		h.is_text[i] = c->kind == BENCH_TEXT ||
		    c->kind == BENCH_REDOP || c->kind == BENCH_STAMP;
		if (c->kind == BENCH_SIZE)
			h.size_at = i;
		else if (c->kind == BENCH_TIME || c->kind == BENCH_RATE) {
			h.value = c;
			h.value_at = i;
		} else if (c->kind == BENCH_WRONG)
			h.wrong_at = i;
		else if (c->kind == BENCH_REDOP)
			h.redop_at = i;
		else if (c->kind == BENCH_CPU_TIME)
			h.unusable = "cputime is the time of the CPU, not of "
				     "the operation";
		else if (c->kind == BENCH_STAMP) {
			h.is_text[i + 1] = 1;
			h.cells++;
		}
	}
	free(copy);
	if (h.size_at != 0 || (is_nccl && titles < 3) || h.cells < 2)
		return 0;
	if (h.value == NULL && h.unusable == NULL)
		h.unusable = "no column is a known time or bandwidth";
	*ret = h;
	return 1;
}

static void
bench_read_comment(struct reader *r, struct source *src, const char *text)
{
	struct bench_series *s = &src->open;
	struct heading h;
	double wrong = 0;

	text += strspn(text, "# \t");
	if (bench_read_title(r, src, text))
		return;
	if (strncmp(text, "nThread ", 8) == 0 ||
	    strncmp(text, "Using devices", 13) == 0) {
		if (src->heading.line > 0)
			bench_read_close(r, src);
		s->ranks = 0;
	} else if (strncmp(text, "Rank ", 5) == 0 && src->heading.line == 0) {
		s->ranks++;
	} else if (sscanf(text, "Out of bounds values : %lf", &wrong) == 1 &&
	    src->heading.line > 0) {
		for (size_t i = 0; i < s->count; i++)
			if (s->points[i].wrong > 0)
				wrong = 0; /* was noted with its size */
		if (wrong > 0)
			strbuf_addf(r->notes,
			    "%s:%d: %s: %g values were "
			    "wrong%s\n",
			    r->path, r->line, bench_read_label(s), wrong,
			    src->heading.wrong_at >= 0
				? " (in-place operation)"
				: ": the table is not compared");
		s->has_wrong = wrong > 0 && src->heading.wrong_at < 0;
		src->is_over = 1;
	} else if (strncmp(text, "Collective test concluded", 25) == 0 ||
	    strncmp(text, "Avg bus bandwidth", 17) == 0) {
		src->is_over = 1;
	} else if (text[0] == '(' && src->heading.line > 0 && s->count == 0) {
		if (!bench_read_is_units(text))
			src->heading.unusable =
			    "the units of this table are unknown";
	} else if (bench_read_heading(text, "osu", &h) ||
	    bench_read_heading(text, "nccl-tests", &h)) {
		if (src->heading.line > 0)
			bench_read_close(r, src);
		h.line = r->line;
		src->heading = h;
		s->line = s->line > 0 ? s->line : r->line;
	}
}

/* ---- rows ---- */

static int
bench_read_is_number(const char *cell)
{
	double value;

	return str_to_double(cell, -FAR, FAR, &value) == 0;
}

/* Return 1 for a row or a part of one, 0 for any other line. "1 more process
 * has sent help message" is not a row. */
static int
bench_read_is_row(char **cells, int count)
{
	int numbers = 0;

	for (int i = 0; i < count; i++)
		numbers += bench_read_is_number(cells[i]);
	if (count == 0 || !bench_read_is_number(cells[0]))
		return 0;
	if (numbers * 2 >= count)
		return 1;
	for (const char *at = cells[1]; *at != '\0'; at++)
		if (!isalpha((unsigned char)*at))
			return strspn(cells[0], "0123456789") ==
			    strlen(cells[0]);
	return 0;
}

/* 1: the end of a row that lacks its beginning, as "float sum -1 100.00 ...".
 */
static int
bench_read_is_tail(const struct heading *h, char **cells, int count)
{
	int first = h->cells - count;

	if (count < 3 || first <= 0)
		return 0;
	for (int i = 0; i < count; i++)
		if (h->is_text[first + i] == bench_read_is_number(cells[i]) &&
		    strcmp(cells[i], "N/A") != 0)
			return 0;
	return 1;
}

/* NAN: not checked. */
static double
bench_read_wrong(const char *cell)
{
	double wrong;

	if (strcmp(cell, "Pass") == 0)
		return 0;
	if (strcmp(cell, "Fail") == 0)
		return 1;
	return str_to_double(cell, 0, FAR, &wrong) < 0 ? NAN : wrong;
}

/* Sizes go up in a table: begin another one of the same operation. */
static void
bench_read_again(struct reader *r, struct source *src)
{
	struct source next = *src;

	next.open.points = NULL;
	next.open.count = 0;
	next.open.line = r->line;
	bench_read_close(r, src);
	*src = next;
}

static int
bench_read_row(struct reader *r, struct source *src, char **cells, int count,
    struct err *err)
{
	static const char *const no_numbers[] = { "N/A", "Pass", "Fail", "-",
		"nan", "-nan", "inf" };
	const struct heading *h = &src->heading;
	double bytes, value, wrong = NAN;
	char zero[] = "0"; /* no time */
	size_t n;

	if (count != h->cells)
		return err_set(err, -EINVAL,
		    "%s:%d: %d columns: expected a row of %s with %d", r->path,
		    r->line, count, h->value->format, h->cells);
	for (int i = 0; i < count; i++)
		if (!h->is_text[i] && !bench_read_is_number(cells[i]) &&
		    STR_FIND(no_numbers, cells[i]) < 0)
			return err_set(err, -EINVAL,
			    "%s:%d: column %d is \"%.40s\": expected a number, "
			    "as in all rows of %s",
			    r->path, r->line, i + 1, cells[i],
			    h->value->format);
	if (STR_FIND(no_numbers, cells[h->value_at]) >= 0)
		cells[h->value_at] = zero;
	if (str_to_double(cells[h->size_at], 0, FAR, &bytes) < 0 ||
	    str_to_double(cells[h->value_at], 0, FAR, &value) < 0)
		return err_set(err, -EINVAL,
		    "%s:%d: size \"%.40s\", %s \"%.40s\": expected numbers",
		    r->path, r->line, cells[h->size_at], h->value->title,
		    cells[h->value_at]);
	if (h->wrong_at >= 0)
		wrong = bench_read_wrong(cells[h->wrong_at]);
	if (h->redop_at >= 0 && strcmp(cells[h->redop_at], "N/A") != 0)
		src->open.redop = strcmp(cells[h->redop_at], "none") != 0;
	else if (h->redop_at < 0 && !src->is_osu &&
	    strcmp(h->value->format, "nccl-tests") == 0)
		src->open.redop = 0; /* old ones have it for reductions only */
	value *= h->value->scale;
	if (value <= 0) {
		strbuf_addf(r->notes,
		    "%s:%d: no time for %.0f bytes: skipped\n", r->path,
		    r->line, bytes);
		return 0;
	}
	n = src->open.count;
	if (n > 0 && bytes <= src->open.points[n - 1].bytes)
		bench_read_again(r, src);
	if (wrong > 0 && src->is_osu)
		strbuf_addf(r->notes,
		    "%s:%d: %s: validation failed at %.0f bytes: the size is "
		    "not compared\n",
		    r->path, r->line, bench_read_label(&src->open), bytes);
	else if (wrong > 0)
		strbuf_addf(r->notes,
		    "%s:%d: %s: %g value%s wrong at %.0f bytes: the size is "
		    "not compared\n",
		    r->path, r->line, bench_read_label(&src->open), wrong,
		    wrong == 1 ? " was" : "s were", bytes);
	bench_series_add(&src->open, bytes,
	    h->value->kind == BENCH_RATE ? bytes / value : value, wrong);
	src->open.per_rank = strcmp(h->value->format, "osu") == 0 &&
	    src->open.op != NULL && src->open.op->by_block;
	return 0;
}

/* ---- lines ---- */

/* The start of "# OSU MPI ..." in a line with a tag of no known kind. */
static char *
bench_read_title_find(char *line)
{
	static const char *const titles[] = { "# OSU ", "# nccl-tests version",
		"# Collective test starting", "# nThread " };
	char *at = NULL;

	for (size_t i = 0; i < ARRAY_LEN(titles) && at == NULL; i++)
		at = strstr(line, titles[i]);
	return at;
}

static int
bench_read_line(struct reader *r, char *line, struct err *err)
{
	char tag[LINE_TAG_BYTES], *at, *cells[CELLS_MAX];
	struct source *src;
	size_t n;
	int count;

	line = line_tag_cut(line, tag);
	n = strlen(r->prefix);
	if ((at = bench_read_title_find(line)) != NULL && at > line &&
	    (size_t)(at - line) < sizeof(r->prefix)) {
		n = (size_t)(at - line);
		memcpy(r->prefix, line, n);
		r->prefix[n] = '\0';
	}
	if (n > 0 && strncmp(line, r->prefix, n) == 0)
		line += n;
	line += strspn(line, " \t");
	if (line[0] == '\0')
		return 0;
	if (line[0] == '#') {
		src = bench_read_source(r, tag, 1);
		if (src != NULL)
			bench_read_comment(r, src, line);
		return 0;
	}
	count = bench_read_cells(line, 1, cells);
	src = bench_read_source(r, tag, 0);
	if (src != NULL && src->heading.line > 0 && !src->is_over &&
	    (bench_read_is_row(cells, count) ||
		bench_read_is_tail(&src->heading, cells, count)))
		return src->heading.unusable != NULL
		    ? 0
		    : bench_read_row(r, src, cells, count, err);
	r->other_first = r->other_first > 0 ? r->other_first : r->line;
	r->other++;
	return 0;
}

int
bench_read(const char *path, struct bench_list *ret, struct strbuf *notes,
    struct err *err)
{
	struct reader r = { .path = path, .list = ret, .notes = notes };
	char *text, *rest, *line;
	size_t len;
	int rc = file_read(path, FILE_MAX_BYTES, &text, &len, err);

	if (rc < 0)
		return rc;
	for (rest = text; rc == 0 && (line = str_line(&rest)) != NULL;) {
		r.line++;
		rc = bench_read_line(&r, line, err);
	}
	for (size_t i = 0; i < r.sources_count; i++)
		bench_read_close(&r, &r.sources[i]);
	free(r.sources);
	free(text);
	if (r.other > 0)
		strbuf_addf(notes,
		    "%s:%d: skipped %d line%s of other output, the first one "
		    "here\n",
		    path, r.other_first, r.other, r.other == 1 ? "" : "s");
	if (rc == 0 && ret->count == 0)
		rc = err_set(err, -EINVAL,
		    "%s: no table: expected one that nccl-tests or OSU's "
		    "micro-benchmarks print",
		    path);
	for (size_t i = 0; i < ret->count; i++)
		if (ret->all[i].ranks > 0)
			bench_series_whole(&ret->all[i], ret->all[i].ranks);
	return rc;
}
