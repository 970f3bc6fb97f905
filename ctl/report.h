/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the parts of a run's report: tables of plans, pictures, and one
 * file with both for mail and tickets.
 */
#ifndef CTL_REPORT_H
#define CTL_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "ctl/picture.h"

/* On stdout what plans reached against what was predicted, what they gain over
 * another way to do the same, and what every rail gave; the number of rows. */
int report_plans(const json_t *records);
/* All pictures that the records are enough for, appended. */
void report_draw(const json_t *records, struct picture *p);
/* One HTML file that needs nothing else: no script, no address outside. */
void report_html(const json_t *run, const json_t *records, FILE *to);
/* Only the plots, one below the other. 0, or -ENODATA when there is none. */
int report_svg(const json_t *records, FILE *to);

#endif
