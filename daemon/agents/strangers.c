/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.c - who connects, until his handshake: nobody is ended so that
 * another has his place, and who makes others wait has less time.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/tcp.h>

#include "common/xalloc.h"
#include "daemon/agents/session_int.h"

/* A connection without a whole first record costs a descriptor and 0.5 KiB, and
 * so does one that waits for its turn; a handshake costs up to 60 KiB. No
 * connection is ended to make room for another, or a cluster that comes back at
 * once would have its handshakes ended half-way. Those that make others wait
 * only get less time, and those without a place wait in the kernel. */
#define SILENT_MAX     1024
#define STRANGER_MAX   256
#define SHED_COUNT     64
#define TURN_LIMIT_NS  (60 * CLK_NS_PER_S) /* for a turn to come */
#define CROWD_LIMIT_NS (3 * CLK_NS_PER_S)  /* of a turn while others wait */
#define QUIET_LIMIT_NS (1 * CLK_NS_PER_S)  /* for a word while others wait */
#define TURNS_MS       250 /* between looks at those who make others wait */
#define RECORD_HEAD    5
#define RECORD_MAX     16384 /* bytes of a TLS record */

void
strangers_turns_soon(struct sessions *ss)
{
	struct timeval tv = clk_timeval(TURNS_MS * CLK_NS_PER_MS);

	if (TAILQ_EMPTY(&ss->list[STEP_WAITING]))
		return;
	if (ss->count[STEP_STRANGER] < STRANGER_MAX)
		event_active(ss->turns, EV_TIMEOUT, 0);
	else if (!event_pending(ss->turns, EV_TIMEOUT, NULL))
		event_add(ss->turns, &tv);
}

/* Handshakes for those who have waited longest, as many as may go at once. */
void
strangers_turns_cb(evutil_socket_t fd, short what, void *arg)
{
	struct sessions *ss = arg;
	struct session *s;

	(void)fd;
	(void)what;
	while ((s = TAILQ_FIRST(&ss->list[STEP_WAITING])) != NULL) {
		if (ss->count[STEP_STRANGER] < STRANGER_MAX) {
			session_start(s);
			continue;
		}
		s = TAILQ_FIRST(&ss->list[STEP_STRANGER]);
		if (clk_ns() - s->verified_ns < CROWD_LIMIT_NS)
			break;
		session_drop(s, "slow while others wait for their turn");
	}
	strangers_turns_soon(ss);
}

/* The peer has gone while it waited: a handshake with it would only take time
 * from those behind it. */
static void
strangers_gone_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	session_close(arg, SESSION_WHY_CLOSED);
}

/* A TLS record of a handshake starts with 22, 3, and its length: everything
 * else, and a part of one, is not worth an SSL object. */
static void
strangers_first_cb(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tv = clk_timeval(TURN_LIMIT_NS);
	struct session *s = arg;
	unsigned char head[RECORD_HEAD] = { 0 };
	ssize_t n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	int wants = RECORD_HEAD, has = 0, low = 1;

	(void)what;
	if (n <= 0) {
		session_close(s,
		    SESSION_WHY_CLOSED); /* a port scan: not a word */
		return;
	}
	if (n == RECORD_HEAD)
		wants += head[3] << 8 | head[4];
	if (head[0] != 22 || (n >= 2 && head[1] != 3) ||
	    wants > RECORD_HEAD + RECORD_MAX) {
		session_drop(s, "does not speak TLS");
		return;
	}
	if (ioctl(fd, FIONREAD, &has) < 0 || (has < wants && wants == s->wants))
		session_close(s, SESSION_WHY_CLOSED); /* no more will come */
	else if (has < wants) {
		s->wants = wants;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &wants, sizeof(wants));
		event_add(s->first, NULL);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
		event_free(s->first);
		/* On its edge: an error would be told again and again. */
		s->first = event_new(s->all->base, fd, EV_CLOSED | EV_ET,
		    strangers_gone_cb, s);
		if (s->first == NULL)
			fatalx("session: no memory for an event");
		event_add(s->first, NULL);
		event_add(s->timer, &tv);
		session_step(s, STEP_WAITING);
	}
}

void
sessions_accept(struct sessions *ss, int fd, const char *addr)
{
	struct session *s = xcalloc(1, sizeof(*s));
	unsigned limit_ms = (unsigned)(ss->limits.silence_ns / CLK_NS_PER_MS);
	struct timeval tv = clk_timeval(SESSION_HELLO_LIMIT_NS);
	int on = 1;

	s->all = ss;
	s->fd = fd;
	s->step = STEP_SILENT;
	s->last_ns = clk_ns();
	s->heartbeat_ns = CLK_NS_PER_S; /* until it is told */
	snprintf(s->addr, sizeof(s->addr), "%s", addr);
	TAILQ_INSERT_TAIL(&ss->list[STEP_SILENT], s, link);
	ss->count[STEP_SILENT]++;
	/* Both only make things faster: failure is not worth a word. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
	    sizeof(limit_ms));
	s->timer = evtimer_new(ss->base, session_timer_cb, s);
	s->first = event_new(ss->base, fd, EV_READ, strangers_first_cb, s);
	if (s->timer == NULL || s->first == NULL)
		fatalx("session: no memory for an event");
	event_add(s->timer, &tv);
	event_add(s->first, NULL);
}

int
sessions_full(struct sessions *ss)
{
	struct session *s;
	int has;

	while (ss->count[STEP_SILENT] >= SILENT_MAX) {
		s = TAILQ_FIRST(&ss->list[STEP_SILENT]);
		has = 0;
		if (s->wants == 0)
			(void)ioctl(s->fd, FIONREAD, &has);
		/* Its bytes have come but were not read yet. */
		if (has > 0 || clk_ns() - s->last_ns < QUIET_LIMIT_NS)
			return 1;
		session_drop(s, "says nothing while others wait");
	}
	return 0;
}

void
sessions_shed(struct sessions *ss)
{
	struct session *s;

	for (int i = 0; i < SHED_COUNT; i++) {
		s = TAILQ_FIRST(&ss->list[STEP_SILENT]);
		if (s == NULL)
			s = TAILQ_LAST(&ss->list[STEP_WAITING], session_list);
		if (s == NULL)
			s = TAILQ_FIRST(&ss->list[STEP_STRANGER]);
		if (s == NULL)
			return;
		session_drop(s, "no descriptors left for strangers");
	}
}
