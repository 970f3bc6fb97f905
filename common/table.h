/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - aligned columns, bars and terminal histograms as text.
 */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

/* heads: column titles split at '|'; a leading '>' aligns right. */
struct table *table_new(const char *heads);
/* One cell after another; a row is full when every column has one. */
void table_cell(struct table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Width counts characters, not bytes. */
void table_print(struct table *t, FILE *to);
void table_free(struct table *t); /* NULL is allowed */

/* A bar of share (0..1) in width cells: eighth blocks, or '#' when ascii. */
void table_bar(double share, int width, int ascii, char *ret, size_t cap_bytes);

#endif
