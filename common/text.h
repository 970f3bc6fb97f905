/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - convert any text to a JSON string.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <jansson.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "common/xalloc.h"

/* Return the text as a JSON string, never NULL. Invalid characters become '?',
 * because jansson rejects invalid UTF-8, and with it the whole message. Use it
 * for every text that quotes a peer, a file or a child process. */
static inline json_t *
text_json(const char *text)
{
	char *copy = xstrdup(text);
	json_t *value;

	utf8_clean(copy);
	value = json_string(copy);
	free(copy);
	return value;
}

#endif
