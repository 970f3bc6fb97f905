/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_search.h - choose which shape to measure next, given the measurements
 * so far.
 *
 * The prediction knows the links. It does not know the cost of an overflowing
 * queue or of a shared core, and it rates many shapes as equal. Therefore one
 * shape is measured of each kind (hierarchy and ring) whose prediction is near
 * the best; among equal predictions, the one with the least work of the host.
 * From the fastest of these, one parameter is changed at a time: messages cut
 * short or not, twice or half the depth, other stripes, other transports. The
 * search continues from a shape that is significantly faster, until no
 * neighbour is.
 *
 * The functions are pure.
 */
#ifndef PROBES_TUNE_SHAPE_SEARCH_H
#define PROBES_TUNE_SHAPE_SEARCH_H

#include <stdint.h>

#include "probes/collective/shape.h"

#define SHAPE_SEARCH_TRIES_MAX 16

/* A shape that was measured, or could not run. */
struct shape_search_try {
	struct shape shape;
	char *words;        /* shape_print of shape */
	double predicted_s; /* NAN: it is not among the rows */
	double seconds;     /* measured; NAN: it could not run */
};

/* The state of a search. */
struct shape_search {
	const struct shape_list *rows; /* the predictions; must live as long */
	/* 1: messages may be cut, because the user gave no piece size. */
	int may_cut;
	uint64_t message_bytes; /* longest message of the fastest shape */
	struct shape_search_try tries[SHAPE_SEARCH_TRIES_MAX];
	uint32_t count;
	const struct shape_search_try *best; /* NULL: none could run */
};

/* Begin a search; the caller ends it with shape_search_close. */
void shape_search_open(struct shape_search *c, const struct shape_list *rows,
    int may_cut);
void shape_search_close(struct shape_search *c);

/* Return the words of the next shape to measure, which are valid until
 * shape_search_close; NULL: the search is complete. After each measurement call
 * shape_search_tell with its seconds, or with NAN if the shape cannot run, and
 * the bytes of its longest message. */
const char *shape_search_next(struct shape_search *c);
void shape_search_tell(struct shape_search *c, double seconds,
    uint64_t message_bytes);

#endif
