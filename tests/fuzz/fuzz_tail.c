/* SPDX-License-Identifier: Apache-2.0 */
/* The stderr of a child must fit into a message. */
#include "agents/process/stderr_tail.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <jansson.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static struct stderr_tail tail;
	size_t half = len_bytes / 2;
	json_t *string;
	char *text;

	memset(&tail, 0, sizeof(tail));
	stderr_tail_add(&tail, (const char *)data, half);
	stderr_tail_add(&tail, (const char *)data + half, len_bytes - half);
	text = stderr_tail_lines(&tail);
	string = json_string(text);
	assert(string != NULL); /* NULL: not valid UTF-8 */
	for (const char *p = text; *p != '\0'; p++)
		assert((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t');
	json_decref(string);
	free(text);
	return 0;
}
