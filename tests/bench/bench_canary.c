/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_canary.c - the overhead of the engine on the operations it measures.
 *
 * Runs under a launcher, over any network. A plain textbook loop and the
 * engine's round alternate with the same neighbours and counts. Turns are
 * short, and only the two consecutive turns of a pair are compared, because
 * other load of the machine changes more slowly. Prints the median over all
 * pairs of engine/loop with its 95 % interval by order statistics; exits with 1
 * if it deviates by more than the limit.
 */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/robust.h"
#include "common/str.h"
#include "probes/congestion/rounds.c" /* for its samples */
#include "tests/bench/plain_loop.h"

#define TURNS_MAX 1000
#define WARMUP    2
#define LIMIT     0.03

struct row {
	enum canary_test test;
	int count; /* operations in a turn */
	int turns;
};

/* Return the mean of the engine's samples over all ranks. */
static double
engine_turn(struct rounds *r, struct canary *c, int turn, int count)
{
	struct rounds_ask ask = { c, turn, count, WARMUP };
	struct rounds_result *res = calloc(1, sizeof(*res));
	double sum = 0, all;

	rounds_run(r, &ask, res);
	for (int i = 0; i < res->operations; i++)
		sum += (double)r->samples_ns[i] / (double)CLK_NS_PER_S;
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, c->comm);
	free(res);
	return all / ((double)count * c->size);
}

struct pair {
	double plain_s, engine_s;
};

/* The round chooses the neighbours, and the loop uses the same ones. The first
 * of the two alternates. */
static struct pair
take_turns(struct rounds *r, struct canary *c, struct plain_loop *loop,
    int turn, int count)
{
	struct pair p = { 0 };
	int loop_first = turn % 2;

	if (loop_first)
		engine_turn(r, c, turn, 1);
	else
		p.engine_s = engine_turn(r, c, turn, count);
	loop->left = c->left;
	loop->right = c->right;
	p.plain_s = plain_turn(loop, c->test, WARMUP, count);
	if (loop_first)
		p.engine_s = engine_turn(r, c, turn, count);
	return p;
}

static void
print_row(const struct row *row, struct pair *pairs)
{
	double plain[TURNS_MAX], engine[TURNS_MAX], ratio[TURNS_MAX];
	size_t n = (size_t)row->turns;
	double half = 0.98 / sqrt((double)n); /* of the rank, at 95 % */

	for (size_t i = 0; i < n; i++) {
		plain[i] = pairs[i].plain_s;
		engine[i] = pairs[i].engine_s;
		ratio[i] = engine[i] / plain[i];
	}
	printf("| %s | %d | %d | %.2f | %.2f | %.4f [%.4f, %.4f] |\n",
	    names_tests[row->test].name, row->turns, row->count,
	    robust_median(plain, n) * 1e6, robust_median(engine, n) * 1e6,
	    robust_median(ratio, n), robust_quantile(ratio, n, 0.5 - half),
	    robust_quantile(ratio, n, 0.5 + half));
}

/* Return the median ratio of the engine's time to the loop's. */
static double
bench(struct world *w, const struct settings *s, const struct row *row)
{
	static struct pair pairs[TURNS_MAX];
	struct rounds *r = rounds_new(w, s);
	double ratio[TURNS_MAX];
	struct plain_loop loop;
	struct canary c;
	struct link link;
	struct err err;

	link_open(&link, w, w->slice, CONTROL_REQS_MAX, &err);
	canary_open(&c, row->test, 0, w, &link, &err);
	plain_open(&loop, row->test, w->slice);
	for (int i = 0; i < row->turns; i++) {
		pairs[i] = take_turns(r, &c, &loop, i, row->count);
		ratio[i] = pairs[i].engine_s / pairs[i].plain_s;
	}
	if (w->rank == 0)
		print_row(row, pairs);
	plain_close(&loop);
	canary_close(&c);
	link_close(&link);
	rounds_free(r);
	return robust_median(ratio, (size_t)row->turns);
}

int
main(int argc, char **argv)
{
	/* An exchange of 2 MiB takes a tenth of a second on the lab. */
	static const struct row rows[] = { { CANARY_LAT, 100, 1000 },
		{ CANARY_BW_SYNC, 2, 80 }, { CANARY_ALLREDUCE, 100, 1000 } };
	struct settings s = { .share = 1,
		.seed = 1,
		.timeout_ns = 60 * CLK_NS_PER_S };
	struct world w;
	int needed, status = 0;

	world_open(&w, &argc, &argv);
	if (world_roles(&w, &s, &needed) < 0)
		return 77;
	world_split(&w, &s);
	if (w.rank == 0)
		printf("| test | pairs of turns | operations a turn | plain "
		       "loop, us | engine, us | ratio, its 95 %% interval |\n"
		       "|---|---:|---:|---:|---:|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (fabs(bench(&w, &s, &rows[i]) - 1) > LIMIT)
			status = 1;
	fflush(stdout);
	world_close(&w, status);
	return status;
}
