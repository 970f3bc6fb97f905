/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - doubles from and to decimal digits, for the numbers of records,
 * ten times as fast as strtod and printf; what is not simple is left to them.
 */
#ifndef COMMON_DECIMAL_H
#define COMMON_DECIMAL_H

#include <stdint.h>

/* The double nearest to mantissa * 10^power: 0, or -ERANGE where only strtod
 * can tell. */
int decimal_read(uint64_t mantissa, int power, double *ret);
/* Digits that are read as x again, few of them and without zeros at their end:
 * x = *ret_mantissa * 10^*ret_power. x is above 0 and finite. 0, or -ERANGE
 * where only printf can tell. */
int decimal_write(double x, uint64_t *ret_mantissa, int *ret_power);

#endif
