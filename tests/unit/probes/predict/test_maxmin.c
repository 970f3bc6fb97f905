/* SPDX-License-Identifier: Apache-2.0 */
/* Max-min fair shares: the textbook cases, and all flows against a plain
 * filling of random networks. */
#include "probes/predict/maxmin.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "common/rng.h"
#include "probes/predict/maxmin.h"

static void
near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * fabs(b) + 1e-9)
		fail_msg("%.9g is not %.9g", a, b);
}

static uint32_t
flow(struct maxmin *f, uint32_t a, uint32_t b, double limit, double bytes)
{
	uint32_t on[2] = { a, b };
	uint32_t pipe = maxmin_pipe_add(f, on, a == b ? 1 : 2, limit);

	maxmin_start(f, pipe, bytes, 0);
	return pipe;
}

static void
test_shares(void **state)
{
	const double capacities[] = { 10, 4 };
	struct maxmin *f = maxmin_new(capacities, 2);
	uint32_t both = flow(f, 0, 1, 0, 100);
	uint32_t first = flow(f, 0, 0, 0, 100);
	uint32_t limited = flow(f, 1, 1, 1, 100);

	(void)state;
	maxmin_settle(f, 0);
	near(f->pipes[limited].rate_per_s, 1);
	near(f->pipes[both].rate_per_s, 3);
	near(f->pipes[first].rate_per_s, 7);
	/* 100 bytes at 7 a second */
	assert_int_equal(maxmin_next_ps(f), 14285714285715);
	assert_int_equal(maxmin_end(f, 14285714285714), -1);
	assert_int_equal(maxmin_end(f, 14285714285715), first);
	maxmin_settle(f, 14285714285715);
	near(f->pipes[both].rate_per_s, 3);
	/* the other two end at 100 / 3 and 100 */
	assert_int_equal(maxmin_next_ps(f) / 1000000, 33333333);
	assert_int_equal(maxmin_end(f, maxmin_next_ps(f)), both);
	maxmin_settle(f, 33333333333334);
	near(f->pipes[limited].rate_per_s, 1);
	assert_int_equal(maxmin_next_ps(f), 100000000000000);
	near(maxmin_bytes(f, 0), 200);
	maxmin_free(f);
}

static void
test_nothing_in_the_way_takes_no_time(void **state)
{
	struct maxmin *f = maxmin_new(NULL, 0);
	uint32_t pipe = maxmin_pipe_add(f, NULL, 0, 0);
	uint32_t limited = maxmin_pipe_add(f, NULL, 0, 5);

	(void)state;
	maxmin_start(f, pipe, 1e9, 7);
	maxmin_start(f, limited, 10, 7);
	maxmin_settle(f, 7);
	assert_int_equal(maxmin_next_ps(f), 7);
	assert_int_equal(maxmin_end(f, 7), pipe);
	assert_int_equal(maxmin_next_ps(f), 7 + 2000000000000);
	maxmin_free(f);
}

#define LINKS 7
#define FLOWS 40

struct net {
	double capacity[LINKS];
	uint32_t way[FLOWS][3];
	double limit[FLOWS];
	int on[FLOWS];
};

static int
passes(const struct net *n, int i, uint32_t link)
{
	return n->on[i] &&
	    (n->way[i][0] == link || n->way[i][1] == link ||
		n->way[i][2] == link);
}

/* Grow all rates by the smallest step at which something is full. */
static void
plain(const struct net *n, double *rate)
{
	int fixed[FLOWS] = { 0 };
	double level = 0;

	for (int left = 1; left > 0;) {
		double step = HUGE_VAL;

		for (uint32_t l = 0; l < LINKS; l++) {
			double used = 0;
			int growing = 0;

			for (int i = 0; i < FLOWS; i++) {
				if (!passes(n, i, l))
					continue;
				used += fixed[i] ? rate[i] : level;
				growing += !fixed[i];
			}
			if (growing > 0)
				step = fmin(step,
				    (n->capacity[l] - used) / growing);
		}
		for (int i = 0; i < FLOWS; i++)
			if (n->on[i] && !fixed[i] && n->limit[i] > 0)
				step = fmin(step, n->limit[i] - level);
		if (step == HUGE_VAL)
			return;
		level += step;
		left = 0;
		for (int i = 0; i < FLOWS; i++) {
			int full = n->limit[i] > 0 &&
			    level >= n->limit[i] - 1e-9;

			for (uint32_t l = 0; l < LINKS; l++) {
				double used = 0;

				for (int k = 0; k < FLOWS; k++)
					if (passes(n, k, l))
						used += fixed[k] ? rate[k]
								 : level;
				full |= passes(n, i, l) &&
				    used >= n->capacity[l] - 1e-9;
			}
			if (n->on[i] && !fixed[i] && full) {
				rate[i] = level;
				fixed[i] = 2;
			}
		}
		for (int i = 0; i < FLOWS; i++)
			left += n->on[i] && !fixed[i];
	}
}

/* Flows start and end; after each change every rate equals the rate of a simple
 * algorithm. */
static void
test_as_a_plain_filling(void **state)
{
	struct rng rng;
	struct net n = { 0 };
	struct maxmin *f;

	(void)state;
	rng_seed(&rng, 17);
	for (int l = 0; l < LINKS; l++)
		n.capacity[l] = 1.0 + (double)rng_below(&rng, 50);
	f = maxmin_new(n.capacity, LINKS);
	for (uint32_t i = 0; i < FLOWS; i++) {
		n.way[i][0] = (uint32_t)rng_below(&rng, 3);
		n.way[i][1] = 3 + (uint32_t)rng_below(&rng, 2);
		n.way[i][2] = 5 + (uint32_t)rng_below(&rng, 2);
		n.limit[i] = i % 3 == 0 ? 0.5 + (double)(i % 5) : 0;
		maxmin_pipe_add(f, n.way[i], 3, n.limit[i]);
	}
	for (int round = 0; round < 300; round++) {
		uint32_t i = (uint32_t)rng_below(&rng, FLOWS);
		double rate[FLOWS] = { 0 };

		if (!n.on[i]) {
			maxmin_start(f, i, 1e6 * (1 + i), (uint64_t)round);
			n.on[i] = 1;
		} else {
			f->pipes[i].end_ps = 0;
			maxmin_ends_up(f, f->pipes[i].heap);
			assert_int_equal(maxmin_end(f, 0), i);
			n.on[i] = 0;
		}
		maxmin_settle(f, (uint64_t)round);
		plain(&n, rate);
		for (uint32_t k = 0; k < FLOWS; k++)
			near(f->pipes[k].rate_per_s, n.on[k] ? rate[k] : 0);
	}
	maxmin_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nothing_in_the_way_takes_no_time),
		cmocka_unit_test(test_as_a_plain_filling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
