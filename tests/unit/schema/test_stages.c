/* SPDX-License-Identifier: Apache-2.0 */
/* test_stages.c - which switches a hash chooses between, and which of them a
 * path crosses. */
#include "schema/stages.h"
#include "common/xalloc.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct topology *t;
static struct stages *s;

static void
read_all(const char *text)
{
	char *copy = xstrdup(text);
	struct err err = { .text = "" };

	if (topology_read(copy, "f", &t, &err) < 0)
		fail_msg("%s", err.text);
	free(copy);
	s = stages_new(t);
}

static void
clear(void)
{
	stages_free(s);
	topology_free(t);
}

/* The stage above a leaf. */
static uint32_t
above(const char *leaf)
{
	return s->of_switch[topology_find_switch(t, leaf)];
}

static void
test_two_tiers(void **state)
{
	(void)state;
	read_all("l1 n[1-2] up=s[1-2]*2\nl2 n[3-4] up=s[2-4]\nl3 n5 up=s4\n"
		 "l4 n6\n");
	assert_int_equal(s->count, 1);
	assert_true(stages_are_named(s));
	assert_string_equal(s->list[0].switches, "s[1-4]");
	assert_int_equal(s->list[0].switch_count, 4);
	assert_int_equal(s->list[0].links, 8);
	assert_int_equal(s->list[0].tier, 2);
	assert_int_equal(above("l3"), 0);
	assert_int_equal(above("l4"), STAGE_NONE);
	assert_true(stages_cross(s, 0, 0, 0));
	/* unknown path to others */
	assert_false(stages_cross(s, 0, 0, STAGE_NONE));
	assert_false(stages_cross(s, 0, STAGE_NONE, STAGE_NONE));
	clear();
}

static void
test_pods(void **state)
{
	uint32_t p1, p2, q, core, far;

	(void)state;
	/* planes of cores, which the pods join; and a fabric apart */
	read_all("a1 n1 up=s[1-2]\na2 n2 up=s[1-2]\nb1 n3 up=s[3-4]\n"
		 "b2 n4 up=s[3-4]\ns1 - up=c[1-2]\ns2 - up=c[3-4]\n"
		 "s3 - up=c[1-2]\ns4 - up=c[3-4]\nx1 n5 up=y1\nx2 n6 up=y1\n");
	p1 = above("a1");
	p2 = above("b2");
	q = above("x1");
	core = s->list[p1].above;
	assert_int_equal(s->count, 4);
	assert_int_equal(p1, above("a2"));
	assert_int_not_equal(p1, p2);
	assert_int_equal(core, s->list[p2].above);
	assert_string_equal(s->list[p1].switches, "s[1-2]");
	assert_string_equal(s->list[p2].switches, "s[3-4]");
	assert_string_equal(s->list[core].switches, "c[1-4]");
	assert_int_equal(s->list[core].links, 8);
	assert_int_equal(s->list[q].above, STAGE_NONE);
	assert_true(stages_cross(s, p1, p1, p1));
	assert_false(stages_cross(s, core, p1, p1));
	assert_false(stages_cross(s, p2, p1, p1));
	for (int back = 0; back < 2; back++) {
		uint32_t a = back ? p2 : p1, b = back ? p1 : p2;

		assert_true(stages_cross(s, p1, a, b));
		assert_true(stages_cross(s, p2, a, b));
		assert_true(stages_cross(s, core, a, b));
		assert_false(stages_cross(s, q, a, b));
	}
	far = q;
	assert_false(stages_cross(s, core, p1, far));
	assert_true(stages_lead(s, p2, core));
	assert_false(stages_lead(s, q, core));
	clear();
}

static void
test_none(void **state)
{
	(void)state;
	read_all("l1 n[1-2]\nl2 n3\n");
	assert_int_equal(s->count, 1);
	assert_false(stages_are_named(s));
	assert_true(stages_cross(s, 0, 0, 0));
	clear();
	/* a file may contain cycles */
	read_all("l1 n1 up=a\na - up=b\nb - up=a\n");
	assert_false(stages_cross(s, 0, 0, STAGE_NONE));
	assert_false(stages_lead(s, above("l1"), 99));
	clear();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_tiers),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
