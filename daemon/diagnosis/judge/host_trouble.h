/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_trouble.h - is a host in trouble of its own, so that its network may
 * be normal? Pure.
 *
 * A host is in trouble where a sign of it is above a bound, and far above the
 * typical host of the same round: a cluster of busy hosts is no news.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_HOST_TROUBLE_H
#define DAEMON_DIAGNOSIS_JUDGE_HOST_TROUBLE_H

#include <stddef.h>

#define HOST_TROUBLE_TEXT_MAX 160

enum host_trouble_sign {
	HOST_TROUBLE_PRESSURE, /* share of time in which somebody waits for a
				  core */
	HOST_TROUBLE_STEAL,    /* share that the hypervisor took */
	HOST_TROUBLE_DELAY,    /* seconds that its agent waits for a core */
	HOST_TROUBLE_RANKS, /* share that its ranks waited while they measured
			     */
	HOST_TROUBLE_QUOTA, /* share in which a quota of its control group kept
			       our processes from a core */
	HOST_TROUBLE_HEAT,  /* share in which it ran slower to cool down */
	HOST_TROUBLE_NET,   /* share of its link that is in use: no trouble of
			       the host, but of no other either */
	HOST_TROUBLE_SIGN_MAX
};

/* How a host is, by sign; what is not known is NAN, and no trouble. */
struct host_trouble_signs {
	double of[HOST_TROUBLE_SIGN_MAX];
};

/* The typical host: each sign's median, of the hosts where it is known; of
 * links the one that is less busy than nine of ten, for jobs may have most. */
void host_trouble_typical(const struct host_trouble_signs *hosts, size_t count,
    struct host_trouble_signs *ret);
/* 1: its link carries somebody's traffic, so that it is slow for that. */
int host_trouble_link(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical);
/* The signs that are trouble, in words; "" and 0 for none, else 1, or 2 where
 * somebody takes the host's cores away, whatever is measured. */
int host_trouble_trouble(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical, char ret[HOST_TROUBLE_TEXT_MAX]);

#endif
