/* SPDX-License-Identifier: Apache-2.0 */
/* test_file.c - which files are read, up to which size, and which are never
 * opened. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

#define READ_BYTES 16384 /* that file.c reads at once */

static char dir[] = "/tmp/test_file.XXXXXX";
static char path[200], want[400];
static struct err err;

static const char *
named(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
put(const char *name, const char *text, size_t len)
{
	FILE *fp = fopen(named(name), "we");

	assert_non_null(fp);
	assert_int_equal(fwrite(text, 1, len, fp), len);
	assert_int_equal(fclose(fp), 0);
}

/* All three functions reject it alike, and leave their outputs unchanged. */
static void
refused(const char *name, int rc, const char *words)
{
	const char *at = name[0] == '/' ? name : named(name);
	char *text = NULL;
	FILE *fp = NULL;
	size_t len = 7;

	snprintf(want, sizeof(want), "%s: %s", at, words);
	assert_int_equal(file_open(at, &fp, &err), rc);
	assert_string_equal(err.text, want);
	assert_int_equal(file_check(at, &err), rc);
	err.text[0] = '\0';
	assert_int_equal(file_read(at, 1000, &text, &len, &err), rc);
	assert_string_equal(err.text, want);
	assert_true(fp == NULL && text == NULL && len == 7);
}

/* Around the sizes at which room grows and at which it ends. */
static void
test_read(void **state)
{
	static const size_t sizes[] = { 0, 1, READ_BYTES - 2, READ_BYTES - 1,
		READ_BYTES, READ_BYTES + 1, 4 * READ_BYTES + 3 };
	char *big = xcalloc(5 * READ_BYTES, 1);

	(void)state;
	for (size_t i = 0; i < 5 * READ_BYTES; i++)
		big[i] = (char)(i * 7); /* NULs among them */
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char *text = NULL;
		size_t len = 0;

		put("plain", big, sizes[i]);
		assert_int_equal(file_check(path, &err), 0);
		assert_int_equal(file_read(path, sizes[i], &text, &len, &err),
		    0);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(text, big, len);
		assert_int_equal(text[len], 0);
		free(text);
		text = NULL;
		if (sizes[i] == 0)
			continue;
		assert_int_equal(file_read(path, sizes[i] - 1, &text, &len,
				     &err),
		    -EFBIG);
		assert_non_null(strstr(err.text, "/plain: File too large"));
		assert_null(text);
	}
	free(big);
}

static void
test_refused(void **state)
{
	static const char words[] =
	    "expected a regular file, not a pipe or a device";
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(mkfifo(named("pipe"), 0600), 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s", named("socket"));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	refused("pipe", -ENOTSUP, words);
	refused("socket", -ENOTSUP, words);
	refused("/dev/zero", -ENOTSUP, words);
	refused(dir, -EISDIR, "Is a directory");
	refused("nothing", -ENOENT, "No such file or directory");
	close(fd);
}

/* As --config /dev/null: the defaults, and no file to write for them. */
static void
test_null_device(void **state)
{
	char *text = NULL;
	size_t len = 7;

	(void)state;
	assert_int_equal(file_check("/dev/null", &err), 0);
	assert_int_equal(file_read("/dev/null", 1000, &text, &len, &err), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	free(text);
}

/* A link counts as its target. */
static void
test_links(void **state)
{
	char to[200];

	(void)state;
	put("plain", "x", 1);
	snprintf(to, sizeof(to), "%s", path);
	assert_int_equal(symlink(to, named("link")), 0);
	assert_int_equal(file_check(path, &err), 0);
	assert_int_equal(symlink("pipe", named("bent")), 0);
	refused("bent", -ENOTSUP,
	    "expected a regular file, not a pipe or a device");
}

static int
folder_make(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
folder_end(void **state)
{
	static const char *const names[] = { "plain", "pipe", "socket", "link",
		"bent" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unlink(named(names[i]));
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_null_device),
		cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_end);
}
