/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does an interval hold the truth as often as it says? Thousands of made-up
 * runs with idle congestors, so that the impact is 1, on machines that drift,
 * wander and have heavy tails; and runs whose congestion is known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "probes/sampling/impact.h"

#define RUNS          200
#define ROUND_PACKETS 120
#define SEED          20190711

struct machine {
	const char *name;
	int visits;
	int rounds;          /* in a visit */
	double drift;        /* log of the slow-down over the whole run */
	double wander;       /* step of the AR(1) from visit to visit, log */
	double memory;       /* of the AR(1) */
	double round_spread; /* of a round's level, log */
	double tail;         /* share of packets from a Pareto tail */
	double stolen; /* share of rounds in which 1 packet in 33 waits for a
			  core: the 99th percentile is on the edge */
	double impact; /* the truth */
};

static double
normal(struct rng *r)
{
	return sqrt(-2 * log(1 - rng_unit(r))) *
	    cos(2 * acos(-1) * rng_unit(r));
}

static void
one_round(struct rng *r, const struct machine *m, double level, struct tally *t,
    int visit)
{
	struct hist *h = calloc(1, sizeof(*h));
	double base = level + m->round_spread * normal(r);
	int stolen = rng_unit(r) < m->stolen;

	hist_clear(h);
	for (int i = 0; i < ROUND_PACKETS; i++) {
		double x = base + 0.2 * normal(r);

		if (rng_unit(r) < m->tail) /* index 1.5: no variance */
			x += -log(1 - rng_unit(r)) / 1.5;
		if (stolen && rng_unit(r) < 0.03)
			x = log(100 + 100 * rng_unit(r));
		hist_add(h, 30e-6 * exp(x));
	}
	tally_add(t, visit, h);
	free(h);
}

/* A run in the order A B B A. */
static void
one_run(struct rng *r, const struct machine *m, struct tally *quiet,
    struct tally *loaded)
{
	int stretches = 2 * m->visits;
	double ar = m->wander * normal(r);

	tally_init(quiet, m->visits);
	tally_init(loaded, m->visits);
	for (int i = 0; i < stretches; i++) {
		int is_loaded = (i % 2) != ((i / 2) % 2);
		double level = ar + m->drift * i / stretches;

		if (is_loaded)
			level += log(m->impact);
		for (int k = 0; k < m->rounds; k++)
			one_round(r, m, level, is_loaded ? loaded : quiet,
			    i / 2);
		ar = m->memory * ar + m->wander * normal(r);
	}
}

/* Runs whose interval held the truth, by statistic; the median of hi / lo. */
static void
cover(const struct machine *m, int ret_held[2], double ret_width[2])
{
	struct rng r;
	double *width[2];

	rng_seed(&r, SEED);
	for (int of = 0; of < 2; of++) {
		ret_held[of] = 0;
		width[of] = calloc(RUNS, sizeof(double));
	}
	for (int run = 0; run < RUNS; run++) {
		struct tally quiet, loaded;
		struct impact_ask ask = { &quiet, &loaded, 0, m->visits, 0.95,
			(uint64_t)run };

		one_run(&r, m, &quiet, &loaded);
		for (int of = 0; of < 2; of++) {
			struct impact im;

			assert_int_equal(impact_take(&ask, (enum impact_of)of,
					     &im),
			    0);
			ret_held[of] += im.lo <= m->impact &&
			    m->impact <= im.hi;
			width[of][run] = im.hi / im.lo;
		}
		tally_clear(&quiet);
		tally_clear(&loaded);
	}
	for (int of = 0; of < 2; of++) {
		ret_width[of] = robust_median(width[of], RUNS);
		free(width[of]);
	}
}

static const struct machine machines[] = {
	{ "even", 4, 4, 0, 0, 0, 0.03, 0, 0, 1 },
	{ "drift", 4, 4, 1.0, 0, 0, 0.03, 0.01, 0, 1 },
	{ "wander", 4, 4, 0, 0.15, 0.8, 0.05, 0.01, 0, 1 },
	{ "wander, 2 visits", 2, 8, 0, 0.15, 0.8, 0.05, 0.01, 0, 1 },
	{ "wander, 3 visits", 3, 6, 0, 0.15, 0.8, 0.05, 0.01, 0, 1 },
	{ "wander, 6 visits", 6, 3, 0, 0.15, 0.8, 0.05, 0.01, 0, 1 },
	{ "all, 8 visits", 8, 3, 0.7, 0.15, 0.8, 0.1, 0.02, 0, 1 },
	{ "bursts", 6, 3, 0, 0.5, 0.0, 0.1, 0.01, 0, 1 },
	{ "congested", 4, 4, 0.5, 0.1, 0.8, 0.1, 0.01, 0, 8 },
	{ "stolen cores", 6, 4, 0, 0.1, 0.5, 0.1, 0, 0.3, 1 },
	{ "stolen, 8 visits", 8, 3, 0, 0.1, 0.5, 0.1, 0, 0.2, 1 },
};

/* A true 95 % holds in 190 of 200 on average and in fewer than 182 once in
 * two hundred times; the seed is fixed, so this fails for a reason only. */
#define HELD_MIN 182

static void
test_coverage(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
		int held[2];
		double width[2];

		cover(&machines[i], held, width);
		printf("%-18s mean %d (x%.2f) p99 %d (x%.2f) of %d\n",
		    machines[i].name, held[0], width[0], held[1], width[1],
		    RUNS);
		assert_true(held[0] >= HELD_MIN);
		assert_true(held[1] >= HELD_MIN);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
