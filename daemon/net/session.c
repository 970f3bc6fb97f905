/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/net/session.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/frame.h"
#include "common/log.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/rng.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/net/tls.h"

/* From the first byte to the end of the hello: two round trips and a
 * signature, with room for a collector that serves 10,000 at once. */
#define HELLO_LIMIT_NS  (10 * CLK_NS_PER_S)
#define REFUSE_LIMIT_NS (1 * CLK_NS_PER_S) /* for the refuse to be read */
/* Strangers before a whole first record cost a descriptor and 0.5 KiB, and so
 * do those that wait for their turn; those in a handshake up to 60 KiB. None
 * of these is ended for another's sake, or all of a cluster that comes back at
 * once would be ended half-way: only who makes others wait has less time. */
#define SILENT_MAX     1024
#define STRANGER_MAX   256
#define SHED_COUNT     64
#define TURN_LIMIT_NS  (60 * CLK_NS_PER_S) /* for a turn to come */
#define CROWD_LIMIT_NS (3 * CLK_NS_PER_S)  /* of a turn while others wait */
#define TURNS_MS       250 /* between looks at those who make others wait */
#define RECORD_HEAD    5
#define RECORD_MAX     16384 /* bytes of a TLS record */
/* What may wait for a peer that reads slowly: a launch is under 1 MiB. */
#define OUT_BYTES_MAX (4 * 1024 * 1024)
/* A session outlives no certificate by more. 10,000 are verified in 40 s,
 * which costs the loop 10 ms a time. */
#define VERIFY_EVERY_NS (3600 * CLK_NS_PER_S)
#define VERIFY_COUNT    64
#define WHY_CLOSED      "connection closed"

enum step {
	STEP_SILENT,   /* no whole record yet; no TLS state */
	STEP_WAITING,  /* for its turn at a handshake; none either */
	STEP_STRANGER, /* handshake, then hello */
	STEP_UP,       /* its hello was taken */
	STEP_CLOSING,  /* a refuse is on its way */
	STEP_MAX
};

struct session {
	TAILQ_ENTRY(session) link; /* in the list of its step */
	struct sessions *all;
	enum step step;
	int fd;              /* -1 once bev owns it */
	int in_call;         /* ops or parser are on the stack */
	int dead;            /* to be freed when they are not */
	struct event *first; /* waits for the first record */
	int wants;           /* bytes of it that it waits for */
	struct event *timer; /* limit, later the heartbeat */
	struct bufferevent *bev;
	uint64_t last_ns;
	uint64_t verified_ns;
	unsigned verified_by; /* reading of the files, of tls_reads */
	int64_t cert_end_unix_s;
	void *arg;
	char addr[INET6_ADDRSTRLEN];
	char node[TLS_NAME_MAX + 1]; /* from the certificate */
};
TAILQ_HEAD(session_list, session);

struct sessions {
	struct event_base *base;
	struct session_limits limits;
	const struct session_ops *ops;
	void *ctx;
	SSL_CTX *tls;
	unsigned tls_reads;
	struct session_list list[STEP_MAX];
	size_t count[STEP_MAX];
	struct event *turns; /* somebody may have his turn */
	int held;
	struct log_limit once;
};

static struct timeval
timeval_of(uint64_t ns)
{
	struct timeval tv = { (time_t)(ns / CLK_NS_PER_S),
		(suseconds_t)(ns % CLK_NS_PER_S / CLK_NS_PER_US) };

	return tv;
}

/* Whoever waits has his turn once there is a place: on the next turn of the
 * loop, for this may be the end of a session, or when it is time to see who
 * keeps him from it. */
static void
turns_soon(struct sessions *ss)
{
	struct timeval tv = timeval_of(TURNS_MS * CLK_NS_PER_MS);

	if (TAILQ_EMPTY(&ss->list[STEP_WAITING]))
		return;
	if (ss->count[STEP_STRANGER] < STRANGER_MAX)
		event_active(ss->turns, EV_TIMEOUT, 0);
	else if (!event_pending(ss->turns, EV_TIMEOUT, NULL))
		event_add(ss->turns, &tv);
}

static void
step_set(struct session *s, enum step step)
{
	struct sessions *ss = s->all;

	TAILQ_REMOVE(&ss->list[s->step], s, link);
	ss->count[s->step]--;
	s->step = step;
	TAILQ_INSERT_TAIL(&ss->list[step], s, link);
	ss->count[step]++;
	turns_soon(ss);
}

static void
session_free(struct session *s)
{
	struct sessions *ss = s->all;

	TAILQ_REMOVE(&ss->list[s->step], s, link);
	ss->count[s->step]--;
	turns_soon(ss);
	if (s->first != NULL)
		event_free(s->first);
	event_free(s->timer);
	if (s->bev != NULL) {
		SSL *ssl = bufferevent_openssl_get_ssl(s->bev);

		/* Our goodbye; the answer is not waited for. */
		SSL_set_quiet_shutdown(ssl, s->step == STEP_STRANGER);
		SSL_shutdown(ssl);
		bufferevent_free(s->bev);
	}
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* End it now. Whoever is on the stack above may still look at s: it is then
 * freed by the outermost call. */
static void
session_close(struct session *s, const char *why)
{
	int was_up = s->step == STEP_UP;

	if (s->dead)
		return;
	s->dead = 1;
	if (was_up) {
		step_set(s, STEP_CLOSING);
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
		log_warnx("session %s%s%s: %s (%llu complaints before this "
			  "one not shown)",
		    addr, name[0] != '\0' ? " " : "", name, what,
		    (unsigned long long)hidden);
	else
		log_warnx("session %s%s%s: %s", addr,
		    name[0] != '\0' ? " " : "", name, what);
}

/* A session that breaks off before it was up, or breaks a rule. */
static void
drop(struct session *s, const char *why)
{
	sessions_complain(s->all, s->addr, s->node, why);
	session_close(s, why);
}

int
session_send(struct session *s, enum wire_type type, json_t *msg)
{
	char *frame;
	long len = wire_build(type, msg, &frame);

	if (len < 0) {
		log_warnx("session %s: %s not sent: %s", s->node,
		    wire_messages[type].name, strerror((int)-len));
		return (int)len;
	}
	if (s->bev == NULL || s->dead) {
		free(frame);
		return -ENOTCONN;
	}
	bufferevent_write(s->bev, frame, (size_t)len);
	free(frame);
	if (evbuffer_get_length(bufferevent_get_output(s->bev)) > OUT_BYTES_MAX)
		drop(s, "does not read what it is sent");
	return 0;
}

static void event_cb(struct bufferevent *bev, short what, void *arg);

static void
discard_cb(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);

	(void)arg;
	evbuffer_drain(in, evbuffer_get_length(in));
}

/* Closing with unread input would reset the reason away: the peer ends it, or
 * the timer. */
static void
flushed_cb(struct bufferevent *bev, void *arg)
{
	(void)arg;
	SSL_shutdown(bufferevent_openssl_get_ssl(bev));
	shutdown(bufferevent_getfd(bev), SHUT_WR);
}

void
session_refuse(struct session *s, enum cause cause, const char *text)
{
	struct timeval tv = timeval_of(REFUSE_LIMIT_NS);
	int was_up = s->step == STEP_UP;

	if (s->dead || s->step == STEP_CLOSING)
		return;
	sessions_complain(s->all, s->addr, s->node, text);
	s->in_call++; /* else a full output would free it */
	(void)session_send(s, WIRE_REFUSE,
	    json_pack("{s:s, s:o}", "cause", names_causes[cause].name, "text",
		text_json(text)));
	s->in_call--;
	if (s->dead) {
		if (!s->in_call)
			session_free(s);
		return;
	}
	step_set(s, STEP_CLOSING);
	if (was_up)
		s->all->ops->closed(s->all->ctx, s, text);
	bufferevent_setcb(s->bev, discard_cb, flushed_cb, event_cb, s);
	/* Later, for a frame may still be in use: what a full buffer holds. */
	bufferevent_trigger(s->bev, EV_READ,
	    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
	event_add(s->timer, &tv);
}

static void
heartbeat_send(struct session *s)
{
	struct timeval tv = timeval_of(s->all->limits.heartbeat_ns);

	event_add(s->timer, &tv);
	(void)session_send(s, WIRE_HEARTBEAT,
	    json_pack("{s:I}", "at_unix_ns", (json_int_t)clk_unix_ns()));
}

static void
timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;

	(void)fd;
	(void)what;
	switch (s->step) {
	case STEP_UP:
		heartbeat_send(s);
		break;
	case STEP_CLOSING:
		session_close(s, "refused");
		break;
	default:
		drop(s,
		    s->step == STEP_SILENT        ? "says nothing"
			: s->step == STEP_WAITING ? "no turn in time"
						  : "no hello in time");
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

/* The list stands in the order in which its sessions were verified. */
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
		step_set(s, STEP_UP);
		if (session_verify(s, now_ns, &err) < 0)
			session_refuse(s, CAUSE_CONFIG, err.text);
	}
}

/* The hello against the certificate, then to whoever keeps the roster. */
static int
hello_take(struct session *s, json_t *msg, enum cause *ret_cause,
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
		    "agent %.80s speaks versions %lld to %lld of the protocol, "
		    "this collector (%s) %d to %d: upgrade %s",
		    member_text(msg, "software"), (long long)oldest,
		    (long long)newest, COALMINE_VERSION, WIRE_VERSION_MIN,
		    WIRE_VERSION,
		    oldest > WIRE_VERSION ? "the collector" : "the agent");
	*ret_cause = CAUSE_CONFIG;
	if (strcmp(node, s->node) != 0)
		return err_set(err, -EACCES,
		    "calls itself %.80s, its certificate says %.80s", node,
		    s->node);
	*ret_cause = CAUSE_BUSY;
	if (ss->count[STEP_UP] > ss->limits.agents_max)
		return err_set(err, -EBUSY,
		    "%zu agents are connected, which is collector.agents_max",
		    ss->limits.agents_max);
	return ss->ops->hello(ss->ctx, s, msg, ret_cause, err);
}

static int
hello_handle(struct session *s, enum wire_type type, json_t *msg,
    enum cause *ret_cause, struct err *err)
{
	uint64_t first_ns;
	struct timeval tv;
	int rc;

	if (type != WIRE_HELLO)
		return err_set(err, -EPROTO, "%s before hello",
		    wire_messages[type].name);
	*ret_cause = CAUSE_CONFIG;
	/* Files were read again in the middle of its handshake. */
	if (s->verified_by != s->all->tls_reads &&
	    session_verify(s, clk_ns(), err) < 0)
		return -EACCES;
	step_set(s, STEP_UP); /* so that whatever happens now, closed comes */
	rc = hello_take(s, msg, ret_cause, err);
	if (rc < 0 || s->dead)
		return rc;
	bufferevent_setwatermark(s->bev, EV_READ, 0,
	    FRAME_HEAD_BYTES + FRAME_BODY_MAX);
	/* Spread over the interval, so that agents which came at once do not
	 * beat at once. */
	first_ns = rng_entropy() % s->all->limits.heartbeat_ns;
	tv = timeval_of(first_ns);
	event_add(s->timer, &tv);
	return 0;
}

static int
message_handle(struct session *s, const char *body, size_t len,
    enum cause *ret_cause, struct err *err)
{
	struct sessions *ss = s->all;
	json_t *msg;
	int type, rc;

	*ret_cause = CAUSE_INTERNAL;
	type = wire_parse(body, len, WIRE_AGENT, &msg, err);
	if (type < 0)
		return type;
	log_trace("session %s: %s", s->node, wire_messages[type].name);
	if (s->step != STEP_UP)
		rc = hello_handle(s, (enum wire_type)type, msg, ret_cause, err);
	else
		rc = ss->ops->message(ss->ctx, s, (enum wire_type)type, msg,
		    err);
	json_decref(msg);
	return rc;
}

/* One frame out of in: its whole length, 0 for a part of one, or -errno. */
static long
frame_handle(struct session *s, struct evbuffer *in, enum cause *ret_cause,
    struct err *err)
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
		reason = "hello is too long";
		body = -EPROTO;
	}
	if (body < 0) {
		err_say(err, "%s", reason);
		return body;
	}
	if (evbuffer_get_length(in) < sizeof(head) + (size_t)body)
		return 0;
	all = evbuffer_pullup(in, (long)sizeof(head) + body);
	rc = message_handle(s, (const char *)all + sizeof(head), (size_t)body,
	    ret_cause, err);
	evbuffer_drain(in, sizeof(head) + (size_t)body);
	return rc < 0 ? rc : (long)sizeof(head) + body;
}

static void
read_cb(struct bufferevent *bev, void *arg)
{
	struct session *s = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	struct err err = { 0 };
	enum cause cause;
	long rc;

	s->last_ns = clk_ns();
	s->in_call++;
	do {
		if (s->all->held && s->step == STEP_UP) {
			bufferevent_disable(bev, EV_READ);
			rc = 0;
			break;
		}
		rc = frame_handle(s, in, &cause, &err);
	} while (rc > 0 && !s->dead && s->step != STEP_CLOSING);
	if (rc < 0)
		session_refuse(s, cause, err.text);
	s->in_call--;
	if (s->dead)
		session_free(s);
}

/* The handshake is done: who is it? */
static void
handshake_done(struct session *s)
{
	struct tls_peer peer;
	struct err err;

	if (tls_peer_get(bufferevent_openssl_get_ssl(s->bev), &peer, &err) <
	    0) {
		session_refuse(s, CAUSE_CONFIG, err.text);
		return;
	}
	memcpy(s->node, peer.name, sizeof(s->node));
	s->cert_end_unix_s = peer.end_unix_s;
	if (peer.role != ROLE_AGENT) {
		err_say(&err, "role %s in the certificate; agents connect here",
		    names_roles[peer.role]);
		session_refuse(s, CAUSE_CONFIG, err.text);
	}
}

static void
error_text(struct bufferevent *bev, short what, struct err *err)
{
	unsigned long e = bufferevent_get_openssl_error(bev);
	const char *reason = e == 0 ? NULL : ERR_reason_error_string(e);
	int sock = EVUTIL_SOCKET_ERROR();

	if (reason != NULL)
		err_say(err, "tls: %s", reason);
	else if ((what & BEV_EVENT_ERROR) != 0 && sock != 0)
		err_say(err, "%s", evutil_socket_error_to_string(sock));
	else
		err_say(err, WHY_CLOSED);
}

static void
event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct session *s = arg;
	struct err err;

	s->in_call++;
	if ((what & BEV_EVENT_CONNECTED) != 0) {
		handshake_done(s);
	} else {
		error_text(bev, what, &err);
		if (s->step == STEP_UP || s->step == STEP_CLOSING)
			session_close(s, err.text);
		else
			drop(s, err.text);
	}
	s->in_call--;
	if (s->dead)
		session_free(s);
}

static void
tls_start(struct session *s)
{
	struct sessions *ss = s->all;
	struct timeval tv = timeval_of(HELLO_LIMIT_NS);
	SSL *ssl = SSL_new(ss->tls);

	event_add(s->timer, &tv);
	if (ssl != NULL)
		s->bev = bufferevent_openssl_socket_new(ss->base, s->fd, ssl,
		    BUFFEREVENT_SSL_ACCEPTING,
		    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (s->bev == NULL) {
		SSL_free(ssl);
		drop(s, "no memory for a handshake");
		return;
	}
	s->fd = -1; /* handed over */
	s->verified_ns = clk_ns();
	s->verified_by = ss->tls_reads;
	step_set(s, STEP_STRANGER);
	bufferevent_setcb(s->bev, read_cb, NULL, event_cb, s);
	bufferevent_setwatermark(s->bev, EV_READ, 0,
	    FRAME_HEAD_BYTES + WIRE_HELLO_BYTES_MAX);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
}

/* Handshakes for those who have waited longest, as many as may go at once. */
static void
turns_cb(evutil_socket_t fd, short what, void *arg)
{
	struct sessions *ss = arg;
	struct session *s;

	(void)fd;
	(void)what;
	while ((s = TAILQ_FIRST(&ss->list[STEP_WAITING])) != NULL) {
		if (ss->count[STEP_STRANGER] < STRANGER_MAX) {
			tls_start(s);
			continue;
		}
		s = TAILQ_FIRST(&ss->list[STEP_STRANGER]);
		if (clk_ns() - s->verified_ns < CROWD_LIMIT_NS)
			break;
		drop(s, "slow while others wait for their turn");
	}
	turns_soon(ss);
}

/* A TLS record of a handshake starts with 22, 3, and its length: everything
 * else, and a part of one, is not worth an SSL object. */
static void
first_cb(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tv = timeval_of(TURN_LIMIT_NS);
	struct session *s = arg;
	unsigned char head[RECORD_HEAD] = { 0 };
	ssize_t n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	int wants = RECORD_HEAD, has = 0, low = 1;

	(void)what;
	if (n <= 0) {
		session_close(s, WHY_CLOSED); /* a port scan: not a word */
		return;
	}
	if (n == RECORD_HEAD)
		wants += head[3] << 8 | head[4];
	if (head[0] != 22 || (n >= 2 && head[1] != 3) ||
	    wants > RECORD_HEAD + RECORD_MAX) {
		drop(s, "does not speak TLS");
		return;
	}
	if (ioctl(fd, FIONREAD, &has) < 0 || (has < wants && wants == s->wants))
		session_close(s, WHY_CLOSED); /* no more will come */
	else if (has < wants) {
		s->wants = wants;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &wants, sizeof(wants));
		event_add(s->first, NULL);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
		event_free(s->first);
		s->first = NULL;
		event_add(s->timer, &tv);
		step_set(s, STEP_WAITING);
	}
}

void
sessions_accept(struct sessions *ss, int fd, const char *addr)
{
	struct session *s = xcalloc(1, sizeof(*s));
	unsigned limit_ms = (unsigned)(ss->limits.silence_ns / CLK_NS_PER_MS);
	struct timeval tv = timeval_of(HELLO_LIMIT_NS);
	int on = 1;

	s->all = ss;
	s->fd = fd;
	s->step = STEP_SILENT;
	s->last_ns = clk_ns();
	snprintf(s->addr, sizeof(s->addr), "%s", addr);
	TAILQ_INSERT_TAIL(&ss->list[STEP_SILENT], s, link);
	ss->count[STEP_SILENT]++;
	/* Both only make things faster: failure is not worth a word. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
	    sizeof(limit_ms));
	s->timer = evtimer_new(ss->base, timer_cb, s);
	s->first = event_new(ss->base, fd, EV_READ, first_cb, s);
	if (s->timer == NULL || s->first == NULL)
		fatalx("session: no memory for an event");
	event_add(s->timer, &tv);
	event_add(s->first, NULL);
	if (ss->count[STEP_SILENT] > SILENT_MAX)
		drop(TAILQ_FIRST(&ss->list[STEP_SILENT]), "too many strangers");
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
		drop(s, "no descriptors left for strangers");
	}
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
	ss->turns = evtimer_new(base, turns_cb, ss);
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
	event_free(ss->turns);
	SSL_CTX_free(ss->tls);
	free(ss);
}

void
sessions_set_tls(struct sessions *ss, SSL_CTX *tls)
{
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
		if (held || (bufferevent_get_enabled(s->bev) & EV_READ))
			continue;
		bufferevent_enable(s->bev, EV_READ);
		bufferevent_trigger(s->bev, EV_READ,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
	}
}

int64_t
session_cert_end_unix_s(const struct session *s)
{
	return s->cert_end_unix_s;
}

const char *
session_addr(const struct session *s)
{
	return s->addr;
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
