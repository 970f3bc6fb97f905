/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - a run's records in the form of other benchmarks.
 */
#ifndef CTL_VERBS_IMPORT_H
#define CTL_VERBS_IMPORT_H

#include <jansson.h>

/* Print on stdout as nccl-tests or OSU's micro-benchmarks do. 0, or an exit
 * code after a message. */
int import_print_as(const json_t *records, const char *format);

#endif
