/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.h - search for the slow ones of many where only groups can be
 * measured.
 */
#ifndef COMMON_BISECT_H
#define COMMON_BISECT_H

#include <stddef.h>

struct bisect_options {
	double effect_min; /* logarithm of a time over the expected time */
	size_t groups_max; /* measured at once */
};
struct bisect_group {
	const size_t *members; /* numbers below n, those to be judged first */
	size_t count;
};
/* A part that is slow although its own parts are fine: a path between them. */
struct bisect_path {
	const size_t *members;
	size_t count, left; /* between the first left ones and the others; 0:
			       between any two of them */
	int ends; /* 1 or 2: it is that end's path to others too; 3: of both; 0:
		     not known, or only between them */
	double effect;
};
enum bisect_state { BISECT_OPEN, BISECT_FINE, BISECT_SLOW };

struct bisect;

/* n >= 1; neighbours in their order are split as late as can be. */
struct bisect *bisect_new(const struct bisect_options *o, size_t n);
void bisect_free(struct bisect *b);
/* The pairs of a member suggest that it is slow, after all were measured
 * together; is_sure: by more than waiting for cores explains, which counts as
 * one slow measurement. */
void bisect_hint(struct bisect *b, size_t member, int is_sure);
/* Return the number of groups to measure now, which have no member in common;
 * 0: the search has ended. *ret is valid until the next call. */
size_t bisect_next(struct bisect *b, const struct bisect_group **ret);
/* Report the result of a group: its effect, the deviation of that, and the part
 * of the effect that may have another cause than members and paths (doubt).
 * effect is INFINITY where the group does not run at all, NAN where it could
 * not be measured, which is the default. */
void bisect_hear(struct bisect *b, size_t group, double effect, double spread,
    double doubt);
/* Return the least effect that counts. */
double bisect_least(const struct bisect_options *o, double spread);
/* Pair i of a round, i < (count + 1) / 2, in which each of count >= 2 meets
 * another one: after count - 1 rounds, or count if that is odd, each has met
 * all. 0: the other seat is empty. */
int bisect_pair(size_t count, size_t round, size_t i, size_t *ret_a,
    size_t *ret_b);
size_t bisect_rounds(const struct bisect *b);
/* *ret_effect where it is slow. */
enum bisect_state bisect_of(const struct bisect *b, size_t member,
    double *ret_effect);
/* Return 0 where there are fewer. */
int bisect_path(const struct bisect *b, size_t number, struct bisect_path *ret);

#endif
