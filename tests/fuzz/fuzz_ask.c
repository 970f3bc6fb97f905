/* SPDX-License-Identifier: Apache-2.0 */
/* What a launcher's stand-in for ssh asks the head's agent for. */
#include "agents/launch/spawn_requests.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	const char *why = NULL;
	char *line = fuzz_text(data, len_bytes);
	json_t *argv = argv_parse(line, len_bytes, &why), *word;
	size_t i;

	assert((argv == NULL) == (why != NULL));
	assert(
	    argv == NULL || json_array_size(argv) <= ARGV_ALLOWLIST_ARGS_MAX);
	json_array_foreach (argv, i, word)
		assert(json_is_string(word));
	json_decref(argv);
	free(line);
	return 0;
}
