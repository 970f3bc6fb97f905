/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file.h - the records that coalmine-probe --json wrote, as a run.
 */
#ifndef CTL_LIB_RECORD_FILE_H
#define CTL_LIB_RECORD_FILE_H

#include <jansson.h>

/* Return 1 if the argument is a file and not the id of a run: it has a slash or
 * ends in .json or .jsonl, or is "-", the standard input. */
int record_file_is(const char *arg);
/* Read JSON Lines, or an array of records as from coalctl report --json. raw 0:
 * without single rounds. *ret_run: as in runs/RUN of the API, as far as the
 * first and the last record show it; the caller releases both. Return 0, or an
 * exit code after a message. */
int record_file_read(const char *path, int raw, json_t **ret_run,
    json_t **ret_records);

#endif
