/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of plans in a run's report.
 */
#ifndef CTL_LIB_TABLES_H
#define CTL_LIB_TABLES_H

#include <jansson.h>

/* Print on stdout what plans reached compared with the prediction, how they
 * compare with another method, and what every rail delivered. Return the number
 * of rows. */
int tables_print(const json_t *records);

#endif
