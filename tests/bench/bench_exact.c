/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_exact.c - compare exact = gpcnet with the paper's operations, in one
 * run.
 *
 * On each ring the engine's round with the paper's counts and a loop written
 * from the paper alternate with the same neighbours. Their MPI calls, counted
 * with MPI's profiling interface, and the time of an operation are compared.
 * Prints a table; exits with 1 if the calls of an operation differ.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/robust.h"
#include "common/str.h"
#include "probes/congestion/rounds.c" /* for its samples */
#include "probes/congestion/canary.h"
#include "probes/congestion/rounds.h"
#include "probes/job/world.h"
#include "tests/bench/calls.h"
#include "tests/bench/plain_loop.h"

#define RINGS_MAX 30

#define LARGE_OP_RINGS 10 /* an exchange of 2 MiB is slow on a lab */

struct bench {
	struct rounds *rounds;
	struct canary canary;
	struct link link;
	struct plain_loop plain;
	struct calls engine_calls, plain_calls; /* of all rings */
	struct calls engine_once, plain_once;   /* of one operation */
	int rings;
	double ratio[RINGS_MAX];
	double engine_s[RINGS_MAX], plain_s[RINGS_MAX];
};

/* The mean of the samples of a round, over all ranks. */
static double
engine_ring(struct bench *b, const struct test_counts *e, int ring)
{
	struct rounds_ask ask = { &b->canary, ring, e->iterations, e->warmup };
	struct rounds_result *res = calloc(1, sizeof(*res));
	double sum_s = 0, all_s;
	int done;

	calls_watch(&b->engine_calls, b->canary.comm);
	rounds_run(b->rounds, &ask, res);
	calls_watch(NULL, MPI_COMM_NULL);
	done = res->operations;
	free(res);
	for (int i = 0; i < done; i++)
		sum_s += (double)b->rounds->samples_ns[i] /
		    (double)CLK_NS_PER_S;
	PMPI_Allreduce(&sum_s, &all_s, 1, MPI_DOUBLE, MPI_SUM, b->canary.comm);
	return all_s / ((double)done * b->canary.size);
}

static double
plain_ring(struct bench *b, const struct test_counts *e)
{
	double mean_s;

	b->plain.left = b->canary.left;
	b->plain.right = b->canary.right;
	calls_watch(&b->plain_calls, b->plain.comm);
	mean_s = plain_turn(&b->plain, b->canary.test, e->warmup,
	    e->iterations);
	calls_watch(NULL, MPI_COMM_NULL);
	return mean_s;
}

static void
count_once(struct bench *b)
{
	calls_watch(&b->engine_once, b->canary.comm);
	canary_once(&b->canary);
	calls_watch(&b->plain_once, b->plain.comm);
	plain_turn(&b->plain, b->canary.test, 0, 1);
	calls_watch(NULL, MPI_COMM_NULL);
}

/* Return the number of operations in all calls, if each has the calls of
 * one. */
static long
operations(const struct calls *all, const struct calls *one)
{
	for (int i = 0; i < CALL_MAX; i++)
		if (one->count[i] > 0)
			return all->count[i] / one->count[i];
	return 0;
}

static void
print_calls(const struct calls *one)
{
	const char *comma = "";

	for (int i = 0; i < CALL_MAX; i++) {
		if (one->count[i] == 0)
			continue;
		printf("%s%ld %s", comma, one->count[i], call_names[i]);
		if (one->bytes[i] > 0)
			printf(" of %ld B", one->bytes[i] / one->count[i]);
		comma = ", ";
	}
}

static void
print_row(struct bench *b)
{
	size_t n = (size_t)b->rings;

	printf("| %s | ", names_tests[b->canary.test].name);
	print_calls(&b->plain_once);
	printf(" | ");
	if (memcmp(&b->plain_once, &b->engine_once, sizeof(b->plain_once)) == 0)
		printf("the same");
	else
		print_calls(&b->engine_once);
	printf(" | %d | %ld | %ld | %.1f | %.1f | %.3f |\n", b->rings,
	    operations(&b->plain_calls, &b->plain_once) / b->rings,
	    operations(&b->engine_calls, &b->engine_once) / b->rings,
	    robust_median(b->plain_s, n) * 1e6,
	    robust_median(b->engine_s, n) * 1e6, robust_median(b->ratio, n));
}

static int
large(enum canary_test test)
{
	return names_tests[test].bytes > 65536;
}

/* Return 1 if the calls of an operation differ. */
static int
bench(struct world *w, const struct settings *s, enum canary_test test)
{
	const struct test_counts *e = &names_tests[test].gpcnet;
	struct bench *b = calloc(1, sizeof(*b));
	struct err err;
	int differ;

	b->rounds = rounds_new(w, s);
	b->rings = large(test) ? LARGE_OP_RINGS : RINGS_MAX;
	link_open(&b->link, w, w->slice, CONTROL_REQS_MAX, &err);
	if (canary_open(&b->canary, test, 0, w, &b->link, &err) < 0 ||
	    plain_open(&b->plain, test, w->slice) < 0) {
		if (w->rank == 0)
			printf("| %s | not on this MPI | | | | | | | |\n",
			    names_tests[test].name);
		return 0;
	}
	for (int i = 0; i < b->rings; i++) {
		b->engine_s[i] = engine_ring(b, e, i);
		b->plain_s[i] = plain_ring(b, e);
		b->ratio[i] = b->engine_s[i] / b->plain_s[i];
	}
	count_once(b);
	differ = memcmp(&b->plain_once, &b->engine_once,
		     sizeof(b->plain_once)) != 0;
	if (w->rank == 0)
		print_row(b);
	fflush(stdout);
	canary_close(&b->canary);
	link_close(&b->link);
	plain_close(&b->plain);
	rounds_free(b->rounds);
	free(b);
	return differ;
}

int
main(int argc, char **argv)
{
	struct settings s = { .share = 1,
		.seed = 1,
		.exact = 1,
		.timeout_ns = 60 * CLK_NS_PER_S };
	struct world w;
	int needed, differ = 0;

	world_open(&w, &argc, &argv);
	if (world_roles(&w, &s, &needed) < 0)
		return 77;
	world_split(&w, &s);
	if (w.rank == 0)
		printf("| test | an operation by the paper | by the engine | "
		       "rings | operations a ring, paper | engine | paper's "
		       "loop, us | engine, us | ratio |\n"
		       "|---|---|---|---:|---:|---:|---:|---:|---:|\n");
	for (int test = 0; test < CANARY_INCAST; test++) /* the suite's */
		differ |= bench(&w, &s, (enum canary_test)test);
	world_close(&w, differ);
	return differ;
}
