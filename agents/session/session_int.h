/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_int.h - what a connection is made of: names and certificates.
 */
#ifndef AGENTS_SESSION_SESSION_INT_H
#define AGENTS_SESSION_SESSION_INT_H

#include <event2/event.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <stddef.h>

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

/* After the handshake: is the peer the collector called host? Its certificate
 * must have the role collector and the name among its alternative names; for
 * an address also "coalmine-collector". 0, or -EACCES and why. */
int tls_check_collector(SSL *ssl, const char *host, struct err *err);

/* The library's oldest error as text; "" when it has none. Empties its
 * queue. */
void tls_error(char *ret, size_t cap_bytes);

#endif
