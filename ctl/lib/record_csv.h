/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_csv.h - print the records of a run as CSV, with a line for each
 * result.
 */
#ifndef CTL_LIB_RECORD_CSV_H
#define CTL_LIB_RECORD_CSV_H

#include <jansson.h>
#include <stddef.h>

/* Print the header. */
void record_csv_head(void);
/* Print a line for each canary, congestor, impact, plan and speed-up, on
 * stdout. run: for the columns that are the same in all lines. Return their
 * number. */
size_t record_csv_lines(const json_t *run, const json_t *records);
/* Print the header and the lines. */
void record_csv_print(const json_t *run, const json_t *records);

#endif
