/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/multipath/paths.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Bytes are whole: less is what is left of subtracting shares from 1. */
#define NOTHING 0.5

/* Time of a byte on the slower and on the faster stage. */
static double
slow_s(const struct paths_staged *h)
{
	return 1 / fmin(h->in_per_s, h->out_per_s);
}

static double
fast_s(const struct paths_staged *h)
{
	return 1 / fmax(h->in_per_s, h->out_per_s);
}

double
paths_direct_s(const struct paths_direct *d, double bytes)
{
	return bytes < NOTHING ? 0 : d->setup_s + bytes / d->bytes_per_s;
}

double
paths_staged_s(const struct paths_staged *h, double bytes, uint32_t chunks)
{
	if (bytes < NOTHING)
		return 0;
	assert(chunks >= 1);
	return h->setup_s + (chunks + 1.0) * h->chunk_s + bytes * slow_s(h) +
	    bytes * fast_s(h) / chunks;
}

uint32_t
paths_chunks(const struct paths_staged *h, double bytes, uint32_t chunks_max)
{
	double c;

	assert(chunks_max >= 1);
	if (h->chunk_s <= 0)
		return chunks_max;
	c = floor(sqrt(fmax(bytes, 0) * fast_s(h) / h->chunk_s) + 0.5);
	return c < 1 ? 1 : c > chunks_max ? chunks_max : (uint32_t)c;
}

double
paths_share(const struct paths_direct *d, const struct paths_staged *h,
    double bytes, uint32_t chunks)
{
	double per_byte = 1 / d->bytes_per_s + slow_s(h) + fast_s(h) / chunks;
	double ahead = bytes / d->bytes_per_s + d->setup_s - h->setup_s -
	    (chunks + 1.0) * h->chunk_s;

	return fmax(0, fmin(1, ahead / (bytes * per_byte)));
}

double
paths_time_s(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double bytes, const struct paths_split *s)
{
	double worst = paths_direct_s(d, (1 - s->share) * bytes);

	for (uint32_t i = 0; i < count; i++)
		if (s->chunks[i] > 0)
			worst = fmax(worst,
			    paths_staged_s(&h[i], s->staged[i] * bytes,
				s->chunks[i]));
	return worst;
}

/* All of it directly. */
static void
only_direct(const struct paths_direct *d, double bytes, struct paths_split *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->direct_s = ret->time_s = paths_direct_s(d, bytes);
}

/* What was found, unless the direct way alone is as fast. */
static void
settle(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double bytes, struct paths_split *ret)
{
	ret->share = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (ret->staged[i] <= 0)
			ret->chunks[i] = 0;
		ret->share += ret->staged[i];
	}
	ret->share = fmin(ret->share, 1);
	ret->time_s = paths_time_s(d, h, count, bytes, ret);
	if (ret->share <= 0 || ret->time_s >= ret->direct_s)
		only_direct(d, bytes, ret);
}

void
paths_split_one(const struct paths_direct *d, const struct paths_staged *h,
    double bytes, uint32_t chunks_max, struct paths_split *ret)
{
	/* (1 - f) n / B_D + a_D = T(f n, c*) in u = sqrt(f n): quadratic */
	double a = 1 / d->bytes_per_s + slow_s(h);
	double k = bytes / d->bytes_per_s + d->setup_s - h->setup_s -
	    h->chunk_s;
	double b = sqrt(h->chunk_s * fast_s(h)), u;

	only_direct(d, bytes, ret);
	if (bytes <= 0 || k <= 0)
		return;
	u = (-b + sqrt(b * b + a * k)) / a;
	ret->chunks[0] = paths_chunks(h, fmin(u * u, bytes), chunks_max);
	ret->staged[0] = paths_share(d, h, bytes, ret->chunks[0]);
	settle(d, h, 1, bytes, ret);
}

/* The time at which the first `active` ways of order end together. */
static double
level_s(const struct paths_direct *ways, const uint32_t *order, uint32_t active,
    double bytes)
{
	double sum = bytes, rate = 0;

	for (uint32_t i = 0; i < active; i++) {
		sum += ways[order[i]].setup_s * ways[order[i]].bytes_per_s;
		rate += ways[order[i]].bytes_per_s;
	}
	return sum / rate;
}

double
paths_fill(const struct paths_direct *ways, uint32_t count, double bytes,
    double *ret_bytes)
{
	uint32_t order[PATHS_STAGED_MAX + 1] = { 0 }, active = 1;
	double t;

	assert(count >= 1 && count <= PATHS_STAGED_MAX + 1);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (; at > 0 && ways[order[at - 1]].setup_s > ways[i].setup_s;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
		ret_bytes[i] = 0;
	}
	t = level_s(ways, order, active, bytes);
	while (active < count && t > ways[order[active]].setup_s)
		t = level_s(ways, order, ++active, bytes);
	for (uint32_t i = 0; i < active; i++)
		ret_bytes[order[i]] = ways[order[i]].bytes_per_s *
		    (t - ways[order[i]].setup_s);
	return t;
}

/* Bytes that a staged way with its best chunks passes on in time t: T = a_H +
 * a + x bmax + 2 sqrt(a x bmin), solved for sqrt(x). */
static double
staged_bytes(const struct paths_staged *h, double t)
{
	double b = sqrt(h->chunk_s * fast_s(h)), u;
	double left = t - h->setup_s - h->chunk_s;

	if (left <= 0)
		return 0;
	u = (-b + sqrt(b * b + slow_s(h) * left)) / slow_s(h);
	return u * u;
}

static double
all_bytes(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double t)
{
	double sum = fmax(0, t - d->setup_s) * d->bytes_per_s;

	for (uint32_t i = 0; i < count; i++)
		sum += staged_bytes(&h[i], t);
	return sum;
}

/* By halving: what all ways together pass on grows with time. */
static double
meeting_s(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double bytes)
{
	double lo = 0, hi = paths_direct_s(d, bytes);

	for (int i = 0; i < 100; i++) {
		double t = (lo + hi) / 2;

		if (all_bytes(d, h, count, t) < bytes)
			lo = t;
		else
			hi = t;
	}
	return hi;
}

struct paths_direct
paths_line(const struct paths_staged *h, uint32_t chunks)
{
	return (struct paths_direct){
		.setup_s = h->setup_s + (chunks + 1.0) * h->chunk_s,
		.bytes_per_s = 1 / (slow_s(h) + fast_s(h) / chunks),
	};
}

void
paths_split_many(const struct paths_direct *d, const struct paths_staged *h,
    uint32_t count, double bytes, uint32_t chunks_max, struct paths_split *ret)
{
	struct paths_direct ways[PATHS_STAGED_MAX + 1];
	double carried[PATHS_STAGED_MAX + 1], t;

	assert(count <= PATHS_STAGED_MAX);
	only_direct(d, bytes, ret);
	if (bytes <= 0)
		return;
	t = meeting_s(d, h, count, bytes);
	ways[0] = *d;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t c = paths_chunks(&h[i],
		    fmin(staged_bytes(&h[i], t), bytes), chunks_max);

		ret->chunks[i] = c;
		ways[i + 1] = paths_line(&h[i], c);
	}
	paths_fill(ways, count + 1, bytes, carried);
	for (uint32_t i = 0; i < count; i++)
		ret->staged[i] = carried[i + 1] / bytes;
	settle(d, h, count, bytes, ret);
}

double
paths_ceiling(double share)
{
	return share >= 1 ? INFINITY : 1 / (1 - share);
}
