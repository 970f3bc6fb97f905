/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated_links.h - links of a node that is not there.
 *
 * A link carries one move after another; each takes the link's overhead and
 * its bytes at the link's rate. The moment from which a link is free is one
 * word, taken by compare and swap, so that it may lie in memory that several
 * processes share: then they share the link. In virtual time nobody sleeps and
 * results are exact; in real time bytes are copied, and a move ends when its
 * link says so.
 */
#ifndef PROBES_MULTIPATH_EMULATED_LINKS_H
#define PROBES_MULTIPATH_EMULATED_LINKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "probes/multipath/copier.h"

#define WIRES_MOVES_MAX 8192

struct wires_link {
	_Atomic uint64_t free_ps;
	double overhead_s;
	double bytes_per_s;
};

struct emulated_links {
	int real;                               /* else virtual time */
	struct wires_link *in[TUNER_WAYS_MAX];  /* [0]: the direct link */
	struct wires_link *out[TUNER_WAYS_MAX]; /* of staged ways */
	double setup_s[TUNER_WAYS_MAX];         /* of starting a way */
	uint64_t now_ps;                        /* virtual time */
	struct {
		uint32_t id;
		uint64_t end_ps;
	} moves[WIRES_MOVES_MAX];
	uint32_t moves_count;
	/* of the direct move, what is not copied yet */
	char *to;
	const char *from;
	uint64_t left;
};

extern const struct wires_ops wires_emul;

/* Take the link for so many bytes from not before; when they have passed. */
uint64_t wires_link_take(struct wires_link *l, uint64_t not_before_ps,
    uint64_t bytes);

#endif
