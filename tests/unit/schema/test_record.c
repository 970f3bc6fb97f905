/* SPDX-License-Identifier: Apache-2.0 */
/* Good records of every kind pass; each field spoilt in turn is refused. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "schema/record.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define HEAD "{\"run\":\"r-1\",\"seq\":1,\"probe\":"
#define CANARY                                                                 \
	HEAD "\"canary\",\"test\":\"lat\",\"phase\":\"isolated\","             \
	     "\"unit\":\"s\",\"n\":3,\"mean\":2.0,\"min\":1.0,\"p50\":2.0,"    \
	     "\"p90\":3.0,\"p99\":3.0,\"p999\":3.0,\"max\":3.0,"               \
	     "\"interval\":{\"of\":\"p99\",\"level\":0.95,\"lo\":2.0,"         \
	     "\"hi\":3.0},\"hist\":[[0,1],[16,1],[26,1]],"                     \
	     "\"nodes\":[{\"node\":\"n1\",\"n\":3,\"p50\":2.0,\"p99\":3.0,"    \
	     "\"q75\":null}],\"pairs\":[{\"a\":\"n1\",\"b\":\"n2\",\"n\":3,"   \
	     "\"p50\":2.0}],\"stopped_by\":\"time\",\"rounds\":4,"             \
	     "\"seed\":1}"

static const char *const good[] = {
	HEAD "\"begin\",\"version\":\"1\",\"mpi\":\"openmpi\",\"nodes\":[],"
	     "\"roles\":{},\"seed\":1,\"options\":{}}",
	HEAD "\"phase\",\"event\":\"begin\",\"phase\":\"wild\",\"visit\":1,"
	     "\"visits\":4}",
	"{\"probe\":\"progress\",\"share\":0.5}",
	HEAD "\"round\",\"test\":\"lat\",\"phase\":\"isolated\"}",
	CANARY,
	HEAD "\"congestor\",\"test\":\"incast\",\"phase\":\"congested\","
	     "\"unit\":\"B/s\",\"n\":0,\"mean\":null,\"min\":null,"
	     "\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null,"
	     "\"max\":null,\"hist\":[],\"cause\":\"timeout\"}",
	HEAD "\"impact\",\"test\":\"bw\",\"of\":\"mean\",\"value\":2.5,"
	     "\"interval\":{\"level\":0.95,\"lo\":2.0,\"hi\":3.0}}",
	HEAD "\"speedup\",\"of\":\"neighbor\",\"plan\":\"neighbor\","
	     "\"baseline\":\"MPI_Neighbor_allgather\",\"n\":6,"
	     "\"value\":2.5,\"interval\":{\"level\":0.95,\"lo\":2.0,"
	     "\"hi\":3.0}}",
	HEAD "\"spmm\",\"plan\":\"neighbor\",\"baseline\":\"\",\"n\":6,"
	     "\"value\":2.5,\"steady_value\":2.6,\"interval\":null}",
	HEAD "\"end\",\"records\":9,\"status\":\"ok\"}",
};

static int
parse(const char *line, struct record_head *head, struct err *err)
{
	json_t *record = NULL;
	int rc = record_parse(line, strlen(line), &record, head, err);

	if (rc == 0)
		head->run = NULL; /* freed with the record */
	json_decref(record);
	return rc;
}

static void
test_values(void **state)
{
	struct record_head head;
	struct err err = { 0 };
	json_t *record = json_loads(good[0], 0, NULL);

	(void)state;
	assert_int_equal(record_check(record, NULL, &head, &err), 0);
	assert_string_equal(head.run, "r-1");
	json_object_set_new(record, "seed", json_string("1"));
	assert_int_equal(record_check(record, NULL, &head, &err), -EPROTO);
	assert_string_equal(err.text, "seed has the wrong type");
	json_decref(record);
	record = json_array();
	assert_int_equal(record_check(record, NULL, &head, &err), -EPROTO);
	assert_string_equal(err.text, "not a JSON object");
	json_decref(record);
}

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct record_head head;
		struct err err = { 0 };
		int rc = parse(good[i], &head, &err);

		if (rc < 0)
			print_error("%s: %s\n", good[i], err.text);
		assert_int_equal(rc, 0);
	}
}

/* Each member is removed, and each is replaced by another type. */
static void
test_every_member_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		json_t *record = json_loads(good[i], 0, NULL);
		void *it = json_object_iter(record);

		for (; it != NULL; it = json_object_iter_next(record, it)) {
			const char *key = json_object_iter_key(it);
			json_t *spoilt = json_deep_copy(record);
			struct record_head head;
			char *line;
			struct err err;

			if (strcmp(key, "roles") == 0 ||
			    strcmp(key, "options") == 0 ||
			    strcmp(key, "share") == 0) {
				json_decref(spoilt);
				continue; /* any kind */
			}
			json_object_set_new(spoilt, key, json_true());
			line = json_dumps(spoilt, 0);
			assert_int_equal(parse(line, &head, &err), -EPROTO);
			free(line);
			json_object_del(spoilt, key);
			line = json_dumps(spoilt, 0);
			assert_int_equal(parse(line, &head, &err), -EPROTO);
			free(line);
			json_decref(spoilt);
		}
		json_decref(record);
	}
}

/* CANARY with one piece of text replaced by another. */
static void
refused(const char *from, const char *to, const char *want)
{
	char line[2048];
	struct err err = { 0 };
	const char *at = strstr(CANARY, from);
	struct record_head head;

	assert_non_null(at);
	snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - CANARY), CANARY, to,
	    at + strlen(from));
	assert_int_equal(parse(line, &head, &err), -EPROTO);
	assert_string_equal(err.text, want);
}

static void
test_canary_values(void **state)
{
	(void)state;
	refused("\"rounds\":4", "\"rounds\":4,\"rings\":5",
	    "rings has the wrong type");
	refused("[0,1],", "", "hist counts fewer values than n");
	refused("[0,1],", "[0,2],", "hist counts more values than n");
	refused("[0,1],", "[17,1],", "hist has an invalid value");
	refused("[0,1],", "[-99999,1],", "hist has an invalid value");
	refused("\"lo\":2.0", "\"lo\":9.0", "interval has an invalid value");
	refused("\"mean\":2.0", "\"mean\":null", "mean and n are inconsistent");
	refused("\"mean\":2.0", "\"mean\":-2.0", "mean has an invalid value");
	refused("r-1", "../x", "run is missing or malformed");
	refused("\"seq\":1", "\"seq\":0", "seq is missing or below 1");
	refused("\"n2\"", "\"n 2\"", "pairs has an invalid value");
	refused("\"node\":\"n1\",", "", "nodes has an invalid value");
	refused("\"n1\",\"n\":3,", "\"n1\",\"n\":3.5,",
	    "nodes has an invalid value");
	refused("\"q75\":null", "\"q75\":\"\"", "nodes has an invalid value");
	refused("\"unit\":\"s\"", "\"unit\":\"ms\"",
	    "unit has an invalid value");
	refused("\"canary\"", "\"canari\"", "unknown probe canari");
}

/* Of few nodes: half of a symmetric matrix, a row longer each time. */
static void
test_grid(void **state)
{
	static const char *const bad[] = { "[[],[]]", "[[],[\"2\"]]",
		"[[2.5],[]]", "[[]]", "[[],[2.5],[1,2]]", "7" };
	struct record_head head;
	char line[2048];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line),
		    "\"grid\":{\"nodes\":[\"n1\",\"n2\"],\"p50\":%s},"
		    "\"seed\"",
		    bad[i]);
		refused("\"seed\"", line, "grid has an invalid value");
	}
	snprintf(line, sizeof(line), "%.*s%s", (int)strlen(CANARY) - 1, CANARY,
	    ",\"grid\":{\"nodes\":[\"n1\",\"n2\"],\"p50\":[[],[2.5]]}}");
	assert_int_equal(parse(line, &head, &err), 0);
}

static void
test_head(void **state)
{
	json_t *record = NULL;
	struct record_head head;
	struct err err;

	(void)state;
	assert_int_equal(record_parse(CANARY, strlen(CANARY), &record, &head,
			     &err),
	    0);
	assert_string_equal(head.run, "r-1");
	assert_int_equal(head.seq, 1);
	assert_string_equal(head.test, "lat");
	assert_int_equal(head.raw, 0);
	json_decref(record);
}

static void
test_histogram_round_trip(void **state)
{
	static struct hist h, again;
	json_t *record = json_object();

	(void)state;
	hist_clear(&h);
	for (int i = 1; i <= 1000; i++)
		hist_add(&h, i * 1e-6);
	record_put_hist(record, &h);
	assert_int_equal(json_integer_value(json_object_get(record, "n")),
	    1000);
	assert_int_equal(record_hist_read(record, NULL, &again), 0);
	assert_int_equal(again.count, 1000);
	assert_memory_equal(again.bucket, h.bucket, sizeof(h.bucket));
	assert_true(fabs(again.sum - h.sum) < 1e-9);
	json_object_set_new(record, "hist", json_object());
	assert_int_equal(record_hist_read(record, NULL, &again), -EPROTO);
	/* Counts whose sum wraps. */
	json_decref(record);
	record = json_pack("{s:[[iI][iI]]}", "hist", 0, INT64_MAX, 1,
	    INT64_MAX);
	assert_int_equal(record_hist_read(record, NULL, &again), -EPROTO);
	json_decref(record);
}

static void
test_empty_histogram_is_null(void **state)
{
	static struct hist h;
	json_t *record = json_object();

	(void)state;
	hist_clear(&h);
	record_put_hist(record, &h);
	assert_true(json_is_null(json_object_get(record, "mean")));
	assert_true(json_is_null(json_object_get(record, "max")));
	assert_int_equal(json_array_size(json_object_get(record, "hist")), 0);
	json_decref(record);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_every_member_counts),
		cmocka_unit_test(test_canary_values),
		cmocka_unit_test(test_grid),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_histogram_round_trip),
		cmocka_unit_test(test_empty_histogram_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
