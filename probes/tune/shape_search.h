/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_search.h - which shape to measure next, given the measurements so far.
 *
 * Prediction knows links, but not the cost of an overflowing queue or a shared
 * core, and rates many shapes as equal. So one shape is measured of each kind
 * (its hierarchy and ring) whose prediction is near the best: among equal
 * predictions the one with the least host work. From the fastest, one parameter
 * is changed at a time: messages cut short or not, twice the depth or half of
 * it, other stripes, other transports. The search continues from a shape that
 * is significantly faster, until no neighbour is.
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
	int may_cut;            /* messages: the user gave no piece size */
	uint64_t message_bytes; /* the longest of the fastest shape */
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
