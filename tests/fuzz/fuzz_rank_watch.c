/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a rank on its connection to the rank watch. */
#include "agents/run/rank_watch.c"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct rank_watch watch = { 0 };
	struct conn conn = { .watch = &watch, .rank = -1, .pid = -1 };
	char *text = fuzz_text(data, len_bytes), *rest = text, *one;

	while ((one = strsep(&rest, "\n")) != NULL) {
		if (rank_watch_line_take(&conn, one) < 0)
			break;
		assert(conn.bye || conn.exited || conn.rank >= 0);
		assert((conn.rank >= 0) == (conn.pid >= 1));
	}
	assert(watch.seen <= 1); /* one rank a connection */
	free(text);
	return 0;
}
