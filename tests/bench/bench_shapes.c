/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_shapes.c - compare shapes of collectives in turns.
 *
 *     bench_shapes FILE TURNS ITERATIONS
 *
 * A line of FILE is "case|collective name=... ...". All lines of a case, up to
 * SIDES that follow each other, are plans of the same collective. A turn runs
 * each of them, in an order that rotates. Per line rank 0 prints
 * "case|words|median seconds".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "probes/catalog/patterns.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"

#define SIDES     64
#define TURNS_MAX 200
#define TEXT_MAX  1000

static struct world world;
static struct transport_team *team;

struct side {
	char words[TEXT_MAX];
	struct plan *plan;
	struct exec *exec;
	double s[TURNS_MAX];
};

static void
side_open(struct side *d)
{
	char *words[40], *save = NULL, *copy = xstrdup(d->words);
	int n = 0;
	struct exec_fault f;
	struct err err;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < 40;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (patterns_plan(words[0], words + 1, n - 1, (uint32_t)team->ranks,
		&d->plan, &err) < 0)
		fatalx("%s: %s", d->words, err.text);
	free(copy);
	plan_choose_vias(d->plan, NULL, PLAN_VIA_MPI, PLAN_VIA_MPI);
	if (exec_new(team, d->plan, &d->exec, &err) < 0)
		fatalx("%s: %s", d->words, err.text);
	exec_take_turns(d->exec);
	if (trial_prove(team, d->exec, 1, &f) < 0)
		fatalx("%s: wrong data", d->words);
}

/* The median over iterations of the slowest rank's time. */
static double
side_turn(struct side *d, int iterations)
{
	double *s = xcalloc((size_t)iterations, sizeof(*s)), median;

	for (int i = 0; i < iterations; i++) {
		uint64_t start_ns;

		MPI_Barrier(team->comm);
		start_ns = clk_ns();
		exec_run(d->exec);
		s[i] = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	}
	MPI_Allreduce(MPI_IN_PLACE, s, iterations, MPI_DOUBLE, MPI_MAX,
	    team->comm);
	median = robust_median(s, (size_t)iterations);
	free(s);
	return median;
}

static void
sides_compare(const char *name, struct side *d, int count, int turns,
    int iterations)
{
	for (int i = 0; i < count; i++)
		side_open(&d[i]);
	for (int i = 0; i < count; i++)
		side_turn(&d[i], 1);
	for (int t = 0; t < turns; t++)
		for (int i = 0; i < count; i++) {
			struct side *x = &d[(i + t) % count];

			x->s[t] = side_turn(x, iterations);
		}
	for (int i = 0; i < count; i++) {
		if (team->rank == 0)
			printf("%s|%s|%.9f\n", name, d[i].words,
			    robust_median(d[i].s, (size_t)turns));
		exec_free(d[i].exec);
		plan_free(d[i].plan);
	}
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct side *sides = xcalloc(SIDES, sizeof(*sides));
	char line[TEXT_MAX], name[TEXT_MAX] = "";
	int count = 0, turns, iterations;
	struct err err;
	FILE *f;

	log_init("bench_shapes", LOG_LEVEL_INFO);
	world_open(&world, &argc, &argv);
	if (argc != 4 || (f = fopen(argv[1], "r")) == NULL)
		fatalx("usage: bench_shapes FILE TURNS ITERATIONS");
	turns = atoi(argv[2]) < TURNS_MAX ? atoi(argv[2]) : TURNS_MAX;
	iterations = atoi(argv[3]);
	if (team_open(&world, "host", "auto", &team, &err) < 0)
		fatalx("%s", err.text);
	while (fgets(line, sizeof(line), f) != NULL) {
		char *words = strchr(line, '|');

		if (words == NULL)
			continue;
		*words++ = '\0';
		words[strcspn(words, "\n")] = '\0';
		if (count == SIDES || strcmp(line, name) != 0) {
			sides_compare(name, sides, count, turns, iterations);
			count = 0;
		}
		memcpy(name, line, sizeof(name));
		snprintf(sides[count++].words, TEXT_MAX, "%s", words);
	}
	sides_compare(name, sides, count, turns, iterations);
	fclose(f);
	free(sides);
	team_close(team);
	world_close(&world, 0);
	return 0;
}
