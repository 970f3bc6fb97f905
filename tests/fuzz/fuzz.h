/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - the interface of every target. A target must accept any bytes. Its
 * properties are asserts; a failure is a finding like any crash.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

/* Return a copy of the bytes as text, so that a sanitizer detects reads beyond
 * its end. The caller frees it. */
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
