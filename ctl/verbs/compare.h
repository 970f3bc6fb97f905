/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the lines of a comparison: of two runs, of periods, or with a
 * baseline.
 */
#ifndef CTL_VERBS_COMPARE_H
#define CTL_VERBS_COMPARE_H

#include <jansson.h>
#include <stddef.h>

#include "ctl/lib/ctl.h"
#include "ctl/lib/spread.h"

/* A comparison under construction. */
struct compare_out {
	struct compare_row *rows;
	size_t count;
	double margin;
	json_t *runs;    /* canaries of earlier runs, newest first; or NULL */
	json_t *impacts; /* impacts of earlier runs, or NULL */
};

/* Return the share of --margin, or its default. */
double compare_margin(const struct ctl *c);
/* Begin a comparison without lines. */
void compare_begin(struct compare_out *o, double margin);
/* Get the runs of the campaign before all of these runs, for the lines that are
 * added later. Return 0 or an exit code. */
int compare_history(struct ctl *c, struct compare_out *o, char *const *runs,
    size_t count);
/* Add the lines of two records; either can be NULL. */
void compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b);
/* Print the comparison and free it. Return the exit code. */
int compare_end(struct ctl *c, struct compare_out *o);

#endif
