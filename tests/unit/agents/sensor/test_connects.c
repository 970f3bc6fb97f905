/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections without an answer, from lists that a kernel printed. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "agents/sensor/connects.h"
#include "tests/unit/tree.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr ...\n"
#define REST " 00000000:00000001 01:00000171 00000001  "
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

/* The kernel prints the words of an address as numbers of this machine. */
static const char *
word(const char *addr)
{
	static char text[9][16];
	static size_t at;
	uint32_t n;

	at = (at + 1) % 9;
	assert_int_equal(inet_pton(AF_INET, addr, &n), 1);
	snprintf(text[at], sizeof(text[at]), "%08X", (unsigned)n);
	return text[at];
}

static void
want(const json_t *rows, size_t i, const char *addr, int port)
{
	json_t *row = json_array_get(rows, i);

	assert_string_equal(json_string_value(json_object_get(row, "addr")),
	    addr);
	assert_int_equal(json_integer_value(json_object_get(row, "port")),
	    port);
}

static void
test_rows(void **state)
{
	char text[2000], six[2000];
	json_t *rows;

	(void)state;
	/* Listening; connected; of another user; waiting, twice to one peer;
	 * malformed. */
	snprintf(text, sizeof(text),
	    HEAD "   0: 00000000:4E20 00000000:0000 0A" REST "986 0 1\n"
		 "   1: %s:9C40 %s:4E2B 01" REST "986 0 1\n"
		 "   2: %s:9C41 %s:4E2B 02" REST "0 0 1\n"
		 "   3: %s:9C42 %s:4E2B 02" REST "986 0 1\n"
		 "   4: %s:9C43 %s:4E2B 02" REST "986 0 1\n"
		 "   5: x:9C43 0100:4E2B 02" REST "986 0 1\n"
		 "   6: 0:9C43 010:4E2B 02" REST "986 0 1\n"
		 "   7: %s:4E21 00000000:0000 0A" REST "986 0 1\n"
		 "   8: 00000000:0016 00000000:0000 0A" REST "986 0 1\nxyz",
	    word("10.1.0.1"), word("10.1.0.2"), word("10.1.0.1"),
	    word("10.1.0.2"), word("10.1.0.1"), word("10.1.0.3"),
	    word("10.1.0.1"), word("10.1.0.3"), word("127.0.0.1"));
	tree_put("proc/net/tcp", text);
	rows = connects_unanswered(tree, 986);
	assert_int_equal(json_array_size(rows), 1);
	want(rows, 0, "10.1.0.3", 20011);
	json_decref(rows);
	rows = connects_listening(tree, 986);
	assert_int_equal(json_array_size(rows), 1);
	want(rows, 0, "0.0.0.0", 20000);
	json_decref(rows);
	snprintf(six, sizeof(six),
	    HEAD "   0: 000000000000000000000000%s:9C40 "
		 "0000000000000000%08X%s:4E2C 02" REST "986 0 1\n"
		 "   1: 000000000000000000000000%s:9C40 "
		 "%08X0000000000000000%08X:4E2D 02" REST "986 0 1\n",
	    word("10.1.0.1"), (unsigned)htonl(0xffff), word("10.1.0.4"),
	    word("10.1.0.1"), (unsigned)htonl(0xfd000000), (unsigned)htonl(5));
	tree_put("proc/net/tcp6", six);
	rows = connects_unanswered(tree, 986);
	assert_int_equal(json_array_size(rows), 3);
	want(rows, 1, "10.1.0.4", 20012);
	want(rows, 2, "fd00::5", 20013);
	json_decref(rows);
}

/* At most CONNECTS_MAX rows; no list at all. */
static void
test_many(void **state)
{
	char text[20000];
	size_t len = 0;
	json_t *rows;

	(void)state;
	rows = connects_unanswered(tree, 986);
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	for (int i = 0; i < 100; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "   %d: %s:9C42 %s:%04X 02" REST "986 0 1\n", i,
		    word("10.1.0.1"), word("10.1.0.3"), 0x4e20 + i);
	tree_put("proc/net/tcp", text);
	rows = connects_unanswered(tree, 986);
	assert_int_equal(json_array_size(rows), CONNECTS_MAX);
	json_decref(rows);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_rows),
		TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
