/* SPDX-License-Identifier: Apache-2.0 */
/* Packed bytes of a wire-up in a message: unpack the bytes of a peer; packed
 * and unpacked again, bytes are the same. */
#include "schema/packed.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

#define MAX_BYTES 65536

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *text = fuzz_text(data, len_bytes), *bytes, *again;
	size_t got = 0, len = 0;
	json_t *packed;

	bytes = packed_bytes(text, MAX_BYTES, &got);
	assert(bytes == NULL || (got <= MAX_BYTES && bytes[got] == '\0'));
	free(bytes);
	packed = packed_json(data, len_bytes);
	again = packed_bytes(json_string_value(packed), MAX_BYTES, &len);
	assert(len_bytes > MAX_BYTES ||
	    (again != NULL && len == len_bytes &&
		memcmp(again, data, len) == 0));
	free(again);
	json_decref(packed);
	free(text);
	return 0;
}
