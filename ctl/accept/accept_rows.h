/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_rows.h - the results of a report as people read them: the counts in
 * one sentence, and many rows that differ only in their part as one row.
 */
#ifndef CTL_ACCEPT_ACCEPT_ROWS_H
#define CTL_ACCEPT_ACCEPT_ROWS_H

#include <jansson.h>

#define ACCEPT_ROWS_EACH 10 /* this many rows of a kind stay separate */

/* Return "10 promises hold, 1 fails, 3 are undetermined", and the nodes that
 * were not measured; the caller frees it. */
char *accept_rows_counts(const json_t *report);
/* Return the rows, in which more than ACCEPT_ROWS_EACH rows of one kind that do
 * not fail, with the same result and reason, are one row. This row has the
 * number and the names of its parts, and the values of the first one, which is
 * the worst. The caller decrefs it. rows: member results of a report. */
json_t *accept_rows_fold(const json_t *rows);

#endif
