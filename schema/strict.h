/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.h - JSON from outside: one object, no key twice, limited depth.
 */
#ifndef SCHEMA_STRICT_H
#define SCHEMA_STRICT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* 0, or -EPROTO with the reason in why. The caller decrefs *ret. */
int strict_object(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct err *err);

/* A bucket of a histogram: one of [[index, count], ...]. */
struct strict_bucket {
	int32_t index;
	uint64_t count;
};
/* An object of the array "records", as it is in the text. A member "hist" that
 * is a list of buckets is kept separate from the object's values: it has most
 * of a record's numbers. */
struct strict_line {
	size_t from, len_bytes;    /* in the text */
	size_t cut_from, cut_to;   /* in the line: hist with its comma */
	size_t bucket, bucket_end; /* of lines.buckets */
	int has_hist;
};
struct strict_lines { /* starts as { 0 } and may be used again */
	const char *text;
	struct strict_line *list;
	size_t count, cap;
	struct strict_bucket *buckets;
	size_t bucket_count, bucket_cap;
};
/* The same, and the lines of array "records"; they point into text. */
int strict_object_lines(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct strict_lines *lines, struct err *err);
void strict_lines_clear(struct strict_lines *lines);

#endif
