/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift.h - compare one node's distance from its peers with its own recent
 * weeks and with a pinned baseline. Pure.
 *
 * The usual distance is a mean and a scatter. Every round moves them a little,
 * and rounds older than DRIFT_MEMORY rounds are forgotten. A round enters the
 * cumulative sums as the normal deviate of its Student's t against all earlier
 * rounds (the self-starting sums of Hawkins 1987), so from the first rounds on
 * the false-alarm rate is the same as for a known mean and scatter.
 *
 * The sums detect a shift; its size is the mean of about the last 1 / DRIFT_NOW
 * rounds.
 *
 * A pinned baseline is as exact as the rounds it was made of: a shift within 5
 * sigma of its error is not counted.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_DRIFT_H
#define DAEMON_DIAGNOSIS_STATS_DRIFT_H

#include <stdint.h>

/*
 * Slow drift of one value against its own past (Page 1954):
 *
 *   up   = max(0, up   + x - k)      x in standard deviations of a round
 *   down = max(0, down - x - k)      k: half of the shift to detect
 *
 * An alarm is raised when either exceeds h. x - k is limited to CUSUM_X_MAX -
 * CUSUM_K, so that a single round cannot raise an alarm.
 */
#define CUSUM_K     0.5 /* for a shift of one sigma */
#define CUSUM_X_MAX 4.0

struct cusum {
	double up, down;
	unsigned up_rounds, down_rounds; /* rounds since the sum was last 0 */
};

/* Add a value. Return 1 if values are too high, -1 if they are too low, 0 if
 * neither. */
int cusum_add(struct cusum *c, double x, double k, double h);
/* Return the h at which chance raises one alarm in `rounds` normally
 * distributed values, by the approximation of Siegmund (1985) for one side:
 * rounds = (exp(2 k b) - 2 k b - 1) / (2 k^2), b = h + 1.166. */
double cusum_limit(double rounds, double k);

#define DRIFT_MEMORY 4032 /* two weeks of rounds of 5 minutes */
#define DRIFT_LEARN  48   /* no result before */
#define DRIFT_NOW    0.1  /* weight of a round in the newest mean */
/* A round is learned when it is this many rounds old, so that a shift is
 * detected before it is learned. */
#define DRIFT_LATE 6
/* Least standard deviation of a logarithm: the resolution of a histogram,
 * averaged over some partners. */
#define DRIFT_SIGMA_MIN 0.01

enum drift_from {
	DRIFT_NONE,
	DRIFT_OWN,   /* slower than in its own recent weeks */
	DRIFT_PINNED /* slower than in the pinned baseline */
};

/* One value and its past. drift_clear empties it. */
struct drift {
	double mean, var; /* mean and variance of the distance, a logarithm */
	double now;       /* mean distance of the last rounds */
	double level;     /* mean of the value itself */
	uint32_t n;       /* rounds learned, up to DRIFT_MEMORY */
	struct {
		float distance, level;
	} late[DRIFT_LATE]; /* rounds that are not learned yet */
	uint8_t late_n, late_at;
	double k;          /* k of the cumulative sums; default CUSUM_K */
	struct cusum sums; /* against the recent weeks */
	double pinned;     /* the distance in the baseline; NAN: none */
	double pinned_error;
	struct cusum pinned_sums;
	uint8_t from;   /* enum drift_from */
	uint8_t frozen; /* its case is open: rounds are not learned */
	/* 1: drift_decide() detects drift, by the measured wander instead of
	 * the sums, and every round is learned late. */
	uint8_t by_wander;
	double opened;     /* the shift that opened the case */
	double was_opened; /* the shift that opened the previous case */
};

/* Begin without data. */
void drift_clear(struct drift *d);
/* Set the pinned baseline of a node. distance, rounds: from the record of the
 * baseline; NAN: the node is not in it. */
void drift_pin(struct drift *d, double distance, double rounds);
/* Add one round: its distance from peers, and its value, both logarithms that
 * increase with slowness. limit: h of the cumulative sums (cusum_limit). A
 * shift below effect_min is ignored. Return 1 if d->from has changed. */
int drift_add(struct drift *d, double distance, double level, double limit,
    double effect_min);
/* Decide whether a node differs from its past, or from the baseline, by more
 * than z times the wander of the newest means of all nodes. by_median: outlying
 * rounds are common, so the median of its last rounds must also differ by half
 * as much. Ends below half of the shift that opened the case. Return 1 if
 * d->from has changed. */
int drift_decide(struct drift *d, double wander, double z, double effect_min,
    int by_median);
/* Forget the sums that opened a case, which is over. */
void drift_forget(struct drift *d);
/* Restore a case that was stored before a restart: it ends when the sums are
 * as usual again. */
void drift_restore(struct drift *d);
/* Return the shift by the sums that d->from names: a logarithm. */
double drift_shift(const struct drift *d);
/* Return the number of rounds since the shift began. */
uint32_t drift_rounds(const struct drift *d);

#endif
