/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.c - seeds pass through splitmix64, so that seeds which differ in one bit
 * give unrelated streams; bounded draws reject instead of folding.
 */
#include "common/rng.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clk.h"

/* Every state gives another number, so seeds that differ in one bit give
 * unrelated streams. */
uint64_t
rng_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint64_t
rng_mix(uint64_t x)
{
	return rng_splitmix(&x);
}

static uint64_t
rng_rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

void
rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_splitmix(&seed);
}

void
rng_seed3(struct rng *r, uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t x = rng_splitmix(&seed);

	x ^= a;
	x = rng_splitmix(&x);
	x ^= b;
	rng_seed(r, rng_splitmix(&x));
}

uint64_t
rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rng_rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotate(s[3], 45);
	return out;
}

uint64_t
rng_below(struct rng *r, uint64_t below)
{
	uint64_t x, refuse;

	assert(below > 0);
	/* 2^64 mod below: draws in this incomplete last interval are
	 * rejected */
	refuse = -below % below;
	do {
		x = rng_next(r);
	} while (x < refuse);
	return x % below;
}

double
rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

void
rng_shuffle(struct rng *r, int *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)rng_below(r, i);
		int kept = items[i - 1];

		items[i - 1] = items[j];
		items[j] = kept;
	}
}

uint64_t
rng_entropy(void)
{
	uint64_t x, mix;
	ssize_t n;

	do {
		n = getrandom(&x, sizeof(x), 0);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(x))
		return x;
	/* A sandbox may forbid the call: ids must still differ. */
	mix = clk_unix_ns() ^ ((uint64_t)getpid() << 40) ^ clk_ns();
	return rng_splitmix(&mix);
}
