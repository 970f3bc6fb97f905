/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - connections from agents: TLS, frames, messages, limits.
 *
 * A stranger costs a descriptor until its first record looks like TLS and its
 * turn comes, then one handshake, then one hello, each with a time limit; few
 * are in a handshake at a time. A peer that breaks a rule gets a refuse and
 * loses its session; nobody else notices.
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

struct session_ops {
	/* The first message; the certificate is an agent's and names the node
	 * that the message names. 0 or -errno with cause and why. */
	int (*hello)(void *ctx, struct session *s, json_t *msg,
	    enum cause *ret_cause, struct err *err);
	/* Any later one. -EPROTO with why ends the session. */
	int (*message)(void *ctx, struct session *s, enum wire_type type,
	    json_t *msg, struct err *err);
	/* Whoever has shown no certificate asks for one: sessions_answer comes
	 * with that number, or -errno and why. */
	int (*enroll)(void *ctx, uint64_t question, const char *addr,
	    const json_t *msg, struct err *err);
	/* Once for every session that got as far as hello, taken or not. */
	void (*closed)(void *ctx, struct session *s, const char *why);
};

struct session_limits {
	uint64_t silence_ns;
	size_t agents_max;
	size_t queue_bytes_max; /* that may wait for a peer */
};

struct sessions *sessions_new(struct event_base *base,
    const struct session_limits *limits, const struct session_ops *ops,
    void *ctx);
void sessions_free(struct sessions *ss); /* NULL is allowed */
/* Takes ctx. Sessions that stand keep the old one's keys, and are verified
 * against the new one by sessions_verify. */
void sessions_set_tls(struct sessions *ss, SSL_CTX *tls);
/* Takes ctx, of tls_trust_read, before sessions_set_tls: whoever asks for it by
 * name (PKI_ENROLL_SNI) is served with it, and with one enroll. NULL: nobody.
 */
void sessions_set_enroll(struct sessions *ss, SSL_CTX *enroll);
/* The last that this stranger hears, a message (taken) or why not (answer is
 * NULL); he may be gone. */
void sessions_answer(struct sessions *ss, uint64_t question, json_t *answer,
    const char *why);
/* The address of a node that had a session before this start: it has its turn
 * before strangers. */
void sessions_know(struct sessions *ss, const char *addr);
/* A new connection; takes fd. addr: the peer's, as text. */
void sessions_accept(struct sessions *ss, int fd, const char *addr);
/* All places are taken until a handshake has ended: the listener looks again
 * after some milliseconds. */
int sessions_full(struct sessions *ss);
/* Out of descriptors: let some strangers go. */
void sessions_shed(struct sessions *ss);
/* Several times a second: some of the certificates that were not verified for
 * an hour, or not since sessions_set_tls; who fails loses its session. */
void sessions_verify(struct sessions *ss, uint64_t now_ns);
/* When certificates end, 0: unknown. */
struct sessions_expiry {
	int64_t ca_unix_s; /* the first of tls.ca */
	int64_t collector_unix_s;
	int64_t agent_unix_s; /* the first of those connected */
	const char *agent;    /* its node; "": none; lives as its session */
};
void sessions_expiry(const struct sessions *ss, struct sessions_expiry *ret);
/* Handshakes that failed, since the last quarter of an hour without one,
 * because by this host's clock a certificate has expired or is not yet valid:
 * the host's clock may be wrong. */
struct sessions_dated {
	unsigned count;
	char addr[64]; /* of the last one */
};
void sessions_dated(const struct sessions *ss, struct sessions_dated *ret);
/* While held no message is read from whoever has said hello: what agents send
 * waits with them. */
void sessions_hold(struct sessions *ss, int held);
/* A complaint about a peer, told once. */
void sessions_complain(struct sessions *ss, const char *addr, const char *name,
    const char *what);

/* Takes msg. A peer that does not read loses its session. -ENOTCONN: it has
 * none any more; -EINVAL and -EMSGSIZE of wire_build: nothing was sent. */
int session_send(struct session *s, enum wire_type type, json_t *msg);
/* The same of a frame that other sessions are sent, too: none has a copy, and
 * it does not count as what waits for the peer. */
int session_share(struct session *s, struct wire_frame *f);
void session_refuse(struct session *s, enum cause cause, const char *text);
/* In the hello of session_ops: how often it is told that we live. */
void session_set_heartbeat(struct session *s, uint64_t span_ns);
/* Would the peer's certificate be let in at this moment? *ret is then the
 * caller's. -EACCES. */
int session_cert(const struct session *s, X509 **ret, struct err *err);
int64_t session_cert_end_unix_s(const struct session *s);
/* Of the message that is being handled; its lines where it is of records. */
size_t session_message_bytes(const struct session *s);
const struct strict_lines *session_lines(const struct session *s);
const char *session_addr(const struct session *s);
/* What its messages take is owed by this account from now on, which outlives
 * the session: a peer that connects again owes what it owed. */
void session_set_account(struct session *s, struct account *account);
void session_set_arg(struct session *s, void *arg);
void *session_arg(const struct session *s);

#endif
