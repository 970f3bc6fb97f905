/* SPDX-License-Identifier: Apache-2.0 */
/* test_command.c - a program is run, timed and ended, and inherits nothing of
 * ours. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/job/command.h"

static struct command_result
run(const char *script, uint64_t timeout_ns)
{
	char sh[] = "sh", c[] = "-c", *text = xstrdup(script);
	char extra[] = "COALMINE_PHASE=wild";
	char *argv[] = { sh, c, text, NULL }, *env[] = { extra, NULL };
	struct command_ask ask = { argv, env, timeout_ns, NULL };
	struct command_result res;

	command_run(&ask, &res);
	free(text);
	return res;
}

#define LONG_NS (60 * CLK_NS_PER_S)

static void
test_ends(void **state)
{
	struct command_result r;

	(void)state;
	r = run("sleep 0.2", LONG_NS);
	assert_int_equal(r.status, 0);
	assert_false(r.timed_out);
	assert_true(r.elapsed_s >= 0.2 && r.elapsed_s < 30);
	assert_string_equal(r.tail, "");
	r = run("echo out; printf 'a\\n\\tb\\001\\n' >&2; exit 5", LONG_NS);
	assert_int_equal(r.status, 5);
	assert_string_equal(r.tail, "a  b");
	r = run("kill -9 $$", LONG_NS);
	assert_int_equal(r.status, 137);
}

/* The last words count, however many there are. */
static void
test_tail(void **state)
{
	struct command_result r;

	(void)state;
	r = run("i=0; while [ $i -lt 9999 ]; do echo line $i; i=$((i+1)); "
		"done >&2; exit 1",
	    LONG_NS);
	assert_int_equal(strlen(r.tail), COMMAND_TAIL_BYTES - 2);
	assert_non_null(strstr(r.tail, "line 9997 line 9998"));
}

static void
test_timeout(void **state)
{
	struct command_result r;

	(void)state;
	r = run("sleep 100 & echo $! >&2; sleep 100", CLK_NS_PER_S / 5);
	assert_true(r.timed_out);
	assert_int_equal(r.status, 137);
	assert_true(r.elapsed_s < 60);
	/* gone, or about to be reaped by another */
	for (int i = 0; i < 1000 && kill(atoi(r.tail), 0) == 0; i++) {
		char path[40], word[40] = "";
		FILE *fp;

		snprintf(path, sizeof(path), "/proc/%d/stat", atoi(r.tail));
		fp = fopen(path, "re");
		if (fp == NULL || fscanf(fp, "%*d %*s %39s", word) != 1 ||
		    word[0] == 'Z')
			i = 1000;
		if (fp != NULL)
			fclose(fp);
		clk_sleep_ns(10 * CLK_NS_PER_MS);
		assert_int_not_equal(i, 999);
	}
}

static void
test_environment(void **state)
{
	struct command_result r;

	(void)state;
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	setenv("SLURM_PROCID", "1", 1);
	setenv("SLURM_JOB_ID", "12", 1);
	setenv("COALMINE_RANK_WATCH", "/x", 1);
	r = run("[ -z "
		"\"$OMPI_COMM_WORLD_RANK$SLURM_PROCID$COALMINE_RANK_WATCH\" ]"
		" && [ \"$SLURM_JOB_ID $COALMINE_PHASE\" = '12 wild' ]",
	    LONG_NS);
	assert_int_equal(r.status, 0);
}

static void
test_missing(void **state)
{
	char path[] = "/nowhere/app", *argv[] = { path, NULL };
	char *env[] = { NULL };
	struct command_ask ask = { argv, env, LONG_NS, NULL };
	struct command_result r;

	(void)state;
	command_run(&ask, &r);
	assert_int_equal(r.status, 127);
	assert_string_equal(r.tail, "/nowhere/app: No such file or directory");
}

static void
test_words(void **state)
{
	char **words = command_words("  /x/a  b\tc ");

	(void)state;
	assert_string_equal(words[0], "/x/a");
	assert_string_equal(words[1], "b");
	assert_string_equal(words[2], "c");
	assert_null(words[3]);
	command_words_free(words);
	words = command_words("a");
	assert_string_equal(words[0], "a");
	assert_null(words[1]);
	command_words_free(words);
	command_words_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
