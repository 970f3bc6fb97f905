/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - combine the effects of several jobs into one statement.
 */
#ifndef DAEMON_JOBS_LEDGER_POOL_H
#define DAEMON_JOBS_LEDGER_POOL_H

#include <stddef.h>
#include <stdint.h>

/* An effect of one kind of job and one test, or its seconds. */
struct ledger_row {
	uint32_t job;
	int sign;
	double effect;
};

/* Effects at random moments, of the same kind of job and test: what occurs by
 * chance. */
struct ledger_chance {
	const double *x;
	size_t count;
	double sd;
};
/* Return these effects with their standard deviation; x is borrowed. */
struct ledger_chance ledger_chance_of(const double *x, size_t count);

/* A statement. */
struct ledger_pooled {
	size_t jobs, steps;
	double effect, lo, hi; /* cost, 95 % interval; NAN: unknown */
	int is_blamed;         /* 1: the cost exceeds what occurs by chance */
	/* Control: sets of random moments, each with as many as there are
	 * steps, and how many of these sets the same rule blames. */
	size_t sets, sets_blamed;
};

/* Minimum number of random moments to estimate chance. */
#define LEDGER_PLACEBOS_MIN 12
/* Probability that any kind without a cost is blamed, for all kinds and tests
 * of one request together. */
#define LEDGER_ALPHA    0.005
#define LEDGER_COST_MIN 0.01 /* a smaller cost, as a share, is not blamed */

/* Pool rows, which are sorted. families: kinds times tests of the request; 0:
 * never blame, as for seconds. */
void ledger_pool(struct ledger_row *rows, size_t count,
    const struct ledger_chance *chance, size_t families,
    struct ledger_pooled *ret);

#endif
