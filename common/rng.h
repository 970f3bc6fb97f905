/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random numbers that repeat from a stored seed, on every machine.
 *
 * xoshiro256** (Blackman, Vigna 2018) seeded through splitmix64. Not for
 * secrets.
 */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

/* splitmix64 (Steele, Lea, Flood 2014): the next number of a state, and a hash
 * of one number (the first of that state). */
uint64_t rng_splitmix(uint64_t *state);
uint64_t rng_mix(uint64_t x);

void rng_seed(struct rng *r, uint64_t seed);
/* Seed an independent stream for (seed, a, b), for example ring b of test a. */
void rng_seed3(struct rng *r, uint64_t seed, uint64_t a, uint64_t b);
uint64_t rng_next(struct rng *r);
/* Uniform in [0, below), without modulo bias; below > 0. */
uint64_t rng_below(struct rng *r, uint64_t below);
/* Uniform in [0, 1). */
double rng_unit(struct rng *r);
/* Fisher-Yates on count ints. */
void rng_shuffle(struct rng *r, int *items, size_t count);
/* From the kernel, for seeds and ids; never fails. */
uint64_t rng_entropy(void);

#endif
