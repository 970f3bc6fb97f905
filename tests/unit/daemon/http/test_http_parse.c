/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/http/http_int.h"
#include "daemon/http/http_parse.h"

static struct http_head head;

static long
parse(const char *text, int *ret_status)
{
	const char *why = NULL;
	long n;

	*ret_status = 0;
	n = http_parse_head(text, strlen(text), &head, ret_status, &why);
	if (n < 0)
		assert_non_null(why);
	return n;
}

static void
test_whole(void **state)
{
	static const char text[] =
	    "POST /a%20b/c?x=1&y=a+b%2B&z&=q HTTP/1.1\r\n"
	    "host: somewhere\r\nCONTENT-LENGTH:  12 \r\n"
	    "Accept-Encoding: br, GZIP;q=0.5\r\n"
	    "If-None-Match: \"abc\"\r\nExpect: 100-Continue\r\n\r\nrest";
	int status;

	(void)state;
	assert_int_equal(parse(text, &status), strlen(text) - 4);
	assert_int_equal(head.method, HTTP_POST);
	assert_string_equal(head.path, "/a%20b/c");
	assert_int_equal(head.param_count, 4);
	assert_string_equal(http_param(&head, "x"), "1");
	assert_string_equal(http_param(&head, "y"), "a b+");
	assert_string_equal(http_param(&head, "z"), "");
	assert_null(http_param(&head, "none"));
	assert_int_equal(head.body_bytes, 12);
	assert_int_equal(head.minor, 1);
	assert_true(head.keep_alive);
	assert_true(head.accepts_gzip);
	assert_true(head.expects_continue);
	assert_false(head.has_origin);
	assert_string_equal(head.etag, "\"abc\"");
}

/* For any cut of the bytes no result is returned before the empty line. */
static void
test_every_cut(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
	const char *why;
	int status;

	(void)state;
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(http_parse_head(text, len, &head, &status,
				     &why),
		    0);
	assert_true(
	    http_parse_head(text, sizeof(text) - 1, &head, &status, &why) > 0);
}

static void
test_keep_alive(void **state)
{
	static const struct {
		const char *text;
		int keep;
	} rows[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 1 },
		{ "GET / HTTP/1.0\r\n\r\n", 0 },
		{ "GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", 0 },
		{ "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 1 },
		{ "GET / HTTP/1.1\r\nConnection: te, close\r\n\r\n", 0 },
		{ "GET / HTTP/1.1\r\nConnection: closed\r\n\r\n", 1 },
	};
	int status;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(parse(rows[i].text, &status) > 0);
		assert_int_equal(head.keep_alive, rows[i].keep);
	}
}

static void
test_gzip_may_be_refused(void **state)
{
	static const struct {
		const char *value;
		int want;
	} rows[] = {
		{ "gzip", 1 },
		{ "gzip;q=0", 0 },
		{ "gzip;q=0.0, br", 0 },
		{ "gzip;q=0.001", 1 },
		{ "gzip;q=1, deflate;q=0", 1 },
		{ "deflate;q=0, gzip", 1 },
		{ "xgzip", 0 },
		{ "", 0 },
	};

	char text[200];
	int status;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text),
		    "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n",
		    rows[i].value);
		assert_true(parse(text, &status) > 0);
		if (head.accepts_gzip != rows[i].want)
			fail_msg("%s", rows[i].value);
	}
}

/* The header selects the user whose jobs are shown. */
static void
test_user_is_said_once(void **state)
{
	int status;

	(void)state;
	assert_true(parse("GET / HTTP/1.1\r\n\r\n", &status) > 0);
	assert_null(head.user);
	assert_true(parse("GET / HTTP/1.1\r\nx-forwarded-user: ann\r\n\r\n",
			&status) > 0);
	assert_string_equal(head.user, "ann");
	assert_int_equal(parse("GET / HTTP/1.1\r\nX-Forwarded-User: ann\r\n"
			       "X-Forwarded-User: bob\r\n\r\n",
			     &status),
	    -EPROTO);
	assert_int_equal(status, 400);
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
		{ "\r\n\r\n", 400 },
		{ "\x16\x03\x01\x02", 400 }, /* TLS: at once */
		{ "GET / HTTP/1.1 \r\n\r\n", 505 },
		{ "GET  / HTTP/1.1\r\n\r\n", 505 },
		{ "G(T / HTTP/1.1\r\n\r\n", 400 },
		{ "GET http://a/ HTTP/1.1\r\n\r\n", 400 },
		{ "GET /\x80 HTTP/1.1\r\n\r\n", 400 },
		{ "GET /?a=%4 HTTP/1.1\r\n\r\n", 400 },
		{ "GET /?a=%00 HTTP/1.1\r\n\r\n", 400 },
		{ "GET /?1&2&3&4&5&6&7&8&9&0&a&b&c&d&e&f&g HTTP/1.1\r\n\r\n",
		    400 },
		{ "GET / HTTP/1.1\r\nA : b\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n: b\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1,1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\n"
		  "Content-Length: 99999999999999999999\r\n\r\n",
		    400 },
		{ "GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413 },
		{ "GET / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n",
		    501 },
	};
	int status;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (parse(rows[i].text, &status) != -EPROTO ||
		    status != rows[i].status)
			fail_msg("%s: %d", rows[i].text, status);
}

static void
test_lengths(void **state)
{
	static char text[HTTP_HEAD_MAX * 2];
	const char *why;
	int status;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "GET /", 5);
	assert_int_equal(http_parse_head(text, HTTP_HEAD_MAX - 1, &head,
			     &status, &why),
	    0);
	assert_int_equal(http_parse_head(text, HTTP_HEAD_MAX, &head, &status,
			     &why),
	    -EPROTO);
	assert_int_equal(status, 431);
	memcpy(text + 5 + HTTP_TARGET_MAX, " HTTP/1.1\r\n\r\n", 13);
	assert_int_equal(http_parse_head(text, 4096, &head, &status, &why),
	    -EPROTO);
	assert_int_equal(status, 414);
	memcpy(text + 4 + HTTP_TARGET_MAX, " HTTP/1.1\r\n\r\n", 13);
	assert_true(http_parse_head(text, 4096, &head, &status, &why) > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_gzip_may_be_refused),
		cmocka_unit_test(test_user_is_said_once),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
