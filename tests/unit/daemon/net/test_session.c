/* SPDX-License-Identifier: Apache-2.0 */
/* A session that goes in the midst of a call about it is freed once, by the
 * outermost call. Run it under ASAN: what it looks for is a use after free. */
#include "daemon/net/session_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"

#define QUEUE_BYTES (4 * 1024 * 1024)

static unsigned closed_count;

static void
closed_cb(void *ctx, struct session *s, const char *why)
{
	(void)ctx;
	(void)s;
	assert_non_null(why);
	closed_count++;
}

static const struct session_ops ops = { .closed = closed_cb };

/* One that said hello and whose output has room_bytes left. */
static struct session *
full_session(struct sessions *ss, size_t room_bytes)
{
	static char fill[QUEUE_BYTES];
	struct session *s;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	close(sv[1]);
	sessions_accept(ss, sv[0], "192.0.2.1");
	s = TAILQ_FIRST(&ss->list[STEP_SILENT]);
	session_start(s);
	session_step(s, STEP_UP);
	bufferevent_disable(s->bev, EV_READ | EV_WRITE);
	bufferevent_write(s->bev, fill, sizeof(fill) - room_bytes);
	return s;
}

static void
test_refuse_when_full(void **state)
{
	static const struct session_limits limits = { CLK_NS_PER_S, 10,
		QUEUE_BYTES };
	struct event_base *base = event_base_new();
	struct sessions *ss = sessions_new(base, &limits, &ops, NULL);

	(void)state;
	sessions_set_tls(ss, SSL_CTX_new(TLS_server_method()));
	session_refuse(full_session(ss, 10), CAUSE_CONFIG, "a reason");
	assert_int_equal(closed_count, 1);
	for (int i = 0; i < STEP_MAX; i++)
		assert_int_equal(ss->count[i], 0);
	/* the same where messages are sent */
	(void)session_send(full_session(ss, 10), WIRE_HEARTBEAT,
	    json_pack("{s:i}", "at_unix_ns", 1));
	assert_int_equal(closed_count, 2);
	/* with room the reason goes out first */
	session_refuse(full_session(ss, 1000), CAUSE_CONFIG, "a reason");
	assert_int_equal(closed_count, 3);
	assert_int_equal(ss->count[STEP_CLOSING], 1);
	sessions_free(ss);
	/* Buffers with callbacks that are due are freed by the loop. */
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuse_when_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
