/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_trouble.h - detect contention on a host, so that its network may be
 * normal. Pure.
 *
 * A host has contention if one of its signs exceeds a limit, and is far above
 * the typical host of the same round: a cluster in which all hosts are busy is
 * normal.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_HOST_TROUBLE_H
#define DAEMON_DIAGNOSIS_STATS_HOST_TROUBLE_H

#include <stddef.h>

#define HOST_TROUBLE_TEXT_MAX 160 /* bytes; a longer text is cut */

enum host_trouble_sign {
	HOST_TROUBLE_PRESSURE, /* share of time in which a task waits */
	HOST_TROUBLE_STEAL,    /* share that the hypervisor took */
	HOST_TROUBLE_DELAY,    /* seconds that its agent waits for a core */
	HOST_TROUBLE_RANKS, /* share that its ranks waited during measurement */
	HOST_TROUBLE_QUOTA, /* share in which a CPU quota of its control group
			     * throttled our processes */
	HOST_TROUBLE_HEAT,  /* share in which its clock was reduced by heat */
	HOST_TROUBLE_NET,   /* share of its link in use: not contention of the
			     * host, but it affects the host's measurements
			     * only */
	HOST_TROUBLE_SIGN_MAX
};

/* The signs of a host. An unknown sign is NAN and does not count. */
struct host_trouble_signs {
	double of[HOST_TROUBLE_SIGN_MAX];
};

/* Return the typical host: the median of each sign, of the hosts where it is
 * known. For links the 10 % quantile, since jobs may use most links. */
void host_trouble_typical(const struct host_trouble_signs *hosts, size_t count,
    struct host_trouble_signs *ret);
/* Return 1 if its link carries other traffic, which explains why it is slow. */
int host_trouble_link(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical);
/* Write the signs of contention as text. Return 0 and "" for none; 2 if another
 * user takes cores from the host, which is reported even if its messages are
 * fast; else 1. */
int host_trouble_trouble(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical, char ret[HOST_TROUBLE_TEXT_MAX]);

#endif
