/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/strict.h"

#include "common/err.h"

#include <errno.h>
#include <stdio.h>

/* How deep the brackets of a text nest, strings left out. jansson's own limit
 * is 2048, and its parser recurses. */
static int
depth_of(const char *text, size_t len_bytes)
{
	int depth = 0, deepest = 0, in_string = 0;

	for (size_t i = 0; i < len_bytes; i++) {
		char c = text[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '{' || c == '['))
			depth++;
		else if (!in_string && (c == '}' || c == ']'))
			depth--;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

int
strict_object(const char *text, size_t len_bytes, int depth_max, json_t **ret,
    struct err *err)
{
	json_error_t error;
	json_t *object;

	if (depth_of(text, len_bytes) > depth_max)
		return err_set(err, -EPROTO, "nested deeper than %d",
		    depth_max);
	object = json_loadb(text, len_bytes, JSON_REJECT_DUPLICATES, &error);
	if (object == NULL)
		return err_set(err, -EPROTO, "not JSON: %s", error.text);
	if (!json_is_object(object)) {
		err_say(err, "not a JSON object");
		json_decref(object);
		return -EPROTO;
	}
	*ret = object; /* handed over */
	return 0;
}
