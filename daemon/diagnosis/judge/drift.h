/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift.h - one node's distance from its peers, against its own recent weeks
 * and against a pinned baseline. Pure.
 *
 * What a node was is a mean and a scatter that every round moves a little and
 * DRIFT_MEMORY rounds ago is forgotten. A round enters the cumulative sums as
 * the normal deviate of its Student's t against all before it (the
 * self-starting sums of Hawkins 1987), so the false-alarm rate is that of
 * known mean and scatter from the first rounds on.
 *
 * That there is a shift is what the sums say; how large it is, the mean of
 * about the last 1 / DRIFT_NOW rounds says.
 *
 * A pinned baseline is as exact as the rounds that it was made of: what its
 * error of 5 sigma may explain is not counted as a shift.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_DRIFT_H
#define DAEMON_DIAGNOSIS_JUDGE_DRIFT_H

#include <stdint.h>

/*
 * Slow drift of one number against its own past (Page 1954):
 *
 *   up   = max(0, up   + x - k)      x in standard deviations of a round
 *   down = max(0, down - x - k)      k: half of the shift looked for
 *
 * and an alarm when either passes h. x - k is cut at CUSUM_X_MAX - CUSUM_K, so
 * that no single round raises one.
 */
#define CUSUM_K     0.5 /* of a shift of one sigma */
#define CUSUM_X_MAX 4.0

struct cusum {
	double up, down;
	unsigned up_rounds, down_rounds; /* since it left 0 */
};

/* 1: too high, -1: too low, 0: neither. */
int cusum_add(struct cusum *c, double x, double k, double h);
/* The h at which chance alone raises one alarm in `rounds` numbers of a normal
 * distribution, by the approximation of Siegmund (1985) for one side:
 * rounds = (exp(2 k b) - 2 k b - 1) / (2 k^2), b = h + 1.166. */
double cusum_limit(double rounds, double k);

#define DRIFT_MEMORY 4032 /* two weeks of rounds of 5 minutes */
#define DRIFT_LEARN  48   /* before that nothing is said */
#define DRIFT_NOW    0.1  /* weight of a round in the newest mean */
/* A round is learned when it is so many rounds old: what a shift looks like is
 * not learned before it is found. */
#define DRIFT_LATE 6
/* Of the logarithm: a histogram's resolution, over some partners. */
#define DRIFT_SIGMA_MIN 0.01

enum drift_from {
	DRIFT_NONE,
	DRIFT_OWN,   /* slower than in its own recent weeks */
	DRIFT_PINNED /* than in the pinned baseline */
};

struct drift {
	double mean, var; /* of the distance, a logarithm */
	double now;       /* the same of the last rounds */
	double level;     /* mean of the number itself */
	uint32_t n;       /* rounds learned, up to DRIFT_MEMORY */
	struct {
		float distance, level;
	} late[DRIFT_LATE]; /* heard and not learned yet */
	uint8_t late_n, late_at;
	double k;          /* of the sums; CUSUM_K unless somebody sets it */
	struct cusum sums; /* against the recent weeks */
	double pinned;     /* the distance then; NAN: none */
	double pinned_error;
	struct cusum pinned_sums;
	uint8_t from;   /* enum drift_from */
	uint8_t frozen; /* its case is open: rounds are not learned */
	/* 1: drift_decide() says what drift is, by measured wander and not by
	 * sums; and every round is learned late. */
	uint8_t by_wander;
	double opened;     /* the shift that opened it */
	double was_opened; /* the same of the last one that ended */
};

void drift_clear(struct drift *d);
/* distance, rounds: of a baseline's record; NAN: it does not have the node. */
void drift_pin(struct drift *d, double distance, double rounds);
/* One round: its distance from peers, and its number, both logarithms that
 * grow with trouble. limit: of the sums (cusum_limit). A shift below
 * effect_min is none. 1 when d->from has changed. */
int drift_add(struct drift *d, double distance, double level, double limit,
    double effect_min);
/* Is a node off its past, or off what is pinned, by more than the newest means
 * of all nodes wander, times z? by_median: odd rounds are common, so that the
 * median of its last rounds must be off by half as much, too. It ends below
 * half of what opened it. 1 when d->from has changed. */
int drift_decide(struct drift *d, double wander, double z, double effect_min,
    int by_median);
/* How far it is off, by the sums that d->from names: a logarithm. */
double drift_shift(const struct drift *d);
uint32_t drift_rounds(const struct drift *d); /* since the shift began */

#endif
