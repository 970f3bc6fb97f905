/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedups.h - tables of what plans gain over another way to do the same.
 */
#ifndef CTL_SPEEDUPS_H
#define CTL_SPEEDUPS_H

#include <jansson.h>

/* Neighborhood collectives by density and size, collectives with their bounds,
 * products of matrices; nothing where the run has none. How many rows there
 * were. */
int speedups_print(const json_t *records);

#endif
