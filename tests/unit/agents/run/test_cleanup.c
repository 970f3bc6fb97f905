/* SPDX-License-Identifier: Apache-2.0 */
/* Root deletes no files in a folder that another user can write to. */
#include "agents/run/cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/coalmine-XXXXXX";

static const char *
in_dir(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
touch(const char *name)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static void
test_swapped(void **state)
{
	struct agent ag = { .child_uid = 65534, .child_gid = 65534, .uid = -1 };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0711), 0);
	assert_int_equal(mkdir(in_dir("tmp"), 0700), 0);
	assert_int_equal(chown(in_dir("tmp"), 65534, 65534), 0);
	touch(CLEANUP_MARK);
	touch("stdout");
	touch("tmp/theirs");
	/* as if the path led here through a link in a folder of another user */
	assert_int_equal(mkdir(in_dir("tmp/root"), 0755), 0);
	touch("tmp/root/keep");
	cleanup_run_dir(&ag, NULL, dir);
	assert_int_equal(access(in_dir("tmp/root/keep"), F_OK), 0);
	assert_int_not_equal(access(in_dir("tmp/theirs"), F_OK), 0);
	assert_int_not_equal(access(in_dir("stdout"), F_OK), 0);
	assert_int_equal(unlink(in_dir("tmp/root/keep")), 0);
	assert_int_equal(rmdir(in_dir("tmp/root")), 0);
	touch(CLEANUP_MARK);
	cleanup_run_dir(&ag, NULL, dir);
	assert_int_not_equal(access(dir, F_OK), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_swapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
