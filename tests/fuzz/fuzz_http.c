/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of HTTP requests. */
#include "daemon/http/http_parse.c"

#include "daemon/http/http_parse.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static struct http_head head, again;
	const char *why = NULL;
	char *bytes = fuzz_text(data, len_bytes);
	int status = 0;
	long n = http_parse_head(bytes, len_bytes, &head, &status, &why);

	if (n < 0)
		assert(status >= 400 && status <= 505 && why != NULL);
	if (n > 0) {
		assert((size_t)n <= len_bytes && n <= HTTP_HEAD_MAX);
		assert(head.path[0] == '/');
		assert(head.body_bytes <= HTTP_BODY_MAX);
		assert(head.param_count <= HTTP_PARAMS_MAX);
		/* What follows a head is not part of it. */
		assert(http_parse_head(bytes, (size_t)n, &again, &status,
			   &why) == n);
		assert(http_parse_head(bytes, (size_t)n - 1, &again, &status,
			   &why) <= 0);
		http_param(&head, "run");
	}
	free(bytes);
	return 0;
}
