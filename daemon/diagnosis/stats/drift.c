/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift.c - compare one value with its own past: cumulative sums of its
 * deviates, with a limit that chance exceeds once in a given number of rounds.
 */
#include "daemon/diagnosis/stats/drift.h"

#include <math.h>
#include <string.h>

#include "common/robust.h"

#define PINNED_ERRORS 5.0 /* standard errors of the pinned level */
#define RESTORED      1e6 /* a sum beyond any limit */

/* ---- cumulative sums ---- */

static void
drift_step(double *sum, unsigned *rounds, double x)
{
	const double most = CUSUM_X_MAX - CUSUM_K;

	*sum = fmax(0, *sum + fmax(-most, fmin(most, x)));
	*rounds = *sum > 0 ? *rounds + 1 : 0;
}

int
cusum_add(struct cusum *c, double x, double k, double h)
{
	drift_step(&c->up, &c->up_rounds, x - k);
	drift_step(&c->down, &c->down_rounds, -x - k);
	return c->up > h ? 1 : c->down > h ? -1 : 0;
}

double
cusum_limit(double rounds, double k)
{
	double lo = 0, hi = 60;

	/* Two sides: each may raise half of the alarms. */
	while (hi - lo > 1e-6) {
		double mid = (lo + hi) / 2, y = 2 * k * (mid + 1.166);

		if ((exp(y) - y - 1) / (2 * k * k) < 2 * rounds)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

/* ---- a node ---- */

void
drift_clear(struct drift *d)
{
	memset(d, 0, sizeof(*d));
	d->pinned = NAN;
	d->k = CUSUM_K;
}

void
drift_pin(struct drift *d, double distance, double rounds)
{
	d->pinned = distance;
	d->pinned_error = rounds > 1 ? 1 / sqrt(rounds) : 1;
	memset(&d->pinned_sums, 0, sizeof(d->pinned_sums));
}

static double
drift_sigma(const struct drift *d)
{
	return fmax(sqrt(d->var), DRIFT_SIGMA_MIN);
}

/* Convert a t of df degrees of freedom to the normal deviate of the same tail
 * (Wallace 1959). */
static double
drift_normal_of(double t, double df)
{
	double z = sqrt(df * log1p(t * t / df)) * (8 * df + 1) / (8 * df + 3);

	return t < 0 ? -z : z;
}

/* Update mean and variance (West 1979), with a weight of at least 1 /
 * DRIFT_MEMORY. */
static void
drift_learn(struct drift *d, double distance, double level)
{
	double weight, off;

	if (d->n < DRIFT_MEMORY)
		d->n++;
	weight = 1 / (double)d->n;
	off = distance - d->mean;
	if (d->n > DRIFT_LEARN) { /* one outlying round is not representative */
		double most = CUSUM_X_MAX * drift_sigma(d);

		off = fmax(-most, fmin(most, off));
	}
	d->mean += weight * off;
	d->var = (1 - weight) * (d->var + weight * off * off);
	d->level += weight * (level - d->level);
}

static enum drift_from
drift_judge(const struct drift *d, double limit, double effect_min)
{
	if (d->from == DRIFT_OWN && d->sums.up > 0)
		return DRIFT_OWN;
	if (d->sums.up > limit && d->now - d->mean >= effect_min)
		return DRIFT_OWN;
	if (isnan(d->pinned))
		return DRIFT_NONE;
	if (d->from == DRIFT_PINNED && d->pinned_sums.up > 0)
		return DRIFT_PINNED;
	return d->pinned_sums.up > limit && d->now - d->pinned >= effect_min
	    ? DRIFT_PINNED
	    : DRIFT_NONE;
}

int
drift_add(struct drift *d, double distance, double level, double limit,
    double effect_min)
{
	enum drift_from was = (enum drift_from)d->from;

	if (d->n >= DRIFT_LEARN) {
		double n = d->n, sigma = drift_sigma(d);
		double t = (distance - d->mean) / sigma * sqrt(n / (n + 1));

		/* Above the limit the sums stop growing: after a repair they
		 * fall below it within about limit / CUSUM_K rounds. */
		cusum_add(&d->sums, drift_normal_of(t, n - 1), d->k, limit);
		d->sums.up = fmin(d->sums.up, limit + 1);
		if (!isnan(d->pinned)) {
			cusum_add(&d->pinned_sums,
			    (distance - d->pinned) / sigma,
			    CUSUM_K + PINNED_ERRORS * d->pinned_error, limit);
			d->pinned_sums.up = fmin(d->pinned_sums.up, limit + 1);
		}
		if (!d->by_wander)
			d->from = (uint8_t)drift_judge(d, limit, effect_min);
	}
	d->now += fmax(1.0 / (d->n + d->late_n + 1), DRIFT_NOW) *
	    (distance - d->now);
	/* While a case is open its rounds are never learned, nor are the first
	 * rounds of the shift. */
	if (d->frozen || (d->from != DRIFT_NONE && d->n >= DRIFT_LEARN)) {
		d->late_n = d->late_at = 0;
		return d->from != was;
	}
	if (d->n < DRIFT_LEARN && !d->by_wander) {
		drift_learn(d, distance, level);
		return d->from != was;
	}
	if (d->late_n == DRIFT_LATE)
		drift_learn(d, (double)d->late[d->late_at].distance,
		    (double)d->late[d->late_at].level);
	else
		d->late_n++;
	d->late[d->late_at].distance = (float)distance;
	d->late[d->late_at].level = (float)level;
	d->late_at = (d->late_at + 1) % DRIFT_LATE;
	return d->from != was;
}

/* Return the median of the rounds that are not learned yet. One or two outlying
 * rounds move the newest mean but not this. -INFINITY: too few rounds. */
static double
drift_late_median(const struct drift *d)
{
	double x[DRIFT_LATE];

	if (d->late_n < DRIFT_LATE / 2)
		return -INFINITY;
	for (size_t i = 0; i < d->late_n; i++)
		x[i] = (double)d->late[i].distance;
	return robust_median(x, d->late_n);
}

int
drift_decide(struct drift *d, double wander, double z, double effect_min,
    int by_median)
{
	enum drift_from was = (enum drift_from)d->from;
	double own = d->now - d->mean;
	double pinned = isnan(d->pinned) ? -INFINITY : d->now - d->pinned;
	double error = PINNED_ERRORS * d->pinned_error * drift_sigma(d);
	double end = fmax(effect_min, d->opened) / 2;
	double least = fmax(effect_min, z * wander);
	double median = by_median ? drift_late_median(d) : INFINITY;

	if (d->n < DRIFT_LEARN)
		return 0;
	if (was == DRIFT_OWN && own >= end)
		return 0;
	if (was == DRIFT_PINNED && pinned >= end)
		return 0;
	if (own >= least && median - d->mean >= least / 2)
		d->from = DRIFT_OWN;
	else if (pinned >= fmax(effect_min, z * wander + error) &&
	    median - d->pinned >= least / 2)
		d->from = DRIFT_PINNED;
	else
		d->from = DRIFT_NONE;
	if (was != DRIFT_NONE)
		d->was_opened = d->opened;
	d->opened = d->from == DRIFT_OWN ? own
	    : d->from == DRIFT_PINNED    ? pinned
					 : 0;
	return d->from != was;
}

void
drift_forget(struct drift *d)
{
	d->from = DRIFT_NONE;
	memset(&d->sums, 0, sizeof(d->sums));
}

void
drift_restore(struct drift *d)
{
	if (d->from == DRIFT_NONE)
		d->sums.up = RESTORED; /* cut to the limit later */
	d->from = DRIFT_OWN;
}

double
drift_shift(const struct drift *d)
{
	return d->now - (d->from == DRIFT_PINNED ? d->pinned : d->mean);
}

uint32_t
drift_rounds(const struct drift *d)
{
	return d->from == DRIFT_PINNED ? d->pinned_sums.up_rounds
				       : d->sums.up_rounds;
}
