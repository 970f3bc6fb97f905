/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the connection is a state machine with one timer, whose meaning
 * depends on the state; every failure ends in session_close, which schedules
 * the next attempt.
 */
#include "agents/session/session.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/session/resolve.h"
#include "agents/tls/tls.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/file.h"
#include "common/frame.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "pki/pki_file.h"

/* Connect, handshake and welcome together: three lost packets fit. */
#define OPEN_LIMIT_S 8
/* A resolver asks three servers twice, for five seconds each. */
#define RESOLVE_LIMIT_S 40
/* Once TCP is connected we are in the collector's queue, perhaps behind 20,000
 * others, and an agent that reconnects starts at its end again. The collector's
 * own limit is 60 s. */
#define TURN_LIMIT_NS (70 * CLK_NS_PER_S)
/* Where there are other collectors: the kernel of one that is stopped accepts
 * connections, too. */
#define TURN_OTHERS_NS (30 * CLK_NS_PER_S)
/* Short waits at first bring agents back within seconds of a restart; longer
 * ones later spread them when a collector returns after a long absence. */
#define SOON_FOR_NS  (60 * CLK_NS_PER_S)
#define SOON_BASE_MS 500
#define SOON_CAP_MS  4000
#define LATE_BASE_MS 1000
#define LATE_CAP_MS  120000
#define RETRY_MIN_MS 50 /* never a busy loop, whatever the jitter says */
/* Bulk data waits while this much is queued: a heartbeat behind it still
 * leaves in time over a 10 Mbit/s link. */
#define QUEUE_BYTES (1024 * 1024)
/* The TCP segment of a packet of 1280 bytes, the least MTU of IPv6 (RFC 8200).
 */
#define SEGMENT_BYTES_MAX 1220

enum session_state {
	SESSION_WAITING, /* for the retry timer */
	SESSION_RESOLVING,
	SESSION_OPENING,  /* TCP, then TLS */
	SESSION_GREETING, /* hello is sent */
	SESSION_UP
};

struct session {
	struct event_base *base;
	const char *name;
	const struct session_ops *ops;
	void *arg;
	char **collectors;   /* as told, in order of preference */
	size_t collector_at; /* of those, and as an address: */
	struct str_address collector;
	size_t round; /* number of them that failed since the last wait */
	int is_mute;  /* this one has not ended the session: it has vanished */
	char *term_path;
	uint64_t term; /* the highest that any of them said */
	char boot[17]; /* this process's life */
	struct tls tls;
	int renews; /* the collector renews certificates in the session */
	enum session_state state;
	struct resolve *resolve;
	struct addrinfo *list, *next; /* addresses, and the one to try next */
	struct bufferevent *bev;
	struct event *timer; /* by state: retry, open limit, heartbeat */
	uint64_t heard_ns;   /* when the last byte came */
	uint64_t down_ns;    /* when the last session ended */
	unsigned tries;      /* since then */
	uint64_t heartbeat_ns, silence_ns; /* of welcome */
	struct rng rng;
	char last[ERR_TEXT_BYTES]; /* the last failure logged loudly */
};

static void session_close(struct session *s, const char *why);

static void
session_timer_set(struct session *s, uint64_t span_ns)
{
	struct timeval tv = clk_timeval(span_ns);

	event_add(s->timer, &tv);
}

/* Full jitter: uniform in 0..min(cap, base * 2^tries). */
static uint64_t
session_retry_ms(struct session *s)
{
	int soon = clk_ns() - s->down_ns < SOON_FOR_NS;
	uint64_t base = soon ? SOON_BASE_MS : LATE_BASE_MS;
	uint64_t cap = soon ? SOON_CAP_MS : LATE_CAP_MS;
	uint64_t top = base << (s->tries < 16 ? s->tries : 16);
	uint64_t ms;

	if (top > cap)
		top = cap;
	ms = rng_below(&s->rng, top + 1);
	return ms < RETRY_MIN_MS ? RETRY_MIN_MS : ms;
}

static void
session_collector_choose(struct session *s, size_t at)
{
	s->collector_at = s->collectors[at] != NULL ? at : 0;
	if (str_address_parse(s->collectors[s->collector_at], &s->collector) <
	    0)
		assert(!"agent.collector was validated before");
}

static int
session_put(struct session *s, enum wire_type type, json_t *msg)
{
	char *frame;
	long len = wire_build(type, msg, &frame);

	if (len < 0) {
		log_warnx("session: cannot send message %s: %s",
		    wire_messages[type].name, strerror((int)-len));
		return (int)len;
	}
	bufferevent_write(s->bev, frame, (size_t)len);
	free(frame);
	return 0;
}

static void
session_send_hello(struct session *s)
{
	json_t *msg = json_object();

	json_object_set_new(msg, "version", json_integer(WIRE_VERSION));
	json_object_set_new(msg, "node", json_string(s->name));
	json_object_set_new(msg, "boot", json_string(s->boot));
	json_object_set_new(msg, "software", json_string(COALMINE_VERSION));
	if (s->term > 1)
		json_object_set_new(msg, "term",
		    json_integer((json_int_t)s->term));
	s->ops->hello(msg, s->arg);
	if (session_put(s, WIRE_HELLO, msg) < 0)
		session_close(s, "cannot build the first message (hello)");
	else
		s->state = SESSION_GREETING;
}

static void
session_send_heartbeat(struct session *s)
{
	json_t *msg = json_object();

	json_object_set_new(msg, "at_unix_ns",
	    json_integer((json_int_t)clk_unix_ns()));
	s->ops->heartbeat(msg, s->arg);
	if (s->tls.alarm[0] != '\0' && json_object_get(msg, "alarm") == NULL)
		json_object_set_new(msg, "alarm", text_json(s->tls.alarm));
	(void)session_put(s, WIRE_HEARTBEAT, msg);
}

static void
session_send_enroll(struct session *s)
{
	struct err err;
	json_t *msg = enroll_message(s->tls.enroll, &err);

	if (msg == NULL && s->state == SESSION_UP)
		tls_renew_failed(&s->tls, &err);
	else if (msg == NULL)
		session_close(s, err.text);
	else if (session_put(s, WIRE_ENROLL, msg) < 0)
		session_close(s, "cannot build a certificate request");
	else if (enroll_is_first(s->tls.enroll))
		s->state = SESSION_GREETING;
}

/* -EPERM: another one has taken over from it. */
static int
session_term_take(struct session *s, json_int_t said, struct err *err)
{
	uint64_t term = said < 1 ? 1 : (uint64_t)said;
	char text[32];

	if (term < s->term)
		return err_set(err, -EPERM,
		    "the collector's term %llu is older than term %llu of the "
		    "collector that took over: stop the old collector, or "
		    "remove %.300s",
		    (unsigned long long)term, (unsigned long long)s->term,
		    s->term_path);
	if (term == s->term)
		return 0;
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)term);
	if (file_replace(s->term_path, 0600, text, err) < 0)
		log_warnx("session: %s", err->text);
	s->term = term;
	return 0;
}

static int
session_handle_welcome(struct session *s, const json_t *msg)
{
	json_int_t beat, silence;
	struct err err;

	beat = json_integer_value(json_object_get(msg, "heartbeat_ms"));
	silence = json_integer_value(json_object_get(msg, "silence_ms"));
	if (beat < 10 || beat > 3600000 || silence <= beat ||
	    silence > 36000000) {
		session_close(s,
		    "the collector sent an invalid heartbeat interval");
		return -EPROTO;
	}
	if (session_term_take(s, member_int(msg, "term"), &err) < 0) {
		session_close(s, err.text);
		return -EPERM;
	}
	s->heartbeat_ns = (uint64_t)beat * CLK_NS_PER_MS;
	s->silence_ns = (uint64_t)silence * CLK_NS_PER_MS;
	s->state = SESSION_UP;
	s->tries = 0;
	s->round = 0;
	s->last[0] = '\0';
	log_info("session %s:%s: up", s->collector.host, s->collector.port);
	session_send_heartbeat(s);
	session_timer_set(s, s->heartbeat_ns);
	s->ops->up(msg, s->arg);
	return 0;
}

/* The session ends after the first certificate as after a renewed one: the next
 * connection uses it. */
static int
session_handle_certificate(struct session *s, const json_t *msg)
{
	struct err err;
	int rc = tls_take_certificate(&s->tls, msg, &err);

	if (rc < 0 && s->state == SESSION_UP) {
		tls_renew_failed(&s->tls, &err);
		return 0;
	}
	if (rc < 0) {
		session_close(s, err.text);
		return rc;
	}
	log_info("session %s:%s: received a new certificate", s->collector.host,
	    s->collector.port);
	session_close(s, "a new certificate replaces the old one");
	return -ECONNRESET;
}

static int
session_handle_trust(struct session *s, const json_t *msg)
{
	SSL *ssl = bufferevent_openssl_get_ssl(s->bev);
	const char *crl = member_text_or(msg, "crl", NULL);
	struct err err;

	s->renews = member_bool(msg, "renew");
	if (crl != NULL && crl_take(s->tls.revoked, ssl, crl, &err) < 0)
		log_warnx("session: %s", err.text);
	if (crl_check(s->tls.revoked, ssl, &err) < 0) {
		session_close(s, err.text);
		return -EACCES;
	}
	return 0;
}

/* 0, or negative: the session is closed already. */
static int
session_handle(struct session *s, enum wire_type type, const json_t *msg)
{
	struct err err;
	int rc;

	if (type == WIRE_HEARTBEAT)
		return 0;
	if (type == WIRE_REFUSE) {
		err_say(&err, "the collector refused this agent: %s",
		    json_string_value(json_object_get(msg, "text")));
		session_close(s, err.text);
		return -ECONNREFUSED;
	}
	if (type == WIRE_CERTIFICATE && s->tls.enroll != NULL &&
	    (s->state == SESSION_UP || s->state == SESSION_GREETING))
		return session_handle_certificate(s, msg);
	if (s->state == SESSION_UP && type == WIRE_TRUST)
		return session_handle_trust(s, msg);
	if (s->state == SESSION_GREETING && !enroll_is_first(s->tls.enroll) &&
	    type == WIRE_WELCOME)
		return session_handle_welcome(s, msg);
	if (s->state != SESSION_UP || type == WIRE_WELCOME) {
		err_say(&err, "the collector sent an unexpected message: %s",
		    wire_messages[type].name);
		session_close(s, err.text);
		return -EPROTO;
	}
	rc = s->ops->message(type, msg, s->arg);
	if (rc < 0) {
		err_say(&err, "the collector sent an invalid message: %s",
		    wire_messages[type].name);
		session_close(s, err.text);
	}
	return rc;
}

/* Take one frame off the input: 1 handled, 0 not there yet, negative: the
 * session is closed. */
static int
session_read_frame(struct session *s, struct evbuffer *in)
{
	uint8_t head[FRAME_HEAD_BYTES];
	const char *text;
	struct err err;
	json_t *msg;
	long len;
	int rc;

	if (evbuffer_copyout(in, head, sizeof(head)) < (ssize_t)sizeof(head))
		return 0;
	len = frame_head_get(head, &text);
	if (len < 0) {
		session_close(s, text);
		return -EPROTO;
	}
	if (evbuffer_get_length(in) < sizeof(head) + (size_t)len)
		return 0;
	evbuffer_drain(in, sizeof(head));
	text = (const char *)evbuffer_pullup(in, len);
	rc = wire_parse(text, (size_t)len, WIRE_COLLECTOR, &msg, &err);
	if (rc < 0) {
		session_close(s, err.text);
		return rc;
	}
	evbuffer_drain(in, (size_t)len);
	rc = session_handle(s, (enum wire_type)rc, msg);
	json_decref(msg);
	return rc < 0 ? rc : 1;
}

static void
session_read_cb(struct bufferevent *bev, void *arg)
{
	struct session *s = arg;

	s->heard_ns = clk_ns();
	while (session_read_frame(s, bufferevent_get_input(bev)) > 0)
		;
}

static void
session_write_cb(struct bufferevent *bev, void *arg)
{
	struct session *s = arg;

	(void)bev;
	if (s->state == SESSION_UP)
		s->ops->drained(s->arg);
}

/* A peer that lost power or its cable is detected in about ten seconds, and so
 * is data without acknowledgement. */
static void
session_socket_options(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 5 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 2 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 11000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (setsockopt(fd, options[i].level, options[i].name,
			&options[i].value, sizeof(int)) < 0)
			log_warn("session: cannot set socket option %d",
			    options[i].name);
}

#define REJECTED "the collector rejected this agent's certificate: "

/* What to do if a certificate is of an authority that the other side does not
 * know; "": another reason. */
static const char *
session_authority_advice(long verified, int alert)
{
	return verified == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
		verified == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
		verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
		verified == X509_V_ERR_CERT_SIGNATURE_FAILURE ||
		alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_DECRYPT_ERROR
	    ? "; the file of tls.ca must be the same on this node and on the "
	      "collector, and certificates must be issued by that authority"
	    : "";
}

static void
session_failure_text(struct bufferevent *bev, short what, struct err *err)
{
	unsigned long code = bufferevent_get_openssl_error(bev);
	SSL *ssl = bufferevent_openssl_get_ssl(bev);
	long verified = SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE
	    ? X509_V_OK
	    : SSL_get_verify_result(ssl);
	int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
	const char *reason;

	if (verified != X509_V_OK) {
		err_say(err, "cannot verify the collector's certificate: %s%s",
		    X509_verify_cert_error_string(verified),
		    session_authority_advice(verified, 0));
		return;
	}
	if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
	    ((alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_UNKNOWN_CA) ||
		alert == SSL_AD_DECRYPT_ERROR)) {
		err_say(err, REJECTED "%s%s", ERR_reason_error_string(code),
		    session_authority_advice(X509_V_OK, alert));
		return;
	}
	reason = code != 0 ? ERR_reason_error_string(code) : NULL;
	if (what & BEV_EVENT_EOF)
		reason = "the collector closed the connection";
	else if (reason == NULL && evutil_socket_geterror(-1) != 0)
		reason = strerror(evutil_socket_geterror(-1));
	err_say(err, "%s", reason != NULL ? reason : "connection lost");
}

static void
session_event_cb(struct bufferevent *bev, short what, void *arg)
{
	SSL *ssl = bufferevent_openssl_get_ssl(bev);
	struct session *s = arg;
	struct err err;

	if (what & BEV_EVENT_CONNECTED) {
		session_socket_options(bufferevent_getfd(bev));
		if (tls_check(&s->tls, ssl, s->collector.host, &err) < 0)
			session_close(s, err.text);
		else if (enroll_is_first(s->tls.enroll))
			session_send_enroll(s);
		else
			session_send_hello(s);
		return;
	}
	/* Only of an error errno is this one's. */
	s->is_mute = (what & BEV_EVENT_ERROR) &&
	    (errno == ETIMEDOUT || errno == EHOSTUNREACH ||
		errno == ENETUNREACH);
	session_failure_text(bev, what, &err);
	/* A reset may overtake the alert: the reason is the same. */
	session_close(s,
	    s->state == SESSION_GREETING &&
		    strncmp(s->last, REJECTED, strlen(REJECTED)) == 0
		? s->last
		: err.text);
}

/* Packets pass every path with an MTU of at least 1280 bytes, so an agent stays
 * connected if its path drops larger ones. Return the socket, or -1 on error.
 */
static int
session_socket_new(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &(int){ SEGMENT_BYTES_MAX },
		sizeof(int)) < 0)
		log_warn("session: cannot limit the size of packets; a path "
			 "with a small MTU may lose them");
	return fd;
}

/* Try the next address; with none left, wait for the next attempt. */
static void
session_open_next(struct session *s)
{
	struct addrinfo *ai = s->next;
	SSL *ssl;
	int fd;

	if (ai == NULL) {
		session_close(s,
		    "no address of the collector accepts a connection");
		return;
	}
	s->next = ai->ai_next;
	s->state = SESSION_OPENING;
	s->heard_ns = clk_ns();
	fd = session_socket_new(ai->ai_family);
	if (fd < 0) {
		session_close(s, strerror(errno));
		return;
	}
	ssl = SSL_new(s->tls.ctx);
	if (ssl != NULL)
		s->bev = bufferevent_openssl_socket_new(s->base, fd, ssl,
		    BUFFEREVENT_SSL_CONNECTING,
		    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (s->bev == NULL) { /* libevent has freed ssl */
		close(fd);
		session_close(s, "out of memory for a connection");
		return;
	}
	SSL_set_tlsext_host_name(ssl, s->collector.host);
	if (enroll_is_first(s->tls.enroll))
		SSL_set_tlsext_host_name(ssl, (char[]){ PKI_ENROLL_SNI });
	bufferevent_setcb(s->bev, session_read_cb, session_write_cb,
	    session_event_cb, s);
	bufferevent_setwatermark(s->bev, EV_READ, 0,
	    FRAME_HEAD_BYTES + FRAME_BODY_MAX);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
	session_timer_set(s, OPEN_LIMIT_S * CLK_NS_PER_S);
	if (bufferevent_socket_connect(s->bev, ai->ai_addr,
		(int)ai->ai_addrlen) < 0)
		session_close(s, strerror(errno));
}

static void
session_resolved(struct addrinfo *list, const char *why, void *arg)
{
	struct session *s = arg;

	s->resolve = NULL;
	if (list == NULL) {
		session_close(s, why);
		return;
	}
	s->list = s->next = list;
	session_open_next(s);
}

static void
session_start(struct session *s)
{
	/* What seemed to have expired may have been a clock that was ahead. */
	if (enroll_is_first(s->tls.enroll) && !enroll_lacks(s->tls.conf))
		session_reload(s);
	s->state = SESSION_RESOLVING;
	session_timer_set(s, RESOLVE_LIMIT_S * CLK_NS_PER_S);
	s->resolve = resolve_start(s->base, s->collector.host,
	    s->collector.port, session_resolved, s);
	if (s->resolve == NULL)
		session_close(s, "cannot resolve the collector's name");
}

/* The collector has accepted the connection; it may be busy with other
 * agents. */
static int
session_may_wait(const struct session *s)
{
	uint64_t limit_ns = s->collectors[1] != NULL ? TURN_OTHERS_NS
						     : TURN_LIMIT_NS;
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return s->next == NULL && clk_ns() - s->heard_ns < limit_ns &&
	    getsockopt(bufferevent_getfd(s->bev), IPPROTO_TCP, TCP_INFO, &info,
		&len) == 0 &&
	    info.tcpi_state == TCP_ESTABLISHED;
}

static void
session_timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;

	(void)fd;
	(void)what;
	switch (s->state) {
	case SESSION_WAITING:
		session_start(s);
		return;
	case SESSION_RESOLVING:
		session_close(s,
		    "timeout while resolving the collector's name");
		return;
	case SESSION_OPENING:
	case SESSION_GREETING:
		if (session_may_wait(s))
			session_timer_set(s, OPEN_LIMIT_S * CLK_NS_PER_S);
		else
			session_close(s,
			    "timeout: the collector does not answer");
		return;
	case SESSION_UP:
		break;
	}
	if (clk_ns() - s->heard_ns > s->silence_ns) {
		s->is_mute = 1;
		session_close(s, "silent");
		return;
	}
	session_send_heartbeat(s);
	session_timer_set(s, s->heartbeat_ns);
	if (s->renews && tls_renew_due(&s->tls))
		session_send_enroll(s);
}

static void
session_drop(struct session *s)
{
	resolve_cancel(s->resolve);
	s->resolve = NULL;
	if (s->bev != NULL)
		bufferevent_free(s->bev);
	s->bev = NULL;
	s->renews = 0;
	event_del(s->timer);
}

/* End what there is and come back: with the next address or collector at once,
 * or later, when none has us. */
static void
session_close(struct session *s, const char *why)
{
	enum session_state was = s->state;

	/* Only the first of equal failures is logged. */
	if (strcmp(s->last, why) == 0)
		log_debug("session %s:%s: %s", s->collector.host,
		    s->collector.port, why);
	else {
		log_warnx("session %s:%s: down: %s; retrying",
		    s->collector.host, s->collector.port, why);
		snprintf(s->last, sizeof(s->last), "%s", why);
	}
	session_drop(s);
	if (was == SESSION_UP)
		s->down_ns = clk_ns();
	if (was == SESSION_OPENING && s->next != NULL) {
		session_open_next(s);
		return;
	}
	if (s->list != NULL)
		freeaddrinfo(s->list);
	s->list = s->next = NULL;
	/* A collector that was connected, and ended, is tried again before the
	 * next one. */
	if (was != SESSION_UP || s->is_mute)
		session_collector_choose(s, s->collector_at + 1);
	s->is_mute = 0;
	s->state = SESSION_WAITING;
	if (was != SESSION_UP && s->collectors[++s->round] != NULL) {
		session_timer_set(s, 0);
		return;
	}
	s->round = 0;
	session_timer_set(s, session_retry_ms(s) * CLK_NS_PER_MS);
	s->tries++;
	if (was == SESSION_UP)
		s->ops->down(clk_ns() - s->heard_ns, s->arg);
}

int
session_files_check(const struct conf *c, const char *name, struct err *err)
{
	struct tls tls;
	int rc = tls_open(&tls, c, name, err);

	tls_close(&tls);
	return rc;
}

struct session *
session_new(struct event_base *base, const struct conf *c, const char *name,
    const struct session_ops *ops, void *arg, struct err *err)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->base = base;
	s->name = name;
	s->ops = ops;
	s->arg = arg;
	s->down_ns = clk_ns();
	rng_seed(&s->rng, rng_entropy());
	snprintf(s->boot, sizeof(s->boot), "%016llx",
	    (unsigned long long)rng_entropy());
	s->timer = evtimer_new(base, session_timer_cb, s);
	s->collectors = str_list_parse(conf_string(c, "agent", "collector"),
	    &(size_t){ 0 });
	session_collector_choose(s, 0);
	s->term_path = xasprintf("%s/term",
	    conf_string(c, "agent", "state_dir"));
	/* The term of the last takeover: collectors of older terms are not
	 * followed. */
	s->term = (uint64_t)file_number(s->term_path, 1, 1);
	pki_pair_recover(conf_string(c, "tls", "key"),
	    conf_string(c, "tls", "cert"));
	if (tls_open(&s->tls, c, name, err) < 0) {
		session_free(s);
		return NULL;
	}
	session_start(s);
	return s;
}

void
session_free(struct session *s)
{
	if (s == NULL)
		return;
	session_drop(s);
	if (s->list != NULL)
		freeaddrinfo(s->list);
	event_free(s->timer);
	tls_close(&s->tls);
	str_list_free(s->collectors);
	free(s->term_path);
	free(s);
}

int
session_send(struct session *s, enum wire_type type, json_t *msg)
{
	if (!session_is_up(s)) {
		json_decref(msg);
		return -ENOTCONN;
	}
	return session_put(s, type, msg);
}

void
session_send_lines(struct session *s, enum wire_type type, const char *run,
    const struct strbuf *lines)
{
	char *frame;
	long len;

	if (!session_is_up(s))
		return;
	len = wire_build_lines(type, run, lines, &frame);
	if (len < 0) {
		log_warnx("run %s: cannot send message %s: %s", run,
		    wire_messages[type].name, strerror((int)-len));
		return;
	}
	bufferevent_write(s->bev, frame, (size_t)len);
	free(frame);
}

int
session_is_up(const struct session *s)
{
	return s != NULL && s->state == SESSION_UP;
}

size_t
session_room(const struct session *s)
{
	size_t queued;

	if (!session_is_up(s))
		return 0;
	queued = evbuffer_get_length(bufferevent_get_output(s->bev));
	return queued < QUEUE_BYTES ? QUEUE_BYTES - queued : 0;
}

void
session_reload(struct session *s)
{
	int was_first = enroll_is_first(s->tls.enroll);
	struct err err;

	if (tls_reload(&s->tls, &err) < 0) {
		log_warnx("session: cannot reload the certificates; keeping "
			  "the old ones: %s",
		    err.text);
		return;
	}
	log_info("session: certificates reloaded");
	/* Whom we enrol with is not verified by a chain. */
	if (was_first && s->bev != NULL)
		session_close(s, "a certificate was installed on this node");
}
