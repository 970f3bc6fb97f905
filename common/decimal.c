/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.c - a mantissa and a power of ten that are exact need one division or
 * multiplication, which rounds once and so is right. A long double of 64 bits
 * holds more of them, and rounding it to a double is wrong only when it lies
 * half way between two.
 */
#include "common/decimal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if LDBL_MANT_DIG == 64
typedef long double exact_t;
#define POWER_MAX 27 /* 5^27 has 63 bits */
#define HALF_MASK 0x7ffULL
#define HALF      0x400ULL
#else
typedef double exact_t;
#define MANTISSA_MAX (1ULL << DBL_MANT_DIG)
#define POWER_MAX    22
#endif

static const exact_t tens[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L,
	1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L,
	1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L };

int
decimal_read(uint64_t mantissa, int power, double *ret)
{
	exact_t x;

	if (abs(power) > POWER_MAX)
		return -ERANGE;
#ifdef MANTISSA_MAX
	if (mantissa > MANTISSA_MAX)
		return -ERANGE;
#endif
	x = power < 0 ? (exact_t)mantissa / tens[-power]
		      : (exact_t)mantissa * tens[power];
#if LDBL_MANT_DIG == 64
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	if ((bits & HALF_MASK) == HALF)
		return -ERANGE;
#endif
	*ret = (double)x;
	return 0;
}
