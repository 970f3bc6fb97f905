/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every target offers. It must stand any bytes; a property that
 * does not hold is an assert, which is a finding like any crash.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

/* The bytes as a text of their own, so that reading past it is seen. The
 * caller frees. */
static inline char *
fuzz_text(const uint8_t *data, size_t len_bytes)
{
	char *text = malloc(len_bytes + 1);

	if (text == NULL)
		abort();
	if (len_bytes > 0)
		memcpy(text, data, len_bytes);
	text[len_bytes] = '\0';
	return text;
}

#endif
