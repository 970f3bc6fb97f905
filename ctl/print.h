/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - JSON values as text for people, and JSON as it goes to scripts.
 */
#ifndef CTL_PRINT_H
#define CTL_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#define PRINT_BYTES 64 /* enough for every text below */

/* Arrays one element a line, objects compact when lone is 1. */
void print_json(const json_t *value);
void print_json_line(const json_t *value);

/* A member as text; fallback where it is missing or null. */
const char *print_member(const json_t *object, const char *name,
    const char *fallback);
/* A number of a member, NAN where there is none. */
double print_number(const json_t *object, const char *name);
/* A whole number of a member, in PRINT_BYTES; "-" where there is none. */
void print_count(const json_t *object, const char *name, char *ret);
/* "34.1 us", "182.4 MiB/s", "2.40x", "1.5"; "-" for NAN. */
void print_quantity(double value, const char *unit, char *ret);
/* "2026-11-20 19:12:00" in UTC; "-" for 0 or a missing member. */
void print_time(const json_t *object, const char *name, char *ret);
/* "41.2s", as clk_span_format, from seconds; "-" for NAN. */
void print_span(double span_s, char *ret);
/* A hostlist of an array of names, or of a text that is one already; the
 * caller frees. *ret_count may be NULL. */
char *print_hostlist(const json_t *hosts, size_t *ret_count);

#endif
