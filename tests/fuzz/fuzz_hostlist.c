/* SPDX-License-Identifier: Apache-2.0 */
/* Host lists. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "common/err.h"
#include "common/hostlist.h"

static size_t
digits_longest(const char *text)
{
	size_t longest = 0, run;

	for (; *text != '\0'; text += run + (run == 0)) {
		run = strspn(text, "0123456789");
		longest = run > longest ? run : longest;
	}
	return longest;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text = fuzz_text(data, len_bytes), *folded;
	struct err err;
	struct hostlist hl = { 0 }, back = { 0 };

	/* A range of 65,536 names takes as long as a thousand small lists: only
	 * one in 32 inputs with long numbers is run. */
	if (len_bytes % 32 != 0 && digits_longest(text) > 3) {
		free(text);
		return 0;
	}
	if (hostlist_parse(text, &hl, &err) < 0) {
		assert(err.text[0] != '\0');
		free(text);
		return 0;
	}
	assert(hl.count <= HOSTLIST_MAX);
	for (size_t i = 0; i < hl.count; i++)
		assert(hostlist_name_check(hl.names[i]) == 0);
	/* Folding keeps names and order. */
	folded = hostlist_format((const char *const *)hl.names, hl.count);
	assert(hostlist_parse(folded, &back, &err) == 0);
	assert(back.count == hl.count);
	for (size_t i = 0; i < hl.count; i++)
		assert(strcmp(hl.names[i], back.names[i]) == 0);
	free(folded);
	free(text);
	hostlist_clear(&hl);
	hostlist_clear(&back);
	return 0;
}
