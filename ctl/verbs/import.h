/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - print a run's records in the format of another benchmark.
 */
#ifndef CTL_VERBS_IMPORT_H
#define CTL_VERBS_IMPORT_H

#include <jansson.h>

/* Print the records on stdout as nccl-tests or OSU's micro-benchmarks do.
 * Return 0 or an exit code. */
int import_print_as(const json_t *records, const char *format);

#endif
