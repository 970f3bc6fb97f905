/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.h - search for the slow members among many, if only groups can be
 * measured: groups that are slow are split, until single members or paths
 * remain.
 */
#ifndef COMMON_BISECT_H
#define COMMON_BISECT_H

#include <stddef.h>

/* The options of a search. */
struct bisect_options {
	/* Least effect that counts as slow. An effect is the natural logarithm
	 * of a time divided by the expected time. */
	double effect_min;
	/* Largest number of groups that are measured at once. */
	size_t groups_max;
};
/* A group to measure. */
struct bisect_group {
	/* Numbers below n, at least one; those to be judged come first. */
	const size_t *members;
	size_t count;
};
/* A part that is slow although its own parts are not: a path between them is
 * slow. */
struct bisect_path {
	const size_t *members;
	/* The path is between the first `left` members and the others; left 0:
	 * between any two of them. */
	size_t count, left;
	/* Which end's path to other members is slow too: 1, 2, or 3 for both;
	 * 0: unknown, or only the path between the ends. */
	int ends;
	double effect;
};
/* The result for a member: undetermined, not slow, or slow. */
enum bisect_state { BISECT_OPEN, BISECT_FINE, BISECT_SLOW };

struct bisect;

/* Begin a search among n >= 1 members, which the caller frees. Neighbours in
 * their order are split as late as possible. */
struct bisect *bisect_new(const struct bisect_options *o, size_t n);
void bisect_free(struct bisect *b);
/* Report that the pairs of a member suggest that it is slow, after all members
 * were measured together. is_sure: 1 if it is slower than waiting for cores
 * explains, which counts as one slow measurement. */
void bisect_hint(struct bisect *b, size_t member, int is_sure);
/* Return the number of groups to measure now, which have no member in common;
 * 0: the search has ended. *ret is valid until the next call. */
size_t bisect_next(struct bisect *b, const struct bisect_group **ret);
/* Report the result of a group: its effect, the standard deviation of the
 * effect, and the part of the effect that may have another cause than members
 * and paths (doubt). effect: INFINITY if the group does not run at all; NAN if
 * it could not be measured, which is also the result of a group without a
 * report. */
void bisect_hear(struct bisect *b, size_t group, double effect, double spread,
    double doubt);
/* Return the least effect that counts as slow, given its standard deviation. */
double bisect_least(const struct bisect_options *o, double spread);
/* Return in *ret_a and *ret_b pair i of a round, i < (count + 1) / 2, in which
 * each of count >= 2 meets another one. After count - 1 rounds, or count rounds
 * if count is odd, each has met all others. Return 1, or 0 if one of the two
 * places is empty. */
int bisect_pair(size_t count, size_t round, size_t i, size_t *ret_a,
    size_t *ret_b);
/* Return the number of rounds of groups so far. */
size_t bisect_rounds(const struct bisect *b);
/* Return the result for a member. *ret_effect: its effect if it is slow. */
enum bisect_state bisect_of(const struct bisect *b, size_t member,
    double *ret_effect);
/* Return in *ret slow path number `number`, from 0. Return 1, or 0 if there are
 * fewer. */
int bisect_path(const struct bisect *b, size_t number, struct bisect_path *ret);

#endif
