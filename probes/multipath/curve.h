/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.h - one way against several, over sizes.
 *
 * For each size the tuner first settles, starting from fits of the links that
 * were measured on these very wires; then single and tuned transfers take
 * turns, so that drift meets both. Every tuned transfer is compared with what
 * was sent. A way that carries clearly less than the stated links would give
 * it is slow: a link that is idle or broken shows like this. One measurement
 * may meet somebody else's work, so a way is said to be slow once two in a row
 * agree, and no longer said to be once two in a row deny it.
 */
#ifndef PROBES_MULTIPATH_CURVE_H
#define PROBES_MULTIPATH_CURVE_H

#include "probes/multipath/copier.h"

#define CURVE_TURNS_MAX 64

struct curve_ask {
	struct copier *copier;
	struct tuner *tuner;             /* started from curve_fits */
	const struct tuner_fits *stated; /* what the links should be */
	uint64_t bytes;
	uint32_t settle; /* transfers before those that count */
	uint32_t turns;  /* that count, of each kind; 1 to CURVE_TURNS_MAX */
	char *from, *to; /* bytes each; NULL in virtual time */
};

struct curve_point {
	uint64_t bytes;
	double single_s, several_s; /* medians */
	double ratio;               /* median over turns of single / several */
	double lo, hi;              /* holds it with 95 %; NAN for few turns */
	double model_ratio;         /* of the measured fits, closed form */
	double stated_ratio;        /* of what the links should be */
	struct tuner_choice choice; /* the last one */
	double carried[TUNER_WAYS_MAX];  /* shares of all tuned bytes */
	double expected[TUNER_WAYS_MAX]; /* shares that stated links give */
	uint32_t slow;  /* the way that lost most of its share; 0: none */
	uint64_t wrong; /* 1 + the first wrong byte; 0: all was right */
};

/* All 0 at first. */
struct curve_watch {
	uint32_t said; /* the way that is slow; 0: none */
	uint32_t last; /* what the last measurement found */
};
/* After a measurement, with its curve_point.slow: what to say now. */
uint32_t curve_watch_take(struct curve_watch *w, uint32_t slow);
/* Is another measurement needed to tell? */
int curve_watch_open(const struct curve_watch *w);

/* Measure every link by itself: at sizes of a chunk and up to most bytes.
 * -EINVAL when times make no sense. */
int curve_fits(struct copier *cp, char *from, char *to, uint64_t bytes,
    uint32_t count, struct tuner_fits *ret);

/* 0, or -errno of the wires. */
int curve_measure(const struct curve_ask *ask, struct curve_point *ret);

#endif
