/* SPDX-License-Identifier: Apache-2.0 */
/* test_shape_cache.c - a stored choice is found again by all parameters that it
 * depends on. */
#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "probes/tune/shape_cache.h"
#include "common/member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_shapes.XXXXXX";
static char table[64];
static struct err err;

static const struct shape_cache_key base = { "lab", "collective name=broadcast",
	24, 20 };

static void
test_class(void **state)
{
	(void)state;
	assert_int_equal(shape_cache_class(0), 0);
	assert_int_equal(shape_cache_class(1), 0);
	assert_int_equal(shape_cache_class(2), 1);
	assert_int_equal(shape_cache_class(1048575), 19);
	assert_int_equal(shape_cache_class(1048576), 20);
	assert_int_equal(shape_cache_class(2097151), 20);
	assert_int_equal(shape_cache_class(9223372036854775808.0), 63);
}

static void
keep(const struct shape_cache_key *key, const char *choice)
{
	json_t *o = shape_cache_record(key, 1500000.0);

	json_object_set_new(o, "choice", json_string(choice));
	assert_int_equal(shape_cache_keep(table, o, &err), 0);
	assert_null(json_object_get(o, "run")); /* the caller's is as it was */
	json_decref(o);
}

/* NULL: not found. */
static void
found(const struct shape_cache_key *key, const char *choice)
{
	json_t *o = NULL;

	if (shape_cache_find(table, key, &o, &err) < 0)
		fail_msg("%s", err.text);
	if (choice == NULL) {
		assert_null(o);
		return;
	}
	assert_non_null(o);
	assert_string_equal(member_text(o, "choice"), choice);
	assert_string_equal(member_text(o, "why"), "measured");
	assert_true(json_is_array(json_object_get(o, "tried")));
	assert_int_equal(json_integer_value(json_object_get(o, "bytes")),
	    1500000);
	json_decref(o);
}

/* Every part of the key counts, and of equal ones the last line. */
static void
test_keep_and_find(void **state)
{
	struct shape_cache_key other[] = { base, base, base, base };

	(void)state;
	other[0].machine = "mist";
	other[1].asked = "collective name=broadcast type=float";
	other[2].ranks = 48;
	other[3].size_class = 21;
	unlink(table);
	found(&base, NULL);
	keep(&base, "ring=1");
	found(&base, "ring=1");
	for (int i = 0; i < 4; i++) {
		found(&other[i], NULL);
		keep(&other[i], "depth=8");
		found(&other[i], "depth=8");
	}
	found(&base, "ring=1");
	keep(&base, "ring=4");
	found(&base, "ring=4");
}

static void
append(const char *text)
{
	FILE *fp = fopen(table, "ae");

	assert_non_null(fp);
	assert_true(fputs(text, fp) >= 0);
	assert_int_equal(fclose(fp), 0);
}

static void
refused(const char *words)
{
	char want[400];
	json_t *o = NULL;

	assert_true(shape_cache_find(table, &base, &o, &err) < 0);
	assert_null(o);
	snprintf(want, sizeof(want), "%s%s", table, words);
	if (strncmp(err.text, want, strlen(want)) != 0)
		fail_msg("\"%s\" does not start with \"%s\"", err.text, want);
}

/* A record of another kind is skipped; a malformed one ends the search with its
 * place, even after a match. */
static void
test_damaged(void **state)
{
	(void)state;
	unlink(table);
	keep(&base, "ring=1");
	append("{\"run\":\"x\",\"seq\":1,\"probe\":\"end\",\"status\":\"ok\","
	       "\"cause\":\"none\",\"records\":2}\n");
	found(&base, "ring=1");
	append("{\"probe\":\"tuning\"}\n");
	refused(":3: run is missing");
	unlink(table);
	append("ring=1\n");
	refused(":1: ");
}

/* Files that cannot be read or written. */
static void
test_files(void **state)
{
	json_t *o = shape_cache_record(&base, 8);

	(void)state;
	unlink(table);
	assert_int_equal(mkfifo(table, 0600), 0);
	refused(": expected a regular file");
	unlink(table);
	assert_int_equal(shape_cache_keep("/dev/full", o, &err), -ENOSPC);
	assert_string_equal(err.text, "/dev/full: No space left on device");
	assert_int_equal(shape_cache_keep("/nonexistent/t", o, &err), -ENOENT);
	json_decref(o);
}

static int
folder_make(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(table, sizeof(table), "%s/table", dir);
	return 0;
}

static int
folder_end(void **state)
{
	(void)state;
	unlink(table);
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_keep_and_find),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_end);
}
