/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivered.h - plans in a report: what groups, stripes and copies reached,
 * which NIC serves which device, and what every rail gave.
 */
#ifndef CTL_DELIVERED_H
#define CTL_DELIVERED_H

#include <jansson.h>

#include "ctl/picture.h"

/* Tables on stdout; the number of their rows. */
int delivered_print(const json_t *records);
/* The same against the models, as Figures 10 to 12 of CommBench. */
void delivered_draw(const json_t *records, struct picture *p);

#endif
