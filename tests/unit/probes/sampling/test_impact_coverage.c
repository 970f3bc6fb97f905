/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test whether an interval contains the true value as often as documented:
 * thousands of simulated runs with idle congestors, so that the impact is 1, on
 * machines that drift, wander and have heavy tails; and runs with known
 * congestion.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/robust.h"
#include "common/str.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/stop.h"
#include "probes/sampling/tally.h"

#define RUNS 1000
#define SEED 20190711

struct machine {
	const char *name;
	int visits;
	int rounds;          /* in a visit */
	int packets;         /* in a round */
	double drift;        /* log of the slow-down over the whole run */
	double wander;       /* step of the AR(1) from visit to visit, log */
	double memory;       /* of the AR(1) */
	double round_spread; /* of a round's level, log */
	double tail;         /* share of packets from a Pareto tail */
	double stolen;    /* share of rounds in which 1 packet in 33 waits for a
			     core: the 99th percentile is on the edge */
	double impact;    /* the truth */
	double precision; /* at which the run stops; 0: after all visits */
	int every;        /* one in every such visits is 20 % slower; 0: none */
	double congested_tail; /* share of packets that congestion delays by 5
				  to 10 times */
};

static double
normal(struct rng *r)
{
	return sqrt(-2 * log(1 - rng_unit(r))) *
	    cos(2 * acos(-1) * rng_unit(r));
}

static void
one_round(struct rng *r, const struct machine *m, double level, double tail,
    struct tally *t, int visit)
{
	struct hist *h = calloc(1, sizeof(*h));
	double base = level + m->round_spread * normal(r);
	int stolen = rng_unit(r) < m->stolen;

	hist_clear(h);
	for (int i = 0; i < m->packets; i++) {
		double x = base + 0.2 * normal(r);

		if (rng_unit(r) < m->tail) /* index 1.5: no variance */
			x += -log(1 - rng_unit(r)) / 1.5;
		if (tail > 0 && rng_unit(r) < tail)
			x += log(5 + 5 * rng_unit(r));
		if (stolen && rng_unit(r) < 0.03)
			x = log(100 + 100 * rng_unit(r));
		hist_add(h, 30e-6 * exp(x));
	}
	tally_add(t, visit, h, 0);
	free(h);
}

/* Returns how many pairs of visits the run took. */
static int
one_run(struct rng *r, const struct machine *m, struct tally *quiet,
    struct tally *loaded, uint64_t seed)
{
	const struct settings s = { .level = 0.95,
		.precision = m->precision,
		.kind_count = 1,
		.visits = m->visits,
		.seed = seed };
	struct impact_ask ask = { quiet, loaded, 0, 0.95, seed, 0 };
	int stretches = 2 * m->visits;
	double ar = m->wander * normal(r);

	tally_init(quiet, m->visits);
	tally_init(loaded, m->visits);
	for (int i = 0; i < stretches; i++) {
		int visit;
		int is_loaded = settings_phase(&s, i, &visit) ==
		    PHASE_CONGESTED;
		double level = ar + m->drift * i / stretches;

		if (is_loaded)
			level += log(m->impact);
		if (m->every > 0 && i % m->every == 0)
			level += log(1.2);
		for (int k = 0; k < m->rounds; k++)
			one_round(r, m, level,
			    is_loaded ? m->congested_tail : 0,
			    is_loaded ? loaded : quiet, visit);
		ar = m->memory * ar + m->wander * normal(r);
		if (i % 2 == 1 && m->precision > 0 &&
		    stop_pairs(&ask, &s, (i + 1) / 2))
			return (i + 1) / 2;
	}
	return m->visits;
}

/* The true impact on each statistic: known, or of a long run at one level. */
static void
truth_of(const struct machine *m, double ret[IMPACT_OF_MAX])
{
	struct machine long_run = *m;
	struct tally side[2];
	struct rng r;

	ret[IMPACT_MEAN] = ret[IMPACT_P99] = m->impact;
	if (m->congested_tail == 0)
		return;
	long_run.packets = 1000;
	rng_seed(&r, SEED);
	for (int loaded = 0; loaded < 2; loaded++) {
		tally_init(&side[loaded], 1);
		for (int k = 0; k < 2000; k++)
			one_round(&r, &long_run, 0,
			    loaded ? m->congested_tail : 0, &side[loaded], 0);
	}
	ret[IMPACT_MEAN] = tally_mean(&side[1]) / tally_mean(&side[0]);
	ret[IMPACT_P99] = hist_quantile(&side[1].total, 0.99) /
	    hist_quantile(&side[0].total, 0.99);
	tally_clear(&side[0]);
	tally_clear(&side[1]);
}

struct covered {
	int held;     /* runs whose interval contained the truth */
	double width; /* half of the interval's logarithm, on average over runs,
			 over what Student's t and the true error need */
	double pairs; /* visits of a run, on average */
	int undetermined; /* runs with too few samples */
};

static void
cover(const struct machine *m, struct covered ret[2])
{
	int units = m->visits == 1 ? m->rounds : m->visits;
	int alternates = m->visits >= 6 && m->visits % 2 == 0;
	double need = robust_t_quantile(0.975, units - 1 - alternates);
	double square[2] = { 0 }, half[2] = { 0 }, truth[2];
	struct rng r;

	truth_of(m, truth);
	rng_seed(&r, SEED);
	memset(ret, 0, 2 * sizeof(*ret));
	for (int run = 0; run < RUNS; run++) {
		struct tally quiet, loaded;
		uint64_t seed = rng_next(&r);
		struct impact_ask ask = { &quiet, &loaded, 0, 0.95, seed, 0 };

		int pairs = one_run(&r, m, &quiet, &loaded, seed);
		for (int of = 0; of < 2; of++) {
			struct impact im;

			int rc = impact_take(&ask, (enum impact_of)of, &im);
			ret[of].pairs += (double)pairs / RUNS;
			if (rc == -ERANGE) {
				ret[of].undetermined++;
				continue;
			}
			assert_int_equal(rc, 0);
			ret[of].held += im.lo <= truth[of] &&
			    truth[of] <= im.hi;
			half[of] += log(im.hi / im.lo) / 2 / RUNS;
			square[of] += pow(log(im.value / truth[of]), 2) / RUNS;
		}
		tally_clear(&quiet);
		tally_clear(&loaded);
	}
	for (int of = 0; of < 2; of++)
		ret[of].width = half[of] / need / sqrt(square[of]);
}

static const struct machine machines[] = {
	{ "packets", 8, 4, 120, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 },
	{ "rounds", 8, 4, 120, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, 0 },
	{ "rounds, 4 visits", 4, 4, 120, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, 0 },
	{ "drift", 8, 4, 120, 1.0, 0, 0, 0.03, 0.01, 0, 1, 0, 0, 0 },
	{ "wander", 4, 4, 120, 0, 0.15, 0.8, 0.05, 0.01, 0, 1, 0, 0, 0 },
	{ "wander, 2 visits", 2, 8, 120, 0, 0.15, 0.8, 0.05, 0.01, 0, 1, 0, 0,
	    0 },
	{ "wander, 3 visits", 3, 6, 120, 0, 0.15, 0.8, 0.05, 0.01, 0, 1, 0, 0,
	    0 },
	{ "all, 8 visits", 8, 3, 120, 0.7, 0.15, 0.8, 0.1, 0.02, 0, 1, 0, 0,
	    0 },
	{ "bursts", 6, 3, 120, 0, 0.5, 0.0, 0.1, 0.01, 0, 1, 0, 0, 0 },
	{ "congested", 8, 4, 120, 0, 0.15, 0.8, 0.1, 0.01, 0, 8, 0, 0, 0 },
	{ "pareto", 8, 4, 120, 0, 0, 0, 0.03, 0.02, 0, 1, 0, 0, 0 },
	{ "stolen cores", 6, 4, 120, 0, 0.1, 0.5, 0.1, 0, 0.3, 1, 0, 0, 0 },
	{ "few samples", 8, 3, 20, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, 0 },
	{ "few, wander", 8, 3, 60, 0, 0.15, 0.8, 0.05, 0, 0, 1, 0, 0, 0 },
	{ "few, 5 visits", 5, 2, 20, 0, 0.15, 0, 0.05, 0, 0, 1, 0, 0, 0 },
	{ "single visit", 1, 24, 120, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, 0 },
	{ "stop at 10 %", 24, 4, 120, 0, 0, 0, 0.1, 0, 0, 1, 0.1, 0, 0 },
	{ "stop, wander", 24, 4, 120, 0, 0.15, 0.8, 0.05, 0.01, 0, 1, 0.1, 0,
	    0 },
	{ "stop, drift", 24, 4, 120, 1, 0.05, 0.8, 0.05, 0.01, 0, 1, 0.07, 0,
	    0 },
	{ "stop, loaded", 24, 4, 120, 0, 0.1, 0.8, 0.1, 0.01, 0, 8, 0.1, 0, 0 },
	{ "single, pareto", 1, 24, 120, 0, 0, 0, 0.1, 0.02, 0, 1, 0, 0, 0 },
	{ "every 4th visit", 8, 4, 120, 0, 0, 0, 0.05, 0, 0, 1, 0, 4, 0 },
	{ "4th of 24 visits", 12, 4, 120, 0, 0, 0, 0.05, 0, 0, 1, 0, 4, 0 },
	{ "3rd of 48 visits", 24, 4, 120, 0, 0, 0, 0.05, 0, 0, 1, 0, 3, 0 },
	{ "tail, 120", 8, 2, 120, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, .03 },
	{ "tail, 60", 12, 2, 60, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, .03 },
	{ "tail, 60, 24", 24, 2, 60, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, .03 },
	{ "tail, 1000", 8, 4, 300, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, .03 },
	{ "bandwidth", 24, 1, 2, 0, 0, 0, 0.1, 0, 0, 1, 0, 0, 0 },
};

/* 95 % hold, within 2 %; 0.7 % of these are chance with this many runs. On
 * average the spread of few visits is underestimated, by a fifth with two and
 * by a twelfth with four, which the tail of Student's t compensates. With a
 * heavy tail the true error of a mean is dominated by the one run that met it.
 * A run that stops when its interval is narrow prefers moments at which it is
 * too narrow: that costs up to 3 of 100. A disturbance that returns
 * periodically adds one of two values to each pair, which costs up to 4: it was
 * 75 when the order of the phases alternated. */
#define HELD_MIN  (0.925 * RUNS)
#define HELD_MAX  (0.975 * RUNS)
#define WIDTH_MIN 0.5
#define WIDTH_MAX 1.12

static void
test_coverage(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
		struct covered c[2];
		double held_min = HELD_MIN -
		    (machines[i].precision > 0 ? 0.03 * RUNS : 0) -
		    (machines[i].every > 0 ? 0.02 * RUNS : 0);

		cover(&machines[i], c);
		printf("%-18s mean %d (x%.2f) p99 %d (x%.2f) of %d, %d "
		       "undetermined, %.1f pairs\n",
		    machines[i].name, c[0].held, c[0].width, c[1].held,
		    c[1].width, RUNS, c[1].undetermined, c[0].pairs);
		for (int of = 0; of < 2; of++)
			bad += c[of].undetermined != RUNS &&
			    (c[of].held < held_min || c[of].held > HELD_MAX ||
				c[of].width < WIDTH_MIN ||
				c[of].width > WIDTH_MAX);
	}
	assert_int_equal(bad, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
