/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - foreign bytes as text that JSON can carry. Pure.
 */
#ifndef AGENTS_PROCESS_TEXT_H
#define AGENTS_PROCESS_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "common/str.h"

/* Length of the valid UTF-8 character at bytes, 1..4; 0: none starts there. */
size_t text_utf8_len(const char *bytes, size_t len_bytes);
/* Add bytes with '?' for what is neither valid UTF-8 nor printable, newlines
 * and tabs allowed: one for one, so it never grows. */
void text_clean(struct strbuf *sb, const char *bytes, size_t len_bytes);
/* A JSON string of any text; never NULL. A sentence that was cut may end
 * within a character, and jansson refuses such. */
json_t *text_json(const char *text);

/* The last bytes a child wrote. Launchers print harmless warnings at the end of
 * every run; lines known as noise are left out, so that the tail shows what
 * went wrong. */
#define STDERR_TAIL_MAX 4096 /* bytes kept: a screen of text */

struct stderr_tail {
	char bytes[STDERR_TAIL_MAX];
	size_t start; /* index of the oldest byte */
	size_t len_bytes;
};

void stderr_tail_add(struct stderr_tail *t, const char *bytes,
    size_t len_bytes);
/* Valid UTF-8 without control characters but newline and tab; the caller
 * frees. A first line that was cut is left out when others follow.
 * Only the lines that contain mark; NULL: all. */
char *stderr_tail_lines(const struct stderr_tail *t, const char *mark);

#endif
