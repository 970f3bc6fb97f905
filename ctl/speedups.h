/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedups.h - tables and pictures of what plans gain over another way to do
 * the same.
 */
#ifndef CTL_SPEEDUPS_H
#define CTL_SPEEDUPS_H

#include <jansson.h>

#include "ctl/picture.h"

/* Neighborhood collectives by density and size, collectives with their bounds,
 * products of matrices; nothing where the run has none. How many rows there
 * were. */
int speedups_print(const json_t *records);
/* Of neighborhood collectives and products as bars with marks, and the bytes
 * saved. */
void speedups_draw(const json_t *records, struct picture *p);

#endif
