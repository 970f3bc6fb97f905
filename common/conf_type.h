/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_type.h - the types of configuration rows: reading and describing values.
 * For conf*.c only.
 */
#ifndef COMMON_CONF_TYPE_H
#define COMMON_CONF_TYPE_H

#include "common/conf.h"

#define CONF_WANT_BYTES 512

/* A value in the form of its type; texts and lists have none. */
union conf_number {
	int64_t i; /* CONF_BOOL, CONF_INT, CONF_CHOICE */
	double r;
	uint64_t u; /* CONF_BYTES, CONF_SPAN (ns) */
};

/* Return 0, or -EINVAL and in want the expected value. */
int conf_type_read(const struct conf_row *row, const char *raw,
    union conf_number *ret, char want[CONF_WANT_BYTES]);
/* Describe the values that a row accepts: "10s to 5m", "a list of a|b|c",
 * ... */
void conf_type_allowed(const struct conf_row *row, char *ret, size_t cap_bytes);
/* 1 when row at is the first of its section; the rows of one stand together.
 */
int conf_section_starts(const struct conf_row *rows, size_t at);

#endif
