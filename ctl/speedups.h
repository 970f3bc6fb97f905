/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedups.h - tables of what plans gain over another way to do the same.
 */
#ifndef CTL_SPEEDUPS_H
#define CTL_SPEEDUPS_H

#include <jansson.h>

/* Speed-ups by density and size, then products of matrices; nothing where the
 * run has none. How many rows there were. */
int speedups_print(const json_t *records);

#endif
