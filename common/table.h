/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - aligned columns, bars and histograms as text for terminals.
 */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

/* Return an empty table, which the caller frees. heads: column titles,
 * separated by '|'; a title that begins with '>' is aligned right. */
struct table *table_new(const char *heads);
/* Set the next cell (printf format). A row is complete when every column has a
 * cell. */
void table_cell(struct table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Print the table. Width counts characters, not bytes. On a terminal, wide
 * columns of text are wrapped to its width. */
void table_print(struct table *t, FILE *to);
/* Print the table as table_print does, with lines of at most limit_chars
 * characters; 0: no limit. */
void table_print_within(struct table *t, FILE *to, size_t limit_chars);
/* Return the number of characters in a line of the terminal `to`; 0 if `to` is
 * not a terminal. */
size_t table_terminal_width(FILE *to);
/* Return the number of bytes of text that fit into a line of width_chars
 * characters. *ret_next: where the next line begins. Lines end at blanks. */
size_t table_wrap(const char *text, size_t width_chars, const char **ret_next);
void table_free(struct table *t); /* t can be NULL */

/* Write a bar of share (0 to 1) of width cells, in eighths of block characters,
 * or of '#' if ascii is 1. */
void table_bar(double share, int width, int ascii, char *ret, size_t cap_bytes);

#endif
