/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inband.c - files as written by NCCL's inspector 2.28 to 2.30 and by
 * Coalmine's preload library, and other files in a world-writable folder.
 */
#include "agents/sensor/inband.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/member.h"
#include "tests/unit/tree.h"

#define DIR_ "in-band/"

static char dir[128];
static struct inband *ib;

static int
setup(void **state)
{
	tree_setup(state);
	tree_dirs(DIR_ "x");
	snprintf(dir, sizeof(dir), "%s/in-band", tree);
	ib = inband_new(dir, "gpu07.site.example");
	return 0;
}

static int
teardown(void **state)
{
	inband_free(ib);
	return tree_teardown(state);
}

/* A line of the JSON lines, each of a call. */
#define CALL(host, rank, coll, bytes, us)                                      \
	"{\"header\":{\"id\":\"0x9d2ab6\",\"comm_name\":\"unknown\","          \
	"\"rank\":" #rank ",\"n_ranks\":16,\"nnodes\":2},\"metadata\":"        \
	"{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"\","      \
	"\"rec_mechanism\":\"nccl_profiler_interface\","                       \
	"\"dump_timestamp_us\":1795517605692000,\"hostname\":\"" host          \
	"\",\"pid\":4711},\"coll_perf\":{\"coll\":\"" coll                     \
	"\",\"coll_sn\":12,\"coll_msg_size_bytes\":" #bytes                    \
	",\"coll_exec_time_us\":" #us                                          \
	",\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":1.5,"      \
	"\"coll_busbw_gbs\":2.8}}\n"
#define LABELS(host, gpu, coll)                                                \
	"{version=\"v5.1\",slurm_job_id=\"77\",node=\"" host                   \
	"\",gpu=\"GPU" #gpu "\",comm_name=\"DP Group 0\",n_nodes=\"2\","       \
	"nranks=\"16\",collective=\"" coll                                     \
	"\",message_size=\"4-5GB\",algo_proto=\"Ring_ll\"}"
#define SUMS(host, rank, calls, bytes, seconds)                                \
	"{\"job\":\"78\",\"host\":\"" host "\",\"rank\":" #rank                \
	",\"op\":\"allreduce\",\"comm_ranks\":4,\"comm_nodes\":2,"             \
	"\"calls\":" #calls ",\"bytes\":" #bytes ",\"seconds\":" #seconds      \
	"}\n"

/* The row of an op of a job, or NULL; source NULL: whichever comes first. */
static const json_t *
row_by(const json_t *list, const char *job, const char *source, const char *op)
{
	json_t *o, *row;
	size_t i, k;

	json_array_foreach (list, i, o)
		member_foreach (o, "rows", k, row)
			if (strcmp(member_text(o, "job"), job) == 0 &&
			    strcmp(member_text(row, "op"), op) == 0 &&
			    (source == NULL ||
				strcmp(member_text(row, "source"), source) ==
				    0))
				return row;
	return NULL;
}

static const json_t *
row_of(const json_t *list, const char *job, const char *op)
{
	return row_by(list, job, NULL, op);
}

static void
test_calls_of_nccl(void **state)
{
	json_t *list;
	const json_t *row;

	(void)state;
	tree_put(DIR_ "nccl-inspector-77/gpu07-pid4711.log",
	    CALL("gpu07", 0, "AllReduce", 1048576, 300)
		CALL("gpu07", 0, "AllReduce", 1048576, 500)
		    CALL("gpu08", 8, "AllReduce", 1048576, 1)
			CALL("gpu07", 0, "AllGather", 65536, 200));
	tree_put(DIR_ "nccl-inspector-77/gpu07-pid4712.log",
	    CALL("gpu07", 1, "AllReduce", 1048577, 100) CALL("gpu07", 1,
		"AllReduce", 1048577, 200) "{\"header\":{\"rank\":1");
	list = inband_look(ib, 0);
	assert_int_equal(json_array_size(list), 1);
	row = row_of(list, "77", "allreduce");
	assert_string_equal(member_text(row, "source"), "nccl");
	assert_int_equal(member_int(row, "ranks"), 16);
	assert_int_equal(member_int(row, "nodes"), 2);
	assert_true(member_number(row, "calls") == 4);
	assert_true(fabs(member_number(row, "seconds") - 1100e-6) < 1e-9);
	/* rank 1 waits less than rank 0 */
	assert_true(fabs(member_number(row, "least_s") - 150e-6) < 1e-9);
	/* a part for each of 16 ranks */
	row = row_of(list, "77", "allgather");
	assert_true(member_number(row, "bytes") == 1048576);
	json_decref(list);
	/* a read too early has no data; new data is sent several times */
	assert_null(inband_look(ib, 0));
	for (int i = 1; i <= TOLD_TIMES; i++) {
		ib->at_ns = 1;
		list = inband_look(ib, 0);
		assert_int_equal(list != NULL, i < TOLD_TIMES);
		json_decref(list);
	}
	/* the complete state again; the half line is complete now */
	tree_put(DIR_ "nccl-inspector-77/gpu07-pid4712.log",
	    CALL("gpu07", 1, "AllReduce", 1048577, 100)
		CALL("gpu07", 1, "AllReduce", 1048577, 200)
		    CALL("gpu07", 1, "AllReduce", 1048577, 300));
	list = inband_look(ib, 1);
	row = row_of(list, "77", "allreduce");
	assert_true(member_number(row, "calls") == 5);
	json_decref(list);
}

/* Names of jobs in batch systems have more than letters; invalid names are
 * skipped, and so are labels at a wrong place. */
static void
test_names(void **state)
{
	static const char *const good[] = { "77_1", "123[4].server",
		"\u01922Abc" };
	static const char *const bad[] = { "", "a b", "a/b", "a\\nb", "*" };
	char line[300], text[9];
	json_t *list;

	(void)state;
	tree_put(DIR_ "all.jsonl", "");
	for (size_t i = 0; i < ARRAY_LEN(good) + ARRAY_LEN(bad); i++) {
		int is_good = i < ARRAY_LEN(good);
		const char *name = is_good ? good[i] : bad[i - ARRAY_LEN(good)];

		snprintf(line, sizeof(line),
		    "{\"job\":\"%s\",\"host\":\"gpu07\",\"rank\":0,"
		    "\"op\":\"allreduce\",\"comm_ranks\":4,\"comm_nodes\":2,"
		    "\"calls\":5,\"bytes\":40,\"seconds\":1.5}\n",
		    name);
		tree_put(DIR_ "all.jsonl", line);
		ib->at_ns = 0;
		list = inband_look(ib, 1);
		assert_int_equal(row_of(list, name, "allreduce") != NULL,
		    is_good);
		json_decref(list);
	}
	inband_label("node=\"gpu07\"", "node", text, sizeof(text));
	assert_string_equal(text, "");
	inband_label("x{gpu=\"1\",node=\"gpu07\"}", "node", text, sizeof(text));
	assert_string_equal(text, "gpu07");
}

/* A rate and a time of the same labels: 2 ms at 187.5 GB/s of 16 ranks' bus are
 * 200 MB of data. */
static void
test_means_of_nccl(void **state)
{
	json_t *list;
	const json_t *row;

	(void)state;
	tree_put(DIR_ "nccl_inspector_metrics_GPU-1.prom",
	    "nccl_bus_bandwidth_gbs" LABELS("gpu07", 3,
		"AllReduce") " 187.5\nnccl_collective_exec_time_"
			     "microseconds" LABELS("gpu07", 3,
				 "AllReduce") " 2000\n"
					      "nccl_collective_exec_time_"
					      "microseconds" LABELS("gpu07", 3,
						  "AllGather") " 9\n"
							       "nccl_bus_"
							       "bandwidth_"
							       "gbs" LABELS(
								   "gpu09", 3,
								   "Reduce") " "
									     "1"
									     "\nnccl_collective_exec_time_"
									     "m"
									     "i"
									     "c"
									     "r"
									     "o"
									     "s"
									     "e"
									     "c"
									     "o"
									     "n"
									     "d"
									     "s" LABELS(
										 "gpu09",
										 3,
										 "Reduce") " 2000\n");
	list = inband_look(ib, 0);
	row = row_of(list, "77", "allreduce");
	assert_string_equal(member_text(row, "source"), "nccl-means");
	assert_int_equal(json_array_size(
			     json_object_get(json_array_get(list, 0), "rows")),
	    1);
	assert_true(fabs(member_number(row, "bytes") - 2e8) < 1);
	assert_true(fabs(member_number(row, "least_s") - 2e-3) < 1e-9);
	json_decref(list);
}

static void
test_sums_of_mpi(void **state)
{
	json_t *list;

	(void)state;
	tree_put(DIR_ "78-gpu07-0.jsonl", SUMS("gpu07", 0, 100, 800, 0.5));
	tree_put(DIR_ "78-gpu07-1.jsonl", SUMS("gpu07", 1, 100, 800, 0.1));
	tree_put(DIR_ "78-gpu07-2.jsonl", SUMS("gpu07", 2, 2, 16, 0.000001));
	list = inband_look(ib, 0);
	assert_true(
	    member_number(row_of(list, "78", "allreduce"), "calls") == 202);
	/* a program with few calls does not count for least_s */
	assert_true(
	    fabs(member_number(row_of(list, "78", "allreduce"), "least_s") -
		0.001) < 1e-9);
	json_decref(list);
	/* sums are not added to sums */
	tree_put(DIR_ "78-gpu07-0.jsonl", SUMS("gpu07", 0, 110, 880, 0.55));
	list = inband_look(ib, 1);
	assert_true(
	    member_number(row_of(list, "78", "allreduce"), "calls") == 212);
	json_decref(list);
}

/* Output of NCCL's inspector, from its repository in November 2026, for such
 * calls; and of the preload library for two ranks under Open MPI. */
static void
test_recorded(void **state)
{
	static const struct {
		const char *job, *source, *op;
		double calls, bytes, least_s;
	} want[] = {
		{ "77", "nccl", "allreduce", 3, 4194304, 400e-6 },
		{ "77", "nccl", "allgather", 1, 4194304, 120e-6 },
		{ "77", "nccl", "reduce-scatter", 1, 4194304, 130e-6 },
		{ "77", "nccl", "alltoall", 1, 4194304, 140e-6 },
		{ "77", "nccl", "broadcast", 1, 4194304, 90e-6 },
		{ "77", "nccl", "reduce", 1, 1048576, 95e-6 },
		{ "77", "nccl", "send", 1, 4194304, 200e-6 },
		{ "77", "nccl", "recv", 1, 4194304, 210e-6 },
		/* a geometric mean of rates is not the rate of the mean */
		{ "77", "nccl-means", "allreduce", 1, 4285504, 400e-6 },
		{ "77", "nccl-means", "allgather", 1, 4194304, 120e-6 },
		{ "77", "nccl-means", "alltoall", 1, 4194304, 140e-6 },
		{ "77", "nccl-means", "recv", 1, 4194304, 210e-6 },
		{ "78", "pmpi", "allreduce", 100, 8, 0.000700576 / 50 },
		{ "78", "pmpi", "barrier", 2, 0, 0.000005063 },
	};
	char line[300];
	json_t *list;

	(void)state;
	/* copies have new times: old files are skipped */
	snprintf(line, sizeof(line), "cp -r " DATA "/in_band/* %s", dir);
	assert_int_equal(system(line), 0);
	list = inband_look(ib, 0);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const json_t *row = row_by(list, want[i].job, want[i].source,
		    want[i].op);

		if (row == NULL ||
		    member_number(row, "calls") != want[i].calls ||
		    fabs(member_number(row, "bytes") - want[i].bytes) >
			1e-4 * want[i].bytes ||
		    fabs(member_number(row, "least_s") - want[i].least_s) >
			1e-9)
			fail_msg("%s of %s by %s: %g calls of %g bytes, %g s",
			    want[i].op, want[i].job, want[i].source,
			    member_number(row, "calls"),
			    member_number(row, "bytes"),
			    member_number(row, "least_s"));
	}
	json_decref(list);
}

/* Files that are not read, lines that are skipped, and files without an end. */
static void
test_strange_files(void **state)
{
	static const char *const texts[] = { "", "\n\n\n", "{", "[[[[\n",
		"{\"header\":[],\"coll_perf\":7}\n", "null\n",
		CALL("gpu07", -1, "AllReduce", 1, 1),
		CALL("gpu07", 0, "AllReduce", -1, 1),
		CALL("gpu07", 0, "AllReduce", 1, 1e308),
		CALL("gpu07", 0, "Alltoallv", 1, 1), "} {\n}{\n",
		"nccl_bus_bandwidth_gbs} {\nx_exec_time_microseconds{ 3\n",
		"\xff\xfe\x01\n{\"job\":\"\xff\"}\n" };
	char path[300], *deep;
	json_t *list;

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(texts); k++)
		for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
			snprintf(path, sizeof(path), DIR_ "77/%zu%s", k,
			    sources[i].suffix);
			tree_put(path, texts[k]);
		}
	deep = xcalloc(1, CALLS_BYTES + 100);
	memset(deep, '[', CALLS_BYTES + 99);
	tree_put(DIR_ "77/deep.log", deep);
	free(deep);
	snprintf(path, sizeof(path), "%s/77/pipe.log", dir);
	assert_int_equal(mkfifo(path, 0666), 0);
	tree_link(DIR_ "77/link.log", "/dev/zero");
	tree_link(DIR_ "loop", ".");
	tree_put(DIR_ "a b/x.log", CALL("gpu07", 0, "AllReduce", 1, 1));
	tree_put(DIR_ "77/note.txt", CALL("gpu07", 0, "AllReduce", 1, 1));
	for (int i = 0; i < 3; i++) {
		list = inband_look(ib, 1);
		assert_null(list);
	}
}

/* Of a file that grows faster than it may be read the newest lines count. */
static void
test_a_file_too_long(void **state)
{
	static const char line[] = CALL("gpu07", 0, "AllReduce", 8, 10);
	static const char newest[] = CALL("gpu07", 0, "Reduce", 8, 10);
	char path[512];
	json_t *list;
	FILE *fp;

	(void)state;
	tree_put(DIR_ "77/x.log", "");
	snprintf(path, sizeof(path), "%s/77/x.log", dir);
	fp = fopen(path, "we");
	for (size_t n = 0; n < 3 * CALLS_BYTES; n += strlen(line))
		fputs(line, fp);
	fputs(newest, fp);
	fclose(fp);
	list = inband_look(ib, 0);
	assert_non_null(row_of(list, "77", "reduce"));
	assert_true(member_number(row_of(list, "77", "allreduce"), "calls") <
	    (double)CALLS_BYTES / (double)strlen(line));
	json_decref(list);
	/* and as another, shorter one it is read from its start */
	tree_put(DIR_ "77/x.log", newest);
	list = inband_look(ib, 1);
	assert_null(row_of(list, "77", "allreduce"));
	assert_true(member_number(row_of(list, "77", "reduce"), "calls") == 1);
	json_decref(list);
}

static void
test_files_go(void **state)
{
	const struct timespec days[] = { { 1000, 0 }, { 1000, 0 } };
	char path[512];

	(void)state;
	tree_put(DIR_ "78-gpu07-0.jsonl", SUMS("gpu07", 0, 1, 8, 0.5));
	json_decref(inband_look(ib, 0));
	assert_int_equal(ib->file_count, 1);
	snprintf(path, sizeof(path), "%s/78-gpu07-0.jsonl", dir);
	/* A file that was not written for days makes room for others. */
	assert_int_equal(utimensat(AT_FDCWD, path, days, 0), 0);
	assert_null(inband_look(ib, 1));
	assert_int_equal(ib->file_count, 0);
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	json_decref(inband_look(ib, 1));
	assert_int_equal(ib->file_count, 1);
	unlink(path);
	assert_null(inband_look(ib, 1));
	assert_int_equal(ib->file_count, 0);
	assert_null(inband_new("", "gpu07"));
	assert_null(inband_look(NULL, 1));
}

/* Two users report one job, each separately, and a user with more files than
 * the limit does not displace the files of another user. Needs root, to act as
 * two users. */
static void
test_owners(void **state)
{
	char path[200];
	json_t *list, *o;
	size_t mine = 0, others = 0, i;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (int k = 0; k < FILES_MAX + 50; k++) {
		snprintf(path, sizeof(path), DIR_ "a%d.jsonl", k);
		tree_put(path, SUMS("gpu07", 0, 10, 1e6, 1));
		snprintf(path, sizeof(path), "%s/a%d.jsonl", dir, k);
		assert_int_equal(chown(path, 70, 70), 0);
	}
	list = inband_look(ib, 1);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(ib->file_count, FILES_MAX);
	json_decref(list);
	for (int k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), DIR_ "z%d.jsonl", k);
		tree_put(path, SUMS("gpu07", 1, 10, 1e6, 2));
		snprintf(path, sizeof(path), "%s/z%d.jsonl", dir, k);
		assert_int_equal(chown(path, 71, 71), 0);
	}
	list = inband_look(ib, 1);
	assert_int_equal(json_array_size(list), 2);
	json_array_foreach (list, i, o) {
		const json_t *row = json_array_get(json_object_get(o, "rows"),
		    0);

		assert_string_equal(member_text(o, "job"), "78");
		others += member_int(o, "uid") == 70;
		if (member_int(o, "uid") != 71)
			continue;
		mine++;
		assert_true(member_number(row, "calls") == 30);
	}
	assert_int_equal(mine, 1);
	assert_int_equal(others, 1);
	assert_int_equal(inband_owner_find(ib, 71)->files, 3);
	json_decref(list);
}

/* With a folder and a host: print the data that an agent of this host reads
 * there. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls_of_nccl, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_means_of_nccl, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_sums_of_mpi, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_files, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_a_file_too_long, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_files_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owners, setup, teardown),
	};

	if (argc == 3) {
		json_t *list;

		ib = inband_new(argv[1], argv[2]);
		list = inband_look(ib, 0);
		json_dumpf(list, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		json_decref(list);
		inband_free(ib);
		return list == NULL;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
