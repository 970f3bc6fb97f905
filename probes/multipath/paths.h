/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - how to share one message among several ways to one device.
 *
 * The direct way takes a_D + x / B_D for x bytes. A staged way stores the
 * bytes in between, in pinned memory of the host or on another device, and
 * passes them on in c chunks, so that its two stages overlap:
 *
 *	T(x, c) = a_H + (c + 1) a + x bmax + x bmin / c
 *
 * with a what a chunk costs on each stage, and bmax and bmin the time of a
 * byte on the slower and on the faster stage. The best c is sqrt(x bmin / a).
 * Ways that run beside each other are best used when all end at once
 * (Temucin and others, "Accelerating Deep Learning using Interconnect-Aware
 * UCX Communication", gives the mechanism; the closed form is derived in
 * docs/algorithms-neighbor-multipath.md, section 4.1).
 *
 * Where a share f goes beside the direct way, nothing can be faster than
 * 1/(1 - f) times the direct way alone, since the direct way still has to
 * carry the rest: paths_ceiling.
 *
 * Seconds, and bytes per second; pure.
 */
#ifndef PROBES_MULTIPATH_PATHS_H
#define PROBES_MULTIPATH_PATHS_H

#include <stdint.h>

#define PATHS_STAGED_MAX 64
#define PATHS_CHUNKS_MAX 4096

struct paths_direct {
	double setup_s;     /* a_D */
	double bytes_per_s; /* B_D > 0 */
};

struct paths_staged {
	double setup_s;   /* a_H */
	double chunk_s;   /* a: of one chunk on one stage */
	double in_per_s;  /* > 0: to where it is stored */
	double out_per_s; /* > 0: from there */
};

/* What each way carries. share is of the message; staged ways with share 0
 * have chunks 0. */
struct paths_split {
	double staged[PATHS_STAGED_MAX]; /* shares */
	uint32_t chunks[PATHS_STAGED_MAX];
	double share;    /* sum of staged */
	double time_s;   /* of the whole message */
	double direct_s; /* had it all gone directly */
};

double paths_direct_s(const struct paths_direct *d, double bytes);
/* chunks >= 1. */
double paths_staged_s(const struct paths_staged *h, double bytes,
    uint32_t chunks);

/* The best number of chunks for so many bytes on this way: 1 to chunks_max. */
uint32_t paths_chunks(const struct paths_staged *h, double bytes,
    uint32_t chunks_max);

/* The share of one staged way that ends together with the direct one, when
 * cut into so many chunks; 0 to 1. */
double paths_share(const struct paths_direct *d, const struct paths_staged *h,
    double bytes, uint32_t chunks);

/* One staged way, in closed form. direct only (share 0) unless that is
 * slower. 1 <= chunks_max <= PATHS_CHUNKS_MAX. */
void paths_split_one(const struct paths_direct *d, const struct paths_staged *h,
    double bytes, uint32_t chunks_max, struct paths_split *ret);

/* The straight line of a staged way with so many chunks. */
struct paths_direct paths_line(const struct paths_staged *h, uint32_t chunks);

/* Water-filling over ways that are straight lines: the time at which all that
 * are worth starting end together, and what each carries. count >= 1. */
double paths_fill(const struct paths_direct *ways, uint32_t count, double bytes,
    double *ret_bytes);

/* Any number of staged ways beside the direct one. The number of chunks of
 * each is taken from where all ways with their best chunks would end together;
 * then its line is straight, and the shares are filled. For one way the same
 * as paths_split_one but for rounding of chunks. */
void paths_split_many(const struct paths_direct *d,
    const struct paths_staged *h, uint32_t count, double bytes,
    uint32_t chunks_max, struct paths_split *ret);

/* Time of the slowest way for given shares and chunks. */
double paths_time_s(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double bytes, const struct paths_split *s);

/* The highest speed-up that a share beside the direct way allows. */
double paths_ceiling(double share);

#endif
