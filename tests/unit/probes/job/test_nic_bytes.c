/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte counts of interfaces, from the kernel's text, and connections.
 */
#include "probes/job/nic.c"

#include <arpa/inet.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#define HEADING                                                                \
	"Inter-|   Receive                                                |  " \
	"Transmit\n"                                                           \
	" face |bytes    packets errs drop fifo frame compressed multicast|"   \
	"bytes    packets errs drop fifo colls carrier compressed\n"

static void
test_parse(void **state)
{
	struct nic_bytes w = { .in_bytes = 7, .out_bytes = 7 };

	(void)state;
	assert_int_equal(nic_bytes_parse(HEADING, &w), 0);
	assert_true(w.in_bytes == 0 && w.out_bytes == 0);
	assert_int_equal(nic_bytes_parse(HEADING
			     "    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n"
			     "  eth0:5000000660 10 0 0 0 0 0 0 78 1 0 0 0 0 0 "
			     "0\n"
			     "lo2: 1 1 0 0 0 0 0 0 96 1 0 0 0 0 0 0",
			     &w),
	    0);
	assert_true(w.in_bytes == 5000000000);
	assert_true(w.out_bytes == 42);
	assert_int_equal(nic_bytes_parse(HEADING "eth0: 1 2 3\n", &w), -EPROTO);
	assert_int_equal(nic_bytes_parse(HEADING "eth0\n", &w), -EPROTO);
	assert_int_equal(nic_bytes_parse("", &w), -EPROTO);
	assert_true(w.out_bytes == 42);
}

static void
test_read(void **state)
{
	struct nic_bytes w;

	(void)state;
	assert_int_equal(nic_bytes_read(&w), 0);
}

/* Bytes that a connection of ours has sent, by either end. */
static void
test_tcp(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), in, out;
	socklen_t len = sizeof(sin);
	struct nic_tcp before, now;
	char bytes[1000] = "";

	(void)state;
	nic_tcp_read(&before);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	out = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(out, (struct sockaddr *)&sin, sizeof(sin)), 0);
	in = accept(fd, NULL, NULL);
	assert_int_equal(write(out, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(recv(in, bytes, sizeof(bytes), MSG_WAITALL),
	    sizeof(bytes));
	assert_int_equal(write(in, bytes, 10), 10);
	assert_int_equal(recv(out, bytes, 10, MSG_WAITALL), 10);
	nic_tcp_read(&now);
	assert_int_equal(now.sent_bytes - before.sent_bytes,
	    sizeof(bytes) + 10);
	close(fd);
	close(in);
	close(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
