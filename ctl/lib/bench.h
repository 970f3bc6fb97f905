/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - tables of other benchmarks as series of sizes and times, and
 * series printed as such tables.
 */
#ifndef CTL_LIB_BENCH_H
#define CTL_LIB_BENCH_H

#include <jansson.h>
#include <stddef.h>

#define BENCH_NAME_BYTES 80

/* A column of a table. The rows are in the order in which a table is written.
 */
enum bench_kind {
	BENCH_SIZE,
	BENCH_TIME,
	BENCH_RATE, /* read as a time */
	BENCH_ALGBW,
	BENCH_BUSBW,
	BENCH_WRONG, /* the number of wrong values, or "Fail" */
	BENCH_REDOP,
	BENCH_CPU_TIME, /* makes a table unusable */
	BENCH_STAMP,    /* two words in a row */
	BENCH_TEXT,
	BENCH_OTHER
};
struct bench_column {
	const char *title, *format, *unit;
	enum bench_kind kind;
	double scale;      /* to bytes, seconds or bytes per second */
	int width;         /* when written; 0: only read */
	const char *other; /* the text written where a series has no value */
};
/* Return the column with this title in a format; NULL: none. */
const struct bench_column *bench_column_find(const char *format,
    const char *title);

struct bench_op {
	const char *name; /* as plans call it */
	double factor;    /* of busbw: times (ranks - 1) / ranks */
	int fixed;        /* factor does not depend on the ranks */
	int reduces;
	int by_block; /* OSU's sizes are the block of one rank */
};
/* Return the operation of a name of a plan, of nccl-tests or of OSU, as
 * "all_reduce_perf_mpi" or "Allreduce Latency"; NULL: not known. */
const struct bench_op *bench_op_find(const char *name);

/* Sizes and times of one operation by one library. */
struct bench_series {
	char name[BENCH_NAME_BYTES]; /* "": the table does not have it */
	const struct bench_op *op;   /* NULL: not known */
	int ranks;                   /* 0: not known */
	int per_rank;    /* the sizes are the blocks of one rank, whose number
			    is not known */
	int redop;       /* 1: a reduction, 0: none, -1: not known */
	int has_wrong;   /* the program counted wrong values at no known size */
	int line;        /* of the file, where the table begins */
	int by_baseline; /* of a run */
	struct bench_point {
		double bytes, s;
		double wrong; /* values; NAN: not checked */
	} * points;           /* in the order of the file */
	size_t count;
};
struct bench_list {
	struct bench_series *all;
	size_t count;
};

void bench_list_clear(struct bench_list *l);
/* Move a series to the end of a list. Return it there. */
struct bench_series *bench_list_add(struct bench_list *l,
    struct bench_series *s);
void bench_series_add(struct bench_series *s, double bytes, double seconds,
    double wrong);
/* Multiply sizes that are one rank's block by the ranks. */
void bench_series_whole(struct bench_series *s, int ranks);
/* Return the point of a size; NULL: none. */
const struct bench_point *bench_series_at(const struct bench_series *s,
    double bytes);
/* Print a table. Return 0, or -EINVAL where the format's sizes need ranks that
 * are not known; then nothing is printed. */
int bench_series_print(const struct bench_series *s, const char *format);
/* Bus bandwidth over bytes per second; NAN where that is not known. */
double bench_bus_factor(const struct bench_series *s);
json_t *bench_series_json(const struct bench_series *s);

#endif
