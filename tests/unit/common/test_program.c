/* SPDX-License-Identifier: Apache-2.0 */
/* test_program.c - the environment of a started program, calls of libraries,
 * and exit statuses. */
#include <sys/wait.h>

#include "common/plugin.h"
#include "common/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

/* Signals 32 and 33 are reserved by the thread library, and ignored in programs
 * that it starts. */
#define LIBC_SIGNALS (3UL << 31)

static char *no_env[] = { NULL };

/* Run a script to its end: return its exit status, and the output of both
 * streams. */
static int
run(const char *script, char *const *env, char ret_text[1000])
{
	char sh[] = "sh", c[] = "-c", text[1000];
	char *argv[] = { sh, c, text, NULL };
	FILE *out = tmpfile();
	size_t n;
	pid_t pid;
	int status;

	snprintf(text, sizeof(text), "%s", script);
	assert_int_equal(program_start(argv, env, fileno(out), fileno(out),
			     &pid),
	    0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rewind(out);
	n = fread(ret_text, 1, 999, out);
	ret_text[n] = '\0';
	fclose(out);
	return program_exit(status);
}

static void
test_exit(void **state)
{
	char text[1000];

	(void)state;
	assert_int_equal(run("exit 7", no_env, text), 7);
	assert_int_equal(run("kill -9 $$", no_env, text), 137);
	assert_int_equal(run("echo a; echo b >&2", no_env, text), 0);
	assert_string_equal(text, "a\nb\n");
}

/* The child has an empty standard input, only the given environment, without
 * the addresses of our service manager, and its own process group. */
static void
test_surroundings(void **state)
{
	char name[] = "NAME=value", text[1000];
	char secret[] = "CREDENTIALS_DIRECTORY=/x",
	     notify[] = "NOTIFY_SOCKET=y";
	char *env[] = { secret, name, notify, NULL };
	int leader, group;

	(void)state;
	setenv("PARENT", "seen", 1);
	assert_int_equal(run("cat; echo $NAME:$PARENT", env, text), 0);
	assert_string_equal(text, "value:\n");
	assert_int_equal(run("echo $CREDENTIALS_DIRECTORY$NOTIFY_SOCKET", env,
			     text),
	    0);
	assert_string_equal(text, "\n");
	assert_int_equal(run("cut -d' ' -f1,5 /proc/$$/stat", no_env, text), 0);
	assert_int_equal(sscanf(text, "%d %d", &leader, &group), 2);
	assert_int_equal(leader, group);
	assert_int_not_equal(group, getpgrp());
}

/* A parent that ignores and blocks does so for itself alone. */
static void
test_signals(void **state)
{
	char text[1000];
	unsigned long blocked = 1, ignored = 1;
	sigset_t usr1, old;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &old);
	signal(SIGPIPE, SIG_IGN);
	run("sed -n 's/^Sig[BI][lg][kn]:.//p' /proc/self/status", no_env, text);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(sscanf(text, "%lx %lx", &blocked, &ignored), 2);
	assert_int_equal(blocked & ~LIBC_SIGNALS, 0);
	assert_int_equal(ignored & ~LIBC_SIGNALS, 0);
}

static void
test_null_outputs(void **state)
{
	char sh[] = "sh", c[] = "-c", *argv[] = { sh, c, NULL, NULL };
	char text[] = "[ $(readlink /proc/$$/fd/1) = /dev/null ] && "
		      "[ $(readlink /proc/$$/fd/2) = /dev/null ]";
	int status;
	pid_t pid;

	(void)state;
	argv[2] = text;
	assert_int_equal(program_start(argv, no_env, -1, -1, &pid), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(program_exit(status), 0);
}

/* The files of a process without standard input begin at descriptor 0. */
static void
test_low_files(void **state)
{
	char sh[] = "sh", c[] = "-c", text[] = "cat; echo a; echo b >&2";
	char *argv[] = { sh, c, text, NULL }, got[16] = "";
	FILE *out = tmpfile();
	int keep = dup(0), status;
	pid_t pid;

	(void)state;
	assert_int_equal(dup2(fileno(out), 0), 0);
	assert_int_equal(program_start(argv, no_env, 0, 0, &pid), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(dup2(keep, 0), 0);
	close(keep);
	rewind(out);
	assert_int_equal(fread(got, 1, sizeof(got), out), 4);
	assert_memory_equal(got, "a\nb\n", 4);
	fclose(out);
}

static double
test_none(double x)
{
	return x;
}

static void
test_absent(void **state)
{
	char name[] = "/nowhere/at-all", *argv[] = { name, NULL };
	pid_t pid;

	(void)state;
	assert_int_equal(program_start(argv, no_env, -1, -1, &pid), -ENOENT);
}

/* A library that lacks a required call changes nothing. */
static void
test_library(void **state)
{
	struct math {
		double (*cos)(double x), (*newer)(double x);
	} m = { NULL, test_none };
	struct plugin_call calls[] = {
		PLUGIN_CALL(struct math, cos, "cos", 1),
		PLUGIN_CALL(struct math, newer, "of_another_time", 1),
	};
	struct err err;

	(void)state;
	assert_null(plugin_calls("libno.so.0", calls, 2, &m, &err));
	assert_non_null(strstr(err.text, "libno.so.0: "));
	assert_null(plugin_calls("libm.so.6", calls, 2, &m, &err));
	assert_string_equal(err.text,
	    "libm.so.6 is too old: function of_another_time is missing");
	assert_null(m.cos);
	assert_non_null(m.newer);
	calls[1].must = 0;
	assert_non_null(plugin_calls("libm.so.6", calls, 2, &m, &err));
	assert_true(m.cos(0) == 1);
	assert_null(m.newer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_null_outputs),
		cmocka_unit_test(test_low_files),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
