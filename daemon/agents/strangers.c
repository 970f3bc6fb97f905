/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.c - connections until their handshake. Addresses take turns, and
 * known addresses of nodes come first, so no address can block the others.
 * Connections that make others wait have a shorter time limit.
 */
#include "daemon/agents/strangers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/tcp.h>

#include "common/rng.h"
#include "common/xalloc.h"
#include "daemon/agents/session_int.h"

/* A connection without a whole first record costs a descriptor and 0.5 KiB, and
 * so does one that waits for its turn; a handshake costs up to 60 KiB. No
 * connection is ended to make room for another, because that would interrupt
 * the handshakes of a cluster that reconnects all at once. Connections that
 * make others wait only have a shorter time limit, and those without a place
 * wait in the kernel. */
#define SILENT_MAX     1024
#define STRANGER_MAX   256
#define SHED_COUNT     64
#define TURN_LIMIT_NS  (60 * CLK_NS_PER_S) /* wait for a turn */
#define CROWD_LIMIT_NS (3 * CLK_NS_PER_S)  /* limit while others wait */
/* The limit while very many wait, and for a source that has more than its share
 * of places while another source waits. */
#define CROWDED_LIMIT_NS (2 * CLK_NS_PER_S)
#define GREEDY_LIMIT_NS  (1 * CLK_NS_PER_S)
#define CROWDED_COUNT    2048
#define SHARE_PLACES     8
/* Limits of waiting connections: in total, and of one source. */
#define WAITING_MAX        16384
#define WAITING_SOURCE_MAX 2048
#define KNOWN_MAX          65536 /* sources */
#define STRANGERS_EVERY    4 /* one of this many turns is for unknown sources */
#define QUIET_LIMIT_NS     (1 * CLK_NS_PER_S) /* silence while others wait */
#define TURNS_MS           250                /* between checks of handshakes */
#define RECORD_HEAD        5
#define RECORD_MAX         16384 /* bytes of a TLS record */

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

/* ---- sources ---- */

static uint64_t
strangers_key_of(const char *addr)
{
	unsigned char bytes[16] = { 0 };
	uint64_t key = 0;

	if (inet_pton(AF_INET, addr, bytes + 2) == 1)
		bytes[0] = 1; /* not the start of any IPv6 network */
	else if (inet_pton(AF_INET6, addr, bytes) != 1)
		memset(bytes, 0, sizeof(bytes));
	memcpy(&key, bytes, sizeof(key));
	return key;
}

static struct source **
strangers_bucket(struct sessions *ss, uint64_t key)
{
	return &ss->sources[rng_mix(key ^ ss->sources_seed) % SOURCE_BUCKETS];
}

static struct source *
strangers_source_get(struct sessions *ss, const char *addr)
{
	uint64_t key = strangers_key_of(addr);
	struct source **bucket = strangers_bucket(ss, key), *src;

	for (src = *bucket; src != NULL; src = src->next)
		if (src->key == key)
			return src;
	src = xcalloc(1, sizeof(*src));
	src->key = key;
	TAILQ_INIT(&src->waiting);
	src->next = *bucket;
	*bucket = src;
	return src;
}

static void
strangers_source_know(struct sessions *ss, struct source *src)
{
	if (src->is_known || ss->known_count >= KNOWN_MAX)
		return;
	if (src->waiting_count > 0) {
		TAILQ_REMOVE(&ss->sources_waiting[0], src, link);
		TAILQ_INSERT_TAIL(&ss->sources_waiting[1], src, link);
	}
	src->is_known = 1;
	ss->known_count++;
}

static void
strangers_source_drop(struct sessions *ss, struct source *src)
{
	struct source **at = strangers_bucket(ss, src->key);

	if (src->is_known || src->waiting_count > 0 || src->places > 0)
		return;
	while (*at != src)
		at = &(*at)->next;
	*at = src->next;
	free(src);
}

void
strangers_init(struct sessions *ss)
{
	ss->sources_seed = rng_mix(clk_ns() ^ (uintptr_t)ss);
	TAILQ_INIT(&ss->sources_waiting[0]);
	TAILQ_INIT(&ss->sources_waiting[1]);
}

void
strangers_free(struct sessions *ss)
{
	struct source *src, *next;

	for (size_t i = 0; i < SOURCE_BUCKETS; i++)
		for (src = ss->sources[i]; src != NULL; src = next) {
			next = src->next;
			free(src);
		}
}

void
sessions_know(struct sessions *ss, const char *addr)
{
	struct source *src = strangers_source_get(ss, addr);

	strangers_source_know(ss, src);
	strangers_source_drop(ss, src);
}

void
strangers_move(struct session *s, enum step to)
{
	struct sessions *ss = s->all;
	struct source *src = s->source;

	if (src == NULL && to == STEP_WAITING)
		s->source = src = strangers_source_get(ss, s->addr);
	if (src == NULL)
		return;
	if (s->step == STEP_WAITING) {
		TAILQ_REMOVE(&src->waiting, s, turn);
		if (--src->waiting_count == 0)
			TAILQ_REMOVE(&ss->sources_waiting[src->is_known], src,
			    link);
	} else if (s->step == STEP_STRANGER) {
		src->places--;
	}
	if (to == STEP_WAITING) {
		TAILQ_INSERT_TAIL(&src->waiting, s, turn);
		if (src->waiting_count++ == 0)
			TAILQ_INSERT_TAIL(&ss->sources_waiting[src->is_known],
			    src, link);
		return;
	}
	if (to == STEP_STRANGER) {
		src->places++;
		return;
	}
	if (to == STEP_UP)
		strangers_source_know(ss, src);
	s->source = NULL;
	strangers_source_drop(ss, src);
}

/* Return the connection whose turn it is, NULL if none waits; its source moves
 * to the end. */
static struct session *
strangers_next(struct sessions *ss)
{
	struct source_list *lists = ss->sources_waiting;
	int known = TAILQ_EMPTY(&lists[0]) ||
	    (!TAILQ_EMPTY(&lists[1]) &&
		++ss->turn_count % STRANGERS_EVERY != 0);
	struct source *src = TAILQ_FIRST(&lists[known]);

	if (src == NULL)
		return NULL;
	TAILQ_REMOVE(&lists[known], src, link);
	TAILQ_INSERT_TAIL(&lists[known], src, link);
	return TAILQ_FIRST(&src->waiting);
}

/* Return the newest connection of the source with the most waiting ones; at
 * least one must be waiting. */
static struct session *
strangers_least(struct sessions *ss)
{
	struct source *src, *most = NULL;

	for (int i = 0; i < 2; i++)
		TAILQ_FOREACH (src, &ss->sources_waiting[i], link)
			if (most == NULL ||
			    src->waiting_count > most->waiting_count)
				most = src;
	return TAILQ_LAST(&most->waiting, session_list);
}

static uint64_t
strangers_limit_ns(const struct session *s)
{
	const struct sessions *ss = s->all;
	const struct source *src = s->source;

	if (src != NULL && src->places > SHARE_PLACES &&
	    src->waiting_count < ss->count[STEP_WAITING])
		return GREEDY_LIMIT_NS;
	return ss->count[STEP_WAITING] > CROWDED_COUNT ? CROWDED_LIMIT_NS
						       : CROWD_LIMIT_NS;
}

/* End handshakes that have taken too long, at most as many as connections wait.
 */
static void
strangers_slow_end(struct sessions *ss)
{
	size_t count = ss->count[STEP_WAITING];
	uint64_t now_ns = clk_ns();
	struct session *s, *next;

	TAILQ_FOREACH_SAFE (s, &ss->list[STEP_STRANGER], link, next) {
		if (count == 0 || now_ns - s->verified_ns < GREEDY_LIMIT_NS)
			return; /* the list is in the order of that time */
		if (now_ns - s->verified_ns < strangers_limit_ns(s))
			continue;
		session_drop(s, "too slow while other connections wait");
		count--;
	}
}

/* Start handshakes of those whose turn it is, up to the limit. */
void
strangers_turns_cb(evutil_socket_t fd, short what, void *arg)
{
	struct sessions *ss = arg;
	struct session *s;

	(void)fd;
	(void)what;
	if (ss->count[STEP_STRANGER] >= STRANGER_MAX)
		strangers_slow_end(ss);
	while (ss->count[STEP_STRANGER] < STRANGER_MAX &&
	    (s = strangers_next(ss)) != NULL)
		session_start(s);
	strangers_turns_soon(ss);
}

/* The peer has disconnected while it waited: a handshake would only delay
 * others. */
static void
strangers_gone_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	session_close(arg, SESSION_WHY_CLOSED);
}

/* A TLS record of a handshake starts with 22, 3, and its length. Other or
 * incomplete data gets no SSL object. */
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
		    SESSION_WHY_CLOSED); /* a port scan: not logged */
		return;
	}
	if (n == RECORD_HEAD)
		wants += head[3] << 8 | head[4];
	if (head[0] != 22 || (n >= 2 && head[1] != 3) ||
	    wants > RECORD_HEAD + RECORD_MAX) {
		session_drop(s, "not a TLS client");
		return;
	}
	if (ioctl(fd, FIONREAD, &has) < 0 || (has < wants && wants == s->wants))
		session_close(s, SESSION_WHY_CLOSED); /* end of input */
	else if (has < wants) {
		s->wants = wants;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &wants, sizeof(wants));
		event_add(s->first, NULL);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
		event_free(s->first);
		/* Edge-triggered: an error would be reported repeatedly. */
		s->first = event_new(s->all->base, fd, EV_CLOSED | EV_ET,
		    strangers_gone_cb, s);
		if (s->first == NULL)
			fatalx("session: out of memory for an event");
		event_add(s->first, NULL);
		event_add(s->timer, &tv);
		session_step(s, STEP_WAITING);
		if (s->source->waiting_count > WAITING_SOURCE_MAX)
			session_drop(TAILQ_LAST(&s->source->waiting,
					 session_list),
			    "too many connections from this address wait for a "
			    "handshake");
		else if (s->all->count[STEP_WAITING] > WAITING_MAX)
			session_drop(strangers_least(s->all),
			    "too many connections wait for a handshake");
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
	s->account = &s->own_account;
	s->fd = fd;
	s->step = STEP_SILENT;
	s->last_ns = clk_ns();
	s->heartbeat_ns = CLK_NS_PER_S; /* until hello sets it */
	snprintf(s->addr, sizeof(s->addr), "%s", addr);
	TAILQ_INSERT_TAIL(&ss->list[STEP_SILENT], s, link);
	ss->count[STEP_SILENT]++;
	/* Both are optimizations only: failures are ignored. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
	    sizeof(limit_ms));
	s->timer = evtimer_new(ss->base, session_timer_cb, s);
	s->first = event_new(ss->base, fd, EV_READ, strangers_first_cb, s);
	if (s->timer == NULL || s->first == NULL)
		fatalx("session: out of memory for an event");
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
		/* Its bytes have arrived but were not read yet. */
		if (has > 0 || clk_ns() - s->last_ns < QUIET_LIMIT_NS)
			return 1;
		session_drop(s,
		    "no data received while other connections wait");
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
			s = TAILQ_EMPTY(&ss->list[STEP_WAITING])
			    ? NULL
			    : strangers_least(ss);
		if (s == NULL)
			s = TAILQ_FIRST(&ss->list[STEP_STRANGER]);
		if (s == NULL)
			return;
		session_drop(s,
		    "no file descriptors left for unauthenticated connections");
	}
}
