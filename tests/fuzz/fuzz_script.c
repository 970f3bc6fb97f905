/* SPDX-License-Identifier: Apache-2.0 */
/* Compositions as text; the first byte chooses the number of ranks. Accepted
 * ones can be proven. */
#include "common/err.h"
#include "probes/pattern/pattern.h"
#include "probes/plan/check.h"
#include "common/xalloc.h"
#include "probes/catalog/patterns.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text, *words[2];
	struct err err = { 0 };
	char count[] = "count=2";
	struct check_fault fault;
	struct plan *p;

	if (len_bytes == 0 || len_bytes > 200)
		return 0;
	text = fuzz_text(data, len_bytes);
	words[0] = xasprintf("steps=%s", text + 1);
	words[1] = count;
	if (patterns_plan("compose", words, 2, 1 + data[0] % 6, &p, &err) ==
	    0) {
		assert(check_plan(p, &fault) == 0);
		plan_free(p);
	} else {
		assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
	}
	free(words[0]);
	free(text);
	return 0;
}
