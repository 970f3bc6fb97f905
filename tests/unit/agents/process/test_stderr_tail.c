/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/process/stderr_tail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"

static char *
tail_of(const char *text, size_t len)
{
	struct stderr_tail *t = xcalloc(1, sizeof(*t));
	char *got;

	stderr_tail_add(t, text, len);
	got = stderr_tail_lines(t);
	free(t);
	return got;
}

static void
want(const char *text, size_t len, const char *expected)
{
	char *got = tail_of(text, len);

	assert_string_equal(got, expected);
	free(got);
}

static void
test_utf8(void **state)
{
	(void)state;
	want("", 0, "");
	want("plain\n\ttext", 11, "plain\n\ttext");
	want("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	want("a\xff\x80z", 4, "a??z");
	want("\xc0\x80", 2, "??");           /* longer than need be */
	want("\xe0\x80\x80", 3, "???");      /* the same in three bytes */
	want("\xed\xa0\x80", 3, "???");      /* half a surrogate pair */
	want("\xf4\x90\x80\x80", 4, "????"); /* beyond U+10FFFF */
	want("cut \xe2\x82", 6, "cut ??");
	want("nul\0esc\033[1m\r", 12, "nul?esc?[1m?");
}

static void
test_noise(void **state)
{
	static const char text[] =
	    "one\nA high-performance Open MPI point-to-point messaging module "
	    "was unable to find any network\ntwo\n";

	(void)state;
	want(text, sizeof(text) - 1, "one\ntwo\n");
}

/* The first error of a rank is kept ahead of the stacks of all ranks that
 * crashed with it. */
static void
test_stacks(void **state)
{
	struct stderr_tail *t = xcalloc(1, sizeof(*t));
	char line[64], *got;

	(void)state;
	stderr_tail_add(t, "MemHook: mprotect failed\n", 25);
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(line, sizeof(line),
		    i % 2 ? "[n1:277] [%2d] /lib/libmpi.so.40(+0x1)[0x7f%03x]\n"
			  : " %d  /lib/libucs.so.0(+0x290) [0x7f%03x]\n",
		    i, i);

		stderr_tail_add(t, line, (size_t)n);
	}
	stderr_tail_add(t, "exited on signal 11", 19);
	got = stderr_tail_lines(t);
	assert_string_equal(got,
	    "MemHook: mprotect failed\nexited on signal 11");
	free(got);
	free(t);
}

/* The last STDERR_TAIL_MAX bytes, from the start of a line on. */
static void
test_long(void **state)
{
	struct stderr_tail *t = xcalloc(1, sizeof(*t));
	char line[32], *got;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int n = snprintf(line, sizeof(line), "line %d\n", i);

		stderr_tail_add(t, line, (size_t)n);
	}
	got = stderr_tail_lines(t);
	assert_true(strlen(got) <= STDERR_TAIL_MAX);
	assert_true(strlen(got) > STDERR_TAIL_MAX - 20);
	assert_int_equal(strncmp(got, "line ", 5), 0);
	assert_string_equal(got + strlen(got) - 10, "line 9999\n");
	free(got);
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < 3 * STDERR_TAIL_MAX; i++)
		stderr_tail_add(t, "x", 1); /* one line without an end */
	got = stderr_tail_lines(t);
	assert_int_equal(strlen(got), STDERR_TAIL_MAX);
	free(got);
	free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
