/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the collector's side of mutual TLS, for agents and for HTTPS.
 *
 * TLS 1.3. The handshake fails for a peer without a certificate of our
 * authority. The OU of a certificate is the peer's role, the CN its name.
 */
#ifndef DAEMON_AGENTS_TLS_H
#define DAEMON_AGENTS_TLS_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "schema/names_role.h"
#include "pki/pki.h"

#define TLS_NAME_MAX 255

/* The certificates and contexts of a collector. */
struct tls_trust {
	/* Agents and HTTP have separate contexts, as only nodes enrol; context
	 * enroll serves those. */
	SSL_CTX *http, *agents;
	SSL_CTX *enroll;         /* NULL without enroll.ca */
	struct pki_authority ca; /* the authority of enroll.ca */
	X509 *root; /* root certificate that enrolling nodes trust */
	char *crl;  /* tls.crl, as PEM; NULL: none */
};

/* Return the digests of the certificates of tls.ca, separated by blanks; "" if
 * it cannot be read. The caller frees. */
char *tls_authorities(const struct conf *c);
/* Read the files of [tls] and [enroll] of c. t begins as zeros and needs
 * tls_trust_free in either case; existing sessions keep their own reference.
 * Return -errno with the file and OpenSSL's reason in err. */
int tls_trust_read(const struct conf *c, struct tls_trust *t, struct err *err);
void tls_trust_free(struct tls_trust *t);

/* The identity in a peer's certificate. */
struct tls_peer {
	char name[TLS_NAME_MAX + 1]; /* CN */
	enum role role;
	int64_t end_unix_s; /* end of the certificate's validity */
};

/* Identify the peer after the handshake. Return -EACCES with err for a
 * certificate whose subject is invalid. */
int tls_peer_get(const SSL *ssl, struct tls_peer *ret, struct err *err);
/* Return 0 if ctx would accept the peer's certificate now, else -EACCES with
 * err. */
int tls_peer_check(const SSL *ssl, SSL_CTX *ctx, struct err *err);
/* Return the expiry date of a certificate; 0 without one. */
int64_t tls_cert_end_unix_s(const X509 *cert);
/* Return the earliest expiry date of the authorities of ctx; 0 without any. */
int64_t tls_ca_end_unix_s(SSL_CTX *ctx);

#endif
