/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix files; the first byte chooses the format and whether the number of
 * ranks is known. */
#include "common/err.h"
#include "probes/pattern/matrix.c"

#include "probes/pattern/matrix.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text;
	struct err err = { 0 };
	struct matrix m;
	uint32_t ranks;

	if (len_bytes == 0)
		return 0;
	text = fuzz_text(data + 1, len_bytes - 1);
	ranks = data[0] & 4 ? 4 : 0;
	if (matrix_parse(&(struct numbers_text){ "fuzz", text, len_bytes - 1 },
		(enum matrix_format)(data[0] % 3), ranks, &m, &err) == 0) {
		assert(m.ranks >= 1 && m.ranks <= MATRIX_RANKS_MAX);
		assert(ranks == 0 || m.ranks <= ranks);
		for (size_t i = 0; i < (size_t)m.ranks * m.ranks; i++)
			assert(m.cells[i] <= MATRIX_CELL_MAX);
		matrix_clear(&m);
	} else {
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
	}
	free(text);
	return 0;
}
