/* SPDX-License-Identifier: Apache-2.0 */
/* Files change between root and the user of the network process, and only the
 * files that belonged to the agent. */
#include "agents/process/own.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define AGENT 61001
#define PROBE 61002

static char dir[] = "/tmp/coalmine-XXXXXX";

static const char *
at(const char *name)
{
	static char path[4][100];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void
file_make(const char *name, uid_t uid)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, uid, uid), 0);
	close(fd);
}

static uid_t
owner(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(at(name), &st), 0);
	return st.st_uid;
}

static int
setup(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return 0;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(mkdir(at("state"), 0700), 0);
	assert_int_equal(mkdir(at("state/spool"), 0700), 0);
	file_make("state/spool/a", 0);
	file_make("state/probe", PROBE);
	file_make("key", 0);
	file_make("ca", 0);
	assert_int_equal(link(at("ca"), at("state/hard")), 0);
	assert_int_equal(symlink(at("ca"), at("state/soft")), 0);
	return 0;
}

static int
teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return geteuid() == 0 && system(command) != 0;
}

static void
test_tree(void **state)
{
	static const uid_t turns[] = { AGENT, AGENT, 0, AGENT };

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(own_tree(at("state"), turns[i], turns[i]), 0);
		assert_int_equal(owner("state"), turns[i]);
		assert_int_equal(owner("state/spool"), turns[i]);
		assert_int_equal(owner("state/spool/a"), turns[i]);
		assert_int_equal(owner("state/probe"), PROBE);
		assert_int_equal(owner("ca"), 0); /* by no link */
		assert_int_equal(owner("state/soft"), 0);
	}
	/* Root put a file there later, or an earlier change was cut short. */
	file_make("state/spool/b", 0);
	assert_int_equal(own_tree(at("state"), AGENT, AGENT), 0);
	assert_int_equal(owner("state/spool/b"), AGENT);
	assert_int_equal(own_tree(at("none"), AGENT, AGENT), -ENOENT);
}

static void
test_file(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	own_file(at("key"), AGENT, AGENT);
	assert_int_equal(owner("key"), AGENT);
	own_file(at("ca"), AGENT, AGENT); /* it has two names */
	assert_int_equal(owner("ca"), 0);
	own_file(at("state/soft"), AGENT, AGENT);
	assert_int_equal(owner("ca"), 0);
	own_file(at("state/probe"), AGENT, AGENT); /* root can read it */
	assert_int_equal(owner("state/probe"), PROBE);
	own_file(at("none"), AGENT, AGENT);
}

/* After own_end no owner can be changed. */
static void
test_end(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	file_make("late", 0);
	pid = fork();
	if (pid == 0) {
		own_end();
		_exit(chown(at("late"), AGENT, AGENT) == 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	own_file(at("late"), AGENT, AGENT);
	assert_int_equal(owner("late"), AGENT);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
