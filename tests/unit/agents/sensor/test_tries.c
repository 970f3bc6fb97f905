/* SPDX-License-Identifier: Apache-2.0 */
/* Only ports that refuse a connection are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/sensor/tries.h"

static char told[200];

static void
refused(const char *run, const char *addr, int port, void *arg)
{
	size_t len = strlen(told);

	(void)arg;
	snprintf(told + len, sizeof(told) - len, "%s %s %d;", run, addr, port);
}

/* Return a socket on a free port of 127.0.0.1. */
static int
bound(int *ret_port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &len), 0);
	*ret_port = ntohs(to.sin_port);
	return fd;
}

static void
test_refused(void **state)
{
	struct event_base *base = event_base_new();
	struct tries t = { .base = base, .cb = refused };
	int open_port, shut_port;
	int listens = bound(&open_port), closed = bound(&shut_port);
	char want[64];

	(void)state;
	assert_int_equal(listen(listens, 1), 0);
	tries_add(&t, "r-1", "127.0.0.1", open_port);
	assert_int_equal(t.count, 1);
	tries_add(&t, "r-2", "127.0.0.1", shut_port); /* no listener */
	tries_add(&t, "r-3", "127.0.0.1", 0);
	tries_add(&t, "r-4", "localhost", shut_port);
	tries_add(&t, "r-5", "", shut_port);
	event_base_dispatch(base); /* until no connection is open */
	assert_int_equal(t.count, 0);
	snprintf(want, sizeof(want), "r-2 127.0.0.1 %d;", shut_port);
	assert_string_equal(told, want);
	t.count = TRIES_MAX;
	tries_add(&t, "r-6", "127.0.0.1", shut_port);
	assert_string_equal(told, want);
	close(listens);
	close(closed);
	event_base_free(base);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
