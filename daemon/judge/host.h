/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - is a host in trouble of its own, so that its network may be
 * innocent? Pure.
 *
 * A host is in trouble where a sign of it is above a bound, and far above the
 * typical host of the same round: a cluster of busy hosts is no news.
 */
#ifndef DAEMON_JUDGE_HOST_H
#define DAEMON_JUDGE_HOST_H

#include <stddef.h>

#define HOST_TEXT_MAX 160

enum host_sign {
	HOST_PRESSURE, /* share of time in which somebody waits for a core */
	HOST_STEAL,    /* share that the hypervisor took */
	HOST_DELAY,    /* seconds that its agent waits for a core */
	HOST_RANKS,    /* share that its ranks waited while they measured */
	HOST_SIGN_MAX
};

/* How a host is, by sign; what is not known is NAN, and no trouble. */
struct host_signs {
	double of[HOST_SIGN_MAX];
};

/* The typical host: each sign's median, of the hosts where it is known. */
void host_typical(const struct host_signs *hosts, size_t count,
    struct host_signs *ret);
/* The signs that are trouble, in words; "" and 0 for none, else 1. */
int host_trouble(const struct host_signs *h, const struct host_signs *typical,
    char ret[HOST_TEXT_MAX]);

#endif
