/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_links.h - a device in virtual time, for tests of copier and tuner.
 *
 * Assumptions: the k-th stream that is created runs over link k. A link carries
 * one copy after another; a copy takes the link's overhead, its bytes at the
 * link's rate, and setup_s when the link was idle. Links do not slow each other
 * down. Bytes move when a copy is enqueued, so this device cannot show a
 * missing wait between streams; real streams are for that.
 */
#ifndef FAKE_SLOW_LINKS_H
#define FAKE_SLOW_LINKS_H

#include "probes/multipath/copier.h"

#define SLOW_LINKS_MAX (2 * TUNER_PATHS_MAX - 1)

struct slow_link {
	double setup_s, overhead_s;
	double bytes_per_s; /* 0: broken, copies return -ENOLINK */
};

struct slow_links {
	int moves; /* bytes as well; 0: pointers are never read */
	struct slow_link links[SLOW_LINKS_MAX];
};

extern const struct device_ops slow_links_ops;
extern const struct copier_clock slow_links_clock;

/* The caller owns links and may change them between messages. End with
 * slow_links_ops.close. */
struct device *slow_links_open(const struct slow_links *links);
/* Set the links. Staged path i has links 2i - 1 and 2i, in the order in which
 * copier_open creates streams. */
void slow_links_set(struct slow_links *links, const struct paths_links *f);

#endif
