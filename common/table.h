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
/* Width counts characters, not bytes. On a terminal wide columns of text are
 * wrapped to its width. */
void table_print(struct table *t, FILE *to);
/* The same, limit_chars wide; 0: no limit. */
void table_print_within(struct table *t, FILE *to, size_t limit_chars);
/* Return the characters in a line of the terminal; 0: to is not a terminal. */
size_t table_terminal_width(FILE *to);
/* Return the bytes of text that fit into a line of width characters, and in
 * *ret_next where the next line begins. Lines end at blanks. */
size_t table_wrap(const char *text, size_t width_chars, const char **ret_next);
void table_free(struct table *t); /* NULL is allowed */

/* A bar of share (0..1) in width cells: eighth blocks, or '#' when ascii. */
void table_bar(double share, int width, int ascii, char *ret, size_t cap_bytes);

#endif
