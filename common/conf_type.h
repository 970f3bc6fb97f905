/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_type.h - the types of configuration rows: parse and describe values.
 * Only conf*.c include it.
 */
#ifndef COMMON_CONF_TYPE_H
#define COMMON_CONF_TYPE_H

#include "common/conf.h"

#define CONF_WANT_BYTES 512

/* A value in the form of its type. Texts and lists have no such form. */
union conf_number {
	int64_t i; /* CONF_BOOL, CONF_INT, CONF_CHOICE */
	double r;
	uint64_t u; /* CONF_BYTES, CONF_SPAN (in ns) */
};

/* Parse a value. Return 0, or -EINVAL with the expected value in want. */
int conf_type_read(const struct conf_row *row, const char *raw,
    union conf_number *ret, char want[CONF_WANT_BYTES]);
/* Write a description of the valid values of a row: "10s to 5m", "a list of
 * a|b|c", ... */
void conf_type_allowed(const struct conf_row *row, char *ret, size_t cap_bytes);
/* Return 1 if row number `at` is the first row of its section, 0 if not. The
 * rows of a section are adjacent. */
int conf_section_starts(const struct conf_row *rows, size_t at);

#endif
