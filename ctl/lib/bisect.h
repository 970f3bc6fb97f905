/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.h - which of many is slow, where only groups can be measured.
 */
#ifndef CTL_LIB_BISECT_H
#define CTL_LIB_BISECT_H

#include <stddef.h>

struct bisect_options {
	double effect_min; /* logarithm of a time over what is expected */
	size_t groups_max; /* measured at once */
};
struct bisect_group {
	const size_t *members; /* numbers below n, those to be judged first */
	size_t count;
};
/* A part that is slow although what it was split into is fine. */
struct bisect_way {
	const size_t *members;
	size_t count, left; /* between the first left ones and the others; 0:
			       between any two of them */
	int ends; /* 1 or 2: it is that end's way to others too; 3: of both; 0:
		     not known, or only between them */
	double effect;
};
enum bisect_state { BISECT_OPEN, BISECT_FINE, BISECT_SLOW };

struct bisect;

/* n >= 1; neighbours in their order are split as late as can be. */
struct bisect *bisect_new(const struct bisect_options *o, size_t n);
void bisect_free(struct bisect *b);
/* Its pairs speak against that one, once all were measured together; is_sure:
 * by more than waiting for cores explains, so that it was slow once. */
void bisect_hint(struct bisect *b, size_t member, int is_sure);
/* How many groups, that have no member in common, are to be measured now; 0:
 * all is said. *ret is good until the next call. */
size_t bisect_next(struct bisect *b, const struct bisect_group **ret);
/* What came out, its own deviation, and how much of it may have another cause
 * than members and ways: by what is slow without that much nobody is named.
 * INFINITY: it does not run at all, NAN: it could not be measured, which holds
 * where nothing is said. */
void bisect_hear(struct bisect *b, size_t group, double effect, double spread,
    double doubt);
/* Less than this is no effect. */
double bisect_least(const struct bisect_options *o, double spread);
size_t bisect_rounds(const struct bisect *b);
/* *ret_effect where it is slow. */
enum bisect_state bisect_of(const struct bisect *b, size_t member,
    double *ret_effect);
/* 0: there are not so many. */
int bisect_way(const struct bisect *b, size_t number, struct bisect_way *ret);

#endif
