/* SPDX-License-Identifier: Apache-2.0 */
/* Every row has its message built and read; every kind of breach is refused. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/frame.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/record.h"
#include "schema/wire.h"

#define LINES_BYTES_MAX (RECORD_LINE_MAX + 256)

static json_t *
value_of(char kind)
{
	switch (kind) {
	case 's':
		return json_string("x");
	case 'i':
		return json_integer(7);
	case 'n':
		return json_real(0.5);
	case 'b':
		return json_true();
	case 'o':
		return json_object();
	default:
		return json_array();
	}
}

static json_t *
full_message(const struct wire_message *m)
{
	json_t *msg = json_object();

	for (const struct wire_field *f = m->fields; f->name != NULL; f++)
		json_object_set_new(msg, f->name, value_of(f->kind));
	return msg;
}

static int
read_back(const char *frame, size_t n, enum wire_from from, struct err *err)
{
	const char *bad;
	json_t *msg = NULL;
	long body = frame_head_get((const uint8_t *)frame, &bad);
	int rc;

	assert_int_equal(body, n - FRAME_HEAD_BYTES);
	rc = wire_parse(frame + FRAME_HEAD_BYTES, (size_t)body, from, &msg,
	    err);
	json_decref(msg);
	return rc;
}

static void
test_all_rows(void **state)
{
	struct err err;

	(void)state;
	for (int t = 0; t < WIRE_TYPE_MAX; t++) {
		const struct wire_message *m = &wire_messages[t];
		enum wire_from wrong = m->from == WIRE_AGENT ? WIRE_COLLECTOR
							     : WIRE_AGENT;
		char *frame;
		long n;

		assert_non_null(m->name);
		n = wire_build(t, full_message(m), &frame);
		assert_int_equal(read_back(frame, (size_t)n, m->from, &err), t);
		if (m->from != WIRE_BOTH) {
			assert_int_equal(read_back(frame, (size_t)n, wrong,
					     &err),
			    -EPROTO);
			assert_non_null(
			    strstr(err.text, "this peer may not send"));
		}
		free(frame);
	}
}

/* Lines are sent unchanged, and are read like the output of json_dumps. */
static void
test_lines(void **state)
{
	static const char two[] = "{\"seq\": 1},{\"seq\":2,\"x\":0.10}";
	static const char one[] = "{\"share\":0.5}";
	struct strbuf lines = { 0 };
	char *frame;
	struct err err;
	long n;

	(void)state;
	strbuf_add(&lines, two, strlen(two));
	n = wire_build_lines(WIRE_RECORDS, "r-1", &lines, &frame);
	assert_int_equal(read_back(frame, (size_t)n, WIRE_AGENT, &err),
	    WIRE_RECORDS);
	assert_memory_equal(frame + FRAME_HEAD_BYTES,
	    "{\"type\":\"records\",\"run\":\"r-1\",\"records\":"
	    "[{\"seq\": 1},{\"seq\":2,\"x\":0.10}]}",
	    (size_t)n - FRAME_HEAD_BYTES);
	free(frame);
	strbuf_clear(&lines);
	strbuf_add(&lines, one, strlen(one));
	n = wire_build_lines(WIRE_PROGRESS, "r-1", &lines, &frame);
	assert_int_equal(read_back(frame, (size_t)n, WIRE_AGENT, &err),
	    WIRE_PROGRESS);
	free(frame);
	strbuf_clear(&lines);
}

static int
parse(const char *text, struct err *err)
{
	json_t *msg = NULL;
	int rc = wire_parse(text, strlen(text), WIRE_AGENT, &msg, err);

	json_decref(msg);
	return rc;
}

/* A record may nest as deep as record_parse lets its line, and be as long. */
static void
test_records_are_limited(void **state)
{
	struct strbuf text = { 0 };
	struct err err;

	(void)state;
	for (int depth = RECORD_DEPTH_MAX; depth <= RECORD_DEPTH_MAX + 1;
	     depth++) {
		strbuf_addf(&text,
		    "{\"type\":\"records\",\"run\":\"r\",\"records\":[{\"x\":");
		for (int i = 1; i < depth; i++)
			strbuf_add(&text, "[", 1);
		for (int i = 1; i < depth; i++)
			strbuf_add(&text, "]", 1);
		strbuf_addf(&text, "}]}");
		assert_int_equal(parse(text.text, &err),
		    depth == RECORD_DEPTH_MAX ? WIRE_RECORDS : -EPROTO);
		strbuf_clear(&text);
	}
	strbuf_addf(&text,
	    "{\"type\":\"progress\",\"run\":\"r\",\"record\":"
	    "{\"text\":\"%*s\"}}",
	    RECORD_LINE_MAX, "");
	assert_int_equal(parse(text.text, &err), WIRE_PROGRESS);
	strbuf_clear(&text);
	strbuf_addf(&text,
	    "{\"type\":\"progress\",\"run\":\"r\",\"record\":"
	    "{\"text\":\"%*s\"}}",
	    LINES_BYTES_MAX, "");
	assert_int_equal(parse(text.text, &err), -EPROTO);
	assert_non_null(strstr(err.text, "progress longer than"));
	strbuf_clear(&text);
}

static void
test_breaches(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "{}", "missing message type" },
		{ "{\"type\":3}", "missing message type" },
		{ "{\"type\":\"helo\"}", "unknown message type helo" },
		{ "{\"type\":\"heartbeat\"}",
		    "heartbeat.at_unix_ns is missing" },
		{ "{\"type\":\"heartbeat\",\"at_unix_ns\":1.5}",
		    "heartbeat.at_unix_ns has the wrong type" },
		{ "{\"type\":\"heartbeat\",\"at_unix_ns\":1,\"load\":null}",
		    "heartbeat.load has the wrong type" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].text, &err), -EPROTO);
		assert_string_equal(err.text, bad[i].want);
	}
	/* Members that only a newer peer knows are ignored. */
	assert_int_equal(parse("{\"type\":\"heartbeat\",\"at_unix_ns\":1,"
			       "\"later\":{\"x\":1}}",
			     &err),
	    WIRE_HEARTBEAT);
}

/* A message that cannot be framed gives an error: its parts may come from
 * outside. */
static void
test_not_built(void **state)
{
	struct strbuf lines = { 0 };
	char *long_text, *frame;
	json_t *msg;

	(void)state;
	msg = json_pack("{s:s, s:s}", "cause", "x", "text", "cut \xc3");
	assert_null(msg); /* what jansson makes of it */
	assert_int_equal(wire_build(WIRE_REFUSE, msg, &frame), -EINVAL);
	msg = json_pack("{s:s}", "cause", "x");
	assert_int_equal(json_object_set_new(msg, "text", json_string("\xfc")),
	    -1);
	assert_int_equal(wire_build(WIRE_REFUSE, msg, &frame), -EINVAL);
	long_text = xcalloc(1, FRAME_BODY_MAX + 1);
	memset(long_text, 'a', FRAME_BODY_MAX);
	msg = json_pack("{s:s, s:s}", "cause", "x", "text", long_text);
	assert_int_equal(wire_build(WIRE_REFUSE, msg, &frame), -EMSGSIZE);
	strbuf_add(&lines, long_text, LINES_BYTES_MAX);
	assert_int_equal(wire_build_lines(WIRE_RECORDS, "r", &lines, &frame),
	    -EMSGSIZE);
	strbuf_clear(&lines);
	free(long_text);
}

/* A reason that quotes the peer, cut within a character, is a JSON string. */
static void
test_reasons(void **state)
{
	static const char *const bad[] = {
		"{\"type\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9\"}",
	};
	struct err err;
	json_t *text;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i], &err), -EPROTO);
		text = json_string(err.text);
		assert_non_null(text);
		json_decref(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_rows),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_records_are_limited),
		cmocka_unit_test(test_breaches),
		cmocka_unit_test(test_not_built),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
