/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"

#define LOG_LINE_MAX 4096
#define FATAL_STATUS 3

static char got[2 * LOG_LINE_MAX];

/* Run body in a child whose stderr is a pipe. Return its exit status; its
 * output is in got. */
static int
child(void (*body)(void))
{
	size_t len = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	got[len] = '\0';
	close(fds[0]);
	assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
say_levels(void)
{
	log_init("prog", LOG_LEVEL_INFO);
	log_warnx("node %d: slow", 3);
	log_debug("unseen");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("seen");
	errno = ENOENT;
	log_warn("/x");
	if (errno != ENOENT)
		log_warnx("errno changed");
}

static void
test_lines(void **state)
{
	(void)state;
	assert_int_equal(child(say_levels), 0);
	assert_string_equal(got,
	    "prog: node 3: slow\nprog: seen\n"
	    "prog: /x: No such file or directory\n");
}

static void
say_hostile(void)
{
	log_init("prog", LOG_LEVEL_INFO);
	log_info("peer says %s", "a\nprog: forged\x1b[31m\x7f");
}

static void
test_no_forged_lines(void **state)
{
	(void)state;
	child(say_hostile);
	assert_string_equal(got, "prog: peer says a prog: forged [31m \n");
}

static void
say_long(void)
{
	static char text[3 * LOG_LINE_MAX];

	memset(text, 'x', sizeof(text) - 1);
	log_init("prog", LOG_LEVEL_INFO);
	log_info("%s", text);
	log_info("next");
}

static void
test_long_line_is_cut(void **state)
{
	const char *end;

	(void)state;
	child(say_long);
	end = strchr(got, '\n');
	assert_non_null(end);
	assert_true(end - got < LOG_LINE_MAX);
	assert_memory_equal(end - 3, "...", 3);
	assert_string_equal(end + 1, "prog: next\n");
}

static void
say_journal(void)
{
	char stream[64];
	struct stat st;

	fstat(STDERR_FILENO, &st);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_init("prog", LOG_LEVEL_TRACE);
	log_warnx("w");
	log_info("i");
	log_trace("t");
	setenv("JOURNAL_STREAM", "1:1", 1); /* the stream of another service */
	log_init("prog", LOG_LEVEL_TRACE);
	log_info("i");
}

static void
test_journal(void **state)
{
	(void)state;
	child(say_journal);
	assert_string_equal(got, "<4>w\n<6>i\n<7>t\nprog: i\n");
}

static void
hook(void)
{
	log_warnx("hook");
}

static void
be_fatal(void)
{
	log_init("prog", LOG_LEVEL_ERROR);
	log_set_fatal_hook(hook);
	log_set_level(LOG_LEVEL_WARN);
	fatalx("no %s", "way");
}

static void
test_fatal(void **state)
{
	(void)state;
	assert_int_equal(child(be_fatal), FATAL_STATUS);
	assert_string_equal(got, "prog: no way\nprog: hook\n");
}

static void
test_level_parse(void **state)
{
	enum log_level level = LOG_LEVEL_MAX;

	(void)state;
	assert_int_equal(log_level_parse("error", &level), 0);
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_int_equal(log_level_parse("trace", &level), 0);
	assert_int_equal(level, LOG_LEVEL_TRACE);
	assert_int_equal(log_level_parse("Info", &level), -EINVAL);
	assert_int_equal(level, LOG_LEVEL_TRACE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_forged_lines),
		cmocka_unit_test(test_long_line_is_cut),
		cmocka_unit_test(test_journal),
		cmocka_unit_test(test_fatal),
		cmocka_unit_test(test_level_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
