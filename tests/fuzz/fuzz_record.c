/* SPDX-License-Identifier: Apache-2.0 */
/* Record lines of an engine. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "schema/record.h"
#include "schema/strict.h"

/* The histogram of an accepted record may still be rejected. */
static void
read_hist(const json_t *record)
{
	static struct hist h;

	(void)record_hist_read(record, NULL, &h);
}

/* strict_object gives the same result as jansson, or both reject the text. One
 * difference: jansson skips a NUL byte after a number. */
static void
read_twice(const char *text, size_t len_bytes)
{
	json_t *want = json_loadb(text, len_bytes, JSON_REJECT_DUPLICATES,
	    NULL);
	json_t *got = NULL;

	if (strict_object(text, len_bytes, 2048, &got, NULL) == 0)
		assert(json_equal(got, want));
	else
		assert(!json_is_object(want) ||
		    memchr(text, '\0', len_bytes) != NULL);
	json_decref(got);
	json_decref(want);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *line = fuzz_text(data, len_bytes), *again;
	struct err err = { 0 };
	struct record_head head, head2;
	json_t *record, *back;

	read_twice(line, len_bytes);
	if (record_parse(line, len_bytes, &record, &head, &err) < 0) {
		assert(err.text[0] != '\0');
		free(line);
		return 0;
	}
	assert(head.run != NULL && head.probe != NULL);
	/* progress records are only for display, and may have no run */
	assert(record_run_check(head.run) == 0 ||
	    (head.run[0] == '\0' && head.seq == 0));
	read_hist(record);
	again = json_dumps(record, JSON_COMPACT);
	assert(again != NULL);
	assert(record_parse(again, strlen(again), &back, &head2, &err) == 0);
	assert(json_equal(record, back) && head.seq == head2.seq);
	free(again);
	free(line);
	json_decref(record);
	json_decref(back);
	return 0;
}
