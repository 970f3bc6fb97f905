/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rhythm.c - learn how a value usually changes over a day and a week.
 */
#include "daemon/diagnosis/stats/rhythm.h"

#include <math.h>
#include <string.h>

/* A span's mean is known if this share of its hours was measured. */
#define KNOWN_SHARE 0.75
/* Least weight of a new hour: a changed rhythm is learned in about as many days
 * or weeks as its inverse. Less while a change of level is reported. */
#define WEIGHT_MIN 0.125
#define WEIGHT_ODD 0.0625
/* Standard deviation before it was measured, and the number of hours for which
 * this counts; later hours count at least one part in two weeks. */
#define SD_FIRST     0.01
#define SD_HOURS     24
#define SD_HOURS_MAX 336
/* One hour that is off by more deviations than this does not count more. */
#define SD_CUT 4.0

void
rhythm_clear(struct rhythm *r)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < RHYTHM_WEEK; i++)
		r->mean[i] = r->week[i] = NAN;
	for (int i = 0; i < RHYTHM_DAY; i++)
		r->day[i] = NAN;
	r->var = SD_FIRST * SD_FIRST;
}

/* Return the mean over the `span` hours up to `hour`; NAN: too few were
 * measured. */
static double
rhythm_level(const struct rhythm *r, uint32_t hour, uint32_t span)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < span; i++) {
		double x = r->mean[(hour + RHYTHM_WEEK - i) % RHYTHM_WEEK];

		if (isnan(x))
			continue;
		sum += x;
		n++;
	}
	return n >= KNOWN_SHARE * span ? sum / n : NAN;
}

/* Learn the newest hour in the course over `span` hours; all of its hours when
 * the first span is complete. Return its difference from the course before; NAN
 * without one. */
static double
rhythm_learn(struct rhythm *r, double *usual, uint32_t span, int is_odd)
{
	double level = rhythm_level(r, r->hour, span), off;
	double weight = fmax(WEIGHT_MIN, 1.0 / (1 + r->hours / span));
	uint32_t at = r->hour % span;

	if (isnan(level) || r->hours < span)
		return NAN;
	if (!isnan(usual[at])) {
		off = r->mean[r->hour] - level - usual[at];
		usual[at] += (is_odd ? WEIGHT_ODD : weight) * off;
		return off;
	}
	for (uint32_t i = 0; i < span; i++) {
		uint32_t hour = (r->hour + RHYTHM_WEEK - i) % RHYTHM_WEEK;

		if (isnan(usual[hour % span]))
			usual[hour % span] = r->mean[hour] - level;
	}
	return NAN;
}

/* The hour is over. */
static void
rhythm_end_hour(struct rhythm *r, int is_odd)
{
	double day, week, off;

	r->mean[r->hour] = r->sum / r->rounds;
	r->hours++;
	day = rhythm_learn(r, r->day, RHYTHM_DAY, is_odd);
	week = rhythm_learn(r, r->week, RHYTHM_WEEK, is_odd);
	off = isnan(week) ? day : week;
	if (isnan(off) || is_odd)
		return;
	off = fmin(fabs(off), SD_CUT * rhythm_sd(r));
	r->var += (off * off - r->var) /
	    fmin(SD_HOURS + r->hours, SD_HOURS_MAX);
}

int
rhythm_hear(struct rhythm *r, uint64_t hour, double x, int is_odd)
{
	uint32_t at = (uint32_t)(hour % RHYTHM_WEEK);
	int was_young = rhythm_is_young(r);

	if (r->rounds > 0 && at != r->hour)
		rhythm_end_hour(r, is_odd);
	if (r->rounds == 0 || at != r->hour) {
		r->hour = at;
		r->rounds = 0;
		r->sum = 0;
	}
	r->sum += x;
	r->rounds++;
	return was_young && !rhythm_is_young(r);
}

int
rhythm_is_young(const struct rhythm *r)
{
	return r->hours < RHYTHM_DAY;
}

/* Return the usual distance relative to the mean over the span: while the level
 * drifts, the newest hours are always beyond the mean of their span. */
static double
rhythm_of(const double *usual, uint32_t span, uint64_t hour)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < span; i++)
		if (!isnan(usual[i])) {
			sum += usual[i];
			n++;
		}
	return n == 0 ? NAN : usual[hour % span] - sum / n;
}

double
rhythm_usual(const struct rhythm *r, uint64_t hour)
{
	double week = rhythm_of(r->week, RHYTHM_WEEK, hour);

	return isnan(week) ? rhythm_of(r->day, RHYTHM_DAY, hour) : week;
}

double
rhythm_sd(const struct rhythm *r)
{
	return sqrt(r->var);
}
