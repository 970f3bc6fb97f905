/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ras_read.c - replies of NCCL 2.28.9 on an H100, of a healthy job, with a
 * stopped and with a killed rank; one written from NCCL's source, with
 * differing counts; and malformed replies.
 */
#include "agents/sensor/ras_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "common/member.h"
#include "common/str.h"

static json_t *locals;
static struct ras_reply reply;
static struct err err;

/* Parse the text in parts of this many bytes. */
static int
take(const char *text, size_t bytes, size_t part)
{
	struct ras_read *r = ras_read_new(locals);
	int rc;

	json_decref(reply.report);
	reply = (struct ras_reply){ 0 };
	for (size_t i = 0; i < bytes; i += part)
		(void)ras_read_feed(r, text + i,
		    bytes - i < part ? bytes - i : part);
	rc = ras_read_end(r, &reply, &err);
	ras_read_free(r);
	return rc;
}

static int
take_file(const char *name, size_t part)
{
	static char text[65536];
	char path[200];
	size_t n;
	FILE *fp;

	snprintf(path, sizeof(path), DATA "/ras/%s.txt", name);
	fp = fopen(path, "re");
	assert_non_null(fp);
	n = fread(text, 1, sizeof(text), fp);
	fclose(fp);
	return take(text, n, part);
}

static const json_t *
comm(size_t i)
{
	return json_array_get(json_object_get(reply.report, "list"), i);
}

static void
want_rank(const json_t *list, size_t i, int rank, const char *addr, int pid,
    int gpu, const char *state)
{
	const json_t *o = json_array_get(list, i);

	assert_int_equal(member_int(o, "rank"), rank);
	assert_string_equal(member_text(o, "addr"), addr);
	assert_int_equal(member_int(o, "pid"), pid);
	assert_int_equal(member_int(o, "gpu"), gpu);
	assert_string_equal(member_text(o, "state"), state);
}

static void
test_healthy(void **state)
{
	(void)state;
	for (size_t part = 1; part < 4000; part *= 7) {
		assert_int_equal(take_file("json", part), 0);
		assert_string_equal(member_text(reply.report, "version"),
		    "2.28.9");
		assert_int_equal(member_int(reply.report, "comms"), 1);
		assert_int_equal(member_int(reply.report, "launched"), 1497);
		assert_string_equal(member_text(comm(0), "hash"),
		    "0x14c0626c9f13fb69");
		assert_int_equal(member_int(comm(0), "answered"), 2);
		assert_int_equal(member_int(comm(0), "missing_count"), 0);
		assert_null(json_object_get(comm(0), "behind"));
		assert_int_equal(reply.pid_count, 2);
		assert_int_equal(reply.pids[1], 448);
		assert_int_equal(reply.order, 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(take_file(i ? "status" : "verbose",
					     part),
			    0);
			assert_int_equal(member_int(reply.report, "comms"), 1);
			assert_null(comm(0));
			assert_null(json_object_get(reply.report, "launched"));
		}
	}
}

/* The JSON lacks a comma, the text is whole. */
static void
test_missing(void **state)
{
	const json_t *list;

	(void)state;
	for (size_t part = 1; part < 4000; part *= 7) {
		assert_int_equal(take_file("killed-json", part), 0);
		assert_int_equal(member_int(comm(0), "answered"), 1);
		assert_int_equal(member_int(comm(0), "missing_count"), 1);
		assert_int_equal(reply.pid_count, 1);
		want_rank(json_object_get(comm(0), "missing"), 0, 1,
		    "127.0.0.1", 448, 0, "silent");
		for (int i = 0; i < 2; i++) {
			assert_int_equal(take_file(i ? "stopped-verbose"
						     : "killed-verbose",
					     part),
			    0);
			assert_string_equal(member_text(comm(0), "hash"),
			    "0x14c0626c9f13fb69");
			assert_int_equal(member_int(comm(0), "size"), 2);
			assert_int_equal(member_int(comm(0), "answered"), 1);
			want_rank(json_object_get(comm(0), "missing"), 0, 1,
			    "127.0.0.1", 448, 0, "silent");
		}
		assert_int_equal(take_file("mismatch", part), 0);
		assert_int_equal(member_int(reply.report, "comms"), 3);
		want_rank(json_object_get(comm(0), "missing"), 0, 7, "10.1.0.2",
		    31, 7, "dead");
		assert_int_equal(member_int(comm(0), "most"), 900);
		assert_int_equal(member_int(comm(0), "least"), 0);
		assert_int_equal(member_int(comm(0), "behind_count"), 2);
		list = json_object_get(comm(0), "behind");
		assert_int_equal(json_array_size(list), 2);
		want_rank(list, 1, 5, "10.1.0.2", 29, 5, "answers");
	}
}

/* A node whose address is not one, in text as in JSON. */
static void
test_no_address(void **state)
{
	static const char text[] =
	    "NCCL version 2.28.9 compiled with\n"
	    "    0         1         1         2         2         2   RUNNING"
	    "  INCOMPLETE\n"
	    "#0-0 (14c0626c9f13fb69) INCOMPLETE\n"
	    "  Missing communicator data from 1 rank\n"
	    "  Rank 1 -- GPU 0 managed by process 448 on node <unknown>\n"
	    "Warnings\n";

	(void)state;
	assert_int_equal(take(text, strlen(text), 7), 0);
	want_rank(json_object_get(comm(0), "missing"), 0, 1, "", 448, 0,
	    "silent");
}

static void
want_error(const char *text, const char *want)
{
	assert_int_equal(take(text, strlen(text), 5), -EBADMSG);
	if (strstr(err.text, want) == NULL)
		fail_msg("\"%s\" instead of \"%s\"", err.text, want);
}

#define RANK                                                                   \
	"{\"rank\":0,\"host\":\"h\",\"pid\":1,\"status\":{},"                  \
	"\"collective_counts\":{}}"
#define COMM(inner)                                                            \
	"{\"nccl_version\":\"2.30.1\",\"communicators\":[" inner "],\"ras\":{" \
	"}}"

static void
test_foreign(void **state)
{
	(void)state;
	assert_int_equal(take_file("bad", 3), -EBADMSG);
	want_error("", "no reply");
	want_error("SERVER PROTOCOL 2\nOK\n", "no reply");
	want_error("SERVER PROTOCOL 2\nOK\n{\"nccl_version\": \"2.28.9\",",
	    "the reply of NCCL 2.28.9 is incomplete");
	want_error("NCCL version 2.28.9 compiled with\n\nErrors\n",
	    "the reply of NCCL 2.28.9 is incomplete");
	want_error("SERVER PROTOCOL "
		   "9\n{\"nccl_version\":\"3.1.0\",\"jobs\":[]}",
	    "cannot interpret the reply of NCCL 3.1.0, protocol 9");
	want_error("SERVER PROTOCOL 4\nNCCL version 21.2 compiled\nWarnings\n",
	    "cannot interpret the reply of NCCL 21.2, protocol 4");
	want_error("{\"nccl_version\":\"2.30.1\",\"communicators\":[}]}",
	    "cannot interpret the reply of NCCL 2.30.1");
	want_error("{} {}", "cannot interpret");
	want_error("SSH-2.0-OpenSSH_9.2\n", "cannot interpret");
	/* A rank, or a communicator, without its number. */
	want_error(COMM("{\"hash\":\"0x1\",\"ranks\":[]}"), "cannot interpret");
	want_error(COMM("{\"hash\":\"0x1\",\"size\":1,\"ranks\":[{}]}"),
	    "cannot interpret");
	want_error(COMM("[[[[[[[[[[[[]]]]]]]]]]]]"), "cannot interpret");
	/* Members that are not known are passed over; no address is "". */
	assert_int_equal(take(COMM("{\"hash\":\"0x1\",\"new\":{\"rank\":7},"
				   "\"size\":1,\"ranks\":[" RANK "]}"),
			     strlen(
				 COMM("{\"hash\":\"0x1\",\"new\":{\"rank\":"
				      "7},\"size\":1,\"ranks\":[" RANK "]}")),
			     1),
	    0);
	assert_int_equal(member_int(comm(0), "answered"), 1);
	assert_int_equal(reply.order, -1);
}

/* A job of many months still shows that it progresses. */
static void
test_large_counts(void **state)
{
	char text[400];

	(void)state;
	for (int i = 0; i < 2; i++) {
		int n = snprintf(text, sizeof(text),
		    COMM(
			"{\"hash\":\"0x1\",\"size\":1,\"ranks\":[{\"rank\":0,"
			"\"collective_counts\":{\"AllReduce\":300000000%d}}]}"),
		    i);

		assert_int_equal(take(text, (size_t)n, 7), 0);
		assert_true(member_int(reply.report, "launched") ==
		    INT64_C(3000000000) + i);
	}
}

static long
resident_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* 16 communicators of 4096 ranks and more, one rank of each third behind. */
static void
test_huge(void **state)
{
	struct ras_read *r = ras_read_new(locals);
	char text[400];
	long before_kib = resident_kib();
	size_t bytes = 0;

	(void)state;
#define SAY(...)                                                               \
	do {                                                                   \
		int n = snprintf(text, sizeof(text), __VA_ARGS__);             \
		assert_int_equal(ras_read_feed(r, text, (size_t)n), 0);        \
		bytes += (size_t)n;                                            \
	} while (0)
	SAY("{\"nccl_version\":\"2.28.9\",\"communicators\":[");
	for (int c = 0; c < 16; c++) {
		SAY("{\"hash\":\"0x%x\",\"size\":%d,\"ranks\":[", c, 4096 + c);
		for (int k = 0; k < 4096; k++)
			SAY("{\"rank\":%d,\"host\":\"10.0.%d.%d\",\"pid\":%d,"
			    "\"nvml_dev\":%d,\"status\":{\"init_state\":0},"
			    "\"collective_counts\":{\"AllReduce\":%d}}",
			    k, k / 256, k % 256, k, k % 8,
			    c % 3 == 0 && k == 77 ? 999 : 1000);
		SAY("],\"missing_ranks\":[]}");
	}
	SAY("]}");
	json_decref(reply.report);
	assert_int_equal(ras_read_end(r, &reply, &err), 0);
	ras_read_free(r);
	assert_int_equal(member_int(reply.report, "comms"), 16);
	assert_int_equal(json_array_size(json_object_get(reply.report, "list")),
	    RAS_COMMS_MAX);
	/* Those that are apart come first, the largest of them before. */
	assert_string_equal(member_text(comm(0), "hash"), "0xf");
	assert_int_equal(member_int(comm(5), "behind_count"), 1);
	assert_int_equal(member_int(comm(6), "most") -
		member_int(comm(6), "least"),
	    0);
	assert_int_equal(member_int(reply.report, "launched"), 16000);
	assert_true(bytes > 6000000);
	assert_true(resident_kib() - before_kib < 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_no_address),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_large_counts),
	};
	int failed;

	locals = json_pack("{s:b}", "127.0.0.1", 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(reply.report);
	json_decref(locals);
	return failed;
}
