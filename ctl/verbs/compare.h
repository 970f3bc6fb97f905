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

struct compare_out {
	struct compare_row *rows;
	size_t count;
	double margin;
	json_t *runs;    /* earlier ones' canaries, newest first; or NULL */
	json_t *impacts; /* and impacts */
};

/* --margin as "5%" or 0.05; 0 or an exit code. */
int compare_margin(struct ctl *c, double *ret);
void compare_begin(struct compare_out *o, double margin);
/* What runs of the campaign before all of these were, for the rows that are
 * added later. 0 or an exit code. */
int compare_history(struct ctl *c, struct compare_out *o, char *const *runs,
    size_t count);
/* Add the lines of two records; either may be NULL. */
void compare_add(struct compare_out *o, const char *test, const char *phase,
    const json_t *a, const json_t *b);
/* Prints what there is and frees it; the exit code. */
int compare_end(struct ctl *c, struct compare_out *o);

#endif
