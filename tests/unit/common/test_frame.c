/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "common/frame.h"

static void
test_there_and_back(void **state)
{
	static const uint32_t sizes[] = { 1, 255, 256, 65536, FRAME_BODY_MAX };
	uint8_t head[FRAME_HEAD_BYTES];
	const char *why = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		frame_head_put(head, sizes[i]);
		assert_int_equal(frame_head_get(head, &why), sizes[i]);
		assert_null(why);
	}
}

static void
test_bytes(void **state)
{
	static const uint8_t want[] = { 'C', 'M', 1, 0, 0, 1, 2, 3 };
	uint8_t head[FRAME_HEAD_BYTES];

	(void)state;
	frame_head_put(head, 0x010203);
	assert_memory_equal(head, want, sizeof(want));
}

static void
refused(const uint8_t head[FRAME_HEAD_BYTES], const char *part)
{
	const char *why = NULL;

	assert_int_equal(frame_head_get(head, &why), -EPROTO);
	assert_non_null(why);
	assert_non_null(strstr(why, part));
}

static void
test_refuses(void **state)
{
	static const struct {
		uint8_t head[FRAME_HEAD_BYTES];
		const char *part;
	} bad[] = {
		{ "GET / HT", "not a Coalmine frame" },
		{ { 0x16, 3, 1, 2, 0, 1, 0, 1 },
		    "not a Coalmine frame" }, /* TLS */
		{ { 'C', 'M', 2, 0, 0, 0, 0, 1 }, "version" },
		{ { 'C', 'M', 1, 1, 0, 0, 0, 1 }, "version" },
		{ { 'C', 'M', 1, 0, 0, 0, 0, 0 }, "body" },
		{ { 'C', 'M', 1, 0, 0, 0x10, 0, 1 }, "body" },
		{ { 'C', 'M', 1, 0, 0x40, 0, 0, 0 }, "body" }, /* 1 GiB */
		{ { 'C', 'M', 1, 0, 255, 255, 255, 255 }, "body" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(bad[i].head, bad[i].part);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
