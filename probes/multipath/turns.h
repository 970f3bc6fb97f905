/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - measure one message over the direct path and over several paths
 * alternately, within one rank.
 *
 * A path is slow if it carries clearly less than the stated parameters of the
 * links imply. One measurement may coincide with other load. Therefore a path
 * is reported as slow after two consecutive measurements found it slow, and no
 * longer after two consecutive ones did not.
 */
#ifndef PROBES_MULTIPATH_TURNS_H
#define PROBES_MULTIPATH_TURNS_H

#include <stdint.h>

#include "probes/multipath/copier.h"
#include "probes/multipath/tuner.h"

#define TURNS_MAX 64

/* The arguments of a measurement. */
struct turns_ask {
	struct copier *copier;
	struct tuner *tuner; /* initialised with copier_fits */
	/* The stated parameters of the links. */
	const struct paths_links *stated;
	struct copier_message m; /* its pointers are NULL in virtual time */
	/* The data that is sent, and a buffer for the received data if the
	 * processor cannot read the device's memory; otherwise NULL. */
	const char *want;
	char *got;
	uint32_t settle; /* uncounted transfers before the others */
	uint32_t turns;  /* counted transfers of each kind, 1 to TURNS_MAX */
};

/* The result for one size. */
struct turns_point {
	uint64_t bytes;
	double single_s, several_s; /* median times of the two kinds */
	/* Median of single / several over the turns. */
	double ratio;
	/* Confidence interval of ratio at 95 %; NAN for few turns. */
	double lo, hi;
	/* Ratio by the closed form with the measured fits. */
	double model_ratio;
	double stated_ratio;        /* ratio by the stated parameters */
	struct tuner_choice choice; /* the last choice */
	/* Share of each path of all tuned bytes. */
	double carried[TUNER_PATHS_MAX];
	/* Shares that the stated parameters imply. */
	double expected[TUNER_PATHS_MAX];
	/* The path that lost most of its share; 0: none is slow. */
	uint32_t slow;
	uint64_t wrong; /* 1 + offset of the first wrong byte; 0: none */
};

/* The slow path over several measurements. Begins as all 0. */
struct turns_watch {
	uint32_t said; /* the path that is reported as slow; 0: none */
	uint32_t last; /* turns_point.slow of the last measurement */
};

/* Measure one size. Return 0, or -errno of the device. */
int turns_measure(const struct turns_ask *ask, struct turns_point *ret);

/* Record turns_point.slow of a measurement. Return the path to report as slow,
 * or 0. */
uint32_t turns_watch_take(struct turns_watch *w, uint32_t slow);
/* Return 1 if another measurement is needed to decide, 0 if not. */
int turns_watch_open(const struct turns_watch *w);

#endif
