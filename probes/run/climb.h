/* SPDX-License-Identifier: Apache-2.0 */
/*
 * climb.h - which shape to measure next, from what was measured so far.
 *
 * Prediction knows links, not what an overflowing queue or a shared core
 * costs, and holds many shapes for equal. So of each kind of shape, which is
 * its hierarchy and its ring, that comes near the best by prediction one is
 * measured: of those that are as good by prediction the one that takes least
 * of the hosts. From the fastest one word is changed at a time: messages cut
 * short or not, twice the depth or half of it, other stripes, other transports.
 * What is faster, beyond chance, is where it goes on from, until nothing next
 * to it is.
 *
 * Pure.
 */
#ifndef PROBES_RUN_CLIMB_H
#define PROBES_RUN_CLIMB_H

#include <stdint.h>

#include "probes/pattern/tune.h"

#define CLIMB_TRIES_MAX 16

struct climb_try {
	char *words;
	double predicted_s; /* NAN: it was not among the rows */
	double seconds;     /* NAN: it could not run */
};

struct climb {
	const struct tune *rows; /* by reference */
	int may_cut;             /* messages: nobody asked for a piece */
	uint64_t message_bytes;  /* the longest of the fastest shape */
	struct climb_try tries[CLIMB_TRIES_MAX];
	uint32_t count;
	const struct climb_try *best; /* NULL: none could run */
};

/* Ended with climb_close. */
void climb_open(struct climb *c, const struct tune *rows, int may_cut);
void climb_close(struct climb *c);

/* The words to measure, valid until climb_close; NULL: that was all. Each is
 * followed by climb_tell, with NAN for what cannot run. */
const char *climb_next(struct climb *c);
void climb_tell(struct climb *c, double seconds, uint64_t message_bytes);

#endif
