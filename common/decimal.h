/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - convert decimal digits to doubles, for the numbers of records. It
 * is ten times as fast as strtod, and leaves numbers that are not simple to
 * strtod.
 */
#ifndef COMMON_DECIMAL_H
#define COMMON_DECIMAL_H

#include <stdint.h>

/* Compute the double nearest to mantissa * 10^power. Return 0, or -ERANGE if
 * only strtod can decide. */
int decimal_read(uint64_t mantissa, int power, double *ret);

#endif
