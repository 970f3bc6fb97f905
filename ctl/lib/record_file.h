/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file.h - read the records that coalmine-probe --json wrote, as a run.
 */
#ifndef CTL_LIB_RECORD_FILE_H
#define CTL_LIB_RECORD_FILE_H

#include <jansson.h>

/* Return 1 if the argument is a file and not the id of a run: it contains a
 * slash, ends in .json or .jsonl, or is "-" (standard input). Otherwise return
 * 0. */
int record_file_is(const char *arg);
/* Read JSON Lines, or an array of records as coalctl report --json prints it.
 * raw 0: skip the records of single rounds. *ret_run: the same object as
 * runs/RUN of the API returns, as far as the first and the last record have its
 * members. The caller decrefs both. Return 0 or an exit code. */
int record_file_read(const char *path, int raw, json_t **ret_run,
    json_t **ret_records);

#endif
