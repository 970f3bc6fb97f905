/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - any text as a JSON string.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <jansson.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "common/xalloc.h"

/* Never NULL: jansson refuses half a character, and then the whole message.
 * Every text that quotes a peer, a file or a child goes through here. */
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
