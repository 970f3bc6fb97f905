/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - from effects to a statement.
 */
#ifndef DAEMON_JOBS_LEDGER_POOL_H
#define DAEMON_JOBS_LEDGER_POOL_H

#include <stddef.h>
#include <stdint.h>

/* An effect, of one kind of job and one test; or its seconds. */
struct ledger_row {
	uint32_t job;
	int sign;
	double effect;
};

/* What looks at random moments saw of that kind and test: chance. */
struct ledger_chance {
	const double *x;
	size_t count;
	double sd;
};
struct ledger_chance ledger_chance_of(const double *x, size_t count);

struct ledger_pooled {
	size_t jobs, steps;
	double effect, lo, hi; /* the cost, and at 95 %; NAN: not known */
	int is_blamed;
	/* Of sets of as many random moments as there are steps, how many were
	 * blamed, by the same rule. */
	size_t sets, sets_blamed;
};

/* Fewer random moments do not tell what is chance. */
#define LEDGER_PLACEBOS_MIN 12
/* A kind that costs nothing is blamed so often, all kinds and tests of one
 * question together. */
#define LEDGER_ALPHA    0.005
#define LEDGER_COST_MIN 0.01

/* families: kinds times tests that are asked about together; 0: nobody is
 * blamed by these, as by seconds. Sorts rows. */
void ledger_pool(struct ledger_row *rows, size_t count,
    const struct ledger_chance *chance, size_t families,
    struct ledger_pooled *ret);

#endif
