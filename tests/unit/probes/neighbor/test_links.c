/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wiring of a node: the shipped matrices against the document's, files, and a
 * copy of the kernel's folder. No machine with such devices was available: the
 * folder follows the driver's source.
 */
#include <errno.h>

#include "probes/neighbor/links.h"

#include <sys/stat.h>

#include "common/err.h"
#include "common/xalloc.h"

#include "tests/unit/probes/neighbor/neighbor_model.h"

static void
test_shipped(void **state)
{
	struct links l;

	(void)state;
	for (int t = 0; t < 2; t++) {
		assert_int_equal(links_shipped(model_names[t], &l), 0);
		assert_int_equal(l.devices, MODEL_G);
		for (uint32_t i = 0; i < MODEL_G; i++) {
			assert_int_equal(l.mate[i], i ^ 1);
			for (uint32_t k = 0; k < MODEL_G; k++) {
				assert_int_equal(l.links[i][k],
				    model_links[t][i][k]);
				assert_int_equal(l.hops[i][k],
				    model_hops[t][i][k]);
			}
		}
	}
	assert_int_equal(links_shipped("mi300", &l), -ENOENT);
}

/* The finding of the document: of a package without the sender, either one
 * device is next to it, or both are two hops away. */
static void
test_finding(void **state)
{
	struct links l;

	(void)state;
	for (int t = 0; t < 2; t++) {
		links_shipped(model_names[t], &l);
		for (uint32_t s = 0; s < MODEL_G; s++)
			for (uint32_t a = 0; a < MODEL_G; a += 2) {
				int one = (l.links[s][a] > 0) +
				    (l.links[s][a + 1] > 0);

				if ((s ^ 1) == a || s == a || s == a + 1)
					continue;
				assert_true(one == 1 ||
				    (l.hops[s][a] == 2 &&
					l.hops[s][a + 1] == 2));
			}
	}
}

static int
parse(const char *text, struct links *ret, struct err *err)
{
	return links_parse("t", text, strlen(text), ret, err);
}

static void
test_parse(void **state)
{
	struct links l;
	struct err err;

	(void)state;
	/* packages 0+2 and 1+3; device 3 is led away from, not to */
	assert_int_equal(parse("0 1 4 0\n1 0 0 4\n4 0 0 0\n0 4 1 0\n", &l,
			     &err),
	    0);
	assert_int_equal(l.mate[0], 2);
	assert_int_equal(l.mate[1], 3);
	assert_int_equal(l.mate[2], 0);
	assert_int_equal(l.mate[3], 1);
	assert_int_equal(l.hops[3][2], 1);
	assert_int_equal(l.hops[2][3], 3);
	/* all equal: no packages can be detected */
	assert_int_equal(parse("0 1 1\n1 0 1\n1 1 0\n", &l, &err), 0);
	assert_int_equal(l.mate[0], 1);
	assert_int_equal(l.mate[1], 0);
	assert_int_equal(l.mate[2], 2);
	/* the other device of the first package is hidden */
	assert_int_equal(parse("0 0 1 0 0\n0 0 4 0 0\n1 4 0 0 2\n0 0 0 0 4\n0 "
			       "0 2 4 0\n",
			     &l, &err),
	    0);
	assert_int_equal(l.mate[0], 0);
	assert_int_equal(l.mate[1], 2);
	assert_int_equal(l.mate[2], 1);
	assert_int_equal(l.mate[3], 4);
	/* no path, and a path with hops */
	assert_int_equal(parse("0 0\n0 0\n", &l, &err), 0);
	assert_int_equal(l.hops[0][1], 2);
	assert_int_equal(parse("0 0\n0 0\n0 7\n3 0\n", &l, &err), 0);
	assert_int_equal(l.hops[0][1], 7);
	assert_int_equal(l.hops[1][0], 3);
	links_none(3, &l);
	assert_int_equal(l.hops[0][2], 3);
	assert_int_equal(l.mate[2], 2);
}

static void
test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "", "t:1: no numbers: expected a matrix" },
		{ "0 1\n1\n",
		    "t:2: 1 numbers: expected the same as on line 1, 2" },
		{ "0 1\n", "t:1: 1 lines of 2 numbers: expected a square" },
		{ "0 1\n1 0\n0 1\n", "t:3: 3 lines of 2 numbers" },
		{ "0 1\n1 2\n", "t:2: device 1 to itself: expected 0" },
		{ "0 1001\n1 0\n",
		    "t:1: 1001: expected a whole number, 0 to "
		    "1000" },
	};
	char wide[400] = "", *many;
	struct err err;
	struct links l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(parse(rows[i][0], &l, &err), -EINVAL);
		if (strncmp(err.text, rows[i][1], strlen(rows[i][1])) != 0)
			fail_msg("\"%s\" is not \"%s\"", err.text, rows[i][1]);
	}
	for (int i = 0; i < 65; i++)
		strcat(wide, "0 ");
	assert_int_equal(parse(wide, &l, &err), -EINVAL);
	assert_non_null(strstr(err.text, "65 devices: expected at most 64"));
	many = xcalloc(4 * 8193, 1); /* more is not even read */
	for (int i = 0; i < 8193; i++)
		strcpy(many + 2 * i, "0\n");
	assert_int_equal(parse(many, &l, &err), -EINVAL);
	assert_string_equal(err.text, "t:8193: expected at most 8192 numbers");
	free(many);
}

static void
tree_file(const char *root, const char *rest, const char *text)
{
	char path[400];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/class/kfd/kfd/topology/nodes/%s", root,
	    rest);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL;
	     p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	fp = fopen(path, "w");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
}

static void
tree_link(const char *root, int at, int number, int from, int to, int type,
    int least, int most)
{
	char rest[80], text[200];

	snprintf(rest, sizeof(rest), "%d/io_links/%d/properties", at, number);
	snprintf(text, sizeof(text),
	    "type %d\nversion_major 0\nnode_from %d\nnode_to %d\nweight 15\n"
	    "min_bandwidth %d\nmax_bandwidth %d\n",
	    type, from, to, least, most);
	tree_file(root, rest, text);
}

/* Two hosts, three devices at nodes 2, 3 and 5. */
static void
test_machine(void **state)
{
	char root[] = "/tmp/coalmine-kfd-XXXXXX", rm[100];
	struct err err = { 0 };
	struct links l;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(links_machine(root, &l, &err), -ENODEV);
	assert_non_null(strstr(err.text, "no AMD device reports"));
	for (int i = 0; i < 6; i++) {
		char rest[40];

		snprintf(rest, sizeof(rest), "%d/properties", i);
		tree_file(root, rest,
		    i < 2 || i == 4 ? "cpu_cores_count 64\nsimd_count 0\n"
				    : "cpu_cores_count 0\nsimd_count 440\n");
	}
	tree_link(root, 2, 0, 2, 0, 2, 0, 0);
	tree_link(root, 2, 1, 2, 3, 11, 50000, 200000);
	tree_link(root, 2, 2, 2, 5, 2, 32000, 32000); /* PCI */
	tree_link(root, 3, 0, 3, 2, 11, 50000, 200000);
	tree_link(root, 3, 1, 3, 5, 11, 50000, 100000);
	tree_link(root, 5, 0, 5, 3, 11, 0, 0); /* not direct */
	tree_link(root, 5, 1, 5, 900, 11, 1, 1);
	assert_int_equal(links_machine(root, &l, &err), 0);
	assert_int_equal(l.devices, 3);
	assert_int_equal(l.links[0][1], 4);
	assert_int_equal(l.links[1][0], 4);
	assert_int_equal(l.links[1][2], 2);
	assert_int_equal(l.links[0][2], 0);
	assert_int_equal(l.links[2][1], 0);
	assert_int_equal(l.hops[0][2], 2);
	assert_int_equal(l.hops[2][0], 3);
	assert_int_equal(l.mate[0], 1);
	snprintf(rm, sizeof(rm), "rm -rf %s", root);
	assert_int_equal(system(rm), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
