/* SPDX-License-Identifier: Apache-2.0 */
/* A session that ends during a call on it is freed once, by the outermost call.
 * Run this under ASAN, which detects a use after free. */
#include "daemon/agents/session_int.h"

#include <event2/buffer.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/frame.h"
#include "common/member.h"
#include "daemon/agents/strangers.h"
#include "schema/wire.h"

#define QUEUE_BYTES (4 * 1024 * 1024)

#define PEERS_MAX 4000

static unsigned closed_count;
static int peers[PEERS_MAX];
static size_t peers_count;

static void
closed_cb(void *ctx, struct session *s, const char *why)
{
	(void)ctx;
	(void)s;
	assert_non_null(why);
	closed_count++;
}

static uint64_t now_ns = 1000 * CLK_NS_PER_S;
static unsigned messages_count;

static uint64_t
stopped_clock(void)
{
	return now_ns;
}

/* Each takes 50 ms. */
static int
message_cb(void *ctx, struct session *s, enum wire_type type, json_t *msg,
    struct err *err)
{
	(void)ctx;
	(void)s;
	(void)type;
	(void)msg;
	(void)err;
	messages_count++;
	now_ns += 50 * CLK_NS_PER_MS;
	return 0;
}

static const struct session_ops ops = { .closed = closed_cb,
	.message = message_cb };

/* Return a session after hello whose output has room_bytes left. */
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
	struct wire_frame *f;
	struct session *s;

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
	/* Frames that are shared with other sessions do not count as its
	 * backlog. */
	s = full_session(ss, 10);
	f = wire_frame_new(WIRE_HEARTBEAT, json_pack("{s:i}", "at_unix_ns", 1));
	assert_int_equal(session_share(s, f), 0);
	assert_int_equal(f->refs, 2);
	assert_int_equal(closed_count, 2);
	(void)session_send(s, WIRE_HEARTBEAT,
	    json_pack("{s:i}", "at_unix_ns", 1));
	assert_int_equal(closed_count, 3);
	/* with room the reason is sent first */
	session_refuse(full_session(ss, 1000), CAUSE_CONFIG, "a reason");
	assert_int_equal(closed_count, 4);
	assert_int_equal(ss->count[STEP_CLOSING], 1);
	sessions_free(ss);
	/* Buffers with callbacks that are due are freed by the loop. */
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	assert_int_equal(f->refs, 1);
	wire_frame_unref(f);
	event_base_free(base);
}

/* A growing cluster: each new node has a longer heartbeat interval than the
 * previous one. Every node sends its heartbeats, and within the agreed time. */
static void
test_beats_of_many_spans(void **state)
{
	static const struct session_limits limits = { CLK_NS_PER_S, 10,
		QUEUE_BYTES };
	struct event_base *base = event_base_new();
	struct sessions *ss = sessions_new(base, &limits, &ops, NULL);
	struct timeval now, at;
	struct session *s;

	(void)state;
	sessions_set_tls(ss, SSL_CTX_new(TLS_server_method()));
	s = full_session(ss, QUEUE_BYTES / 2);
	for (unsigned nodes = 4000; nodes < 40000; nodes += 40) {
		session_set_heartbeat(s, nodes * CLK_NS_PER_S / 2000);
		session_timer_cb(-1, 0, s);
		assert_true(event_pending(s->timer, EV_TIMEOUT, &at));
		gettimeofday(&now, NULL);
		timersub(&at, &now, &at);
		assert_in_range((uint64_t)(at.tv_sec * 1000 +
				    at.tv_usec / 1000),
		    nodes * 1000 / 2000 * 15 / 16 - 500,
		    nodes * 1000 / 2000 + 100);
	}
	sessions_free(ss);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
}

#define MESSAGES   200
#define TEXT_BYTES 14000

/* The next message is this one: read whole, while the session writes on. */
static void
expect_message(struct event_base *base, SSL *peer, int number)
{
	static char raw[FRAME_HEAD_BYTES + 2 * TEXT_BYTES];
	size_t want = FRAME_HEAD_BYTES, have = 0;
	struct err err;
	const char *reason;
	json_t *msg;
	int n;

	while (have < want) {
		n = SSL_read(peer, raw + have, (int)(want - have));
		if (n <= 0) {
			assert_int_equal(SSL_get_error(peer, n),
			    SSL_ERROR_WANT_READ);
			(void)event_base_loop(base, EVLOOP_NONBLOCK);
			continue;
		}
		have += (size_t)n;
		if (have == FRAME_HEAD_BYTES)
			want += (size_t)frame_head_get((uint8_t *)raw, &reason);
		assert_true(want <= sizeof(raw));
	}
	assert_int_equal(wire_parse(raw + FRAME_HEAD_BYTES,
			     want - FRAME_HEAD_BYTES, WIRE_COLLECTOR, &msg,
			     &err),
	    WIRE_END);
	assert_int_equal(member_int(msg, "grace_ms"), number);
	json_decref(msg);
}

/* Many messages of the session come at once. */
static void
flood(struct event_base *base, struct session *s)
{
	char *frame;
	long len = wire_build(WIRE_HEARTBEAT,
	    json_pack("{s:i}", "at_unix_ns", 1), &frame);

	assert_true(len > 0);
	for (int i = 0; i < 200; i++)
		evbuffer_add(bufferevent_get_input(s->bev), frame, (size_t)len);
	free(frame);
	bufferevent_enable(s->bev, EV_READ);
	bufferevent_trigger(s->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
}

/* Messages of a session take at most an eighth of the loop, after a second,
 * with one session or with several. */
static void
test_dear_messages(void **state)
{
	static const struct session_limits limits = { CLK_NS_PER_S, 10,
		QUEUE_BYTES };
	struct event_base *base = event_base_new();
	struct sessions *ss = sessions_new(base, &limits, &ops, NULL);
	struct account peer = { 0 };
	struct session *s, *again;
	unsigned before;

	(void)state;
	sessions_set_tls(ss, SSL_CTX_new(TLS_server_method()));
	again = full_session(ss, QUEUE_BYTES / 2);
	s = full_session(ss, QUEUE_BYTES / 2);
	session_set_account(s, &peer);
	clk_set_source(stopped_clock, NULL);
	flood(base, s);
	assert_in_range(messages_count, 15, 30);
	before = messages_count;
	session_set_account(again, &peer);
	flood(base, again);
	assert_in_range(messages_count - before, 0, 1);
	assert_false(bufferevent_get_enabled(s->bev) & EV_READ);
	assert_true(event_pending(s->paused, EV_TIMEOUT, NULL));
	/* Later it continues. */
	now_ns += 100 * CLK_NS_PER_S;
	event_active(s->paused, EV_TIMEOUT, 0);
	event_del(s->paused);
	event_active(s->paused, EV_TIMEOUT, 0);
	for (int i = 0; i < 3; i++)
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
	assert_true(messages_count > 30);
	clk_set_source(NULL, NULL);
	sessions_free(ss);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
}

/* A session that waits for its handshake; its peer is silent. */
static struct session *
waiting_session(struct sessions *ss, const char *addr)
{
	struct session *s;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
			     sv),
	    0);
	assert_true(peers_count < PEERS_MAX);
	peers[peers_count++] = sv[1];
	sessions_accept(ss, sv[0], addr);
	s = TAILQ_LAST(&ss->list[STEP_SILENT], session_list);
	session_step(s, STEP_WAITING);
	return s;
}

/* Unfinished handshakes, of one address and of many, do not lock out other
 * addresses: not one that connects a second later, and not one that waits
 * already. */
static void
test_turns_by_address(void **state)
{
	static const struct session_limits limits = { CLK_NS_PER_S, 10,
		QUEUE_BYTES };
	struct event_base *base = event_base_new();
	struct sessions *ss = sessions_new(base, &limits, &ops, NULL);
	struct rlimit files;
	struct session *s, *agent, *known;
	size_t waiting;
	char addr[40];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	sessions_set_tls(ss, SSL_CTX_new(TLS_server_method()));
	for (int i = 0; i < 1000; i++)
		(void)waiting_session(ss, "192.0.2.9");
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	waiting = ss->count[STEP_WAITING];
	assert_true(waiting > 700); /* all slots are used */
	agent = waiting_session(ss, "192.0.2.1");
	TAILQ_FOREACH (s, &ss->list[STEP_STRANGER], link)
		s->verified_ns -= 1100 * CLK_NS_PER_MS;
	strangers_turns_cb(-1, 0, ss);
	assert_int_equal(agent->step, STEP_STRANGER);
	assert_true(ss->count[STEP_WAITING] > waiting / 2);

	/* Of as many addresses as there are: one that a node had is first. */
	sessions_know(ss, "2001:db8:0:7::1");
	for (int i = 0; i < 1000; i++) {
		snprintf(addr, sizeof(addr), "198.51.%d.%d", i / 250, i % 250);
		(void)waiting_session(ss, addr);
	}
	known = waiting_session(ss, "2001:db8:0:7::2");
	session_close(TAILQ_FIRST(&ss->list[STEP_STRANGER]), "gone");
	session_close(TAILQ_FIRST(&ss->list[STEP_STRANGER]), "gone");
	strangers_turns_cb(-1, 0, ss);
	assert_int_equal(known->step, STEP_STRANGER);
	sessions_free(ss);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
	while (peers_count > 0)
		close(peers[--peers_count]);
}

/* Data sent at once, data that TLS accepts in part, and data queued behind it
 * arrive in order, each once. The certificate is checked again an hour later,
 * when it is missing. */
static void
test_order(void **state)
{
	static const struct session_limits limits = { CLK_NS_PER_S, 10,
		QUEUE_BYTES };
	struct event_base *base = event_base_new();
	struct sessions *ss = sessions_new(base, &limits, &ops, NULL);
	SSL_CTX *there = SSL_CTX_new(TLS_client_method());
	SSL_CTX *here = SSL_CTX_new(TLS_server_method());
	static char text[TEXT_BYTES + 1];
	int sv[2], buffered = 0;
	struct session *s;
	SSL *peer;

	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as the collector does */
	memset(text, 'x', TEXT_BYTES);
	/* without certificates, which TLS 1.3 cannot */
	SSL_CTX_set_max_proto_version(here, TLS1_2_VERSION);
	SSL_CTX_set_cipher_list(here, "AECDH-AES256-SHA@SECLEVEL=0");
	SSL_CTX_set_cipher_list(there, "AECDH-AES256-SHA@SECLEVEL=0");
	SSL_CTX_set_max_proto_version(there, TLS1_2_VERSION);
	sessions_set_tls(ss, here);
	SSL_CTX_set_tlsext_servername_callback(here, NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
			     sv),
	    0);
	peer = SSL_new(there);
	SSL_set_fd(peer, sv[1]);
	SSL_set_connect_state(peer);
	sessions_accept(ss, sv[0], "192.0.2.1");
	s = TAILQ_FIRST(&ss->list[STEP_SILENT]);
	s->enrols = 1; /* no certificate is requested */
	session_start(s);
	while (SSL_do_handshake(peer) != 1) {
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
		assert_int_equal(ss->count[STEP_STRANGER], 1);
	}
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	session_step(s, STEP_UP);
	for (int i = 0; i < MESSAGES; i++) {
		json_t *msg = json_pack("{s:s, s:i, s:s}", "run", "r",
		    "grace_ms", i, "text", text);

		if (i % 7 == 3) {
			struct wire_frame *f = wire_frame_new(WIRE_END, msg);

			assert_int_equal(session_share(s, f), 0);
			wire_frame_unref(f);
		} else {
			assert_int_equal(session_send(s, WIRE_END, msg), 0);
		}
		buffered += evbuffer_get_length(
				bufferevent_get_output(s->bev)) > 0;
	}
	assert_in_range(buffered, 1, MESSAGES - 1);
	for (int i = 0; i < MESSAGES; i++)
		expect_message(base, peer, i);
	assert_int_equal(evbuffer_get_length(bufferevent_get_output(s->bev)),
	    0);
	s->verified_ns = 0;
	s->verified_by = ss->tls_reads;
	sessions_verify(ss, 3600 * CLK_NS_PER_S - 1);
	assert_int_equal(ss->count[STEP_UP], 1);
	sessions_verify(ss, 3600 * CLK_NS_PER_S);
	assert_int_equal(ss->count[STEP_UP], 0);
	SSL_free(peer);
	close(sv[1]);
	SSL_CTX_free(there);
	sessions_free(ss);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_free(base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuse_when_full),
		cmocka_unit_test(test_beats_of_many_spans),
		cmocka_unit_test(test_turns_by_address),
		cmocka_unit_test(test_dear_messages),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
