/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the collector's side of mutual TLS, for agents and for HTTPS.
 *
 * TLS 1.3; a peer without a certificate of our authority does not
 * get past the handshake. What a peer may do stands in the OU of its
 * certificate, who it is in the CN.
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

/* What all certificates of a collector say together. */
struct tls_trust {
	/* Contexts of their own for agents and HTTP, as only among agents are
	 * some who want to enrol; with enroll they are served. */
	SSL_CTX *http, *agents;
	SSL_CTX *enroll;         /* NULL without enroll.ca */
	struct pki_authority ca; /* of enroll.ca */
	X509 *root;              /* whom those who enrol shall trust */
	char *crl;               /* tls.crl, as PEM; NULL: none */
};

/* Of [tls] and [enroll] of c. -errno with the file and OpenSSL's reason in err.
 * Takes a trust of zeros; end it with tls_trust_free in either case. Sessions
 * that stand keep their own reference. */
/* Digests of the certificates of tls.ca, with blanks between; "" where it
 * cannot be read. The caller frees. */
char *tls_authorities(const struct conf *c);
int tls_trust_read(const struct conf *c, struct tls_trust *t, struct err *err);
void tls_trust_free(struct tls_trust *t);

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
