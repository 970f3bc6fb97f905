/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion, folding, limits, order; random lists read back as written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"

#include <setjmp.h>
#include <cmocka.h>

#include "common/rng.h"

/* names joined with blanks; the caller frees. */
static char *
expanded(const char *text)
{
	struct hostlist hl;
	struct strbuf sb = { 0 };
	struct err err = { 0 };
	int rc = hostlist_parse(text, &hl, &err);

	if (rc < 0)
		return xasprintf("%d %s", rc, err.text);
	for (size_t i = 0; i < hl.count; i++)
		strbuf_addf(&sb, "%s%s", i == 0 ? "" : " ", hl.names[i]);
	hostlist_clear(&hl);
	return sb.text;
}

static void
test_expand(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "a", "a" },
		{ "n[1-3]", "n1 n2 n3" },
		{ "n[001-003,020],login1", "n001 n002 n003 n020 login1" },
		{ "n[08-11]", "n08 n09 n10 n11" },
		{ "n[9-11]-ib", "n9-ib n10-ib n11-ib" },
		{ "r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2" },
		{ "b,a,b", "b a" },
		{ " a , n[1] ", "a n1" },
		{ "n[0]", "n0" },
		{ "n[3,1]", "n3 n1" },
		{ "", "-22 missing host name at character 1" },
		{ "a,", "-22 missing host name at character 3" },
		{ "a,,b", "-22 missing host name at character 3" },
		{ "n[1", "-22 [ without ] at character 2" },
		{ "n[]",
		    "-22 expected a number of at most 18 digits at "
		    "character 3" },
		{ "n[1-]",
		    "-22 expected a number of at most 18 digits at "
		    "character 5" },
		{ "n[3-1]", "-22 the range is descending at character 5" },
		{ "n[1;2]",
		    "-22 expected a digit, '-', ',' or ']' at "
		    "character 4" },
		{ "-n",
		    "-22 invalid host name \"-n\": expected letters, digits, . "
		    "- _ at character 1" },
		{ "a b",
		    "-22 invalid host name \"a b\": expected letters, digits, "
		    ". - _ at character 1" },
		{ "n]",
		    "-22 invalid host name \"n]\": expected letters, digits, . "
		    "- _ at character 1" },
		{ "n[1-65537]", "-7 more than 65536 hosts at character 5" },
		{ "n[1-40000],m[1-40000]", "-7 more than 65536 hosts" },
		{ "a[1][1][1][1][1]", "a11111" },
		{ "a[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]",
		    "-22 more than 16 brackets at character 50" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *got = expanded(cases[i].text);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

static void
test_fold(void **state)
{
	/* Each folds to itself when expanded first. */
	static const char *const same[] = { "n[1-3]", "n[001-003,020],login1",
		"n[9-11]-ib", "a,b,c", "n[3,1]", "n1,m1", "r[1-2]n1,x",
		"r[1-2]n[1-4]", "n[08-11]", "r1n[1-4],r2n[1-5]",
		"r1n[1-2],s1n[1-2]", "r[1-2]n[1-2]c[1-2]", "n9,n010",
		"n1-ib0,n2-ib1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		struct hostlist hl;
		char *text;

		assert_int_equal(hostlist_parse(same[i], &hl, NULL), 0);
		text = hostlist_format((const char *const *)hl.names, hl.count);
		assert_string_equal(text, same[i]);
		free(text);
		hostlist_clear(&hl);
	}
}

/* HPE Cray EX has five numbers in a name; a machine of 10,624 nodes. */
static void
test_cray(void **state)
{
	static const char text[] = "x[4000-4165]c[0-7]s[0-3]b0n[0-1]";
	struct hostlist hl;
	char *folded;

	(void)state;
	assert_int_equal(hostlist_parse("x[1000-1001]c[0-7]s[0-7]b[0-1]n[0-1]",
			     &hl, NULL),
	    0);
	assert_int_equal(hl.count, 512);
	assert_string_equal(hl.names[0], "x1000c0s0b0n0");
	assert_string_equal(hl.names[511], "x1001c7s7b1n1");
	folded = hostlist_format((const char *const *)hl.names, hl.count);
	assert_string_equal(folded, "x[1000-1001]c[0-7]s[0-7]b[0-1]n[0-1]");
	free(folded);
	hostlist_clear(&hl);
	assert_int_equal(hostlist_parse(text, &hl, NULL), 0);
	assert_int_equal(hl.count, 166 * 64);
	folded = hostlist_format((const char *const *)hl.names, hl.count);
	assert_string_equal(folded, text);
	free(folded);
	hostlist_clear(&hl);
}

/* Whatever is folded expands to the same names in the same order. */
static void
test_round_trip(void **state)
{
	uint64_t seed = rng_entropy();
	struct rng r;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	rng_seed(&r, seed);
	for (int round = 0; round < 300; round++) {
		static const struct {
			const char *head;
			int width;
			const char *tail;
		} shapes[] = { { "n", 0, "" }, { "n", 3, "" },
			{ "r1n", 0, "-ib" }, { "r", 0, "n7" }, { "r", 0, "n8" },
			{ "r2n", 0, "" }, { "", 2, "" } };
		struct hostlist first, second;
		struct strbuf sb = { 0 };
		char *folded;

		for (int i = 0; i < 40; i++) {
			size_t s = rng_below(&r, ARRAY_LEN(shapes));

			strbuf_addf(&sb, "%s%s%0*d%s", i == 0 ? "" : ",",
			    shapes[s].head, shapes[s].width,
			    (int)rng_below(&r, 120), shapes[s].tail);
		}
		assert_int_equal(hostlist_parse(sb.text, &first, NULL), 0);
		folded = hostlist_format((const char *const *)first.names,
		    first.count);
		assert_int_equal(hostlist_parse(folded, &second, NULL), 0);
		assert_int_equal(first.count, second.count);
		for (size_t i = 0; i < first.count; i++)
			assert_string_equal(first.names[i], second.names[i]);
		free(folded);
		strbuf_clear(&sb);
		hostlist_clear(&first);
		hostlist_clear(&second);
	}
}

static void
test_full_size(void **state)
{
	struct hostlist hl;
	char *text;

	(void)state;
	assert_int_equal(hostlist_parse("n[00001-65536]", &hl, NULL), 0);
	assert_int_equal(hl.count, HOSTLIST_MAX);
	assert_true(hostlist_has(&hl, "n65536"));
	assert_false(hostlist_has(&hl, "n65537"));
	text = hostlist_format((const char *const *)hl.names, hl.count);
	assert_string_equal(text, "n[00001-65536]");
	free(text);
	hostlist_clear(&hl);
	hostlist_clear(&hl); /* a second time is harmless */
}

static void
test_compare(void **state)
{
	static const char *const order[] = { "a", "a1", "a01", "a2", "a10",
		"a10b", "b", "b2n9", "b2n10", "b10n1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		for (size_t j = 0; j < ARRAY_LEN(order); j++) {
			int c = hostlist_compare(order[i], order[j]);

			if (i == 1 || j == 1 || i == 2 || j == 2)
				assert_int_equal(c == 0, i == j);
			else
				assert_int_equal((c > 0) - (c < 0),
				    (i > j) - (i < j));
		}
	assert_true(
	    hostlist_compare("a1", "a01") * hostlist_compare("a01", "a1") < 0);
}

static void
test_names(void **state)
{
	char longest[HOSTLIST_NAME_MAX + 2];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[HOSTLIST_NAME_MAX] = '\0';
	assert_int_equal(hostlist_name_check(longest), 0);
	longest[HOSTLIST_NAME_MAX] = 'x';
	longest[HOSTLIST_NAME_MAX + 1] = '\0';
	assert_int_equal(hostlist_name_check(longest), -EINVAL);
	assert_int_equal(hostlist_name_check("n1.a-b_c"), 0);
	assert_int_equal(hostlist_name_check("../x"), -EINVAL);
	assert_int_equal(hostlist_name_check("a/b"), -EINVAL);
	assert_int_equal(hostlist_name_check("\xc3\xa4"), -EINVAL);
	assert_int_equal(hostlist_name_check(""), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_cray),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_full_size),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
