/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_differences.c - a minority of like nodes is named; without a majority,
 * or among too few nodes, nothing is; other kinds are not compared; and
 * settings that make no sense end nothing.
 */
#include "daemon/cluster/differences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/member.h"
#include "common/str.h"

/* A node: processor, GPUs, and settings as "name=value,...". */
struct one {
	const char *cpu, *settings;
	int gpus;
};

static json_t *
inventory_make(const struct one *n)
{
	json_t *settings = json_object(), *gpus = json_array();
	char text[400], *rest = text, *word;

	snprintf(text, sizeof(text), "%s", n->settings);
	while ((word = strsep(&rest, ",")) != NULL && word[0] != '\0') {
		char *value = strchr(word, '=');

		*value++ = '\0';
		json_object_set_new(settings, word, json_string(value));
	}
	for (int i = 0; i < n->gpus; i++)
		json_array_append_new(gpus,
		    json_pack("{s:s}", "model", "10de:2330"));
	return json_pack("{s:s, s:o, s:o, s:[{s:s}, {s:s}, {s:s}]}", "cpu",
	    n->cpu, "settings", settings, "gpus", gpus, "nics", "model",
	    "15b3:1021", "model", "15b3:1021", "model", "14e4:1750");
}

/* Return "node setting value usual have/of; " of all differences. */
static void
compare(const struct one *nodes, size_t count, size_t kinds, const char *want,
    const char *want_open)
{
	struct differences *d = differences_new();
	char names[20][8], got[600] = "", open[200] = "";
	json_t *inventories[20], *all, *o;
	size_t i;

	assert_true(count <= ARRAY_LEN(inventories));
	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		inventories[i] = inventory_make(&nodes[i]);
		/* As the roster does, equal neighbours share their settings. */
		if (i > 0 &&
		    json_equal(json_object_get(inventories[i], "settings"),
			json_object_get(inventories[i - 1], "settings")))
			json_object_set(inventories[i], "settings",
			    json_object_get(inventories[i - 1], "settings"));
		differences_add(d, names[i], "l1", inventories[i]);
	}
	all = differences_end(d);
	member_foreach (all, "differences", i, o)
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
		    "%s %s %s %s %d/%d; ", member_text(o, "node"),
		    member_text(o, "setting"), member_text(o, "value"),
		    member_text(o, "usual"), (int)member_int(o, "have"),
		    (int)member_int(o, "of"));
	member_foreach (all, "open", i, o)
		snprintf(open + strlen(open), sizeof(open) - strlen(open),
		    "%s %d; ", member_text(o, "setting"),
		    (int)member_int(o, "values"));
	assert_string_equal(got, want);
	assert_string_equal(open, want_open);
	assert_int_equal(json_array_size(json_object_get(all, "kinds")), kinds);
	json_decref(all);
	for (i = 0; i < count; i++)
		json_decref(inventories[i]);
}

static void
test_minority(void **state)
{
	static const struct one nodes[] = {
		{ "A", "eth0 mtu=9000,kernel=6.1", 0 },
		{ "A", "eth0 mtu=1500,kernel=6.1", 0 },
		{ "A", "eth0 mtu=9000,kernel=6.1", 0 },
		{ "A", "eth0 mtu=9000,kernel=5.14", 0 },
	};

	(void)state;
	compare(nodes, 4, 1,
	    "n1 eth0 mtu 1500 9000 3/4; n3 kernel 5.14 6.1 3/4; ", "");
	compare(nodes, 3, 1, "n1 eth0 mtu 1500 9000 2/3; ", "");
	/* Two nodes have no majority. */
	compare(nodes, 2, 1, "", "");
}

static void
test_no_majority(void **state)
{
	static const struct one halves[] = { { "A", "thp=never", 0 },
		{ "A", "thp=never", 0 }, { "A", "thp=always", 0 },
		{ "A", "thp=always", 0 } };
	/* A setting that few nodes have is not judged. */
	static const struct one few[] = { { "A", "x=1,nccl=2.1", 0 },
		{ "A", "x=1,nccl=2.2", 0 }, { "A", "x=1", 0 },
		{ "A", "x=1", 0 } };

	(void)state;
	compare(halves, 4, 1, "", "thp 2; ");
	compare(few, 4, 1, "", "");
}

static void
test_kinds(void **state)
{
	static const struct one nodes[] = { { "A", "k=1", 8 },
		{ "A", "k=1", 8 }, { "A", "k=1", 8 }, { "B", "k=2", 8 },
		{ "A", "k=3", 4 }, { "A", "k=2", 8 } };

	(void)state;
	compare(nodes, 6, 3, "n5 k 2 1 3/4; ", "");
}

/* Nothing that an agent sends may end the collector. */
static void
test_strange(void **state)
{
	static const char *const texts[] = { "{}", "[]", "null", "7",
		"{\"settings\": 3}", "{\"settings\": {\"a\": 1, \"b\": null}}",
		"{\"settings\": {\"a\": \"\", \"\": \"x\"}, \"nics\": 3}",
		"{\"settings\": {\"a\": {\"b\": \"c\"}}, \"nics\": [3, {}],"
		" \"gpus\": [{\"model\": 3}], \"cpu\": 4}" };
	struct differences *d = differences_new();
	json_t *list[ARRAY_LEN(texts) + 3], *o, *settings;
	char longer[2000], key[32];
	size_t i, count = 0;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	for (; count < ARRAY_LEN(texts); count++)
		list[count] = json_loads(texts[count], JSON_DECODE_ANY, NULL);
	for (int k = 0; k < 3; k++) {
		settings = json_object();
		json_object_set_new(settings, longer, json_string("x"));
		json_object_set_new(settings, "y", json_string(longer));
		for (i = 0; i < 1000; i++) {
			snprintf(key, sizeof(key), "key%zu", i);
			json_object_set_new(settings, key,
			    json_string(k == 0 ? "a" : "b"));
		}
		list[count++] = json_pack("{s:o, s:s}", "settings", settings,
		    "cpu", longer);
	}
	for (i = 0; i < count; i++) {
		assert_non_null(list[i]);
		differences_add(d, "n", "", list[i]);
	}
	o = differences_end(d);
	assert_in_range(json_array_size(json_object_get(o, "differences")), 400,
	    500);
	json_decref(o);
	for (i = 0; i < count; i++)
		json_decref(list[i]);
}

static void
test_change(void **state)
{
	json_t *was = json_pack("{s:{s:s, s:s, s:s}}", "settings", "eth0 mtu",
	    "9000", "kernel", "6.1", "gone", "1");
	json_t *now = json_pack("{s:{s:s, s:s, s:s}}", "settings", "eth0 mtu",
	    "1500", "kernel", "6.1", "new", "1");
	char text[200];

	(void)state;
	assert_int_equal(differences_change(was, now, text, sizeof(text)), 1);
	assert_string_equal(text, "eth0 mtu: 9000 before, now 1500");
	/* of the first hello, and of an agent without settings */
	assert_int_equal(differences_change(NULL, now, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(differences_change(was, NULL, text, sizeof(text)), 0);
	json_object_set_new(json_object_get(now, "settings"), "kernel",
	    json_string("6.2"));
	assert_int_equal(differences_change(was, now, text, 40), 2);
	assert_true(strlen(text) < 40);
	json_decref(was);
	json_decref(now);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minority),
		cmocka_unit_test(test_no_majority),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
