/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stderr_tail.h - the last lines of text that a child wrote.
 */
#ifndef AGENTS_PROCESS_STDERR_TAIL_H
#define AGENTS_PROCESS_STDERR_TAIL_H

#include <stddef.h>

/* The last bytes that a child wrote. Launchers print harmless warnings at the
 * end of every run, and every crashed rank prints a page of addresses; known
 * noise is dropped, so that the tail shows the error. */
#define STDERR_TAIL_MAX 4096 /* bytes kept: a screen of text */

struct stderr_tail {
	char bytes[STDERR_TAIL_MAX];
	size_t start; /* index of the oldest byte */
	size_t len_bytes;
	size_t line_bytes; /* of these, since the last end of a line */
	int is_cut;        /* older ones were dropped */
};

void stderr_tail_add(struct stderr_tail *t, const char *bytes,
    size_t len_bytes);
/* Return the tail as valid UTF-8 without control characters except newline and
 * tab; the caller frees. An incomplete first line is dropped if others
 * follow. */
char *stderr_tail_lines(const struct stderr_tail *t);

#endif
