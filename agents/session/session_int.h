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

/* ---- tls.c: the agent's side of mutual TLS ---- */

/* Certificates of the site; TLS 1.2 and later, small buffers. -EINVAL with
 * the file and the library's reason in why. SSL_CTX_free is the caller's. */
int tls_load(const char *ca, const char *cert, const char *key,
    SSL_CTX **ret_ctx, struct err *err);

/* For a node that has no certificate yet: nobody is believed but by
 * enroll_check. NULL: no memory. */
SSL_CTX *tls_load_nothing(void);

/* After the handshake: is the peer the collector called host? Its certificate
 * must have the role collector and the name among its alternative names; for
 * an address also "coalmine-collector". 0, or -EACCES and why. */
int tls_check_collector(SSL *ssl, const char *host, struct err *err);

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
/* NULL: a certificate is there, or no token. -errno and why. */
int enroll_by_token(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
int enroll_again(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
void enroll_free(struct enroll *e); /* NULL is allowed */
int enroll_uses_token(const struct enroll *e);
/* After the handshake, and before a word of the token leaves: is the peer under
 * the authority that it names? -EACCES. */
int enroll_check(struct enroll *e, SSL *ssl, struct err *err);
/* What to send; NULL and why. */
json_t *enroll_message(const struct enroll *e, struct err *err);
/* The certificate takes its place on disk. -errno and why. */
int enroll_answer(struct enroll *e, const json_t *msg, struct err *err);
/* When the last third of its life begins. */
int64_t enroll_due_unix_s(const X509 *cert);

#endif
