/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grammar.c - command lines that real launchers wrote pass, and every
 * change of them that could matter is refused.
 */
#include "common/err.h"
#include "agents/launch/argv_allowlist.c"

#include <jansson.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define ARSH "/opt/ours/coalmine-arsh"

static const char *const addrs[] = { "127.0.0.1", "192.0.2.2", "fd00::2" };

static int
check(const char *mpi, const char *const *argv, size_t argc, char ***ret,
    struct err *err)
{
	struct argv_allowlist_want want = { .mpi = mpi,
		.addrs = addrs,
		.addr_count = ARRAY_LEN(addrs),
		.arsh = ARSH };

	err->text[0] = '\0';
	return argv_allowlist_check(&want, argv, argc, ret, err);
}

/* A recorded line without its host; the words are the array's. */
static size_t
words_of(const json_t *row, const char **ret)
{
	size_t n = json_array_size(row);

	assert_true(n > 1 && n <= ARGV_ALLOWLIST_ARGS_MAX);
	for (size_t i = 1; i < n; i++)
		ret[i - 1] = json_string_value(json_array_get(row, i));
	return n - 1;
}

static json_t *
row_of(FILE *fp)
{
	static char line[64 * 1024];

	if (fgets(line, sizeof(line), fp) == NULL)
		return NULL;
	return json_loads(line, 0, NULL);
}

static FILE *
recorded(const char *mpi)
{
	char path[4096];
	FILE *fp;

	snprintf(path, sizeof(path), DATA "/argv-%s.jsonl", mpi);
	fp = fopen(path, "re");
	assert_non_null(fp);
	return fp;
}

/* Names of hosts and devices are free within their characters. */
static int
is_free(const char *before, const char *word)
{
	if (strcmp(before, "orte_node_regex") == 0)
		return all_plain(word, 4000, "._-[]:,@()") && word[0] != '-';
	return strcmp(before, "--iface") == 0 && all_plain(word, 15, "._-") &&
	    word[0] != '-';
}

/* Every recorded line passes, and none with a hostile word in the place of any
 * of its own. */
static void
lines_check(const char *mpi, const char *daemon)
{
	static const char *const hostile[] = { "`id`", "$(id)", "a;b\nc",
		"--exec", "../../bin/sh", "", "orte_fork_agent",
		"mca_base_component_path", "203.0.113.9:1",
		"1.0;tcp://203.0.113.9:7" };
	const char *argv[ARGV_ALLOWLIST_ARGS_MAX], *was;
	FILE *fp = recorded(mpi);
	char **got;
	struct err err;
	size_t n, lines = 0;
	json_t *row;

	while ((row = row_of(fp)) != NULL) {
		n = words_of(row, argv);
		assert_int_equal(check(mpi, argv, n, &got, &err), 0);
		assert_string_equal(got[0], daemon);
		argv_allowlist_free(got);
		for (size_t i = 0; i < n; i++) {
			was = argv[i];
			for (size_t k = 0; k < ARRAY_LEN(hostile); k++) {
				if (i > 0 && is_free(argv[i - 1], hostile[k]))
					continue;
				argv[i] = hostile[k];
				assert_int_equal(check(mpi, argv, n, &got,
						     &err),
				    -EPERM);
				assert_true(err.text[0] != '\0');
			}
			argv[i] = was;
		}
		for (size_t k = 1; k <= n; k++)
			if (check(mpi, argv, n - k, &got, &err) == 0)
				argv_allowlist_free(got);
		json_decref(row);
		lines++;
	}
	fclose(fp);
	assert_true(lines >= 4);
}

static void
test_recorded_openmpi(void **state)
{
	(void)state;
	lines_check("openmpi", "orted");
}

static void
test_recorded_mpich(void **state)
{
	(void)state;
	lines_check("mpich", "hydra_pmi_proxy");
}

/* The head's rsh agent is replaced by this node's own. */
static void
test_arsh_replaced(void **state)
{
	static const char *const argv[] = { "\"/usr/bin/hydra_pmi_proxy\"",
		"--control-port", "127.0.0.1:38163", "--launcher-exec",
		"/elsewhere/coalmine-arsh", "--proxy-id", "1" };
	char **got;
	struct err err;

	(void)state;
	assert_int_equal(check("mpich", argv, ARRAY_LEN(argv), &got, &err), 0);
	assert_string_equal(got[4], ARSH);
	assert_null(got[7]);
	argv_allowlist_free(got);
}

#define ORTED(uri)                                                             \
	{                                                                      \
		" orted", "-mca", "ess", "\"env\"", "-mca", "ess_base_jobid",  \
		    "\"1\"", "-mca", "ess_base_vpid", "1", "-mca",             \
		    "ess_base_num_procs", "\"2\"", "-mca", "orte_node_regex",  \
		    "\"a,b@0(2)\"", "-mca", "orte_hnp_uri", uri                \
	}
#define ORTED_WORDS 19
#define ORTED_URI   18

static void
uri_check(const char *uri, int want)
{
	const char *argv[ORTED_WORDS] = ORTED(uri);
	char **got;
	struct err err;
	int rc = check("openmpi", argv, ORTED_WORDS, &got, &err);

	if (rc != want)
		fail_msg("%s: %d %s", uri, rc, err.text);
	if (rc == 0)
		argv_allowlist_free(got);
}

static void
test_uri(void **state)
{
	static const char *const good[] = { "\"1.0;tcp://127.0.0.1:4000\"",
		"1.0;tcp://192.0.2.2,127.0.0.1:1",
		"\"1.0;tcp://192.0.2.2:4;tcp6://[fd00::2]:65535\"",
		"1.0;tcp6://[fd00:0::2]:3" };
	static const char *const bad[] = { "", "\"\"", "1.0", "1.0;",
		"1.0;tcp://", "1.0;tcp://:1", "1.0;tcp://127.0.0.1",
		"1.0;tcp://127.0.0.1:0", "1.0;tcp://127.0.0.1:65536",
		"1.0;tcp://127.0.0.1:+1", "1.0;tcp://127.0.0.1: 1",
		"1.0;tcp://127.0.0.2:1", "1.0;tcp://127.0.0.1,:1",
		"1.0;tcp://,127.0.0.1:1", "1.0;tcp://127.0.0.1,10.0.0.1:1",
		"1.0;tcp://127.0.0.1:1;tcp://10.0.0.1:1",
		"1.0;tcp://localhost:1", "1.0;tcp6://fd00::2:1",
		"1.0;tcp6://[fd00::3]:1", "1.0;tcp6://[]:1", "1.0;usock://x:1",
		".0;tcp://127.0.0.1:1", "12345678901.0;tcp://127.0.0.1:1",
		"x.0;tcp://127.0.0.1:1", "1.0;tcp://127.0.0.1\t:1",
		"1.0 ;tcp://127.0.0.1:1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		uri_check(good[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		uri_check(bad[i], -EPERM);
}

/* Whole command lines as an enemy would send them. */
static void
test_hostile(void **state)
{
	static const char *const lines[][6] = {
		{ "sh", "-c", "id" },
		{ "orted;id" },
		{ "`id`" },
		{ "PATH=/tmp:$PATH ; orted" },
		{ " ../../bin/orted" },
		{ "/usr/bin/orted" },
		{ " orted", "--daemonize" },
		{ " orted", "-mca", "orte_fork_agent", "/bin/sh" },
		{ " orted", "--mca", "mca_base_component_path", "/tmp" },
		{ "hydra_pmi_proxy", "--control-port", "127.0.0.1:1",
		    "--proxy-id", "1" },
		{ "\"/tmp/evil\"", "--control-port", "127.0.0.1:1" },
		{ "" },
		{ " " },
		{ "\"" },
	};
	static const char *const mpis[] = { "openmpi", "mpich", "slurm", "" };
	char **got;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		size_t n = 0;

		while (n < 6 && lines[i][n] != NULL)
			n++;
		for (size_t k = 0; k < ARRAY_LEN(mpis); k++) {
			if (i == 9 && k == 1)
				continue; /* refused below, for its path */
			assert_int_equal(check(mpis[k], lines[i], n, &got,
					     &err),
			    -EPERM);
			assert_true(err.text[0] != '\0');
		}
	}
	assert_int_equal(check("mpich", lines[9], 5, &got, &err), -EPERM);
	assert_non_null(strstr(err.text, "not a path"));
}

static void
test_limits(void **state)
{
	const char **many = xcalloc(ARGV_ALLOWLIST_ARGS_MAX + 1, sizeof(*many));
	const char *argv[ORTED_WORDS] = ORTED("1.0;tcp://127.0.0.1:1");
	char *big = xcalloc(1, ARGV_ALLOWLIST_BYTES_MAX + 2);
	char **got;
	struct err err;

	(void)state;
	for (size_t i = 0; i <= ARGV_ALLOWLIST_ARGS_MAX; i++)
		many[i] = " orted";
	assert_int_equal(check("openmpi", many, 0, &got, &err), -EPERM);
	assert_int_equal(check("openmpi", many, ARGV_ALLOWLIST_ARGS_MAX + 1,
			     &got, &err),
	    -EPERM);
	memset(big, 'a', ARGV_ALLOWLIST_BYTES_MAX + 1);
	argv[ORTED_WORDS - 4] = big;
	assert_int_equal(check("openmpi", argv, ORTED_WORDS, &got, &err),
	    -EPERM);
	assert_non_null(strstr(err.text, "bytes"));
	free(many);
	free(big);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_openmpi),
		cmocka_unit_test(test_recorded_mpich),
		cmocka_unit_test(test_arsh_replaced),
		cmocka_unit_test(test_uri),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
