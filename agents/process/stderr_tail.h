/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stderr_tail.h - the last lines of the text that a child process wrote to
 * standard error.
 */
#ifndef AGENTS_PROCESS_STDERR_TAIL_H
#define AGENTS_PROCESS_STDERR_TAIL_H

#include <stddef.h>

/* The last bytes that a child process wrote. Launchers print harmless warnings
 * at the end of every run, and every crashed rank prints a page of addresses.
 * Known noise is dropped, so that the tail shows the error. Begins as zeros. */
#define STDERR_TAIL_MAX 4096 /* bytes kept: a screen of text */

struct stderr_tail {
	char bytes[STDERR_TAIL_MAX];
	size_t start; /* index of the oldest byte */
	size_t len_bytes;
	size_t line_bytes; /* of these, bytes since the last line end */
	int is_cut;        /* 1: older bytes were dropped */
};

/* Append bytes. */
void stderr_tail_add(struct stderr_tail *t, const char *bytes,
    size_t len_bytes);
/* Return the tail as valid UTF-8 without control characters except newline and
 * tab; the caller frees. An incomplete first line is dropped if others
 * follow. */
char *stderr_tail_lines(const struct stderr_tail *t);

#endif
