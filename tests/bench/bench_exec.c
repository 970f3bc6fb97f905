/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_exec.c - compare the executor with a plain loop of the same transfers.
 * Their turns alternate, so that the machine's noise affects both. The result
 * is the median ratio of consecutive turns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"
#include "probes/catalog/patterns.h"

#define TURNS 21

static struct world world;
static struct transport_team *team;

/* ---- the two sides: one call moves all data once ---- */

typedef void run_fn(void *arg);

/* A plain loop: receives, sends, wait. It uses the executor's memory or its
 * own, because memory that other processes map is slower than heap memory. */
struct plain {
	const struct plan *p;
	char **places; /* by transfer, this rank's end */
	int owned;
	MPI_Request *reqs;
};

static char *
plain_place(const struct plan_transfer *t, const struct exec *e)
{
	if (e == NULL)
		return memset(xcalloc(t->bytes, 1), 1, t->bytes);
	if ((int)t->src == team->rank)
		return exec_place(e, t->from, t->from_off);
	return exec_place(e, t->to, t->to_off);
}

static struct plain
plain_new(const struct plan *p, const struct exec *e)
{
	struct plain l = { .p = p, .owned = e == NULL };

	l.places = xcalloc(p->transfers_count, sizeof(*l.places));
	l.reqs = xcalloc(p->transfers_count, sizeof(MPI_Request));
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		if ((int)t->src == team->rank || (int)t->dst == team->rank)
			l.places[i] = plain_place(t, e);
	}
	return l;
}

static void
plain_run(void *arg)
{
	const struct plain *l = arg;
	int n = 0;

	for (int receive = 1; receive >= 0; receive--)
		for (size_t i = 0; i < l->p->transfers_count; i++) {
			const struct plan_transfer *t = &l->p->transfers[i];

			if (receive && (int)t->dst == team->rank)
				MPI_Irecv(l->places[i], (int)t->bytes, MPI_BYTE,
				    (int)t->src, (int)i, team->comm,
				    &l->reqs[n++]);
			if (!receive && (int)t->src == team->rank)
				MPI_Isend(l->places[i], (int)t->bytes, MPI_BYTE,
				    (int)t->dst, (int)i, team->comm,
				    &l->reqs[n++]);
		}
	MPI_Waitall(n, l->reqs, MPI_STATUSES_IGNORE);
}

static void
plain_free(struct plain *l)
{
	for (size_t i = 0; l->owned && i < l->p->transfers_count; i++)
		free(l->places[i]);
	free(l->places);
	free(l->reqs);
}

/* Return the median over iterations of the slowest rank's time. */
static double
turn(run_fn *run, void *arg, int iterations)
{
	double *s = xcalloc((size_t)iterations, sizeof(*s)), median;

	for (int i = 0; i < iterations; i++) {
		uint64_t start_ns;

		MPI_Barrier(team->comm);
		start_ns = clk_ns();
		run(arg);
		s[i] = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	}
	MPI_Allreduce(MPI_IN_PLACE, s, iterations, MPI_DOUBLE, MPI_MAX,
	    team->comm);
	median = robust_median(s, (size_t)iterations);
	free(s);
	return median;
}

struct beside {
	double ours_s, theirs_s, ratio; /* medians of the turns */
};

/* Each side is first in half of the pairs. */
static struct beside
alternate(run_fn *run, void *arg, run_fn *other, void *other_arg,
    int iterations)
{
	double ours[TURNS], theirs[TURNS], ratio[TURNS];

	turn(run, arg, 1);
	turn(other, other_arg, 1);
	for (int i = 0; i < TURNS; i++) {
		if (i % 2 == 0)
			ours[i] = turn(run, arg, iterations);
		theirs[i] = turn(other, other_arg, iterations);
		if (i % 2 == 1)
			ours[i] = turn(run, arg, iterations);
		ratio[i] = ours[i] / theirs[i];
	}
	return (struct beside){ robust_median(ours, TURNS),
		robust_median(theirs, TURNS), robust_median(ratio, TURNS) };
}

static struct plan *
build(const char *count, const char *via)
{
	const char *words[] = { "pattern=rail", "direction=out", "n=2", "g=4",
		"k=4", "type=byte", count, via };
	struct err err;
	struct plan *p;

	if (patterns_plan("group", (char *const *)words, 8,
		(uint32_t)team->ranks, &p, &err) < 0)
		fatalx("%s", err.text);
	return p;
}

static struct exec *
make(const struct plan *p)
{
	struct err err;
	struct exec *e;
	struct exec_fault f;

	if (exec_new(team, p, &e, &err) < 0)
		fatalx("%s", err.text);
	if (trial_prove(team, e, 1, &f) < 0)
		fatalx("wrong data");
	return e;
}

static void
beside_plain(const char *count, int iterations)
{
	struct plan *p = build(count, "via=mpi");
	struct exec *e = make(p);
	struct plain same = plain_new(p, e), own = plain_new(p, NULL);
	struct beside at_same = alternate(exec_run, e, plain_run, &same,
	    iterations);
	struct beside at_own = alternate(exec_run, e, plain_run, &own,
	    iterations);

	if (team->rank == 0)
		printf("| %llu | %.1f | %.1f | %.3f | %.1f | %.1f | %.3f |\n",
		    (unsigned long long)p->transfers[0].bytes,
		    at_same.theirs_s * 1e6, at_same.ours_s * 1e6, at_same.ratio,
		    at_own.theirs_s * 1e6, at_own.ours_s * 1e6, at_own.ratio);
	plain_free(&own);
	plain_free(&same);
	exec_free(e);
	plan_free(p);
}

static void
beside_ipc(const char *count, int iterations)
{
	static const char *const vias[] = { "via=ipc", "via=ipc-put",
		"via=ipc-get" };
	struct plan *mp = build(count, "via=mpi");
	struct exec *m = make(mp);
	double volume = (double)plan_volume(mp);

	for (size_t v = 0; v < ARRAY_LEN(vias); v++) {
		struct plan *ip = build(count, vias[v]);
		struct exec *e = make(ip);
		struct beside b = alternate(exec_run, e, exec_run, m,
		    iterations);
		double limit = trial_memory(team, mp->transfers[0].bytes, NULL);

		if (team->rank == 0)
			printf("| %llu | %s | %.2f | %.2f | %.2f | %.2f |\n",
			    (unsigned long long)mp->transfers[0].bytes,
			    vias[v] + 4, volume / b.theirs_s / 1e9,
			    volume / b.ours_s / 1e9, 1 / b.ratio, limit / 1e9);
		exec_free(e);
		plan_free(ip);
	}
	exec_free(m);
	plan_free(mp);
}

int
main(int argc, char **argv)
{
	struct err err;
	int first;

	log_init("bench_exec", LOG_LEVEL_INFO);
	world_open(&world, &argc, &argv);
	if (team_open(&world, "host", "auto", &team, &err) < 0)
		fatalx("%s", err.text);
	first = team->rank == 0;
	if (first)
		printf("Four messages between two groups of four ranks, "
		       "medians of %d pairs of turns, us. The\nplain loop uses "
		       "the executor's memory, or its own. Large memory that "
		       "is allocated later\nis faster by some per cent. Here "
		       "it is the loop's own memory; if that is allocated\n"
		       "first, it is the slower one.\n\n"
		       "| bytes | plain | executor | ratio | plain, own memory "
		       "| executor | ratio |\n"
		       "|---:|---:|---:|---:|---:|---:|---:|\n",
		    TURNS);
	beside_plain("count=8", 500);
	beside_plain("count=4096", 500);
	beside_plain("count=65536", 100);
	beside_plain("count=1048576", 40);
	beside_plain("count=67108864", 2);
	if (first)
		printf(
		    "\nCopies by ipc compared with messages, GB/s. Limit: the "
		    "rate at which all ranks copy\nwithin their own memory.\n\n"
		    "| bytes | via | mpi | ipc | ratio | limit |\n"
		    "|---:|---|---:|---:|---:|---:|\n");
	beside_ipc("count=1048576", 20);
	beside_ipc("count=67108864", 3);
	team_close(team);
	world_close(&world, 0);
	return 0;
}
