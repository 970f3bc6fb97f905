/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the agent's side of mutual TLS.
 */
#ifndef AGENTS_SESSION_TLS_H
#define AGENTS_SESSION_TLS_H

#include <openssl/ssl.h>
#include <stddef.h>

#include "common/err.h"

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
