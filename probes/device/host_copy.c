/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/device/host_copy.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define PAST_BYTES (1UL << 20) /* from here on */
#define LINE_BYTES 64UL

/* Lines that are whole in `to`. */
static void
copy_lines(char *to, const char *from, size_t lines)
{
	for (; lines > 0; lines--, to += LINE_BYTES, from += LINE_BYTES) {
		__m128i a = _mm_loadu_si128((const __m128i *)from);
		__m128i b = _mm_loadu_si128((const __m128i *)(from + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(from + 32));
		__m128i d = _mm_loadu_si128((const __m128i *)(from + 48));

		_mm_stream_si128((__m128i *)to, a);
		_mm_stream_si128((__m128i *)(to + 16), b);
		_mm_stream_si128((__m128i *)(to + 32), c);
		_mm_stream_si128((__m128i *)(to + 48), d);
	}
	/* Before anybody is told that the bytes are there. */
	_mm_sfence();
}

void
host_copy(void *to, const void *from, size_t bytes)
{
	size_t head = -(uintptr_t)to % LINE_BYTES, lines;

	if (bytes < PAST_BYTES) {
		memcpy(to, from, bytes);
		return;
	}
	lines = (bytes - head) / LINE_BYTES;
	memcpy(to, from, head);
	copy_lines((char *)to + head, (const char *)from + head, lines);
	head += lines * LINE_BYTES;
	memcpy((char *)to + head, (const char *)from + head, bytes - head);
}
#else
void
host_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}
#endif
