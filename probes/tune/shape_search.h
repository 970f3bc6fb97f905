/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_search.h - which shape to measure next, from what was measured so far.
 *
 * Prediction knows links, not what an overflowing queue or a shared core costs,
 * and holds many shapes for equal. So of each kind of shape, which is its
 * hierarchy and its ring, that comes near the best by prediction one is
 * measured: of those that are as good by prediction the one that takes least of
 * the hosts. From the fastest one word is changed at a time: messages cut short
 * or not, twice the depth or half of it, other stripes, other transports. What
 * is faster, beyond chance, is where it goes on from, until nothing next to it
 * is.
 *
 * Pure.
 */
#ifndef PROBES_TUNE_SHAPE_SEARCH_H
#define PROBES_TUNE_SHAPE_SEARCH_H

#include <stdint.h>

#include "probes/collective/shape.h"

#define SHAPE_SEARCH_TRIES_MAX 16

struct shape_search_try {
	struct shape shape;
	char *words;        /* of it */
	double predicted_s; /* NAN: it was not among the rows */
	double seconds;     /* NAN: it could not run */
};

struct shape_search {
	const struct shape_list *rows; /* by reference */
	int may_cut;                   /* messages: nobody asked for a piece */
	uint64_t message_bytes;        /* the longest of the fastest shape */
	struct shape_search_try tries[SHAPE_SEARCH_TRIES_MAX];
	uint32_t count;
	const struct shape_search_try *best; /* NULL: none could run */
};

/* Ended with shape_search_close. */
void shape_search_open(struct shape_search *c, const struct shape_list *rows,
    int may_cut);
void shape_search_close(struct shape_search *c);

/* The words to measure, valid until shape_search_close; NULL: that was all.
 * Each is followed by shape_search_tell, with NAN for what cannot run. */
const char *shape_search_next(struct shape_search *c);
void shape_search_tell(struct shape_search *c, double seconds,
    uint64_t message_bytes);

#endif
