/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - print JSON values as text for people, and as JSON for scripts.
 */
#ifndef CTL_LIB_PRINT_H
#define CTL_LIB_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/member.h"

#define PRINT_BYTES 64 /* enough for every text below */

struct ctl;

/* Print a value as JSON: an array with one element per line (print_json), or
 * everything on one line (print_json_line). */
void print_json(const json_t *value);
void print_json_line(const json_t *value);

/* Return the text of a member; fallback if it is missing or null. */
const char *print_member(const json_t *object, const char *name,
    const char *fallback);
/* Write the integer of a member to ret, which has PRINT_BYTES; "-" if it is
 * missing. */
void print_count(const json_t *object, const char *name, char *ret);
/* Write a value with its unit: "34.1 us", "182.4 MiB/s", "2.40x", "1.5"; "-"
 * for NAN. */
void print_quantity(double value, const char *unit, char *ret);
/* Return 1 if an interval is so wide that it has no meaning, because it comes
 * from too few visits; 0 if not. */
int print_is_unknown(double lo, double hi);
/* Write the time of a member as "2026-11-20 19:12:00" in UTC; "-" if it is 0 or
 * missing. */
void print_time(const json_t *object, const char *name, char *ret);
/* Write a duration in seconds as clk_span_format does, "41.2s"; "-" for NAN. */
void print_span(double span_s, char *ret);
/* Return a hostlist for an array of names, or for a text that is already a
 * hostlist; the caller frees it. *ret_count: number of names; ret_count can be
 * NULL. */
char *print_hostlist(const json_t *hosts, size_t *ret_count);
/* Return the plain values of an array, with the text `between` between them,
 * "a, b"; the caller frees it. Return NULL for any other value. */
char *print_texts(const json_t *array, const char *between);

/* A column of a table of objects. An array of columns ends with one without
 * title. */
struct print_column {
	const char *title; /* "|" begins a column; ">" aligns it right */
	/* Member of the object; if it is missing, else_text is printed. */
	const char *member;
	const char *else_text;
	/* How the member is printed. */
	enum print_as {
		PRINT_TEXT,
		PRINT_TIME, /* a time, member *_unix_ns */
		PRINT_SPAN, /* a duration in seconds */
		PRINT_NUMBER,
		PRINT_COUNT,
		PRINT_SECONDS, /* "34.1 us" */
		PRINT_OWN,     /* in the unit that the object has */
		PRINT_RATE,    /* bytes per second */
		PRINT_TIMES,   /* "2.40x" */
		PRINT_RATIO,   /* "2.40" */
		PRINT_SHARE,   /* "40 %" */
		PRINT_BEYOND,  /* "+4.0%" */
		PRINT_BYTES_OF,
		PRINT_YES,   /* yes or no of a boolean */
		PRINT_NODES, /* number of nodes of a hostlist */
		PRINT_TEXTS, /* the texts of an array */
		PRINT_OF     /* by text_of */
	} as;
	const char *(*text_of)(const json_t *row, char *scratch);
};
/* A text_of for member every_s; 0 means that there is no interval. */
const char *print_every(const json_t *row, char *scratch);
/* Print a table of the objects of an array. */
void print_rows(const json_t *rows, const struct print_column *columns);
/* Print the answer of a verb, and release it: as JSON with --json, otherwise as
 * a table. nothing: the text for an answer without rows; NULL: only the titles
 * are printed. Return EXIT_CODE_OK. */
int print_list(const struct ctl *c, json_t *rows,
    const struct print_column *columns, const char *nothing);

#endif
