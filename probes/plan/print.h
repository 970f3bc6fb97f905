/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - print a plan for people and programs. The plan must be sorted.
 */
#ifndef PROBES_PLAN_PRINT_H
#define PROBES_PLAN_PRINT_H

#include <stdio.h>

#include "probes/plan/plan.h"

/* The formats:
 * list    one transfer a line, "step src dst from+offset to+offset bytes via",
 *         in the plan's order; after the transfers of a step its local
 *         operations, "step copy rank from+offset to+offset bytes" and "step
 *         reduce rank from+offset,from+offset... to+offset bytes op type"
 * matrix  bytes, with senders as rows and receivers as columns: one block per
 *         step, then the sum; headings start with '#', so that a block is a
 *         file for the probe sparse
 * json    one object: title ranks steps buffers transfers locals promises notes
 * svg     a picture: a line per rank, a column per step, an arrow per transfer;
 *         at most PRINT_SVG_MAX transfers, as more would not be readable */
#define PRINT_SVG_MAX 20000

/* A format. print returns 0, or -E2BIG for too many transfers. */
struct print_row {
	const char *name;
	int (*print)(const struct plan *p, FILE *to);
};
extern const struct print_row print_formats[]; /* ends with a NULL name */
/* Return the format with this name, or NULL. */
const struct print_row *print_find(const char *name);

#endif
