/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mesh.c - echoes over loopback: 1,000 targets without a false loss, real
 * losses, slow hosts distinguished from losses, strangers without an answer,
 * and rate limits.
 */
#include "agents/mesh/mesh_probe.c"

#include <linux/filter.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#include "agents/mesh/mesh_echo.h"
#include "agents/sensor/host.h"
#include "tests/unit/tree.h"

#define MANY 1000

static const uint8_t key[MESH_KEY_BYTES] = "of the node that is asked";
static double stretch = 1;

static double
no_pressure(void *arg)
{
	(void)arg;
	return stretch;
}

static struct in6_addr
local(unsigned last)
{
	char text[32];
	struct in6_addr a;

	snprintf(text, sizeof(text), "127.0.%u.%u", last >> 8, last & 255);
	assert_int_equal(mesh_addr_parse(text, &a), 0);
	return a;
}

/* Return the target at an address, with the token for a requester at
 * 127.0.0.1. */
static struct mesh_target
target_make(const struct in6_addr *addr, uint16_t port)
{
	struct mesh_target t = { .peer = { *addr, port }, .class = MESH_LEAF };
	struct in6_addr asker = local(1);
	uint8_t input[MESH_TOKEN_INPUT];

	mesh_token_input(&asker, input);
	mesh_mac(key, input, sizeof(input), t.token, MESH_KEY_BYTES);
	t.node = xstrdup("n");
	return t;
}

static struct mesh_probe *
probe_make(struct event_base *base)
{
	struct in6_addr own = local(1);
	int error = 0;
	struct mesh_probe *p = mesh_probe_open(base, &own, no_pressure, NULL,
	    &error);

	assert_non_null(p);
	return p;
}

static struct mesh_echo *
echo_make(struct event_base *base, unsigned last, uint16_t port)
{
	struct in6_addr addr = local(last);
	int error = 0;
	struct mesh_echo *e = mesh_echo_open(base, &addr, port, &error);

	assert_non_null(e);
	mesh_echo_key(e, key);
	mesh_echo_epoch(e, 7);
	return e;
}

static void
run_for(struct event_base *base, uint64_t ns)
{
	struct timeval tv = clk_timeval(ns);

	event_base_loopexit(base, &tv);
	event_base_dispatch(base);
}

/* Until that many are settled, at most for 30 s. */
static uint64_t
settle(struct event_base *base, struct mesh_probe *p, uint64_t count)
{
	const struct mesh_tally *t = &p->tally[MESH_LEAF];

	for (int i = 0; i < 600; i++) {
		if (t->answered + t->lost + t->unknown >= count)
			break;
		run_for(base, 50 * CLK_NS_PER_MS);
	}
	return t->answered + t->lost + t->unknown;
}

/* 1,000 responders on loopback addresses, in one process with the requester, on
 * a busy machine. */
static void
test_many(void **state)
{
	struct mesh_pace pace = { 4 * CLK_NS_PER_S, CLK_NS_PER_S, 4, 2000,
		100 };
	struct event_base *base = event_base_new();
	struct mesh_probe *p = probe_make(base);
	struct mesh_target *targets = xcalloc(MANY, sizeof(*targets));
	struct mesh_tally *t = xcalloc(1, sizeof(*t));
	struct mesh_echo *echoes[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		struct in6_addr addr = local(256 + i);

		echoes[i] = echo_make(base, 256 + i, 0);
		targets[i] = target_make(&addr, mesh_echo_port(echoes[i]));
	}
	mesh_probe_aim(p, targets, MANY, 7, 1, &pace);
	assert_true(settle(base, p, 4 * MANY) >= 4 * MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_true(targets[i].answered + targets[i].unknown >= 4);
		assert_int_equal(targets[i].lost, 0);
	}
	mesh_probe_take(p, MESH_LEAF, t);
	assert_int_equal(t->lost, 0);
	/* a loaded machine may make some unknown, never most */
	assert_true(t->answered > 4 * MANY / 2);
	assert_int_equal(t->rtt_s.count, t->answered);
	assert_true(t->rtt_s.min > 0);
	for (size_t i = 0; i < MANY; i++)
		mesh_echo_close(echoes[i]);
	mesh_probe_close(p);
	event_base_free(base);
	free(t);
}

static struct mesh_target *
one_target(unsigned last, uint16_t port)
{
	struct mesh_target *t = xcalloc(1, sizeof(*t));
	struct in6_addr addr = local(last);

	t[0] = target_make(&addr, port);
	return t;
}

/* A port without a responder: everything is lost and reported as lost. */
static void
test_lost(void **state)
{
	struct mesh_pace pace = { CLK_NS_PER_S / 10, 50 * CLK_NS_PER_MS, 4, 200,
		200 };
	struct event_base *base = event_base_new();
	struct mesh_probe *p = probe_make(base);
	struct in6_addr silent = local(9);
	int fd = mesh_sock_open(&silent, 0), n;
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);
	struct mesh_tally *t = xcalloc(1, sizeof(*t));

	(void)state;
	n = getsockname(fd, (struct sockaddr *)&sa, &len);
	assert_int_equal(n, 0);
	mesh_probe_aim(p, one_target(9, ntohs(sa.sin_port)), 1, 7, 1, &pace);
	assert_true(settle(base, p, 8) >= 8);
	mesh_probe_take(p, MESH_LEAF, t);
	assert_int_equal(t->answered, 0);
	assert_true(t->lost >= 8);
	assert_int_equal(t->unknown, 0);
	assert_true(isnan(mesh_target_median_s(&p->targets[0])));
	close(fd);
	mesh_probe_close(p);
	event_base_free(base);
	free(t);
}

/* The requester's process sleeps, for longer than the timeout, while answers
 * are in the socket: nothing is lost, and the round trip does not include the
 * sleep. */
static void
test_own_delay(void **state)
{
	struct mesh_pace pace = { CLK_NS_PER_S / 100, 100 * CLK_NS_PER_MS, 4,
		400, 400 };
	struct event_base *base = event_base_new();
	struct event_base *theirs = event_base_new();
	struct mesh_probe *p = probe_make(base);
	struct mesh_echo *e = echo_make(theirs, 9, 0);
	struct mesh_tally *t = xcalloc(1, sizeof(*t));

	(void)state;
	mesh_probe_aim(p, one_target(9, mesh_echo_port(e)), 1, 7, 1, &pace);
	for (int i = 0; i < 2000 && p->seq == 0; i++)
		event_base_loop(base, EVLOOP_ONCE);
	run_for(theirs, 5 * CLK_NS_PER_MS); /* it answers */
	clk_sleep_ns(300 * CLK_NS_PER_MS);  /* the requester is late */
	mesh_probe_take(p, MESH_LEAF, t);
	assert_int_equal(t->lost, 0);
	if (t->unknown == 0) { /* the machine let it answer in time */
		assert_int_equal(t->answered, p->seq);
		assert_true(t->rtt_s.max < 0.25);
	}
	mesh_echo_close(e);
	mesh_probe_close(p);
	event_base_free(base);
	event_base_free(theirs);
	free(t);
}

/* The responder's process sleeps before it reads. It reports the delay of its
 * host, which is not counted as network latency; beyond the timeout the result
 * is unknown and not a loss. */
static void
test_their_delay(void **state)
{
	struct mesh_pace pace = { CLK_NS_PER_S / 100, 2 * CLK_NS_PER_S, 1, 400,
		400 };
	struct event_base *base = event_base_new();
	struct event_base *theirs = event_base_new();
	struct mesh_probe *p = probe_make(base);
	struct mesh_echo *e = echo_make(theirs, 9, 0);
	struct mesh_tally *t = xcalloc(1, sizeof(*t));
	struct mesh_echo_counts counts;
	struct hist *turn_s = xcalloc(1, sizeof(*turn_s));

	(void)state;
	mesh_probe_aim(p, one_target(9, mesh_echo_port(e)), 1, 7, 1, &pace);
	for (int i = 0; i < 2000 && p->seq == 0; i++)
		event_base_loop(base, EVLOOP_ONCE);
	event_del(p->beat);
	clk_sleep_ns(200 * CLK_NS_PER_MS);
	run_for(theirs, 5 * CLK_NS_PER_MS);
	mesh_probe_take(p, MESH_LEAF, t);
	assert_int_equal(t->answered, p->seq);
	assert_true(t->rtt_s.min < 0.15);
	mesh_echo_take(e, &counts, turn_s);
	assert_int_equal(counts.answered, p->seq);
	assert_true(turn_s->max >= 0.19);
	mesh_echo_close(e);
	mesh_probe_close(p);
	event_base_free(base);
	event_base_free(theirs);
	free(turn_s);
	free(t);
}

/* Requests without a token for their address, of an old epoch or of another
 * format get no answer. */
static void
test_strangers(void **state)
{
	struct event_base *base = event_base_new();
	struct mesh_echo *e = echo_make(base, 9, 0);
	struct mesh_peer to = { local(9), mesh_echo_port(e) };
	struct in6_addr one = local(1), two = local(2);
	struct mesh_target t = target_make(&one, 1);
	struct mesh_echo_counts counts;
	struct hist *turn_s = xcalloc(1, sizeof(*turn_s));
	static const struct {
		int from_two, kind, signed_;
		uint64_t epoch;
		unsigned answered;
		size_t len_bytes;
	} rows[] = {
		{ 0, MESH_REQUEST, 1, 7, 1, 64 },
		{ 0, MESH_REQUEST, 1, 6, 1, 64 },
		{ 0, MESH_REQUEST, 1, 8, 1, MESH_LARGE_MAX },
		{ 0, MESH_REQUEST, 1, 5, 0, 64 },
		{ 0, MESH_REQUEST, 1, 9, 0, 1400 },
		{ 0, MESH_REQUEST, 0, 7, 0, 1400 },
		{ 1, MESH_REQUEST, 1, 7, 0, 64 }, /* another's token */
		{ 0, MESH_ANSWER, 1, 7, 0, 64 },  /* would bounce for ever */
	};
	const struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(mesh_echo_port(e)),
		.sin_addr.s_addr = htonl(0x7f000009) };
	static const char odd[MESH_PACKET_BYTES + 9] = "not zeros behind it";
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mesh_packet packet = { (enum mesh_kind)rows[i].kind,
			rows[i].epoch, 1, 0 };
		uint8_t raw[MESH_PACKET_BYTES];
		struct mesh_got got;
		uint32_t drops = 0;

		fd = mesh_sock_open(rows[i].from_two ? &two : &one, 0);
		mesh_packet_put(raw, &packet);
		if (rows[i].signed_)
			mesh_sign(raw, t.token);
		assert_int_equal(mesh_sock_put(fd, &to, raw, rows[i].len_bytes),
		    0);
		run_for(base, 20 * CLK_NS_PER_MS);
		mesh_echo_take(e, &counts, turn_s);
		assert_int_equal(counts.answered, rows[i].answered);
		assert_int_equal(counts.refused, !rows[i].answered);
		assert_int_equal(mesh_sock_get(fd, &got, &drops),
		    (int)rows[i].answered);
		if (rows[i].answered)
			assert_int_equal(got.len_bytes, rows[i].len_bytes);
		close(fd);
	}
	/* Malformed packets are counted, and many at once are processed in
	 * turns with other events of the loop. */
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(sendto(fd, odd, i < 100 ? 1 : sizeof(odd), 0,
				     (const struct sockaddr *)&at, sizeof(at)),
		    i < 100 ? 1 : sizeof(odd));
	close(fd);
	event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	mesh_echo_take(e, &counts, turn_s);
	assert_int_equal(counts.refused, 256);
	run_for(base, 20 * CLK_NS_PER_MS);
	mesh_echo_take(e, &counts, turn_s);
	assert_int_equal(counts.refused, 44);
	free(t.node);
	free(turn_s);
	mesh_echo_close(e);
	event_base_free(base);
}

/* A new key for the next session; the one before stays good, older do not. */
static void
test_keys(void **state)
{
	struct event_base *base = event_base_new();
	struct mesh_echo *e = echo_make(base, 9, 0);
	struct in6_addr one = local(1);
	struct mesh_target t = target_make(&one, 1);
	struct mesh_packet packet = { MESH_REQUEST, 7, 1, 0 };
	uint8_t other[MESH_KEY_BYTES] = "another";
	uint8_t third[MESH_KEY_BYTES] = "a third";
	struct mesh_peer to = { local(9), mesh_echo_port(e) };
	struct hist *turn_s = xcalloc(1, sizeof(*turn_s));
	struct mesh_echo_counts counts;
	uint8_t raw[MESH_PACKET_BYTES];
	int fd = mesh_sock_open(&one, 0);

	(void)state;
	mesh_packet_put(raw, &packet);
	mesh_sign(raw, t.token);
	mesh_echo_key(e, key); /* a repeated key changes nothing */
	mesh_echo_key(e, other);
	mesh_sock_put(fd, &to, raw, sizeof(raw));
	run_for(base, 20 * CLK_NS_PER_MS);
	mesh_echo_key(e, third);
	mesh_sock_put(fd, &to, raw, sizeof(raw));
	run_for(base, 20 * CLK_NS_PER_MS);
	mesh_echo_take(e, &counts, turn_s);
	assert_int_equal(counts.answered, 1);
	assert_int_equal(counts.refused, 1);
	close(fd);
	free(turn_s);
	free(t.node);
	mesh_echo_close(e);
	event_base_free(base);
}

/* Only zeros may follow a packet, and not more than the largest has. */
static void
test_padding(void **state)
{
	static const struct {
		size_t len_bytes, at; /* of a byte that is not zero; 0: none */
		unsigned answered;
	} rows[] = { { 1400, 0, 1 }, { 1400, 64, 0 }, { 1400, 1399, 0 },
		{ MESH_LARGE_MAX, 0, 1 }, { MESH_LARGE_MAX + 1, 0, 0 },
		{ 63, 0, 0 } };
	struct event_base *base = event_base_new();
	struct mesh_echo *e = echo_make(base, 9, 0);
	struct in6_addr one = local(1);
	struct mesh_target t = target_make(&one, 1);
	struct mesh_packet packet = { MESH_REQUEST, 7, 1, 0 };
	struct hist *turn_s = xcalloc(1, sizeof(*turn_s));
	uint8_t *raw = xcalloc(1, MESH_LARGE_MAX + 1);
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(mesh_echo_port(e)),
		.sin_addr.s_addr = htonl(0x7f000009) };
	struct mesh_echo_counts counts;
	int fd = mesh_sock_open(&one, 0);
	ssize_t n;

	(void)state;
	mesh_packet_put(raw, &packet);
	mesh_sign(raw, t.token);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].at > 0)
			raw[rows[i].at] = 1;
		n = sendto(fd, raw, rows[i].len_bytes, 0,
		    (struct sockaddr *)&to, sizeof(to));
		assert_int_equal(n, rows[i].len_bytes);
		if (rows[i].at > 0)
			raw[rows[i].at] = 0;
		run_for(base, 20 * CLK_NS_PER_MS);
		mesh_echo_take(e, &counts, turn_s);
		assert_int_equal(counts.answered, rows[i].answered);
	}
	close(fd);
	free(raw);
	free(turn_s);
	free(t.node);
	mesh_echo_close(e);
	event_base_free(base);
}

/* Datagrams longer than the limit are truncated to an invalid packet on the way
 * back: the kernel counts packets dropped by a filter as drops of this host. */
static void
hole_make(int fd, unsigned bytes)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, bytes, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 8 + MESH_PACKET_BYTES - 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
	};
	struct sock_fprog program = { 4, code };

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			     sizeof(program)),
	    0);
}

/* One echo of a burst is large. If only large ones are lost, the counters and
 * round trips of the others do not show it. */
static void
test_large(void **state)
{
	static const struct {
		unsigned burst, small, large; /* of four datagrams */
		int is_hole;
	} rows[] = { { 4, 3, 1, 0 }, { 2, 2, 2, 0 }, { 1, 3, 1, 0 },
		{ 4, 3, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mesh_pace pace = { CLK_NS_PER_S / 100,
			200 * CLK_NS_PER_MS, rows[i].burst, 400, 400 };
		struct event_base *base = event_base_new();
		struct mesh_probe *p = probe_make(base);
		struct mesh_echo *e = echo_make(base, 9, 0);
		struct mesh_target *t = one_target(9, mesh_echo_port(e));
		struct mesh_tally *tally = xcalloc(1, sizeof(*tally));

		t->large_bytes = 8972;
		if (rows[i].is_hole)
			hole_make(p->fd, 1500);
		mesh_probe_aim(p, t, 1, 7, 1, &pace);
		for (int k = 0; k < 2000 && p->seq < 16; k++)
			event_base_loop(base, EVLOOP_ONCE);
		event_del(p->beat);
		run_for(base, 300 * CLK_NS_PER_MS);
		mesh_probe_take(p, MESH_LEAF, tally);
		assert_int_equal(p->seq, 16);
		assert_int_equal(tally->lost, 0);
		assert_int_equal(tally->answered + tally->unknown,
		    4 * rows[i].small);
		assert_int_equal(tally->rtt_s.count, tally->answered);
		assert_int_equal(t->large_lost,
		    rows[i].is_hole ? 4 * rows[i].large : 0);
		/* a host that was slow may leave one or another unknown */
		assert_true(t->large_answered <= 4 * rows[i].large);
		assert_true(rows[i].is_hole == (t->large_answered == 0));
		assert_int_equal(t->large_unsent + tally->unsent, 0);
		mesh_echo_close(e);
		mesh_probe_close(p);
		event_base_free(base);
		free(tally);
	}
}

static int
mtu_set(unsigned mtu)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc;

	r.ifr_mtu = (int)mtu;
	rc = ioctl(fd, SIOCSIFMTU, &r);
	r.ifr_flags = IFF_UP;
	rc |= ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
	return rc;
}

/* A datagram that this host, or the responder's, knows to be too large is not
 * sent. The test needs a network namespace, which not every kernel allows. */
static void
test_too_large(void **state)
{
	struct mesh_pace pace = { CLK_NS_PER_S / 100, 2 * CLK_NS_PER_S, 4, 400,
		400 };
	struct event_base *base, *theirs;
	struct mesh_probe *p;
	struct mesh_echo *e;
	struct mesh_target *t;

	(void)state;
	if ((unshare(CLONE_NEWNET) < 0 &&
		unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) ||
	    mtu_set(1300) < 0)
		skip();
	base = event_base_new();
	theirs = event_base_new();
	p = probe_make(base);
	e = echo_make(theirs, 9, 0);
	t = one_target(9, mesh_echo_port(e));
	t->large_bytes = 1400;
	mesh_probe_aim(p, t, 1, 7, 1, &pace);
	for (int i = 0; i < 2000 && p->seq < 3; i++)
		event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(t->large_unsent, 1);
	assert_int_equal(p->tally[MESH_LEAF].unsent, 0);
	/* the way back has become narrow since */
	assert_int_equal(mtu_set(1500), 0);
	for (int i = 0; i < 2000 && p->seq < 7; i++)
		event_base_loop(base, EVLOOP_ONCE);
	event_del(p->beat);
	assert_int_equal(mtu_set(1300), 0);
	run_for(theirs, 20 * CLK_NS_PER_MS);
	run_for(base, 20 * CLK_NS_PER_MS);
	assert_int_equal(t->large_unsent, 2);
	assert_int_equal(t->answered, 6);
	assert_int_equal(t->large_lost + t->large_answered + t->lost, 0);
	mesh_echo_close(e);
	mesh_probe_close(p);
	event_base_free(base);
	event_base_free(theirs);
}

/* Never more than the rates, however short the round; pressure slows. */
static void
test_rates(void **state)
{
	struct mesh_pace pace = { CLK_NS_PER_S / 1000, CLK_NS_PER_S, 2, 100,
		40 };
	struct event_base *base = event_base_new();
	struct mesh_probe *p = probe_make(base);
	struct mesh_echo *e = echo_make(base, 9, 0);
	struct mesh_target *two = xcalloc(2, sizeof(*two));
	uint64_t began_ns = clk_ns(), fast;
	double span_s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct in6_addr addr = local(9);

		two[i] = target_make(&addr, mesh_echo_port(e));
	}
	mesh_probe_aim(p, two, 2, 7, 1, &pace);
	run_for(base, CLK_NS_PER_S / 2);
	span_s = (double)(clk_ns() - began_ns) / 1e9;
	fast = p->seq;
	assert_true(fast > 0);
	/* two targets at 40 a second are below the node's 100 */
	assert_true((double)fast <= 80 * span_s + 2 * 2);
	stretch = 8;
	began_ns = clk_ns();
	run_for(base, CLK_NS_PER_S / 2);
	span_s = (double)(clk_ns() - began_ns) / 1e9;
	stretch = 1;
	assert_true(p->seq > fast); /* slower, never silent */
	assert_true((double)(p->seq - fast) <= 100 / 8.0 * span_s + 2 * 2);
	mesh_echo_close(e);
	mesh_probe_close(p);
	event_base_free(base);
}

static void
test_pressure(void **state)
{
	(void)state;
	assert_true(isnan(psi_cpu_some(tree)));
	assert_true(psi_stretch(tree, 0.5) == 1);
	assert_true(psi_stretch(tree, -1) == 1);
	assert_true(psi_stretch(tree, 1.5) == 2);
	assert_true(psi_stretch(tree, 9) == 8);
	tree_put("proc/pressure/cpu",
	    "some avg10=35.25 avg60=1.00 avg300=0.00 total=1\n");
	assert_true(fabs(psi_cpu_some(tree) - 0.3525) < 1e-9);
	assert_true(psi_stretch(tree, 0) == 4); /* PSI takes precedence */
}

static void
test_packets(void **state)
{
	struct mesh_packet p = { MESH_ANSWER, 1, UINT64_MAX, 3 }, q;
	uint8_t raw[MESH_PACKET_BYTES];
	uint8_t bad[MESH_KEY_BYTES];
	char hex[MESH_HEX_BYTES];

	(void)state;
	mesh_packet_put(raw, &p);
	assert_int_equal(mesh_packet_get(raw, &q), 0);
	assert_int_equal(q.kind, p.kind);
	assert_true(
	    q.epoch == p.epoch && q.seq == p.seq && q.turn_ns == p.turn_ns);
	for (int i = 0; i < 8; i++) {
		raw[i] ^= 0x40;
		assert_int_equal(mesh_packet_get(raw, &q), -EPROTO);
		raw[i] ^= 0x40;
	}
	raw[40] = 1;
	assert_int_equal(mesh_packet_get(raw, &q), -EPROTO);
	mesh_hex_put(key, hex);
	assert_int_equal(mesh_hex_get(hex, bad), 0);
	assert_memory_equal(bad, key, sizeof(key));
	hex[3] = 'G';
	assert_int_equal(mesh_hex_get(hex, bad), -EINVAL);
	assert_int_equal(mesh_hex_get("00", bad), -EINVAL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test_setup_teardown(test_pressure, tree_setup,
		    tree_teardown),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_padding), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_large), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_own_delay),
		cmocka_unit_test(test_their_delay),
		cmocka_unit_test(test_rates), cmocka_unit_test(test_many),
		cmocka_unit_test(test_too_large), /* last: in another network */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
