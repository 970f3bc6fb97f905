/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_int.h - what a connection is made of: names and certificates.
 */
#ifndef AGENTS_SESSION_SESSION_INT_H
#define AGENTS_SESSION_SESSION_INT_H

#include <event2/event.h>
#include <jansson.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/err.h"

/* ---- resolve.c: getaddrinfo(3) in a thread of its own ----
 *
 * The resolver of libevent knows neither NSS nor /etc/hosts, and a name server
 * that is away must not stop heartbeats. One question is one thread, which
 * ends with its answer; an idle agent has none.
 */
struct resolve;

/* Called once in the loop's thread. list is NULL on failure, and why then
 * says what; freeaddrinfo is the receiver's. */
typedef void resolve_cb(struct addrinfo *list, const char *why, void *arg);

/* NULL when no thread could be made. The question frees itself after cb. */
struct resolve *resolve_start(struct event_base *base, const char *host,
    const char *port, resolve_cb *cb, void *arg);
/* Forget the answer: cb is not called any more. NULL is allowed. */
void resolve_cancel(struct resolve *r);

/* ---- lists.c: revoked certificates ---- */

struct lists;
/* Those of tls.crl and those that were handed over, of a file in state_dir;
 * -EINVAL and why for a tls.crl that is none. */
int lists_open(const struct conf *c, struct lists **ret, struct err *err);
void lists_free(struct lists *l); /* NULL is allowed */
/* A collector hands them over (PEM). Kept are those that an authority of its
 * own verified chain has signed, and no older one in a newer one's stead: it
 * needs no trust. 1: something is new. -errno and why: it is not on disk. */
int lists_take(struct lists *l, SSL *ssl, const char *text, struct err *err);
/* -EACCES and why: the peer or one above it was revoked. */
int lists_check(const struct lists *l, SSL *ssl, struct err *err);

/* ---- enroll.c: a certificate is asked for ---- */

struct enroll;
/* There is no certificate, or it has expired, by this host's clock. */
int enroll_lacks(const struct conf *c);
/* NULL: a certificate is there, or nothing to ask by. -errno and why. */
int enroll_by_token(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
int enroll_again(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
void enroll_free(struct enroll *e); /* NULL is allowed */
/* It has no certificate: a token or munge is its word. */
int enroll_is_first(const struct enroll *e);
/* After the handshake, and before a word of the token leaves: is the peer under
 * the authority that it names? By munge: under the one that it shows, which is
 * believed when its credential comes. -EACCES. */
int enroll_check(struct enroll *e, SSL *ssl, struct err *err);
/* What to send; NULL and why. */
json_t *enroll_message(const struct enroll *e, struct err *err);
/* The certificate takes its place on disk. -errno and why. */
int enroll_answer(struct enroll *e, const json_t *msg, struct err *err);
/* When the last third of its life begins. */
int64_t enroll_due_unix_s(const X509 *cert);

/* ---- tls.c: the agent's side of mutual TLS, 1.3 ---- */

struct tls {
	const struct conf *conf;
	const char *name; /* the node's */
	SSL_CTX *ctx;
	struct lists *lists;
	struct enroll *enroll;      /* a certificate is asked for, or NULL */
	uint64_t renew_ns;          /* not again before */
	char alarm[ERR_TEXT_BYTES]; /* of a certificate that is not renewed */
};
/* Certificates of the site, or what there is to ask for some; c and name
 * outlive t. -EINVAL with the file and the library's reason in err; tls_close
 * in either case. */
int tls_open(struct tls *t, const struct conf *c, const char *name,
    struct err *err);
void tls_close(struct tls *t);
/* The files again; with such as cannot be used the old ones stay. */
int tls_reload(struct tls *t, struct err *err);
/* After the handshake: is the peer the collector called host, and not revoked?
 * -EACCES. */
int tls_check(const struct tls *t, SSL *ssl, const char *host, struct err *err);
/* 1: enroll has a request for a successor, which is to be sent now. */
int tls_renew_due(struct tls *t);
void tls_renew_failed(struct tls *t, const struct err *err);
/* The answer to enroll's request: serves from the next connection on. */
int tls_take_certificate(struct tls *t, const json_t *msg, struct err *err);

#endif
