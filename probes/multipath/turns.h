/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - measure one message over the direct path and over several paths in
 * turns, within one rank.
 *
 * A path that carries clearly less than the stated links would give it is slow.
 * One measurement may coincide with other load, so a path is reported as slow
 * once two measurements in a row agree, and no longer once two in a row deny
 * it.
 */
#ifndef PROBES_MULTIPATH_TURNS_H
#define PROBES_MULTIPATH_TURNS_H

#include <stdint.h>

#include "probes/multipath/copier.h"
#include "probes/multipath/tuner.h"

#define TURNS_MAX 64

struct turns_ask {
	struct copier *copier;
	struct tuner *tuner; /* started from copier_fits */
	const struct paths_links
	    *stated;             /* the stated parameters of the links */
	struct copier_message m; /* pointers NULL in virtual time */
	/* The sent data, and a buffer for the received data if the processor
	 * cannot read the device's memory; else NULL. */
	const char *want;
	char *got;
	uint32_t settle; /* transfers before those that count */
	uint32_t turns;  /* that count, of each kind; 1 to TURNS_MAX */
};

struct turns_point {
	uint64_t bytes;
	double single_s, several_s; /* medians */
	double ratio;               /* median over turns of single / several */
	double lo, hi;              /* holds it with 95 %; NAN for few turns */
	double model_ratio;         /* of the measured fits, closed form */
	double stated_ratio;        /* relative to the stated parameters */
	struct tuner_choice choice; /* the last one */
	double carried[TUNER_PATHS_MAX];  /* shares of all tuned bytes */
	double expected[TUNER_PATHS_MAX]; /* shares that stated links give */
	uint32_t slow;  /* the path that lost most of its share; 0: none */
	uint64_t wrong; /* 1 + the first wrong byte; 0: all was right */
};

/* Starts as all 0. */
struct turns_watch {
	uint32_t said; /* the path that is slow; 0: none */
	uint32_t last; /* result of the last measurement */
};

/* Measure one size. Returns 0, or -errno of the device. */
int turns_measure(const struct turns_ask *ask, struct turns_point *ret);

/* Take turns_point.slow of a measurement. Return the path to report as slow. */
uint32_t turns_watch_take(struct turns_watch *w, uint32_t slow);
/* Return 1 when another measurement is needed to decide. */
int turns_watch_open(const struct turns_watch *w);

#endif
