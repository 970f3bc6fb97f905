/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fields.h - the members of each kind of record, one row each, with
 * which record.c checks the output of an engine.
 */
#ifndef SCHEMA_RECORD_FIELDS_H
#define SCHEMA_RECORD_FIELDS_H

#include <jansson.h>
#include <stddef.h>

#include "schema/strict.h"

/* Return 1 if the value is valid for the member, 0 if not. */
typedef int record_value_check(const json_t *v);

/* A member of a record. kind is the type of its value: 's' string, 'i' integer
 * that is not negative, 'N' number or null, 'a' array, 'o' object, 'O' object
 * or null, '*' any. */
struct record_field {
	const char *name;
	char kind;
	record_value_check *check; /* NULL: any value of that type is valid */
	int optional;              /* 1: the member may be missing */
};

/* A kind of record. */
struct record_kind {
	const char *probe;
	const struct record_field *fields; /* ends with a NULL name */
	int numbered; /* 1: records of this kind have a seq */
};

/* Return the kind of record with this value of "probe", or NULL if unknown. */
const struct record_kind *record_kind_find(const char *probe);

/* Return 1 if v is [[index, count], ...] with ascending indices and counts
 * above 0, and 0 if not. */
record_value_check record_is_hist;
/* Return 1 if a list of buckets has ascending indices and counts above 0, and 0
 * if not. */
int record_is_buckets(const struct strict_bucket *list, size_t count);

#endif
