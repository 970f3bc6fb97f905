/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fields.h - which members each kind of record has: one row a member,
 * by which record.c checks what an engine printed.
 */
#ifndef SCHEMA_RECORD_FIELDS_H
#define SCHEMA_RECORD_FIELDS_H

#include <jansson.h>

/* Is a value one that the member may have? 1 or 0. */
typedef int record_value_check(const json_t *v);

/* kind: s string, i integer not negative, N number or null, a array,
 * o object, O object or null, '*' anything. */
struct record_field {
	const char *name;
	char kind;
	record_value_check *check; /* NULL: any value of that kind */
	int optional;
};

struct record_kind {
	const char *probe;
	const struct record_field *fields; /* ends with a NULL name */
	int numbered;                      /* 0: it has no seq */
};

/* NULL where there is no such probe. */
const struct record_kind *record_kind_find(const char *probe);

/* [[index, count], ...] with indices that ascend and counts above 0. */
record_value_check record_is_hist;

#endif
