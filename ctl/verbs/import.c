/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - compare tables of other benchmarks with a run's measurements, and
 * print a run's plans as such tables.
 */
#include "ctl/verbs/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "ctl/lib/bench_read.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "ctl/lib/reference.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

/* ---- of a run ---- */

/* The series with that name and number of ranks, which may be new. */
static struct bench_series *
import_list_find(struct bench_list *l, const char *name, int ranks)
{
	struct bench_series s = { .ranks = ranks, .redop = -1 };

	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->all[i].name, name) == 0 &&
		    l->all[i].ranks == ranks)
			return &l->all[i];
	snprintf(s.name, sizeof(s.name), "%s", name);
	s.op = bench_op_find(name);
	return bench_list_add(l, &s);
}

/* By operation, and by what moved the bytes: the plan, or the baseline that it
 * was timed with. A plan is called "collective name=broadcast count=4", or
 * "allreduce count=4". */
static void
import_records_series(const json_t *records, struct bench_list *ret)
{
	size_t i;
	json_t *r;

	json_array_foreach (records, i, r) {
		int beside = records_is(r, "speedup", NULL);
		const char *op = print_member(r, "plan", "");
		double bytes = member_number(r, "bytes");
		double ranks = member_number(r, "ranks");
		double seconds = member_number(r,
		    beside ? "baseline_seconds" : "median_middle");
		char name[BENCH_NAME_BYTES];
		struct bench_series *s;

		if ((!beside && !records_is(r, NULL, "whole")) ||
		    !(bytes > 0) || !(seconds > 0))
			continue;
		if (strstr(op, "name=") != NULL)
			op = strstr(op, "name=") + strlen("name=");
		snprintf(name, sizeof(name), "%.*s by %.40s",
		    (int)strnlen(op,
			strcspn(op, " ") < 30 ? strcspn(op, " ") : 30),
		    op, beside ? print_member(r, "baseline", "?") : "coalmine");
		s = import_list_find(ret, name,
		    ranks > 0 && ranks < 1e9 ? (int)ranks : 0);
		s->by_baseline = beside;
		bench_series_add(s, bytes, seconds, NAN);
	}
}

int
import_print_as(const json_t *records, const char *format)
{
	struct bench_list list = { 0 };
	int rc = EXIT_CODE_OK;

	import_records_series(records, &list);
	for (size_t i = 0; i < list.count; i++) {
		printf("%s", i > 0 ? "\n" : "");
		if (strcmp(format, "reference") == 0
			? reference_print(&list.all[i], "coalmine") < 0
			: bench_series_print(&list.all[i], format) < 0)
			rc = ctl_fail("%s: cannot convert the sizes to those "
				      "of %s, because the number of ranks is "
				      "unknown",
			    list.all[i].name, format);
	}
	if (list.count == 0)
		rc = ctl_fail("the run has no plan whose size is known");
	bench_list_clear(&list);
	return rc;
}

/* ---- compared ---- */

/* The only operation of a run; NULL: it has several, or none. */
static const struct bench_op *
import_only_op(const struct bench_list *run)
{
	const struct bench_op *op = NULL;

	for (size_t i = 0; i < run->count; i++) {
		if (run->all[i].op == NULL ||
		    (op != NULL && run->all[i].op != op))
			return NULL;
		op = run->all[i].op;
	}
	return op;
}

/* Give tables without a name the operation of --op, or the run's only one where
 * their column redop agrees. 0 or an exit code. */
static int
import_ops_set(const char *path, struct bench_list *file, const char *given,
    const struct bench_list *run)
{
	const struct bench_op *only = import_only_op(run), *op;

	for (size_t i = 0; i < file->count; i++) {
		struct bench_series *s = &file->all[i];

		op = given != NULL ? bench_op_find(given) : only;
		if (s->name[0] != '\0') {
			if (given != NULL && s->op != op)
				return ctl_fail("%s:%d: the table names its "
						"operation, %s: --op is only "
						"for tables that do not name "
						"it",
				    path, s->line, s->name);
			continue;
		}
		if (op == NULL || (s->redop >= 0 && s->redop != op->reduces)) {
			if (given != NULL)
				return ctl_fail("%s:%d: the column redop does "
						"not agree with --op %s",
				    path, s->line, given);
			continue;
		}
		s->op = op;
		snprintf(s->name, sizeof(s->name), "%s", op->name);
		if (given == NULL)
			fprintf(stderr,
			    "coalctl: %s:%d: the table does not name its "
			    "operation; assuming %s, the only operation of the "
			    "run\n",
			    path, s->line, op->name);
	}
	return 0;
}

/* Of the run's series of the same operation the plan's or the baseline's,
 * with as many ranks where there is one. */
static const struct bench_series *
import_of_run(const struct bench_series *file, const struct bench_list *run,
    int by_baseline)
{
	const struct bench_series *best = NULL;

	for (size_t i = 0; i < run->count; i++) {
		const struct bench_series *s = &run->all[i];

		if (s->by_baseline == by_baseline &&
		    (file->op != NULL ? s->op == file->op
				      : strcmp(s->name, file->name) == 0) &&
		    (best == NULL || s->ranks == file->ranks))
			best = s;
	}
	return best;
}

static void
import_cell_s(struct table *t, double s)
{
	char text[PRINT_BYTES];

	print_quantity(s, "s", text);
	table_cell(t, "%s", isfinite(s) ? text : "-");
}

/* "Allreduce Latency, 8 ranks", or "none". */
static void
import_name_print(const char *title, const struct bench_series *s)
{
	printf("%s: %s", title, s != NULL ? s->name : "none");
	if (s != NULL && s->ranks > 0)
		printf(", %d ranks", s->ranks);
}

/* A line for each size of the file's table, with the run's plan and its
 * baseline of the same operation. 1: compared, 0: why not was printed. */
static int
import_beside_print(const char *path, struct bench_series *file,
    const struct bench_list *run, const char *before)
{
	const struct bench_series *of[2];
	const char *why = NULL;
	int ranks = file->ranks;
	struct table *t;

	for (int k = 0; k < 2; k++)
		of[k] = import_of_run(file, run, k);
	if (ranks <= 0 && (of[0] != NULL || of[1] != NULL))
		ranks = of[of[0] == NULL]->ranks;
	if (file->name[0] == '\0')
		why = "the table does not name its operation; give --op";
	else if (of[0] == NULL && of[1] == NULL)
		why = "the run has not measured this operation";
	else if (file->has_wrong)
		why = "the benchmark reports wrong results in this table";
	else if (file->per_rank && ranks <= 0)
		why = "the sizes are those of one rank; give --ranks";
	if (why != NULL) {
		fprintf(stderr, "coalctl: %s:%d: %s: not compared: %s\n", path,
		    file->line, file->name[0] != '\0' ? file->name : "a table",
		    why);
		return 0;
	}
	bench_series_whole(file, ranks);
	printf("%s", before);
	import_name_print("file", file);
	import_name_print("; run", of[0]);
	import_name_print("; baseline", of[1]);
	putchar('\n');
	t = table_new(">bytes|>file|>run|>run/file|>baseline|>baseline/file");
	for (size_t i = 0; i < file->count; i++) {
		const struct bench_point *p = &file->points[i];

		table_cell(t, "%.0f", p->bytes);
		import_cell_s(t, p->s);
		for (int k = 0; k < 2; k++) {
			const struct bench_point *q = of[k] == NULL
			    ? NULL
			    : bench_series_at(of[k], p->bytes);

			import_cell_s(t, q == NULL ? NAN : q->s);
			if (q != NULL && !(p->wrong > 0))
				table_cell(t, "%.2f", q->s / p->s);
			else
				table_cell(t, "-");
		}
	}
	table_print(t, stdout);
	table_free(t);
	return 1;
}

static int
import_compare(const char *path, struct bench_list *file,
    const struct bench_list *run)
{
	int compared = 0;

	for (size_t i = 0; i < file->count; i++) {
		compared += import_beside_print(path, &file->all[i], run,
		    compared > 0 ? "\n" : "");
	}
	if (compared > 0)
		return 0;
	return ctl_fail("no table of %s could be compared with the run; the "
			"lines above have the reasons",
	    path);
}

/* ---- the file alone ---- */

/* Without a format it is that of nccl-tests, or of OSU for sizes of one rank,
 * which nccl-tests does not have. */
static int
import_print(const char *path, const struct bench_list *file,
    const char *format)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct bench_series *s = &file->all[i];
		const char *as = format != NULL ? format
		    : s->per_rank               ? "osu"
						: "nccl-tests";

		printf("%s", i > 0 ? "\n" : "");
		if (strcmp(as, "reference") == 0) {
			if (reference_print(s, path) == 0)
				continue;
			return ctl_fail("%s:%d: %s: rows of reference need the "
					"operation and --ranks",
			    path, s->line, s->name);
		}
		if (bench_series_print(s, as) < 0)
			return ctl_fail("%s:%d: %s: cannot convert sizes of "
					"one rank to sizes of all ranks or "
					"back: give --ranks",
			    path, s->line, s->name);
		if (s->op == NULL && s->name[0] != '\0')
			fprintf(stderr,
			    "coalctl: %s:%d: %s: unknown operation; its sizes "
			    "are printed as they are in the file\n",
			    path, s->line, s->name);
		if (s->per_rank)
			fprintf(stderr,
			    "coalctl: %s:%d: %s: sizes are the block of one "
			    "rank; give --ranks to print those of all\n",
			    path, s->line, s->name);
	}
	return 0;
}

static void
import_json(const struct bench_list *file)
{
	for (size_t i = 0; i < file->count; i++) {
		json_t *o = bench_series_json(&file->all[i]);

		print_json(o);
		json_decref(o);
	}
}

static int
import_read(struct ctl *c, struct bench_list *ret)
{
	struct strbuf notes = { 0 };
	int ranks = (int)opts_number(&c->opts, OPT_RANKS, 0);
	char *rest, *line;
	struct err err;
	int rc = bench_read(c->args[0], ret, &notes, &err);

	for (rest = notes.text;
	     rest != NULL && (line = str_line(&rest)) != NULL;)
		if (line[0] != '\0')
			fprintf(stderr, "coalctl: %s\n", line);
	strbuf_clear(&notes);
	if (rc < 0)
		return ctl_fail("%s", err.text);
	for (size_t i = 0; ranks > 0 && i < ret->count; i++) {
		struct bench_series *s = &ret->all[i];

		if (s->ranks > 0)
			continue;
		s->ranks = ranks;
		bench_series_whole(s, ranks);
	}
	return 0;
}

static int
import(struct ctl *c)
{
	struct bench_list run = { 0 }, file = { 0 };
	json_t *records = NULL;
	char *id = NULL;
	int rc;

	if (c->args_count > 1 && opts_given(&c->opts, OPT_JSON))
		return ctl_fail("--json needs a file without a run: see "
				"report RUN --json for the run");
	rc = import_read(c, &file);
	if (rc == 0 && c->args_count > 1)
		rc = runs_find(c, c->args[1], &id);
	if (rc == 0 && id != NULL)
		rc = records_get(c, id, &records);
	if (records != NULL)
		import_records_series(records, &run);
	if (rc == 0)
		rc = import_ops_set(c->args[0], &file,
		    opts_value(&c->opts, OPT_OP), &run);
	if (rc == 0 && records != NULL)
		rc = import_compare(c->args[0], &file, &run);
	else if (rc == 0 && opts_given(&c->opts, OPT_JSON))
		import_json(&file);
	else if (rc == 0)
		rc = import_print(c->args[0], &file,
		    opts_value(&c->opts, OPT_FORMAT));
	free(id);
	json_decref(records);
	bench_list_clear(&run);
	bench_list_clear(&file);
	return rc;
}

const struct verb verbs_import[] = {
	{ "import", NULL, "FILE [RUN]", 1, 2, "json format op ranks", "file",
	    "Read result tables of nccl-tests or of OSU's micro-benchmarks.",
	    "FILE is the output of a job that ran these programs; other lines "
	    "in it are skipped and counted. Each table is printed in the "
	    "format of nccl-tests, or of OSU if its sizes are those of one "
	    "rank. With RUN, each table is compared with the results of that "
	    "run for the same operation and sizes: of Coalmine's plan, and of "
	    "the collective of the MPI or of NCCL, if the run measured this "
	    "collective too. report --format prints a run in the same format. "
	    "--format reference prints rows for a file of reference values. "
	    "--json prints one object for each table. coalctl(8) describes "
	    "sizes and units.",
	    import },
	{ 0 },
};
