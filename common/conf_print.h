/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_print.h - the rows of options as a file of defaults, and for the manual.
 */
#ifndef COMMON_CONF_PRINT_H
#define COMMON_CONF_PRINT_H

#include <stdio.h>

#include "common/conf.h"

/* Print every row as a comment with its default: the shipped file. */
void conf_print_defaults(const struct conf_row *rows, FILE *to);
/* Print the rows as an mdoc list, for the manual. */
void conf_print_mdoc(const struct conf_row *rows, FILE *to);

#endif
