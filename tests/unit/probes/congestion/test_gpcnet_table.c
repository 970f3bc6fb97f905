/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "probes/congestion/gpcnet_table.h"

#include <stdlib.h>

static void
take(struct gpcnet_table *t, const char *line)
{
	json_t *record = json_loads(line, 0, NULL);

	assert_non_null(record);
	gpcnet_table_take(t, record);
	json_decref(record);
}

static char *
print(const struct gpcnet_table *t)
{
	size_t bytes;
	char *text;
	FILE *to = open_memstream(&text, &bytes);

	gpcnet_table_print(t, to);
	fclose(to);
	return text;
}

static void
test_lines(void **state)
{
	struct gpcnet_table t;
	char *text;

	(void)state;
	gpcnet_table_init(&t);
	t.ranks = t.nodes = 12;
	t.canaries = 2;
	t.kinds = 4;
	t.congested = 1;
	take(&t,
	    "{\"probe\":\"canary\",\"test\":\"lat\",\"phase\":"
	    "\"isolated\",\"mean\":3.42e-5,\"p99\":9.01e-5}");
	take(&t,
	    "{\"probe\":\"canary\",\"test\":\"lat\",\"phase\":"
	    "\"congested\",\"mean\":null,\"p99\":null}");
	/* The bad side of a bandwidth is the low one. */
	take(&t,
	    "{\"probe\":\"canary\",\"test\":\"bw-sync\",\"phase\":"
	    "\"isolated\",\"mean\":10485760,\"p99\":99e6,\"p01\":"
	    "5242880}");
	take(&t,
	    "{\"probe\":\"impact\",\"test\":\"lat\",\"of\":\"p99\","
	    "\"value\":26.96}");
	take(&t,
	    "{\"probe\":\"impact\",\"test\":\"lat\",\"of\":\"mean\","
	    "\"value\":2.4,\"interval\":{\"level\":0.95,\"lo\":2.16,"
	    "\"hi\":2.71}}");
	take(&t, "{\"probe\":\"congestor\",\"test\":\"incast\"}");
	text = print(&t);
	assert_non_null(strstr(text,
	    "|          RR Two-sided Lat (8 B) |         34.2 |         90.1 |"
	    "         usec |\n"));
	assert_non_null(strstr(text,
	    "| RR Two-sided BW+Sync (131072 B) |         10.0 |          5.0 |"
	    "   MiB/s/rank |\n"));
	assert_non_null(strstr(text, "|            - |            - |"));
	assert_non_null(
	    strstr(text, "|      2.4X [2.2, 2.7] |               27.0X |"));
	assert_non_null(strstr(text,
	    "10 nodes running Congestion Tests (min "
	    "2 nodes per congestor)"));
	free(text);
}

/* With GPCNeT's counts, its columns of rings. */
static void
test_exact(void **state)
{
	struct gpcnet_table t;
	char *text;

	(void)state;
	gpcnet_table_init(&t);
	t.exact = 1;
	take(&t,
	    "{\"probe\":\"canary\",\"test\":\"lat\",\"phase\":"
	    "\"isolated\",\"mean\":9e-6,\"p99\":5e-6,\"p999\":6e-6,"
	    "\"rings\":{\"n\":3,\"min\":1e-6,\"max\":2e-6,\"avg\":3e-6,"
	    "\"avg_worst\":4e-6}}");
	text = print(&t);
	assert_non_null(strstr(text,
	    "|          1.0 |          2.0 |          3.0 |          4.0 |"
	    "          5.0 |          6.0 |         usec |\n"));
	assert_non_null(strstr(text, "|   Avg(Worst) |"));
	free(text);
}

/* All lines of the tables are 80 wide. */
static void
test_width(void **state)
{
	struct gpcnet_table t;
	char *text, *line;

	(void)state;
	gpcnet_table_init(&t);
	t.congested = t.kinds = 1;
	for (int i = 0; i < CANARY_MAX; i++)
		for (int k = 0; k < PHASE_MAX; k++)
			t.cells[i][k].known = 1;
	text = print(&t);
	for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
		if (line[0] == '|' || line[0] == '+')
			assert_int_equal(strlen(line), 80);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
