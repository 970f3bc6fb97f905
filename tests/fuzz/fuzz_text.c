/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, spans, sizes and lists in text. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "common/clk.h"
#include "common/str.h"

static void
try_span(const char *text)
{
	uint64_t ns, back;
	char span[16];

	if (clk_span_parse(text, &ns) < 0)
		return;
	clk_span_format(ns, span, sizeof(span));
	assert(clk_span_parse(span, &back) == 0); /* rounded, but readable */
	assert(back <= ns + ns / 10 + 1 && back >= ns - ns / 10);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text = fuzz_text(data, len_bytes), **list, shown[16];
	uint64_t bytes;
	size_t count = 0;
	int64_t i;
	double x;
	int flag;

	try_span(text);
	if (str_to_bytes(text, &bytes) == 0)
		str_bytes_format((double)bytes, shown, sizeof(shown));
	if (str_to_int(text, -5, 5, &i) == 0)
		assert(i >= -5 && i <= 5);
	if (str_to_double(text, -5, 5, &x) == 0)
		assert(x >= -5 && x <= 5);
	str_to_bool(text, &flag);
	list = str_list_parse(text, &count);
	for (size_t k = 0; list != NULL && k < count; k++)
		assert(list[k][0] != '\0' && strchr(list[k], ',') == NULL);
	str_list_free(list);
	free(text);
	return 0;
}
