/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the collector's side of mutual TLS, for agents and for HTTPS.
 *
 * TLS 1.2 or newer; a peer without a certificate of our authority does not
 * get past the handshake. What a peer may do stands in the OU of its
 * certificate, who it is in the CN.
 */
#ifndef DAEMON_NET_TLS_H
#define DAEMON_NET_TLS_H

#include <openssl/ssl.h>
#include <stddef.h>

#include "common/err.h"
#include "schema/names.h"

#define TLS_NAME_MAX 255

/* -EINVAL with the file and OpenSSL's reason in why. End with SSL_CTX_free;
 * sessions that stand keep their own reference. */
int tls_server_new(const char *ca, const char *cert, const char *key,
    SSL_CTX **ret, struct err *err);

struct tls_peer {
	char name[TLS_NAME_MAX + 1]; /* CN */
	enum role role;
};

/* After the handshake. -EACCES with the reason in why for a certificate whose
 * subject is not one of ours. */
int tls_peer_get(const SSL *ssl, struct tls_peer *ret, struct err *err);
/* The newest reason in OpenSSL's queue, which is emptied. */
void tls_error_text(char *ret, size_t cap_bytes);

#endif
