/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.c - a value's bucket is found from its binary exponent and a table of
 * the 16 steps of an octave, not from log2(): the table gives every machine
 * the same bucket for the same value, and costs four comparisons.
 */
#include "common/hist.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define HIST_VERSION 1

/* 2^(k/16) */
static const double steps[HIST_PER_OCTAVE] = { 1.0, 1.0442737824274138403,
	1.0905077326652576592, 1.1387886347566916537, 1.1892071150027210667,
	1.2418578120734840486, 1.2968395546510096659, 1.3542555469368927283,
	1.4142135623730950488, 1.4768261459394993114, 1.5422108254079408236,
	1.6104903319492543082, 1.6817928305074290861, 1.7562521603732994831,
	1.8340080864093424635, 1.9152065613971472939 };

void
hist_clear(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

/* The smallest k with m <= 2^(k/16), for m in [1, 2): 0..16. */
static int
hist_step_of(double m)
{
	int lo = 0, hi = HIST_PER_OCTAVE;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (m <= steps[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int
hist_index(double value)
{
	int exponent, i;
	double m;

	if (!(value > 0))
		return HIST_FIRST;
	if (isinf(value))
		return HIST_LAST;
	m = frexp(value, &exponent); /* value = 2m * 2^(exponent - 1) */
	i = (exponent - 1) * HIST_PER_OCTAVE + hist_step_of(2 * m);
	if (i < HIST_FIRST)
		return HIST_FIRST;
	return i > HIST_LAST ? HIST_LAST : i;
}

double
hist_bound(int i)
{
	int step = ((i % HIST_PER_OCTAVE) + HIST_PER_OCTAVE) % HIST_PER_OCTAVE;

	return ldexp(steps[step], (i - step) / HIST_PER_OCTAVE);
}

void
hist_add(struct hist *h, double value)
{
	hist_add_many(h, value, 1);
}

void
hist_add_many(struct hist *h, double value, uint64_t times)
{
	assert(isfinite(value));
	if (times == 0)
		return;
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (h->count == 0 || value > h->max)
		h->max = value;
	h->count += times;
	h->sum += value * (double)times;
	h->bucket[hist_index(value) - HIST_FIRST] += times;
}

void
hist_merge(struct hist *into, const struct hist *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min < into->min)
		into->min = from->min;
	if (into->count == 0 || from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (int i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

double
hist_quantile_of(const uint64_t *bucket, uint64_t n, double q)
{
	/* n q is a whole number for many wanted q; its rounding error must
	 * not lift it to the next bucket. */
	double want = q * (double)n * (1 - 4 * DBL_EPSILON), seen = 0, part;
	int i = 0;

	assert(n > 0);
	while (i < HIST_BUCKETS - 1 && seen + (double)bucket[i] < want)
		seen += (double)bucket[i++];
	if (bucket[i] == 0) /* q is 0, or rounding left nothing to reach */
		return hist_bound(i + HIST_FIRST);
	part = (want - seen) / (double)bucket[i];
	return hist_bound(i + HIST_FIRST) * exp2((part - 1) / HIST_PER_OCTAVE);
}

double
hist_quantile(const struct hist *h, double q)
{
	double n = (double)h->count, rank = n * q * (1 - 4 * DBL_EPSILON);
	double value;

	assert(q >= 0 && q <= 1);
	if (h->count == 0)
		return NAN;
	/* The outer samples are known, the edge buckets have no width. */
	if (rank <= 1 || rank > n - 1)
		return rank <= 1 ? h->min : h->max;
	value = hist_quantile_of(h->bucket, h->count, q);
	if (value <= hist_bound(HIST_FIRST))
		return h->min;
	return value > hist_bound(HIST_LAST - 1)
	    ? h->max
	    : fmin(fmax(value, h->min), h->max);
}

double
hist_quantile_by_time(const struct hist *h, double q, int rate)
{
	double seen = 0, want = 0, weight, value = NAN;

	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < HIST_BUCKETS; k++) {
			/* The slow end comes last: rates downwards. */
			int i = rate ? HIST_BUCKETS - 1 - k : k;

			if (h->bucket[i] == 0)
				continue;
			value = hist_bound(i + HIST_FIRST) *
			    exp2(-0.5 / HIST_PER_OCTAVE);
			value = fmin(fmax(value, h->min), h->max);
			weight = (double)h->bucket[i] *
			    (rate ? 1 / value : value);
			if (pass == 0) {
				want += q * weight;
				continue;
			}
			seen += weight;
			if (seen < want * (1 - 4 * DBL_EPSILON))
				continue;
			weight = (want - seen) / weight + 0.5; /* -0.5 .. 0.5 */
			value *= exp2(
			    (rate ? -weight : weight) / HIST_PER_OCTAVE);
			return fmin(fmax(value, h->min), h->max);
		}
	return value;
}

double
hist_mean(const struct hist *h)
{
	return h->count == 0 ? NAN : h->sum / (double)h->count;
}

/* ---- the BLOB ---- */

struct writer {
	uint8_t *at;
	size_t left_bytes;
	int full;
};

static void
hist_put_byte(struct writer *w, uint8_t byte)
{
	if (w->left_bytes == 0) {
		w->full = 1;
		return;
	}
	*w->at++ = byte;
	w->left_bytes--;
}

static void
hist_put_varint(struct writer *w, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		hist_put_byte(w, (uint8_t)(x | 0x80));
	hist_put_byte(w, (uint8_t)x);
}

static void
hist_put_double(struct writer *w, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int shift = 0; shift < 64; shift += 8)
		hist_put_byte(w, (uint8_t)(bits >> shift));
}

/* First and last used bucket, and their number. */
static int
hist_used(const struct hist *h, int *ret_first, int *ret_last)
{
	int count = 0;

	*ret_first = *ret_last = 0;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		if (count++ == 0)
			*ret_first = i + HIST_FIRST;
		*ret_last = i + HIST_FIRST;
	}
	return count;
}

/* The smallest and the largest value are in the outer buckets, and the sum is
 * between n times each of them, apart from rounding. */
static int
hist_check_moments(const struct hist *h, int first, int last)
{
	double n = (double)h->count, slack;

	if (!isfinite(h->sum) || !isfinite(h->min) || !isfinite(h->max))
		return -EPROTO;
	if (h->count == 0) {
		static const double zeroes[3]; /* -0.0 is not what pack wrote */
		const double moments[] = { h->sum, h->min, h->max };

		return memcmp(moments, zeroes, sizeof(zeroes)) ? -EPROTO : 0;
	}
	if (h->min > h->max || hist_index(h->min) != first ||
	    hist_index(h->max) != last)
		return -EPROTO;
	slack = 1e-6 * n * (fabs(h->min) + fabs(h->max));
	if (h->sum < n * h->min - slack || h->sum > n * h->max + slack)
		return -EPROTO;
	return 0;
}

long
hist_pack(const struct hist *h, uint8_t *ret, size_t cap_bytes)
{
	struct writer w = { ret, cap_bytes, 0 };
	int first, last, count = hist_used(h, &first, &last);

	if (h->count == 0 ? count > 0 : hist_check_moments(h, first, last) < 0)
		return -EDOM;
	last = first;
	hist_put_byte(&w, HIST_VERSION);
	hist_put_varint(&w, h->count);
	hist_put_double(&w, h->count > 0 ? h->sum : 0);
	hist_put_double(&w, h->count > 0 ? h->min : 0);
	hist_put_double(&w, h->count > 0 ? h->max : 0);
	/* zigzag: small numbers of either sign stay short */
	hist_put_varint(&w,
	    first < 0 ? ((uint64_t) - (int64_t)first << 1) - 1
		      : (uint64_t)first << 1);
	hist_put_varint(&w, (uint64_t)count);
	for (int i = first; count > 0; i++) {
		uint64_t n = h->bucket[i - HIST_FIRST];

		if (n == 0)
			continue;
		hist_put_varint(&w, (uint64_t)(i - last));
		hist_put_varint(&w, n);
		last = i;
		count--;
	}
	return w.full ? -ENOSPC : (long)(cap_bytes - w.left_bytes);
}

struct reader {
	const uint8_t *at;
	size_t left_bytes;
	int bad;
};

static uint8_t
hist_get_byte(struct reader *r)
{
	if (r->left_bytes == 0) {
		r->bad = 1;
		return 0;
	}
	r->left_bytes--;
	return *r->at++;
}

/* Only the shortest form: one blob for one histogram. */
static uint64_t
hist_get_varint(struct reader *r)
{
	uint64_t x = 0;
	uint8_t byte;
	int shift = 0;

	do {
		byte = hist_get_byte(r);
		if (shift == 63 && byte > 1)
			r->bad = 1;
		x |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0 && shift < 64 && !r->bad);
	if ((byte & 0x80) != 0 || (byte == 0 && shift > 7))
		r->bad = 1;
	return x;
}

static double
hist_get_double(struct reader *r)
{
	uint64_t bits = 0;
	double value;

	for (int shift = 0; shift < 64; shift += 8)
		bits |= (uint64_t)hist_get_byte(r) << shift;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The pairs; the sum of their counts must be h->count. */
static int
hist_get_buckets(struct reader *r, struct hist *h, int *ret_first,
    int *ret_last)
{
	uint64_t code = hist_get_varint(r), count = hist_get_varint(r), sum = 0;
	int64_t i = (int64_t)(code >> 1) ^ -(int64_t)(code & 1);

	if (count > HIST_BUCKETS || i < HIST_FIRST || i > HIST_LAST)
		return -EPROTO;
	*ret_first = (int)i;
	for (uint64_t k = 0; k < count; k++) {
		uint64_t gap = hist_get_varint(r), n = hist_get_varint(r);

		if (r->bad || (gap == 0) != (k == 0) || n == 0 ||
		    gap > (uint64_t)(HIST_LAST - i) || n > h->count - sum)
			return -EPROTO;
		i += (int64_t)gap;
		sum += n;
		h->bucket[i - HIST_FIRST] = n;
	}
	*ret_last = (int)i;
	return sum == h->count && (count > 0 || code == 0) ? 0 : -EPROTO;
}

int
hist_unpack(const uint8_t *blob, size_t len_bytes, struct hist *ret)
{
	struct reader r = { blob, len_bytes, 0 };
	struct hist h;
	int first, last;

	hist_clear(&h);
	if (hist_get_byte(&r) != HIST_VERSION)
		return -EPROTO;
	h.count = hist_get_varint(&r);
	h.sum = hist_get_double(&r);
	h.min = hist_get_double(&r);
	h.max = hist_get_double(&r);
	if (r.bad || hist_get_buckets(&r, &h, &first, &last) < 0 || r.bad ||
	    r.left_bytes > 0)
		return -EPROTO;
	if (hist_check_moments(&h, first, last) < 0)
		return -EPROTO;
	*ret = h;
	return 0;
}
