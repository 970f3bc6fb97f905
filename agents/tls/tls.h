/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the agent's side of mutual TLS 1.3.
 */
#ifndef AGENTS_TLS_TLS_H
#define AGENTS_TLS_TLS_H

#include <jansson.h>
#include <openssl/ssl.h>
#include <stdint.h>

#include "agents/tls/crl.h"
#include "agents/tls/enroll.h"
#include "common/conf.h"
#include "common/err.h"

/* The certificates, and the state of their renewal. */
struct tls {
	const struct conf *conf;
	const char *name; /* name of the node */
	SSL_CTX *ctx;
	struct crl *revoked;
	struct enroll *enroll;      /* a pending request, or NULL */
	uint64_t renew_ns;          /* no renewal before this time */
	char alarm[ERR_TEXT_BYTES]; /* why the last renewal failed, or "" */
};

/* Load the site's certificates, or prepare to request one. c and name must
 * outlive t. Return 0, or -EINVAL with the file and the library's reason in
 * err. Call tls_close in either case. */
int tls_open(struct tls *t, const struct conf *c, const char *name,
    struct err *err);
void tls_close(struct tls *t);
/* Read the files again. If that fails, the old ones stay in use. Return 0, or
 * -EINVAL with err. */
int tls_reload(struct tls *t, struct err *err);
/* Check after the handshake that the peer is the collector called host, and is
 * not revoked. Return 0, or -EACCES with err. */
int tls_check(const struct tls *t, SSL *ssl, const char *host, struct err *err);
/* Return 1 if enroll has a request for a new certificate that has to be sent
 * now; 0 if not. */
int tls_renew_due(struct tls *t);
/* Note that a renewal failed; it is retried later. */
void tls_renew_failed(struct tls *t, const struct err *err);
/* Process the answer to enroll's request; the new certificate is used from the
 * next connection on. Return 0, or -errno with err. */
int tls_take_certificate(struct tls *t, const json_t *msg, struct err *err);

#endif
