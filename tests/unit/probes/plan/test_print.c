/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact text of list and matrix; json and svg as far as a reader needs.
 */
#include "probes/plan/print.h"

#include <errno.h>

#include <jansson.h>

#include "probes/plan/print.h"
#include "tests/unit/probes/plan/cases.h"

static char *
printed(const struct plan *p, const char *format)
{
	static char text[65536];
	FILE *fp = fmemopen(text, sizeof(text), "w");

	assert_non_null(fp);
	assert_int_equal(print_find(format)->print(p, fp), 0);
	fclose(fp);
	return text;
}

static struct plan *
sample(void)
{
	struct plan *p = plan_new(2, "a \"sample\" <1>");
	uint16_t send = plan_buf_add(p, "send", PLAN_IN);
	uint16_t temp = plan_buf_add(p, "temp", PLAN_TEMP);
	const struct plan_place in[] = { { 0, send }, { 16, temp } };

	plan_transfer_add(p,
	    &(struct plan_transfer){ .step = 1,
		.src = 1,
		.dst = 1,
		.from = temp,
		.to = temp,
		.to_off = 8,
		.bytes = 4 });
	plan_transfer_add(p,
	    &(struct plan_transfer){ .src = 0,
		.dst = 1,
		.from = send,
		.to = temp,
		.from_off = 8,
		.bytes = 8,
		.via = PLAN_VIA_IPC_GET });
	plan_local_add(p,
	    &(struct plan_local){ .rank = 1,
		.to = temp,
		.to_off = 24,
		.bytes = 8,
		.op = PLAN_SUM,
		.type = PLAN_DOUBLE },
	    in, 2);
	plan_local_add(p,
	    &(struct plan_local){ .rank = 0,
		.step = 1,
		.to = temp,
		.bytes = 8,
		.type = PLAN_BYTE },
	    in, 1);
	plan_note_add(p, "volume", "bytes", 12);
	plan_sort(p);
	return p;
}

static void
test_list(void **state)
{
	struct plan *p = sample();

	(void)state;
	assert_string_equal(printed(p, "list"),
	    "0 0 1 send+8 temp+0 8 ipc-get\n"
	    "0 reduce 1 send+0,temp+16 temp+24 8 sum double\n"
	    "1 1 1 temp+0 temp+8 4 mpi\n"
	    "1 copy 0 send+0 temp+0 8\n");
	plan_free(p);
}

static void
test_matrix(void **state)
{
	struct plan *p = sample();

	(void)state;
	assert_string_equal(printed(p, "matrix"),
	    "# a \"sample\" <1>: bytes, senders are rows, receivers columns\n"
	    "# step 0: 1 transfers, 8 bytes\n0 8\n0 0\n"
	    "# step 1: 1 transfers, 4 bytes\n0 0\n0 4\n"
	    "# sum: 2 transfers, 12 bytes\n0 8\n0 4\n"
	    "# volume: 12 bytes\n");
	plan_free(p);
}

static void
test_json(void **state)
{
	struct plan *p = sample();
	json_t *j = json_loads(printed(p, "json"), 0, NULL);
	json_t *t;

	(void)state;
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "title")),
	    p->title);
	t = json_array_get(json_object_get(j, "transfers"), 0);
	assert_int_equal(json_integer_value(json_object_get(t, "from_offset")),
	    8);
	assert_int_equal(json_array_size(json_object_get(j, "locals")), 2);
	json_decref(j);
	plan_free(p);
}

static void
test_svg(void **state)
{
	struct plan *p = sample();
	const char *text = printed(p, "svg");

	(void)state;
	assert_memory_equal(text, "<svg ", 5);
	assert_non_null(strstr(text, "&lt;1>"));
	assert_non_null(strstr(text, "0 to 1, send+8 to temp+0, 8 bytes"));
	plan_free(p);
	p = case_proven("group pattern=symmetric n=2 g=200 k=200", 0);
	assert_int_equal(print_find("svg")->print(p, stdout), -E2BIG);
	plan_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_svg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
