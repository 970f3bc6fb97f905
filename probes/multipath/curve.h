/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.h - one path against several, over sizes, within one rank: on links
 * that are not there, or on streams of a device.
 *
 * For each size the tuner first settles, starting from fits that were measured
 * on these very streams; then single and tuned transfers take turns, so that
 * drift meets both. Every tuned transfer is compared with what was sent. A path
 * that carries clearly less than the stated links would give it is slow: a link
 * that is idle or broken shows like this. One measurement may meet somebody
 * else's work, so a path is said to be slow once two in a row agree, and no
 * longer said to be once two in a row deny it.
 */
#ifndef PROBES_MULTIPATH_CURVE_H
#define PROBES_MULTIPATH_CURVE_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/multipath/copier.h"

#define CURVE_TURNS_MAX 64

struct curve_ask {
	struct copier *copier;
	struct tuner *tuner;              /* started from copier_fits */
	const struct paths_links *stated; /* what the links should be */
	struct copier_message m;          /* pointers NULL in virtual time */
	/* What was sent, and room for what came where the processor cannot
	 * read the device's memory; else NULL. */
	const char *want;
	char *got;
	uint32_t settle; /* transfers before those that count */
	uint32_t turns;  /* that count, of each kind; 1 to CURVE_TURNS_MAX */
};

struct curve_point {
	uint64_t bytes;
	double single_s, several_s; /* medians */
	double ratio;               /* median over turns of single / several */
	double lo, hi;              /* holds it with 95 %; NAN for few turns */
	double model_ratio;         /* of the measured fits, closed form */
	double stated_ratio;        /* of what the links should be */
	struct tuner_choice choice; /* the last one */
	double carried[TUNER_PATHS_MAX];  /* shares of all tuned bytes */
	double expected[TUNER_PATHS_MAX]; /* shares that stated links give */
	uint32_t slow;  /* the path that lost most of its share; 0: none */
	uint64_t wrong; /* 1 + the first wrong byte; 0: all was right */
};

/* All 0 at first. */
struct curve_watch {
	uint32_t said; /* the path that is slow; 0: none */
	uint32_t last; /* what the last measurement found */
};
/* After a measurement, with its curve_point.slow: what to say now. */
uint32_t curve_watch_take(struct curve_watch *w, uint32_t slow);
/* Is another measurement needed to tell? */
int curve_watch_open(const struct curve_watch *w);

/* 0, or -errno of the device. */
int curve_measure(const struct curve_ask *ask, struct curve_point *ret);

/* ---- the probe ---- */

struct curve_out {
	void (*record)(void *arg, json_t *record); /* takes it */
	void (*line)(void *arg, const char *text); /* for people */
	void *arg;
};

/* Is the probe multipath asked to run like this, and not as a plan? */
int curve_wanted(const struct conf *c);
/* Sizes from 64 KiB, or the message itself where it is smaller, to multipath
 * bytes, a record for each. 0; -EINVAL for wrong options, -ENODEV for a device
 * that is not there, -ESTALE for another machine's table, -EBADMSG when a wrong
 * byte came, each with why. */
int curve_run(const struct conf *c, const struct curve_out *out,
    struct err *err);

#endif
