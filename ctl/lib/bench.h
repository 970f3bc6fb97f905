/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - tables of other benchmarks (nccl-tests, OSU) as series of sizes and
 * times, and the reverse: print a series as such a table.
 */
#ifndef CTL_LIB_BENCH_H
#define CTL_LIB_BENCH_H

#include <jansson.h>
#include <stddef.h>

#define BENCH_NAME_BYTES 80

/* The kind of a column of a table. The rows are in the order in which a table
 * is written. */
enum bench_kind {
	BENCH_SIZE,
	BENCH_TIME,
	BENCH_RATE, /* a rate, read as a time */
	BENCH_ALGBW,
	BENCH_BUSBW,
	BENCH_WRONG, /* the number of wrong values, or "Fail" */
	BENCH_REDOP,
	BENCH_CPU_TIME, /* not usable: makes the table unusable */
	BENCH_STAMP,    /* a time stamp of two words */
	BENCH_TEXT,
	BENCH_OTHER
};
/* A column of a format. */
struct bench_column {
	const char *title, *format, *unit;
	enum bench_kind kind;
	double scale; /* factor to bytes, seconds or bytes per second */
	/* Width in characters when written; 0: it is only read. */
	int width;
	/* The text that is written if a series has no value. */
	const char *other;
};
/* Return the column with this title in a format, or NULL. */
const struct bench_column *bench_column_find(const char *format,
    const char *title);

/* An operation. */
struct bench_op {
	const char *name; /* the name in plans */
	/* Bus bandwidth / algorithm bandwidth; times (ranks - 1) / ranks unless
	 * fixed. */
	double factor;
	int fixed;    /* 1: factor does not depend on the ranks */
	int reduces;  /* 1: it is a reduction */
	int by_block; /* 1: OSU's sizes are the block of one rank */
};
/* Return the operation with this name in plans, in nccl-tests or in OSU, such
 * as "all_reduce_perf_mpi" or "Allreduce Latency"; NULL: unknown. */
const struct bench_op *bench_op_find(const char *name);

/* The sizes and times of one operation by one library. */
struct bench_series {
	char name[BENCH_NAME_BYTES]; /* "": the table does not have it */
	const struct bench_op *op;   /* NULL: unknown */
	int ranks;                   /* 0: unknown */
	/* 1: sizes are blocks of one rank, and the number of ranks is
	 * unknown. */
	int per_rank;
	int redop; /* 1: a reduction; 0: no reduction; -1: unknown */
	/* 1: the program counted wrong values, but not at which size. */
	int has_wrong;
	int line;        /* line of the file where the table begins */
	int by_baseline; /* 1: the series is the baseline of a run */
	struct bench_point {
		double bytes, s;
		double wrong; /* number of wrong values; NAN: not checked */
	} * points;           /* in the order of the file */
	size_t count;
};
/* A list of series. */
struct bench_list {
	struct bench_series *all;
	size_t count;
};

/* Free the series of a list. */
void bench_list_clear(struct bench_list *l);
/* Move a series to the end of a list. Return its place there, which is valid
 * until the list changes. */
struct bench_series *bench_list_add(struct bench_list *l,
    struct bench_series *s);
/* Append a point. */
void bench_series_add(struct bench_series *s, double bytes, double seconds,
    double wrong);
/* Multiply the sizes by the number of ranks, if they are blocks of one rank. */
void bench_series_whole(struct bench_series *s, int ranks);
/* Return the point of a size; NULL: the series does not have it. */
const struct bench_point *bench_series_at(const struct bench_series *s,
    double bytes);
/* Print a series as a table on stdout. Return 0, or -EINVAL without printing
 * anything if the sizes of the format need the number of ranks and it is
 * unknown. */
int bench_series_print(const struct bench_series *s, const char *format);
/* Return bus bandwidth divided by bytes per second; NAN if unknown. */
double bench_bus_factor(const struct bench_series *s);
/* Return a series as JSON: a new reference. */
json_t *bench_series_json(const struct bench_series *s);

#endif
