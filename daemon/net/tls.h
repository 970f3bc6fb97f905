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
#include <stdint.h>

#include "common/err.h"
#include "schema/names.h"

#define TLS_NAME_MAX 255

struct tls_files {
	const char *ca, *cert, *key;
	const char *crl; /* revocations of each authority; "" : none */
};

/* -EINVAL with the file and OpenSSL's reason in why. End with SSL_CTX_free;
 * sessions that stand keep their own reference. */
int tls_server_new(const struct tls_files *files, SSL_CTX **ret,
    struct err *err);

/* The same for strangers who want to enrol, and whom they shall trust; both are
 * the caller's. */
int tls_enroll_new(const struct tls_files *files, SSL_CTX **ret,
    X509 **ret_root, struct err *err);
/* Would ctx let in whom ca signs? -EINVAL. */
int tls_signs_agents(SSL_CTX *ctx, X509 *ca, struct err *err);

struct tls_peer {
	char name[TLS_NAME_MAX + 1]; /* CN */
	enum role role;
	int64_t end_unix_s; /* of its validity */
};

/* After the handshake. -EACCES with the reason in why for a certificate whose
 * subject is not one of ours. */
int tls_peer_get(const SSL *ssl, struct tls_peer *ret, struct err *err);
/* Is the peer's certificate still one that ctx would let in, at this moment?
 * -EACCES with the reason. */
int tls_peer_check(const SSL *ssl, SSL_CTX *ctx, struct err *err);
/* When a certificate ends; 0: there is none. */
int64_t tls_cert_end_unix_s(const X509 *cert);
/* Of the authorities of ctx, the one that ends first; 0: there is none. */
int64_t tls_ca_end_unix_s(SSL_CTX *ctx);

#endif
