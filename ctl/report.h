/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the parts of a run's report: tables of plans, pictures, and one
 * file with both for mail and tickets.
 */
#ifndef CTL_REPORT_H
#define CTL_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "common/hist.h"
#include "common/str.h"

/* ---- picture.c: pictures of a run as SVG: plain attributes and no script, so
 * that a browser, a mail and a word processor show the same ----
 *
 * One picture stands below the other; each call appends one. Nothing here
 * fails.
 */

struct picture {
	struct strbuf body;
	double height; /* so far, in pixels */
};

/* A value with its interval; lo and hi NAN where there is none. */
struct picture_point {
	const char *label;
	double value, lo, hi;
};
/* What was measured, and what a model promises: NAN where none does. */
struct picture_bar {
	const char *label;
	double value, model;
};

#define PICTURE_SIDES 2
/* Bars side by side, and the frame that no bar can leave; NAN where there is
 * none. */
struct picture_group {
	const char *label;
	double value[PICTURE_SIDES], bound;
};

/* Shares of two histograms over one logarithmic axis; either may be empty. */
void picture_histograms(struct picture *p, const char *title, const char *unit,
    const struct hist *left, const char *left_name, const struct hist *right,
    const char *right_name);
/* Factors around 1 on a logarithmic axis. */
void picture_points(struct picture *p, const char *title,
    const struct picture_point *points, size_t count);
void picture_bars(struct picture *p, const char *title, const char *unit,
    const struct picture_bar *bars, size_t count);
/* Upright bars; names says what the sides and the bound are, NULL where there
 * is no such side. */
void picture_groups(struct picture *p, const char *title, const char *unit,
    const char *const names[PICTURE_SIDES + 1],
    const struct picture_group *groups, size_t count);
/* The whole <svg>; then p is empty again. */
void picture_print(struct picture *p, FILE *to);
/* Text between tags or in an attribute. */
void picture_escape(struct strbuf *to, const char *text);

/* ---- the report ---- */

/* On stdout what plans reached against what was predicted, what they gain over
 * another way to do the same, and what every rail gave; the number of rows. */
int report_plans(const json_t *records);
/* On stdout as nccl-tests or OSU's micro-benchmarks print: verbs/import.c. 0 or
 * an exit code, and it was said. */
int report_foreign(const json_t *records, const char *format);
/* All pictures that the records are enough for, appended. */
void report_draw(const json_t *records, struct picture *p);
/* One HTML file that needs nothing else: no script, no address outside. */
void report_html(const json_t *run, const json_t *records, FILE *to);
/* Only the plots, one below the other. 0, or -ENODATA when there is none. */
int report_svg(const json_t *records, FILE *to);

#endif
