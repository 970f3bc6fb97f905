/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_search.c - the climb from shape to shape: which kinds are near the best
 * by prediction, and which one change comes next.
 */

#include "probes/tune/shape_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

#define KINDS_MAX   4
#define NEAR_MAX    1.1  /* of the best prediction */
#define FIRST_MAX   4    /* the same for the best of its form or exchange */
#define EVEN_MAX    1.02 /* the same for shapes of one kind */
#define DEPTH_FIRST 8
#define DEPTH_MAX   1024
/* Below what most MPIs send on TCP without a rendezvous, whose answers would
 * stand in the socket behind data that goes the same way. */
#define SHORT_BYTES (60ULL << 10)
/* Shorter pieces cost a host more than a pipeline gains. */
#define PIECE_MIN_BYTES (8ULL << 10)
/* A smaller gain may be chance. Shapes that take more of the hosts need a
 * larger one, since they lose more when the hosts are busy. */
#define GAIN_MIN       0.02
#define GAIN_HEAVY_MIN 0.05

void
shape_search_open(struct shape_search *c, const struct shape_list *rows,
    int may_cut)
{
	memset(c, 0, sizeof(*c));
	c->rows = rows;
	c->may_cut = may_cut;
}

void
shape_search_close(struct shape_search *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free(c->tries[i].words);
	memset(c, 0, sizeof(*c));
}

/* Make it the next to measure, unless it was tried. */
static int
shape_search_propose(struct shape_search *c, const struct shape *s)
{
	struct shape_search_try *t = &c->tries[c->count];
	char *words = shape_print(s);

	for (uint32_t i = 0; i < c->count; i++)
		if (strcmp(c->tries[i].words, words) == 0) {
			free(words);
			return 0;
		}
	t->shape = *s;
	t->words = words;
	return 1;
}

static int
shape_search_same_kind(const struct shape *a, const struct shape *b)
{
	return a->exchange == b->exchange && a->form == b->form &&
	    a->ring == b->ring && a->levels == b->levels &&
	    memcmp(a->factors, b->factors, a->levels * sizeof(a->factors[0])) ==
	    0;
}

/* Times that the depth is from the first one to try. */
static double
shape_search_off_depth(const struct shape *s)
{
	return s->depth == 0 ? 1 : fabs(log2((double)s->depth / DEPTH_FIRST));
}

/* Fewer processes at the network: below 0 for a, above for b. */
static int
shape_search_compare_weight(const struct shape *a, const struct shape *b)
{
	int am = 0, bm = 0; /* levels that pass through the MPI */

	for (uint32_t i = 0; i < a->vias_count; i++)
		am += a->vias[i] == PLAN_VIA_MPI;
	for (uint32_t i = 0; i < b->vias_count; i++)
		bm += b->vias[i] == PLAN_VIA_MPI;
	if (am != bm)
		return am < bm ? -1 : 1;
	return (a->stripe > b->stripe) - (a->stripe < b->stripe);
}

/* Is the row the best of the compositions in its form, or of an exchange in any
 * form? */
static int
shape_search_is_first(const struct shape_row *row, uint32_t i)
{
	const struct shape *s = &row[i].shape;
	uint32_t k = 0;

	while (k < i &&
	    (row[k].shape.exchange != s->exchange ||
		(s->exchange == ROUNDS_OFF && row[k].shape.form != s->form)))
		k++;
	return k == i && row[i].time_s <= FIRST_MAX * row[0].time_s;
}

/* Of each kind near the best by prediction, the lightest of those that links
 * hold for equal to its best row: fewer processes, fewer pieces, but a
 * pipeline. Exchanges and forms differ most in the number of messages, of whose
 * cost prediction knows little: the best of each is measured too. */
static int
shape_search_next_kind(struct shape_search *c)
{
	const struct shape_row *row = c->rows->rows;
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < c->rows->count; i++) {
		const struct shape *best = &row[i].shape;
		int is_near = kinds < KINDS_MAX &&
		    row[i].time_s <= NEAR_MAX * row[0].time_s;
		uint32_t k = 0;

		if (!is_near && !shape_search_is_first(row, i))
			continue;
		while (k < i && !shape_search_same_kind(&row[k].shape, best))
			k++;
		if (k < i)
			continue;
		kinds += is_near;
		for (k = i + 1; k < c->rows->count &&
		     row[k].time_s <= EVEN_MAX * row[i].time_s;
		     k++) {
			const struct shape *s = &row[k].shape;
			int weight = shape_search_compare_weight(s, best);

			if (shape_search_same_kind(s, best) &&
			    (weight < 0 ||
				(weight == 0 &&
				    shape_search_off_depth(s) <
					shape_search_off_depth(best))))
				best = s;
		}
		if (shape_search_propose(c, best))
			return 1;
	}
	return 0;
}

static int
shape_search_next_piece(struct shape_search *c)
{
	struct shape s = c->best->shape;

	if (!c->may_cut || c->message_bytes <= SHORT_BYTES || s.piece_bytes > 0)
		return 0;
	s.piece_bytes = SHORT_BYTES;
	return shape_search_propose(c, &s);
}

static int
shape_search_next_depth(struct shape_search *c)
{
	struct shape s = c->best->shape;
	uint32_t depth = s.depth, next[] = { 2 * depth, depth / 2 };

	for (size_t i = 0; i < ARRAY_LEN(next); i++) {
		s.depth = next[i];
		if (s.depth < 1 || s.depth > DEPTH_MAX ||
		    (s.depth > depth && c->message_bytes < 2 * PIECE_MIN_BYTES))
			continue;
		if (shape_search_propose(c, &s))
			return 1;
	}
	return 0;
}

/* Other stripes of this kind, at the same length of a piece, which stripe and
 * depth both cut. */
static int
shape_search_next_stripe(struct shape_search *c)
{
	for (uint32_t i = 0; i < c->rows->count; i++) {
		struct shape s = c->best->shape;
		const struct shape *other = &c->rows->rows[i].shape;
		uint32_t stripe = other->stripe;

		if (stripe == 0 || !shape_search_same_kind(other, &s))
			continue;
		if (s.depth > 0) {
			s.depth = s.depth * s.stripe / stripe;
			s.depth = s.depth < 1     ? 1
			    : s.depth > DEPTH_MAX ? DEPTH_MAX
						  : s.depth;
		}
		s.stripe = stripe;
		if (shape_search_propose(c, &s))
			return 1;
	}
	return 0;
}

/* Transports that rows of this kind have besides. */
static int
shape_search_next_via(struct shape_search *c)
{
	for (uint32_t i = 0; i < c->rows->count; i++) {
		const struct shape *other = &c->rows->rows[i].shape;
		struct shape s = c->best->shape;

		if (other->vias_count == 0 ||
		    !shape_search_same_kind(other, &s))
			continue;
		memcpy(s.vias, other->vias, sizeof(s.vias));
		s.vias_count = other->vias_count;
		if (shape_search_propose(c, &s))
			return 1;
	}
	return 0;
}

const char *
shape_search_next(struct shape_search *c)
{
	static int (*const steps[])(
	    struct shape_search *) = { shape_search_next_piece,
		shape_search_next_depth, shape_search_next_stripe,
		shape_search_next_via };
	struct shape_search_try *t = &c->tries[c->count];
	int found;

	if (c->count == SHAPE_SEARCH_TRIES_MAX)
		return NULL;
	found = shape_search_next_kind(c);
	for (size_t i = 0; c->best != NULL && !found && i < ARRAY_LEN(steps);
	     i++)
		found = steps[i](c);
	if (!found)
		return NULL;
	c->count++;
	t->predicted_s = t->seconds = NAN;
	for (uint32_t i = 0; i < c->rows->count; i++)
		if (strcmp(c->rows->rows[i].words, t->words) == 0)
			t->predicted_s = c->rows->rows[i].time_s;
	return t->words;
}

void
shape_search_tell(struct shape_search *c, double seconds,
    uint64_t message_bytes)
{
	struct shape_search_try *t = &c->tries[c->count - 1];
	double gain = GAIN_MIN;

	t->seconds = seconds;
	if (c->best != NULL &&
	    shape_search_compare_weight(&c->best->shape, &t->shape) < 0)
		gain = GAIN_HEAVY_MIN;
	if (!isfinite(seconds) ||
	    (c->best != NULL && seconds >= (1 - gain) * c->best->seconds))
		return;
	c->best = t;
	c->message_bytes = message_bytes;
}
