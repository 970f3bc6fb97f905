/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rhythm.h - the usual course of one value over the hours of a day and of a
 * week. Pure.
 *
 * An hour's usual distance is the mean of this hour on earlier days, relative
 * to the mean of these days. So the course contains no level: it may be learned
 * at all times, and neither a slow drift nor a lasting step enters it. After a
 * week the hours of the week replace the hours of the day.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_RHYTHM_H
#define DAEMON_DIAGNOSIS_STATS_RHYTHM_H

#include <stdint.h>

/* Hours. */
#define RHYTHM_DAY  24
#define RHYTHM_WEEK 168

/* rhythm_clear empties it. Logarithms; NAN: not known. */
struct rhythm {
	double mean[RHYTHM_WEEK]; /* of each hour of the last week */
	double day[RHYTHM_DAY], week[RHYTHM_WEEK]; /* usual distances */
	double var;     /* variance of an hour's difference from its course */
	uint32_t hours; /* number of hours measured */
	/* The hour that is being measured, and its rounds. */
	uint32_t hour, rounds;
	double sum;
};

void rhythm_clear(struct rhythm *r);
/* Add a round. hour: number of the hour since any fixed time. is_odd: a change
 * of level is being reported, so hours count less. Return 1 if the first day
 * was completed, else 0. */
int rhythm_hear(struct rhythm *r, uint64_t hour, double x, int is_odd);
/* Return 1 in the first day: no course is known. */
int rhythm_is_young(const struct rhythm *r);
/* Return the usual distance of this hour; NAN: it was never measured. */
double rhythm_usual(const struct rhythm *r, uint64_t hour);
/* Return the standard deviation of an hour's mean from its usual distance. */
double rhythm_sd(const struct rhythm *r);

#endif
