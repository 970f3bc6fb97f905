/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.h - panels of bars and lines in one SVG file.
 */
#ifndef TESTS_FIGURES_PLOT_H
#define TESTS_FIGURES_PLOT_H

#include <stddef.h>
#include <stdio.h>

#define PLOT_POINTS_MAX 16
#define PLOT_ROWS_MAX   8

/* Values over the same points; NaN or 0 is not drawn. */
struct plot_row {
	const char *name;
	double y[PLOT_POINTS_MAX];
	int line; /* else bars, those of one point side by side */
};

struct plot_panel {
	char title[80];
	const char *x_title, *y_title;
	char x[PLOT_POINTS_MAX][24]; /* what stands below each point */
	size_t points;
	struct plot_row rows[PLOT_ROWS_MAX];
	size_t rows_count;
};

/* Draw panels side by side, in_row per row; the first one's names are the
 * legend. */
void plot_draw(const struct plot_panel *panels, size_t count, size_t in_row,
    const char *caption, FILE *to);

#endif
