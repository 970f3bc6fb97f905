/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner's table: an accepted one can be used and has valid values. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
#include "probes/multipath/tuner.h"
#include "tests/fuzz/fuzz.h"

/* Choices of every class of a pair are shares and chunks. */
static void
use(struct tuner *t)
{
	for (uint32_t k = 0; k < 40; k++) {
		struct tuner_choice c;
		double sum = 0;

		tuner_choose(t, 3ULL << k, &c);
		for (uint32_t i = 0; i <= t->fits.count; i++) {
			assert(c.share[i] >= 0 && c.share[i] <= 1 + 1e-9);
			assert(c.chunks[i] <= 4096);
			sum += c.share[i];
		}
		assert(fabs(sum - 1) < 1e-6);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct tuner_table tt = { .machine = "m" };
	struct err err = { 0 };

	if (tuner_parse(&tt, "fuzz", (const char *)data, len_bytes, &err) < 0) {
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
		return 0;
	}
	for (size_t i = 0; i < tt.count; i++)
		use(&tt.pairs[i].tuner);
	tuner_table_clear(&tt);
	return 0;
}
