/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - sessions of accepted agents: frames in both directions,
 * heartbeats, and their end with the certificate's validity.
 */
#include "daemon/agents/session_int.h"

#include <errno.h>
#include <event2/buffer.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/frame.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/agents/log_limit.h"
#include "daemon/agents/strangers.h"
#include "pki/pki.h"

/* A session may use an ACCOUNT_SHARE-th of the loop. If its debt exceeds
 * ACCOUNT_MAX_NS, nothing is read from it until the debt is paid. */
#define ACCOUNT_SHARE   8
#define ACCOUNT_MAX_NS  (1 * CLK_NS_PER_S)
#define REFUSE_LIMIT_NS (1 * CLK_NS_PER_S) /* for the refuse to be read */
/* Maximum time that a session outlives its certificate. 10,000 are verified in
 * 40 s, which costs the loop 10 ms each time. */
#define VERIFY_EVERY_NS (3600 * CLK_NS_PER_S)
#define VERIFY_COUNT    64
/* A TLS record, as the buffer would have written it. */
#define AT_ONCE_BYTES_MAX 15000
#define BEAT_NS           (100 * CLK_NS_PER_MS) /* reuse of a frame */

void
session_step(struct session *s, enum step step)
{
	struct sessions *ss = s->all;

	TAILQ_REMOVE(&ss->list[s->step], s, link);
	ss->count[s->step]--;
	strangers_move(s, step);
	s->step = step;
	TAILQ_INSERT_TAIL(&ss->list[step], s, link);
	ss->count[step]++;
	strangers_turns_soon(ss);
}

static void
session_free(struct session *s)
{
	struct sessions *ss = s->all;

	TAILQ_REMOVE(&ss->list[s->step], s, link);
	ss->count[s->step]--;
	strangers_move(s, STEP_MAX);
	strangers_turns_soon(ss);
	if (s->first != NULL)
		event_free(s->first);
	event_free(s->timer);
	if (s->paused != NULL)
		event_free(s->paused);
	if (s->bev != NULL) {
		SSL *ssl = bufferevent_openssl_get_ssl(s->bev);

		/* Close TLS without waiting for the peer's close_notify. */
		SSL_set_quiet_shutdown(ssl, s->step == STEP_STRANGER);
		SSL_shutdown(ssl);
		bufferevent_free(s->bev);
	}
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

void
session_close(struct session *s, const char *why)
{
	int was_up = s->step == STEP_UP;

	if (s->dead)
		return;
	s->dead = 1;
	if (was_up) {
		session_step(s, STEP_CLOSING);
		s->all->ops->closed(s->all->ctx, s, why);
	}
	if (!s->in_call)
		session_free(s);
}

void
sessions_complain(struct sessions *ss, const char *addr, const char *name,
    const char *what)
{
	uint64_t hidden;

	if (!log_limit_tell(&ss->once, addr, what, clk_ns(), &hidden)) {
		log_debug("session %s %s: %s", addr, name, what);
		return;
	}
	if (hidden > 0)
		log_warnx("session %s%s%s: %s (%llu earlier messages "
			  "suppressed)",
		    addr, name[0] != '\0' ? " " : "", name, what,
		    (unsigned long long)hidden);
	else
		log_warnx("session %s%s%s: %s", addr,
		    name[0] != '\0' ? " " : "", name, what);
}

/* End a session that failed before it was up, or that broke a rule. */
void
session_drop(struct session *s, const char *why)
{
	sessions_complain(s->all, s->addr, s->node, why);
	session_close(s, why);
}

/* Write at once if nothing is queued, which is nearly always so. Through the
 * buffer a frame costs two epoll changes, an event and a copy, which is more
 * than the rest of a heartbeat. TLS requires that data it did not accept is
 * passed again, with the same or a greater length, so that goes into the buffer
 * first. */
static int
session_write_now(struct session *s, const char *frame, size_t len)
{
	SSL *ssl = bufferevent_openssl_get_ssl(s->bev);
	int done;

	if (len > AT_ONCE_BYTES_MAX ||
	    evbuffer_get_length(bufferevent_get_output(s->bev)) > 0)
		return 0;
	done = SSL_write(ssl, frame, (int)len);
	if (done > 0 && (size_t)done == len)
		return 1;
	/* The write of the buffer fails too, and reports it. */
	ERR_clear_error();
	return 0;
}

/* Return the bytes that the peer has not read yet. */
static size_t
session_waiting(struct session *s)
{
	size_t len = evbuffer_get_length(bufferevent_get_output(s->bev));

	if (len == 0)
		s->shared_bytes = 0;
	return len;
}

/* Send a whole frame, at once if nothing is queued. */
static int
session_frame_put(struct session *s, const char *frame, size_t len, int now)
{
	if (s->bev == NULL || s->dead)
		return -ENOTCONN;
	if (!now || !session_write_now(s, frame, len))
		bufferevent_write(s->bev, frame, len);
	if (session_waiting(s) >
	    s->all->limits.queue_bytes_max + s->shared_bytes)
		session_drop(s,
		    "the agent does not read the messages of the collector");
	return 0;
}

static void
session_shared_cb(const void *bytes, size_t len, void *arg)
{
	(void)bytes;
	(void)len;
	wire_frame_unref(arg);
}

int
session_share(struct session *s, struct wire_frame *f)
{
	if (s->bev == NULL || s->dead)
		return -ENOTCONN;
	(void)session_waiting(s);
	if (evbuffer_add_reference(bufferevent_get_output(s->bev), f->bytes,
		f->len_bytes, session_shared_cb, f) < 0)
		return -ENOMEM;
	f->refs++;
	s->shared_bytes += f->len_bytes;
	return 0;
}

static int
session_frame_send(struct session *s, enum wire_type type, json_t *msg, int now)
{
	char *frame;
	long len = wire_build(type, msg, &frame);
	int rc;

	if (len < 0) {
		log_warnx("session %s: %s not sent: %s", s->node,
		    wire_messages[type].name, strerror((int)-len));
		return (int)len;
	}
	rc = session_frame_put(s, frame, (size_t)len, now);
	free(frame);
	return rc;
}

/* One frame is used for all sessions that are due within BEAT_NS: its only
 * purpose is to show that the collector is alive. */
static void
session_heartbeat_send(struct session *s)
{
	struct sessions *ss = s->all;
	uint64_t now_ns = clk_ns();

	if (ss->beat == NULL || now_ns - ss->beat_ns > BEAT_NS) {
		free(ss->beat);
		ss->beat_ns = now_ns;
		ss->beat_bytes = wire_build(WIRE_HEARTBEAT,
		    json_pack("{s:I}", "at_unix_ns", (json_int_t)clk_unix_ns()),
		    &ss->beat);
	}
	(void)session_frame_put(s, ss->beat, (size_t)ss->beat_bytes, 1);
}

int
session_send(struct session *s, enum wire_type type, json_t *msg)
{
	return session_frame_send(s, type, msg, s->step == STEP_UP);
}

static void session_event_cb(struct bufferevent *bev, short what, void *arg);

static void
session_discard_cb(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);

	(void)arg;
	evbuffer_drain(in, evbuffer_get_length(in));
}

/* Closing with unread input would reset the connection and lose the reason, so
 * the peer or a timer closes it. */
static void
session_flushed_cb(struct bufferevent *bev, void *arg)
{
	(void)arg;
	SSL_shutdown(bufferevent_openssl_get_ssl(bev));
	shutdown(bufferevent_getfd(bev), SHUT_WR);
}

/* Send the last message of a session; takes msg. */
static void
session_end(struct session *s, enum wire_type type, json_t *msg,
    const char *text)
{
	struct timeval tv = clk_timeval(REFUSE_LIMIT_NS);
	int was_up = s->step == STEP_UP;

	s->in_call++; /* otherwise a full output would free it */
	/* flushed_cb is called when the buffer has been written */
	(void)session_frame_send(s, type, msg, 0);
	s->in_call--;
	if (s->dead) {
		if (!s->in_call)
			session_free(s);
		return;
	}
	session_step(s, STEP_CLOSING);
	if (was_up)
		s->all->ops->closed(s->all->ctx, s, text);
	bufferevent_setcb(s->bev, session_discard_cb, session_flushed_cb,
	    session_event_cb, s);
	/* Later, since a frame may still be in use: process the rest of a full
	 * buffer. */
	bufferevent_trigger(s->bev, EV_READ,
	    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
	event_add(s->timer, &tv);
}

void
session_refuse(struct session *s, enum cause cause, const char *text)
{
	if (s->dead || s->step == STEP_CLOSING)
		return;
	sessions_complain(s->all, s->addr, s->node, text);
	session_end(s, WIRE_REFUSE,
	    json_pack("{s:s, s:o}", "cause", names_causes[cause].name, "text",
		text_json(text)),
	    text);
}

void
session_timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;
	const struct timeval *common;
	struct timeval tv;
	uint64_t step_ns = 1;

	(void)fd;
	(void)what;
	switch (s->step) {
	case STEP_UP:
		/* Timers with a common timeout need no heap. Each new node
		 * would change the interval, and libevent supports only 256
		 * common timeouts. So intervals are rounded down by up to a
		 * sixteenth, to 16 values an octave. */
		while (step_ns << 5 <= s->heartbeat_ns)
			step_ns <<= 1;
		tv = clk_timeval(s->heartbeat_ns - s->heartbeat_ns % step_ns);
		common = event_base_init_common_timeout(s->all->base, &tv);
		event_add(s->timer, common != NULL ? common : &tv);
		session_heartbeat_send(s);
		break;
	case STEP_CLOSING:
		session_close(s, "refused");
		break;
	default:
		session_drop(s,
		    s->step == STEP_SILENT ? "timeout while waiting for data"
			: s->step == STEP_WAITING
			? "timeout while waiting for the handshake"
			: "timeout while waiting for hello");
	}
}

static int
session_verify(struct session *s, uint64_t now_ns, struct err *err)
{
	s->verified_ns = now_ns;
	s->verified_by = s->all->tls_reads;
	return tls_peer_check(bufferevent_openssl_get_ssl(s->bev), s->all->tls,
	    err);
}

/* The list is in the order in which its sessions were verified. */
void
sessions_verify(struct sessions *ss, uint64_t now_ns)
{
	struct session *s;
	struct err err;

	for (int i = 0; i < VERIFY_COUNT; i++) {
		s = TAILQ_FIRST(&ss->list[STEP_UP]);
		if (s == NULL ||
		    (s->verified_by == ss->tls_reads &&
			now_ns - s->verified_ns < VERIFY_EVERY_NS))
			return;
		session_step(s, STEP_UP);
		if (session_verify(s, now_ns, &err) < 0)
			session_refuse(s, CAUSE_CONFIG, err.text);
	}
}

/* Check the hello against the certificate, then pass it to the owner of the
 * roster. */
static int
session_hello_take(struct session *s, json_t *msg, enum cause *ret_cause,
    struct err *err)
{
	struct sessions *ss = s->all;
	const char *node = json_string_value(json_object_get(msg, "node"));
	json_int_t newest = member_int(msg, "version");
	const json_t *least = json_object_get(msg, "version_min");
	json_int_t oldest = least != NULL ? json_integer_value(least) : newest;

	*ret_cause = CAUSE_UNSUPPORTED;
	if (oldest > WIRE_VERSION || newest < WIRE_VERSION_MIN)
		return err_set(err, -EPROTO,
		    "agent %.80s supports protocol versions %lld to %lld, but "
		    "this collector (%s) supports %d to %d: upgrade %s",
		    member_text(msg, "software"), (long long)oldest,
		    (long long)newest, COALMINE_VERSION, WIRE_VERSION_MIN,
		    WIRE_VERSION,
		    oldest > WIRE_VERSION ? "the collector" : "the agent");
	*ret_cause = CAUSE_CONFIG;
	if (strcmp(node, s->node) != 0)
		return err_set(err, -EACCES,
		    "the agent's name is %.80s, but its certificate is for "
		    "%.80s",
		    node, s->node);
	*ret_cause = CAUSE_BUSY;
	if (ss->count[STEP_UP] > ss->limits.agents_max)
		return err_set(err, -EBUSY,
		    "limit of %zu connected agents reached "
		    "(collector.agents_max)",
		    ss->limits.agents_max);
	return ss->ops->hello(ss->ctx, s, msg, ret_cause, err);
}

static int
session_hello_handle(struct session *s, enum wire_type type, json_t *msg,
    enum cause *ret_cause, struct err *err)
{
	uint64_t first_ns;
	struct timeval tv;
	int rc;

	if (type != WIRE_HELLO)
		return err_set(err, -EPROTO, "message %s before hello",
		    wire_messages[type].name);
	*ret_cause = CAUSE_CONFIG;
	/* Files were read again in the middle of its handshake. */
	if (s->verified_by != s->all->tls_reads &&
	    session_verify(s, clk_ns(), err) < 0)
		return -EACCES;
	session_step(s, STEP_UP); /* so that closed is called in every case */
	rc = session_hello_take(s, msg, ret_cause, err);
	if (rc < 0 || s->dead)
		return rc;
	bufferevent_setwatermark(s->bev, EV_READ, 0,
	    FRAME_HEAD_BYTES + FRAME_BODY_MAX);
	/* Spread heartbeats over the interval, so that agents that connected
	 * together do not send them together. */
	first_ns = rng_entropy() % s->heartbeat_ns;
	tv = clk_timeval(first_ns);
	event_add(s->timer, &tv);
	return 0;
}

/* Handle the only message of a peer without a certificate; its answer ends the
 * connection. */
static int
session_enroll_handle(struct session *s, enum wire_type type, const json_t *msg,
    enum cause *ret_cause, struct err *err)
{
	*ret_cause = CAUSE_CONFIG;
	if (type != WIRE_ENROLL)
		return err_set(err, -EPROTO, "message %s without a certificate",
		    wire_messages[type].name);
	if (s->question != 0)
		return err_set(err, -EPROTO,
		    "a second enroll message on this connection");
	s->question = ++s->all->questions;
	return s->all->ops->enroll(s->all->ctx, s->question, s->addr, msg, err);
}

void
sessions_answer(struct sessions *ss, uint64_t question, json_t *answer,
    const char *why)
{
	struct session *s;

	TAILQ_FOREACH (s, &ss->list[STEP_STRANGER], link)
		if (s->question == question && !s->dead)
			break;
	if (s == NULL)
		json_decref(answer);
	else if (answer != NULL)
		session_end(s, WIRE_CERTIFICATE, answer, "enrolled");
	else
		session_refuse(s, CAUSE_CONFIG, why);
}

static int
session_message_handle(struct session *s, const char *body, size_t len,
    enum cause *ret_cause, struct err *err)
{
	struct sessions *ss = s->all;
	json_t *msg;
	int type, rc;

	*ret_cause = CAUSE_INTERNAL;
	type = wire_parse_lines(body, len, WIRE_AGENT, &msg, &ss->lines, err);
	if (type < 0)
		return type;
	log_trace("session %s: %s", s->node, wire_messages[type].name);
	if (s->enrols)
		rc = session_enroll_handle(s, (enum wire_type)type, msg,
		    ret_cause, err);
	else if (s->step != STEP_UP)
		rc = session_hello_handle(s, (enum wire_type)type, msg,
		    ret_cause, err);
	else
		rc = ss->ops->message(ss->ctx, s, (enum wire_type)type, msg,
		    err);
	json_decref(msg);
	return rc;
}

/* Handle one frame of in. Return its length, 0 if it is incomplete, or -errno.
 */
static long
session_frame_handle(struct session *s, struct evbuffer *in,
    enum cause *ret_cause, struct err *err)
{
	uint8_t head[FRAME_HEAD_BYTES];
	const char *reason;
	unsigned char *all;
	long body;
	int rc;

	if (evbuffer_copyout(in, head, sizeof(head)) < (long)sizeof(head))
		return 0;
	*ret_cause = CAUSE_INTERNAL;
	body = frame_head_get(head, &reason);
	if (body >= 0 && s->step != STEP_UP && body > WIRE_HELLO_BYTES_MAX) {
		reason = "message hello is longer than 128 KiB";
		body = -EPROTO;
	}
	if (body >= 0 && s->enrols && body > WIRE_ENROLL_BYTES_MAX) {
		reason = "message enroll is longer than 16 KiB";
		body = -EPROTO;
	}
	if (body < 0) {
		err_say(err, "%s", reason);
		return body;
	}
	if (evbuffer_get_length(in) < sizeof(head) + (size_t)body)
		return 0;
	s->message_bytes = sizeof(head) + (size_t)body;
	all = evbuffer_pullup(in, (long)sizeof(head) + body);
	rc = session_message_handle(s, (const char *)all + sizeof(head),
	    (size_t)body, ret_cause, err);
	evbuffer_drain(in, sizeof(head) + (size_t)body);
	return rc < 0 ? rc : (long)sizeof(head) + body;
}

static void
session_read_on(struct session *s)
{
	bufferevent_enable(s->bev, EV_READ);
	bufferevent_trigger(s->bev, EV_READ,
	    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

static void
session_paused_cb(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;

	(void)fd;
	(void)what;
	if (s->step == STEP_UP && !s->all->held)
		session_read_on(s);
}

/* Return 1 if its messages took more than its share of the loop; it is then not
 * read for a while. */
static int
session_charge(struct session *s, uint64_t began_ns)
{
	uint64_t now_ns = clk_ns();
	uint64_t owed_ns = account_charge(s->account, now_ns - began_ns,
	    ACCOUNT_SHARE, now_ns);
	struct timeval tv;

	if (owed_ns <= ACCOUNT_MAX_NS || s->step != STEP_UP || s->dead)
		return 0;
	if (s->paused == NULL)
		s->paused = evtimer_new(s->all->base, session_paused_cb, s);
	if (s->paused == NULL)
		return 0;
	sessions_complain(s->all, s->addr, s->node,
	    "the agent's messages exceed the share of one agent; the "
	    "collector reads these messages more slowly");
	tv = clk_timeval(
	    (owed_ns - ACCOUNT_MAX_NS) * ACCOUNT_SHARE + ACCOUNT_MAX_NS / 2);
	bufferevent_disable(s->bev, EV_READ);
	event_add(s->paused, &tv);
	return 1;
}

static void
session_read_cb(struct bufferevent *bev, void *arg)
{
	struct session *s = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	struct err err = { 0 };
	enum cause cause;
	uint64_t began_ns;
	long rc;

	s->last_ns = clk_ns();
	s->in_call++;
	do {
		if (s->all->held && s->step == STEP_UP) {
			bufferevent_disable(bev, EV_READ);
			rc = 0;
			break;
		}
		if (s->paused != NULL &&
		    event_pending(s->paused, EV_TIMEOUT, NULL)) {
			rc = 0;
			break;
		}
		began_ns = clk_ns();
		rc = session_frame_handle(s, in, &cause, &err);
		if (rc > 0 && session_charge(s, began_ns))
			break;
	} while (rc > 0 && !s->dead && s->step != STEP_CLOSING);
	if (rc < 0)
		session_refuse(s, cause, err.text);
	s->in_call--;
	if (s->dead)
		session_free(s);
}

/* The handshake is done: identify the peer. */
static void
session_handshake_done(struct session *s)
{
	struct tls_peer peer;
	struct err err;

	if (s->enrols)
		return; /* the time limit of its hello applies */
	if (tls_peer_get(bufferevent_openssl_get_ssl(s->bev), &peer, &err) <
	    0) {
		session_refuse(s, CAUSE_CONFIG, err.text);
		return;
	}
	memcpy(s->node, peer.name, sizeof(s->node));
	s->cert_end_unix_s = peer.end_unix_s;
	if (peer.role != ROLE_AGENT) {
		err_say(&err, "role %s in the certificate: expected role agent",
		    names_roles[peer.role]);
		session_refuse(s, CAUSE_CONFIG, err.text);
	}
}

#define DATED_NS (900 * CLK_NS_PER_S)

static void
session_dated_count(struct session *s)
{
	long why = SSL_get_verify_result(bufferevent_openssl_get_ssl(s->bev));
	struct sessions *ss = s->all;

	if (why != X509_V_ERR_CERT_NOT_YET_VALID &&
	    why != X509_V_ERR_CERT_HAS_EXPIRED)
		return;
	if (clk_ns() - ss->dated_ns > DATED_NS)
		ss->dated.count = 0;
	ss->dated.count++;
	ss->dated_ns = clk_ns();
	snprintf(ss->dated.addr, sizeof(ss->dated.addr), "%s", s->addr);
}

void
sessions_dated(const struct sessions *ss, struct sessions_dated *ret)
{
	*ret = ss->dated;
	if (clk_ns() - ss->dated_ns > DATED_NS)
		ret->count = 0;
}

static void
session_error_text(struct bufferevent *bev, short what, struct err *err)
{
	unsigned long e = bufferevent_get_openssl_error(bev);
	const char *reason = e == 0 ? NULL : ERR_reason_error_string(e);
	int sock = EVUTIL_SOCKET_ERROR();
	long verified = SSL_get_verify_result(bufferevent_openssl_get_ssl(bev));

	if (verified != X509_V_OK)
		err_say(err, "cannot verify the agent's certificate: %s",
		    X509_verify_cert_error_string(verified));
	else if (reason != NULL)
		err_say(err, "tls: %s", reason);
	else if ((what & BEV_EVENT_ERROR) != 0 && sock != 0)
		err_say(err, "%s", evutil_socket_error_to_string(sock));
	else
		err_say(err, SESSION_WHY_CLOSED);
}

static void
session_event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct session *s = arg;
	struct err err;

	s->in_call++;
	if ((what & BEV_EVENT_CONNECTED) != 0) {
		session_handshake_done(s);
	} else {
		session_error_text(bev, what, &err);
		session_dated_count(s);
		if (s->step == STEP_UP || s->step == STEP_CLOSING)
			session_close(s, err.text);
		else
			session_drop(s, err.text);
	}
	s->in_call--;
	if (s->dead)
		session_free(s);
}

void
session_start(struct session *s)
{
	struct sessions *ss = s->all;
	struct timeval tv = clk_timeval(SESSION_HELLO_LIMIT_NS);
	SSL *ssl = SSL_new(ss->tls);

	event_add(s->timer, &tv);
	event_free(s->first);
	s->first = NULL;
	if (ssl != NULL)
		s->bev = bufferevent_openssl_socket_new(ss->base, s->fd, ssl,
		    BUFFEREVENT_SSL_ACCEPTING,
		    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (s->bev == NULL) { /* libevent has freed ssl */
		session_drop(s, "out of memory for a handshake");
		return;
	}
	SSL_set_app_data(ssl, s);
	s->fd = -1; /* handed over */
	s->verified_ns = clk_ns();
	s->verified_by = ss->tls_reads;
	session_step(s, STEP_STRANGER);
	bufferevent_setcb(s->bev, session_read_cb, NULL, session_event_cb, s);
	bufferevent_setwatermark(s->bev, EV_READ, 0,
	    FRAME_HEAD_BYTES + WIRE_HELLO_BYTES_MAX);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
}

struct sessions *
sessions_new(struct event_base *base, const struct session_limits *limits,
    const struct session_ops *ops, void *ctx)
{
	struct sessions *ss = xcalloc(1, sizeof(*ss));

	ss->base = base;
	ss->limits = *limits;
	ss->ops = ops;
	ss->ctx = ctx;
	for (int i = 0; i < STEP_MAX; i++)
		TAILQ_INIT(&ss->list[i]);
	ss->turns = evtimer_new(base, strangers_turns_cb, ss);
	strangers_init(ss);
	return ss;
}

void
sessions_free(struct sessions *ss)
{
	struct session *s, *next;

	if (ss == NULL)
		return;
	for (int i = 0; i < STEP_MAX; i++)
		TAILQ_FOREACH_SAFE (s, &ss->list[i], link, next)
			session_free(s);
	strangers_free(ss);
	event_free(ss->turns);
	SSL_CTX_free(ss->tls);
	SSL_CTX_free(ss->enroll);
	free(ss->beat);
	strict_lines_clear(&ss->lines);
	free(ss);
}

/* Early in a handshake: the server name decides whether a certificate is
 * requested. This cannot be changed later. */
static int
session_name_cb(SSL *ssl, int *alert, void *arg)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	struct session *s = SSL_get_app_data(ssl);

	(void)arg;
	if (name == NULL || strcmp(name, PKI_ENROLL_SNI) != 0)
		return s->enrols ? SSL_TLSEXT_ERR_ALERT_FATAL
				 : SSL_TLSEXT_ERR_OK;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	if (s->all->enroll == NULL)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	s->enrols = 1;
	SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
	SSL_set_num_tickets(ssl, 0);
	return SSL_set_SSL_CTX(ssl, s->all->enroll) != NULL
	    ? SSL_TLSEXT_ERR_OK
	    : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void
sessions_set_enroll(struct sessions *ss, SSL_CTX *enroll)
{
	SSL_CTX_free(ss->enroll);
	ss->enroll = enroll; /* handed over */
}

void
sessions_set_tls(struct sessions *ss, SSL_CTX *tls)
{
	SSL_CTX_set_tlsext_servername_callback(tls, session_name_cb);
	SSL_CTX_free(ss->tls);
	ss->tls = tls; /* handed over */
	ss->tls_reads++;
}

void
sessions_expiry(const struct sessions *ss, struct sessions_expiry *ret)
{
	struct session *s;

	*ret = (struct sessions_expiry){ .agent = "" };
	if (ss->tls == NULL)
		return; /* agents are not served */
	*ret = (struct sessions_expiry){ .agent = "",
		.ca_unix_s = tls_ca_end_unix_s(ss->tls),
		.collector_unix_s = tls_cert_end_unix_s(
		    SSL_CTX_get0_certificate(ss->tls)) };
	TAILQ_FOREACH (s, &ss->list[STEP_UP], link)
		if (ret->agent[0] == '\0' ||
		    s->cert_end_unix_s < ret->agent_unix_s) {
			ret->agent_unix_s = s->cert_end_unix_s;
			ret->agent = s->node;
		}
}

void
sessions_hold(struct sessions *ss, int held)
{
	struct session *s;

	ss->held = held;
	TAILQ_FOREACH (s, &ss->list[STEP_UP], link) {
		if (held || (bufferevent_get_enabled(s->bev) & EV_READ) ||
		    (s->paused != NULL &&
			event_pending(s->paused, EV_TIMEOUT, NULL)))
			continue;
		session_read_on(s);
	}
}

void
session_set_heartbeat(struct session *s, uint64_t span_ns)
{
	s->heartbeat_ns = span_ns;
}

int
session_cert(const struct session *s, X509 **ret, struct err *err)
{
	SSL *ssl = bufferevent_openssl_get_ssl(s->bev);
	int rc = tls_peer_check(ssl, s->all->tls, err);

	if (rc == 0)
		*ret = SSL_get_peer_certificate(ssl);
	return rc;
}

int64_t
session_cert_end_unix_s(const struct session *s)
{
	return s->cert_end_unix_s;
}

size_t
session_message_bytes(const struct session *s)
{
	return s->message_bytes;
}

const struct strict_lines *
session_lines(const struct session *s)
{
	return &s->all->lines;
}

const char *
session_addr(const struct session *s)
{
	return s->addr;
}

void
session_set_account(struct session *s, struct account *account)
{
	account->owed_ns += s->account->owed_ns;
	s->account = account;
}

void
session_set_arg(struct session *s, void *arg)
{
	s->arg = arg;
}

void *
session_arg(const struct session *s)
{
	return s->arg;
}
