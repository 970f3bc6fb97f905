/* SPDX-License-Identifier: Apache-2.0 */
/* Histogram BLOBs: an accepted one packs into the same bytes. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "common/hist.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static uint8_t again[HIST_BLOB_MAX];
	static struct hist h;

	if (hist_unpack(data, len_bytes, &h) < 0)
		return 0;
	assert(hist_pack(&h, again, sizeof(again)) == (long)len_bytes);
	assert(memcmp(again, data, len_bytes) == 0);
	if (h.count == 0)
		return 0;
	for (int i = 0; i <= 4; i++) {
		double x = hist_quantile(&h, i / 4.0);

		assert(x >= h.min && x <= h.max);
	}
	return 0;
}
