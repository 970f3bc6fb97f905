/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - bytes in a JSON message: a zstd frame, written in base64.
 */
#ifndef SCHEMA_PACKED_H
#define SCHEMA_PACKED_H

#include <jansson.h>
#include <stddef.h>

/* Compress the bytes and return them as a JSON string: a new reference. */
json_t *packed_json(const void *bytes, size_t len_bytes);
/* Decompress a text that packed_json made. Return the bytes with a NUL behind
 * them, and their number in *ret_len_bytes; the caller frees them. Return NULL
 * if text is not such a text, or holds more than max_bytes. */
char *packed_bytes(const char *text, size_t max_bytes, size_t *ret_len_bytes);

#endif
