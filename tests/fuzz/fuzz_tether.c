/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank says on its line, one line after another. */
#include "agents/run/rank_watch.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct rank_watch tether = { 0 };
	struct line line = { .watch = &tether, .rank = -1, .pid = -1 };
	char *text = fuzz_text(data, len_bytes), *rest = text, *one;

	while ((one = strsep(&rest, "\n")) != NULL) {
		if (line_take(&line, one) < 0)
			break;
		assert(line.bye || line.exited || line.rank >= 0);
		assert((line.rank >= 0) == (line.pid >= 1));
	}
	assert(tether.seen <= 1); /* one rank a line */
	free(text);
	return 0;
}
