/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - any plan for people and programs. Plans must be sorted.
 */
#ifndef PROBES_PLAN_PRINT_H
#define PROBES_PLAN_PRINT_H

#include <stdio.h>

#include "probes/plan/plan.h"

/* list    one transfer a line, "step src dst from+offset to+offset bytes via",
 *         in the plan's order; after the transfers of a step its local
 *         operations, "step copy rank from+offset to+offset bytes" and "step
 *         reduce rank from+offset,from+offset... to+offset bytes op type"
 * matrix  bytes, senders as rows, receivers as columns: one block a step, then
 *         the sum; headings start with '#', so that a block is a file for
 *         sparse
 * json    one object: title ranks steps buffers transfers locals promises notes
 * svg     a picture: a line a rank, a column a step, an arrow a transfer.
 *         -E2BIG above PRINT_SVG_MAX transfers, which no one could read */
#define PRINT_SVG_MAX 20000

struct print_row {
	const char *name;
	int (*print)(const struct plan *p, FILE *to);
};
extern const struct print_row print_formats[]; /* ends with a NULL name */
const struct print_row *print_find(const char *name); /* NULL: none */

#endif
