/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - connections from agents: TLS, frames, messages, limits.
 *
 * A new connection ("stranger") costs a descriptor until its first record looks
 * like TLS and its turn comes, then one handshake, then one hello. Each step
 * has a time limit, and only a few handshakes run at a time. A peer that breaks
 * a rule gets a refuse message and loses its session; other sessions are not
 * affected.
 */
#ifndef DAEMON_AGENTS_SESSION_H
#define DAEMON_AGENTS_SESSION_H

#include <jansson.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/names_run.h"
#include "schema/wire.h"

struct event_base;
struct account;
struct session;
struct sessions;
struct strict_lines;

/* Callbacks; ctx is the argument of sessions_new. */
struct session_ops {
	/* The first message. The certificate is an agent's and has the node's
	 * name from the message. Return 0, or -errno with cause and err. */
	int (*hello)(void *ctx, struct session *s, json_t *msg,
	    enum cause *ret_cause, struct err *err);
	/* Any later message. -EPROTO with err ends the session. */
	int (*message)(void *ctx, struct session *s, enum wire_type type,
	    json_t *msg, struct err *err);
	/* A peer without a certificate requests one. The callee calls
	 * sessions_answer with this number later, or returns -errno with err.
	 */
	int (*enroll)(void *ctx, uint64_t question, const char *addr,
	    const json_t *msg, struct err *err);
	/* Called once for every session that sent a hello, accepted or not. */
	void (*closed)(void *ctx, struct session *s, const char *why);
};

/* The limits of connections. */
struct session_limits {
	uint64_t silence_ns;
	size_t agents_max;
	size_t queue_bytes_max; /* most bytes that may be queued for a peer */
};

/* Return an empty set of connections, which the caller frees. ops and ctx must
 * outlive it. */
struct sessions *sessions_new(struct event_base *base,
    const struct session_limits *limits, const struct session_ops *ops,
    void *ctx);
void sessions_free(struct sessions *ss); /* NULL is allowed */
/* Set the TLS context of new connections; takes tls. Existing sessions keep the
 * old keys; sessions_verify verifies them against the new context. */
void sessions_set_tls(struct sessions *ss, SSL_CTX *tls);
/* Set the TLS context of peers that want to enrol, enroll of struct tls_trust;
 * takes it; call before sessions_set_tls. It serves peers that request the
 * server name PKI_ENROLL_SNI; each may send one enroll message. NULL: enrolment
 * is disabled. */
void sessions_set_enroll(struct sessions *ss, SSL_CTX *enroll);
/* Send the answer to an enroll message, which ends the connection: a message
 * (taken), or the reason why if answer is NULL. The peer may have disconnected.
 */
void sessions_answer(struct sessions *ss, uint64_t question, json_t *answer,
    const char *why);
/* Add the address of a node that had a session before this start: its
 * connections have priority over those of unknown addresses. */
void sessions_know(struct sessions *ss, const char *addr);
/* Add a new connection; takes fd. addr: the peer's, as text. */
void sessions_accept(struct sessions *ss, int fd, const char *addr);
/* Return 1 if all places are taken until a handshake ends: the listener retries
 * after some milliseconds. */
int sessions_full(struct sessions *ss);
/* Close some connections that have no session yet, because descriptors are used
 * up. */
void sessions_shed(struct sessions *ss);
/* Verify some of the certificates that were not verified for an hour, or not
 * since sessions_set_tls; a node with an invalid certificate loses its session.
 * Call it several times a second. */
void sessions_verify(struct sessions *ss, uint64_t now_ns);
/* Expiry dates of certificates, 0: unknown. */
struct sessions_expiry {
	int64_t ca_unix_s; /* the earliest of tls.ca */
	int64_t collector_unix_s;
	int64_t agent_unix_s; /* the earliest of connected agents */
	const char *agent;    /* its node, or ""; valid while connected */
};
/* Read these dates. */
void sessions_expiry(const struct sessions *ss, struct sessions_expiry *ret);
/* Handshakes that failed, since the last quarter of an hour without one,
 * because by this host's clock a certificate has expired or is not yet valid:
 * the host's clock may be wrong. */
struct sessions_dated {
	unsigned count;
	char addr[64]; /* address of the last peer that failed */
};
/* Read these failures. */
void sessions_dated(const struct sessions *ss, struct sessions_dated *ret);
/* Hold (held 1) or release (0) messages: while held, no message is read from
 * peers that have sent their hello, so agents keep their messages. */
void sessions_hold(struct sessions *ss, int held);
/* Log a warning about a peer, once (log_limit.h). */
void sessions_complain(struct sessions *ss, const char *addr, const char *name,
    const char *what);

/* Send msg, which is taken. A peer that does not read loses its session. Return
 * 0; -ENOTCONN: the session has ended; -EINVAL or -EMSGSIZE of wire_build:
 * nothing was sent. */
int session_send(struct session *s, enum wire_type type, json_t *msg);
/* Send a frame that several sessions share without copies. It does not count
 * towards queue_bytes_max. */
int session_share(struct session *s, struct wire_frame *f);
/* Send a refuse message with the cause, and end the session. */
void session_refuse(struct session *s, enum cause cause, const char *text);
/* Set the interval of heartbeats to this peer; call it in the hello callback of
 * session_ops. */
void session_set_heartbeat(struct session *s, uint64_t span_ns);
/* Return 0 if the peer's certificate is valid now, with the certificate in
 * *ret, owned by the caller; else -EACCES with err. */
int session_cert(const struct session *s, X509 **ret, struct err *err);
/* Return the expiry date of the peer's certificate. */
int64_t session_cert_end_unix_s(const struct session *s);
/* Return the bytes of the message that is being handled, and its lines if it
 * has records. */
size_t session_message_bytes(const struct session *s);
const struct strict_lines *session_lines(const struct session *s);
/* Return the peer's address as text; it belongs to s. */
const char *session_addr(const struct session *s);
/* Charge the time of its messages to this account from now on. The account
 * outlives the session, so a peer that reconnects keeps its debt. */
void session_set_account(struct session *s, struct account *account);
/* Set and return a pointer of the caller. */
void session_set_arg(struct session *s, void *arg);
void *session_arg(const struct session *s);

#endif
