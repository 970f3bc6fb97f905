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

#endif
