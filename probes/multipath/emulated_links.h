/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated_links.h - a device whose streams are links that are not there.
 *
 * The k-th stream that is made runs over link k, which carries one copy after
 * another; each takes the link's overhead and its bytes at the link's rate. In
 * virtual time nobody sleeps and results are exact; in real time bytes are
 * copied, and an event is done when its link says so. Memory is the host's.
 * Only what copies need is there: no reductions, nothing is shared.
 */
#ifndef PROBES_MULTIPATH_EMULATED_LINKS_H
#define PROBES_MULTIPATH_EMULATED_LINKS_H

#include <stdint.h>

#include "probes/multipath/copier.h"

#define EMULATED_LINKS_MAX (2 * TUNER_PATHS_MAX - 1)

struct emulated_link {
	double setup_s;     /* of a copy that finds the link idle, */
	double overhead_s;  /* of every copy */
	double bytes_per_s; /* 0: broken, copies give -ENOLINK */
};

struct emulated_links {
	int real; /* else virtual time */
	struct emulated_link links[EMULATED_LINKS_MAX];
};

extern const struct device_ops emulated_ops;
extern const struct copier_clock emulated_clock;

/* links: the caller's, may change between messages. End with
 * emulated_ops.close. */
struct device *emulated_open(const struct emulated_links *links);
/* Links 2i - 1 and 2i are those of staged path i, as a copier makes streams. */
void emulated_state(struct emulated_links *links, const struct paths_links *f);

#endif
