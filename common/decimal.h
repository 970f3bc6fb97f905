/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - doubles from decimal digits, for the numbers of records, ten
 * times as fast as strtod, to which numbers that are not simple are left.
 */
#ifndef COMMON_DECIMAL_H
#define COMMON_DECIMAL_H

#include <stdint.h>

/* The double nearest to mantissa * 10^power: 0, or -ERANGE where only strtod
 * can tell. */
int decimal_read(uint64_t mantissa, int power, double *ret);

#endif
