/* SPDX-License-Identifier: Apache-2.0 */
/* Reference values: accepted rows have the numbers that are compared. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/xalloc.h"
#include "ctl/lib/reference.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	const struct reference_class class = { "h100", "efa", "allreduce", 3200,
		1e9, 2, 16 };
	char *text = xcalloc(len_bytes + 1, 1);
	json_t *rows = json_array(), *row;
	struct err err = { 0 };
	size_t i;

	memcpy(text, data, len_bytes);
	if (reference_parse("fuzz", text, rows, &err) < 0)
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
	json_array_foreach (rows, i, row) {
		assert(member_text(row, "op")[0] != '\0');
		assert(member_number(row, "bytes") > 0);
		assert(member_number(row, "busbw_bytes_per_s") > 0);
	}
	json_decref(reference_match(rows, &class));
	json_decref(rows);
	free(text);
	return 0;
}
