/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - JSON values as text for people, and JSON as it goes to scripts.
 */
#ifndef CTL_LIB_PRINT_H
#define CTL_LIB_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/member.h"

#define PRINT_BYTES 64 /* enough for every text below */

struct ctl;

/* Arrays one element a line, objects compact when lone is 1. */
void print_json(const json_t *value);
void print_json_line(const json_t *value);

/* A member as text; fallback where it is missing or null. */
const char *print_member(const json_t *object, const char *name,
    const char *fallback);
/* Format a whole number of a member, in PRINT_BYTES; "-" if it is missing. */
void print_count(const json_t *object, const char *name, char *ret);
/* "34.1 us", "182.4 MiB/s", "2.40x", "1.5"; "-" for NAN. */
void print_quantity(double value, const char *unit, char *ret);
/* 1: the interval is so wide that it says nothing: it comes of too few visits.
 */
int print_is_unknown(double lo, double hi);
/* "2026-11-20 19:12:00" in UTC; "-" for 0 or a missing member. */
void print_time(const json_t *object, const char *name, char *ret);
/* "41.2s", as clk_span_format, from seconds; "-" for NAN. */
void print_span(double span_s, char *ret);
/* A hostlist of an array of names, or of a text that is one already; the
 * caller frees. *ret_count may be NULL. */
char *print_hostlist(const json_t *hosts, size_t *ret_count);
/* "a, b" of an array of plain values, with what stands between them, NULL of
 * any other; the caller frees. */
char *print_texts(const json_t *array, const char *between);

/* A table of an array of objects, a column a row; ends with a row without a
 * title. A member that is missing is else_text. */
struct print_column {
	const char *title; /* "|" begins a column, ">" sets it to the right */
	const char *member;
	const char *else_text;
	enum print_as {
		PRINT_TEXT,
		PRINT_TIME, /* *_unix_ns */
		PRINT_SPAN, /* seconds */
		PRINT_NUMBER,
		PRINT_COUNT,
		PRINT_SECONDS, /* "34.1 us" */
		PRINT_OWN,     /* in the unit that the row has */
		PRINT_RATE,    /* of bytes per second */
		PRINT_TIMES,   /* "2.40x" */
		PRINT_RATIO,   /* "2.40" */
		PRINT_SHARE,   /* "40 %" */
		PRINT_BEYOND,  /* "+4.0%" */
		PRINT_BYTES_OF,
		PRINT_YES,   /* yes or no of a boolean */
		PRINT_NODES, /* how many a hostlist has */
		PRINT_TEXTS, /* of an array */
		PRINT_OF     /* by text_of */
	} as;
	const char *(*text_of)(const json_t *row, char *scratch);
};
/* For print_column: member every_s; 0 means no interval. */
const char *print_every(const json_t *row, char *scratch);
void print_rows(const json_t *rows, const struct print_column *columns);
/* The answer of a verb, which this takes: --json, or a table; of no row what
 * nothing says, or (NULL) the titles. EXIT_CODE_OK. */
int print_list(const struct ctl *c, json_t *rows,
    const struct print_column *columns, const char *nothing);

#endif
