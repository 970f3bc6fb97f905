/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random numbers that are the same on every machine for the same seed.
 *
 * xoshiro256** (Blackman, Vigna 2018), seeded with splitmix64. Not for secrets.
 */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

/* The state of a sequence of random numbers. */
struct rng {
	uint64_t s[4];
};

/* splitmix64 (Steele, Lea, Flood 2014). rng_splitmix returns the next number of
 * a state. rng_mix returns a hash of x, the first number of the state x. */
uint64_t rng_splitmix(uint64_t *state);
uint64_t rng_mix(uint64_t x);

/* Start the sequence of a seed. */
void rng_seed(struct rng *r, uint64_t seed);
/* Start an independent sequence for (seed, a, b), for example for ring b of
 * test a. */
void rng_seed3(struct rng *r, uint64_t seed, uint64_t a, uint64_t b);
/* Return the next number, uniform over 64 bits. */
uint64_t rng_next(struct rng *r);
/* Return a number that is uniform in [0, below), without modulo bias; below >
 * 0. */
uint64_t rng_below(struct rng *r, uint64_t below);
/* Return a number that is uniform in [0, 1). */
double rng_unit(struct rng *r);
/* Shuffle count integers (Fisher-Yates). */
void rng_shuffle(struct rng *r, int *items, size_t count);
/* Return a random number from the kernel, for seeds and ids; it never fails. */
uint64_t rng_entropy(void);

#endif
