/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h - a run as one file with plots, for mail and tickets.
 */
#ifndef CTL_SHEET_H
#define CTL_SHEET_H

#include <jansson.h>
#include <stdio.h>

/* One HTML file that needs nothing else: no script, no address outside. */
void sheet_html(const json_t *run, const json_t *records, FILE *to);
/* Only the plots, one below the other. 0, or -ENODATA when there is none. */
int sheet_svg(const json_t *records, FILE *to);

#endif
