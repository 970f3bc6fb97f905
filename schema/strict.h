/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.h - parse JSON from other programs: one object, limited depth, no key
 * twice, valid UTF-8.
 */
#ifndef SCHEMA_STRICT_H
#define SCHEMA_STRICT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Parse a text that is one JSON object. Return 0 and the object, which the
 * caller decrefs, or -EPROTO with the reason in err. Small integers are shared
 * between objects: the caller must not change them. */
int strict_object(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct err *err);

/* A bucket of a histogram: one element of [[index, count], ...]. */
struct strict_bucket {
	int32_t index;
	uint64_t count;
};
/* One element of the array "records": where its text is. If its member "hist"
 * is a list of buckets, these are stored in strict_lines and not in the JSON
 * object, because they are most of a record's numbers. */
struct strict_line {
	size_t from, len_bytes;    /* offset and length in strict_lines.text */
	size_t cut_from, cut_to;   /* of hist and its comma, in the line */
	size_t bucket, bucket_end; /* its buckets in strict_lines.buckets */
	int has_hist;              /* 1: the buckets are in strict_lines */
};
/* The elements of "records". Begins as { 0 }. The same struct can be passed to
 * several calls; each call replaces its contents. */
struct strict_lines {
	const char *text;
	struct strict_line *list;
	size_t count, cap;
	struct strict_bucket *buckets;
	size_t bucket_count, bucket_cap;
};
/* Parse as strict_object does, and also store the elements of the member
 * "records" in lines, in their order. These point into text, which must live as
 * long. */
int strict_object_lines(const char *text, size_t len_bytes, int depth_max,
    json_t **ret, struct strict_lines *lines, struct err *err);
/* Free the lists, and set all members to 0. */
void strict_lines_clear(struct strict_lines *lines);

#endif
