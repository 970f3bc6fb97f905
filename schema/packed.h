/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - bytes inside a JSON message: a zstd frame in base64.
 */
#ifndef SCHEMA_PACKED_H
#define SCHEMA_PACKED_H

#include <jansson.h>
#include <stddef.h>

/* A JSON string that holds the bytes. */
json_t *packed_json(const void *bytes, size_t len_bytes);
/* Allocate what text holds, with a NUL behind it; the caller frees. NULL: not a
 * packed text, or more than max_bytes. */
char *packed_bytes(const char *text, size_t max_bytes, size_t *ret_len_bytes);

#endif
