/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_exec.c - the executor beside a plain loop of the same transfers, in
 * turns, one right after the other, so that the machine's noise meets both;
 * of the ratios of neighbouring turns the median counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "probes/pattern/pattern.h"
#include "probes/run/team.h"
#include "probes/run/trial.h"

#define TURNS 15

static struct world world;
static struct transport_team *team;

/* ---- a plain loop: receives, sends, wait ---- */

struct plain {
	const struct plan *p;
	char **places; /* by transfer, this rank's end */
	MPI_Request *reqs;
};

static struct plain
plain_new(const struct plan *p)
{
	struct plain l = { .p = p };

	l.places = xcalloc(p->transfers_count, sizeof(*l.places));
	l.reqs = xcalloc(p->transfers_count, sizeof(MPI_Request));
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		if ((int)t->src != team->rank && (int)t->dst != team->rank)
			continue;
		l.places[i] = xcalloc(t->bytes, 1);
		for (uint64_t at = 0; at < t->bytes; at += 4096)
			l.places[i][at] = 1; /* touched */
	}
	return l;
}

static double
plain_once(struct plain *l)
{
	uint64_t start_ns;
	int n = 0;

	MPI_Barrier(team->comm);
	start_ns = clk_ns();
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
	return (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
}

static void
plain_free(struct plain *l)
{
	for (size_t i = 0; i < l->p->transfers_count; i++)
		free(l->places[i]);
	free(l->places);
	free(l->reqs);
}

/* Median over iterations of the slowest rank's time. */
static double
plain_turn(struct plain *l, int iterations)
{
	double *s = xcalloc((size_t)iterations, sizeof(*s)), median;

	for (int i = 0; i < iterations; i++)
		s[i] = plain_once(l);
	MPI_Allreduce(MPI_IN_PLACE, s, iterations, MPI_DOUBLE, MPI_MAX,
	    team->comm);
	median = robust_median(s, (size_t)iterations);
	free(s);
	return median;
}

/* ---- the executor ---- */

static double
exec_turn(struct exec *e, int iterations)
{
	struct trial_ask ask = { .iterations = iterations };
	struct trial t;
	struct timing tm;

	trial_time(e, 0, UINT32_MAX, &ask, &t);
	timing_of(t.samples, t.count, &tm);
	trial_clear(&t);
	return tm.median_middle_s;
}

static struct plan *
build(const char *count, const char *via)
{
	const char *words[] = { "pattern=rail", "direction=out", "n=2", "g=4",
		"k=4", "type=byte", count, via };
	char why[PATTERN_WHY_BYTES];
	struct plan *p;

	if (pattern_plan("group", (char *const *)words, 8,
		(uint32_t)team->ranks, &p, why, sizeof(why)) < 0)
		fatalx("%s", why);
	return p;
}

static struct exec *
make(const struct plan *p)
{
	char why[EXEC_WHY_BYTES];
	struct exec *e;
	struct exec_fault f;

	if (exec_new(team, p, &e, why, sizeof(why)) < 0)
		fatalx("%s", why);
	if (trial_prove(team, e, 1, &f) < 0)
		fatalx("wrong data");
	return e;
}

static void
beside_plain(const char *count, int iterations)
{
	struct plan *p = build(count, "via=mpi");
	struct plain l = plain_new(p);
	struct exec *e = make(p);
	double ratio[TURNS], ours[TURNS], theirs[TURNS];

	plain_turn(&l, iterations);
	for (int i = 0; i < TURNS; i++) {
		int first = i % 2;

		if (first)
			theirs[i] = plain_turn(&l, iterations);
		ours[i] = exec_turn(e, iterations);
		if (!first)
			theirs[i] = plain_turn(&l, iterations);
		ratio[i] = ours[i] / theirs[i];
	}
	if (team->rank == 0)
		printf("| %llu | %.1f | %.1f | %.3f |\n",
		    (unsigned long long)p->transfers[0].bytes,
		    robust_median(theirs, TURNS) * 1e6,
		    robust_median(ours, TURNS) * 1e6,
		    robust_median(ratio, TURNS));
	exec_free(e);
	plain_free(&l);
	plan_free(p);
}

static void
beside_ipc(const char *count, int iterations)
{
	static const char *const vias[] = { "via=ipc-put", "via=ipc-get" };
	struct plan *mp = build(count, "via=mpi");
	struct exec *m = make(mp);
	double volume = (double)plan_volume(mp);
	double limit = trial_memory(team, mp->transfers[0].bytes);

	for (int v = 0; v < 2; v++) {
		struct plan *ip = build(count, vias[v]);
		struct exec *e = make(ip);
		double ratio[TURNS], ours[TURNS], theirs[TURNS];

		for (int i = 0; i < TURNS; i++) {
			theirs[i] = exec_turn(m, iterations);
			ours[i] = exec_turn(e, iterations);
			ratio[i] = theirs[i] / ours[i];
		}
		if (team->rank == 0)
			printf("| %s | %.2f | %.2f | %.2f | %.2f |\n",
			    vias[v] + 4,
			    volume / robust_median(theirs, TURNS) / 1e9,
			    volume / robust_median(ours, TURNS) / 1e9,
			    robust_median(ratio, TURNS), limit / 1e9);
		exec_free(e);
		plan_free(ip);
	}
	exec_free(m);
	plan_free(mp);
}

int
main(int argc, char **argv)
{
	char why[TRANSPORT_WHY_BYTES];
	int first;

	log_init("bench_exec", LOG_LEVEL_INFO);
	world_open(&world, &argc, &argv);
	if (team_open(&world, "host", &team, why, sizeof(why)) < 0)
		fatalx("%s", why);
	first = team->rank == 0;
	if (first)
		printf("Four messages between two groups, medians of %d turns "
		       "in pairs; us.\n\n| bytes | plain | executor | ratio "
		       "|\n|---:|---:|---:|---:|\n",
		    TURNS);
	beside_plain("count=4096", 50);
	beside_plain("count=1048576", 10);
	beside_plain("count=67108864", 2);
	if (first)
		printf("\n64 MiB each, GB/s; the limit is what all ranks copy "
		       "within their memory.\n\n| via | mpi | ipc | ratio | "
		       "limit |\n|---|---:|---:|---:|---:|\n");
	beside_ipc("count=67108864", 2);
	team_close(team);
	world_close(&world, 0);
	return 0;
}
