/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_decides.c - coalmine-decides FOLDER SCENARIO: draw two SVG pictures of
 * how the diagnosis distinguishes slow nodes from others, for the simulated
 * cluster of a scenario with one slow node. A fixed seed makes them repeatable.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "tests/figures/plot.h"
#include "tests/sim/verdict/play.h"
#include "tests/sim/verdict/world.h"

#define SEED   20261123
#define TRIALS 200
#define NAMED  40 /* trials of the whole diagnosis */

enum score { GOOD_QUARTILE, MEDIAN, MEAN, SCORES };

/* A node's score from its n pairs with partners; a large score is slow. */
static double
score_of(double *x, size_t n, enum score how)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	if (how == MEAN)
		return sum / (double)n;
	return robust_quantile(x, n, how == MEDIAN ? 0.5 : 0.25);
}

/* Each round is a ring, with two partners for every node. Does the slow node
 * have the worst score? */
static int
is_found(const struct scenario *s, int rounds, enum score how, uint64_t seed)
{
	struct world *w = world_new(s, seed);
	size_t n = w->nodes, worst = 0, room = 2 * (size_t)rounds;
	double *x = xcalloc(n * room, sizeof(*x)), at_most = -INFINITY;
	size_t *count = xcalloc(n, sizeof(*count));
	int *order = xcalloc(n, sizeof(*order)), found;

	w->begin_ns = 1;
	for (size_t i = 0; i < n; i++)
		order[i] = (int)i;
	for (int r = 0; r < rounds; r++) {
		world_step(w, ((uint64_t)r + 1) * SCENARIO_ROUND);
		rng_shuffle(&w->rng, order, n);
		for (size_t i = 0; i < n; i++) {
			size_t a = (size_t)order[i];
			size_t b = (size_t)order[(i + 1) % n];
			double v = world_pair(w, (uint32_t)a, (uint32_t)b,
			    WORLD_LAT);

			x[a * room + count[a]++] = v;
			x[b * room + count[b]++] = v;
		}
	}
	for (size_t i = 0; i < n; i++) {
		double v = score_of(x + i * room, count[i], how);

		if (v > at_most) {
			at_most = v;
			worst = i;
		}
	}
	found = world_guilt(w, 0, (uint32_t)worst) != NULL;
	free(x);
	free(count);
	free(order);
	world_free(w);
	return found;
}

static void
draw_score(const struct scenario *s, FILE *to)
{
	static const char *const names[SCORES] = { "good quartile", "median",
		"mean" };
	static const int rounds[] = { 1, 2, 3, 4, 8 };
	struct plot_panel p = { .x_title = "rounds, two partners in each",
		.y_title = "%" };

	snprintf(p.title, sizeof(p.title), "1 of %u nodes is 20 %% slower",
	    s->cluster.nodes);
	p.points = sizeof(rounds) / sizeof(rounds[0]);
	p.rows_count = SCORES;
	for (int how = 0; how < SCORES; how++) {
		p.rows[how].name = names[how];
		for (size_t r = 0; r < p.points; r++) {
			int found = 0;

			snprintf(p.x[r], sizeof(p.x[r]), "%d", rounds[r]);
			for (uint64_t t = 0; t < TRIALS; t++)
				found += is_found(s, rounds[r], (enum score)how,
				    SEED + t);
			p.rows[how].y[r] = 100.0 * found / TRIALS;
		}
	}
	plot_draw(&p, 1, 1,
	    "% of trials in which the slow node has the worst score", to);
}

static void
draw_rounds(struct scenario *s, FILE *to)
{
	static const double percent[] = { 20, 10, 8, 7 };
	static const char *const names[] = { "20 % slower", "10 %", "8 %",
		"7 %" };
	struct plot_panel p = { .x_title = "rounds since it is slow",
		.y_title = "%" };

	snprintf(p.title, sizeof(p.title), "1 of %u nodes, %d partners a round",
	    s->cluster.nodes, s->cluster.partners);
	p.points = 12;
	p.rows_count = sizeof(percent) / sizeof(percent[0]);
	for (size_t i = 0; i < p.points; i++)
		snprintf(p.x[i], sizeof(p.x[i]), "%zu", i + 1);
	for (size_t k = 0; k < p.rows_count; k++) {
		p.rows[k].name = names[k];
		p.rows[k].line = 1;
		s->faults[0].effect = log1p(percent[k] / 100);
		for (uint64_t t = 0; t < NAMED; t++) {
			struct play_result r;

			play(s, (int)p.points, SEED + t, 0, &r);
			for (size_t i = 0; i < p.points; i++)
				if (r.named > 0 && (size_t)r.named <= i + 1)
					p.rows[k].y[i] += 100.0 / NAMED;
		}
	}
	plot_draw(&p, 1, 1, "% of trials in which a slow node is named by then",
	    to);
}

static FILE *
picture(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (f == NULL) {
		perror(path);
		exit(3);
	}
	return f;
}

int
main(int argc, char **argv)
{
	struct scenario s;
	FILE *f;

	if (argc != 3) {
		fprintf(stderr, "usage: coalmine-decides FOLDER SCENARIO\n");
		return 3;
	}
	scenario_load(argv[2], &s);
	f = picture(argv[1], "decides-score.svg");
	draw_score(&s, f);
	fclose(f);
	f = picture(argv[1], "decides-rounds.svg");
	draw_rounds(&s, f);
	fclose(f);
	scenario_free(&s);
	return 0;
}
