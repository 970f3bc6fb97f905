/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/log.h"
#include "probes/job/emit.h"
#include "schema/record.h"

static char path[64];

static int
setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_emit.XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return unlink(path);
}

/* Line number n of the file, which must be a record. */
static json_t *
line(int n)
{
	FILE *fp = fopen(path, "re");
	struct record_head head;
	char *text = NULL;
	struct err err;
	size_t cap = 0;
	ssize_t len = 0;
	json_t *record;

	while (n-- >= 0)
		len = getline(&text, &cap, fp);
	fclose(fp);
	assert_true(len > 0 && text[len - 1] == '\n');
	if (record_parse(text, (size_t)len - 1, &record, &head, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	return record;
}

static void
expect(int n, const char *probe, json_int_t seq)
{
	json_t *r = line(n);

	assert_string_equal(json_string_value(json_object_get(r, "probe")),
	    probe);
	assert_string_equal(json_string_value(json_object_get(r, "run")),
	    "r-1");
	assert_int_equal(json_integer_value(json_object_get(r, "seq")), seq);
	json_decref(r);
}

static json_t *
phase(void)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i}", "probe", "phase", "event",
	    "begin", "phase", "wild", "visit", 1, "visits", 1);
}

/* Progress records have no number. */
static void
test_numbers(void **state)
{
	struct emit *e;

	(void)state;
	assert_int_equal(emit_open(path, "r-1", &e), 0);
	emit_put(e, phase());
	emit_put(e, json_pack("{s:s, s:f}", "probe", "progress", "share", 0.5));
	emit_put(e, phase());
	assert_int_equal(emit_count(e), 2);
	emit_close(e);
	expect(0, "phase", 1);
	expect(1, "progress", 0);
	expect(2, "phase", 2);
}

/* Without a file numbers are given all the same. */
static void
test_nowhere(void **state)
{
	struct emit *e;

	(void)state;
	assert_int_equal(emit_open(NULL, "r-1", &e), 0);
	emit_put(e, phase());
	assert_int_equal(emit_count(e), 1);
	emit_close(e);
	emit_close(NULL);
}

static void
test_no_such_folder(void **state)
{
	struct emit *e = NULL;

	(void)state;
	assert_int_equal(emit_open("/nonexistent/records", "r-1", &e), -ENOENT);
	assert_null(e);
}

static void *
read_all(void *arg)
{
	char buf[4096];
	size_t *got = arg;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		*got += (size_t)n;
	close(fd);
	return NULL;
}

/* A pipe waits for its reader, and gets everything before it is closed. */
static void
test_pipe(void **state)
{
	struct emit *e;
	pthread_t reader;
	size_t got = 0;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all, &got), 0);
	assert_int_equal(emit_open(path, "r-1", &e), 0);
	for (int i = 0; i < 5000; i++)
		emit_put(e, phase());
	emit_close(e);
	pthread_join(reader, NULL);
	assert_true(got > 5000 * 80);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_no_such_folder),
		cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
	};

	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
