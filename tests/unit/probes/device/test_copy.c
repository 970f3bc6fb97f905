/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/device/host_copy.c"

#define GUARD_BYTES 64
#define LARGE       ((size_t)1 << 20) /* from there on past the caches */

static char *from, *to, *want;

/* Exactly those bytes, wherever both ranges begin. */
static void
expect(size_t to_off, size_t from_off, size_t bytes)
{
	size_t all = bytes + 2 * GUARD_BYTES + to_off;

	memset(to, 0x5c, all);
	memset(want, 0x5c, all);
	memcpy(want + GUARD_BYTES + to_off, from + from_off, bytes);
	host_copy(to + GUARD_BYTES + to_off, from + from_off, bytes);
	assert_memory_equal(to, want, all);
}

static void
test_every_byte(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 4096, LARGE - 1, LARGE,
		LARGE + 1, LARGE + 63, LARGE + 64, 3 * LARGE + 129 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t off = 0; off < 64; off += 7) {
			expect(off, 0, sizes[i]);
			expect(0, off, sizes[i]);
			expect(off, off, sizes[i]);
		}
}

static int
setup(void **state)
{
	size_t room = 4 * LARGE;

	(void)state;
	from = malloc(room);
	to = malloc(room);
	want = malloc(room);
	if (from == NULL || to == NULL || want == NULL)
		return -1;
	for (size_t i = 0; i < room; i++)
		from[i] = (char)(i * 2654435761U >> 11);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(from);
	free(to);
	free(want);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
