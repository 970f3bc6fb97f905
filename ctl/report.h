/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the parts of a run's report.
 */
#ifndef CTL_REPORT_H
#define CTL_REPORT_H

#include <jansson.h>

/* On stdout what plans reached against what was predicted, what they gain over
 * another way to do the same, and what every rail gave; the number of rows. */
int report_plans(const json_t *records);
/* On stdout as nccl-tests or OSU's micro-benchmarks print: verbs/import.c. 0 or
 * an exit code, and it was said. */
int report_foreign(const json_t *records, const char *format);

#endif
