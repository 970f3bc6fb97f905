/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.h - request a certificate from a collector, by token or munge, or in
 * the session when the certificate is in the last third of its validity.
 */
#ifndef AGENTS_TLS_ENROLL_H
#define AGENTS_TLS_ENROLL_H

#include <jansson.h>
#include <openssl/ssl.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"

struct enroll;

/* The node has no certificate, or it has expired by this host's clock. */
int enroll_lacks(const struct conf *c);
/* Prepare a first request; *ret is NULL if a certificate exists or neither
 * token nor munge is configured. Return -errno with err. */
int enroll_by_token(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
/* Prepare a request for the successor of a valid certificate. */
int enroll_again(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
void enroll_free(struct enroll *e); /* NULL is allowed */
/* The node authenticates by token or munge because it has no certificate. */
int enroll_is_first(const struct enroll *e);
/* Verify the peer after the handshake and before the token is sent, against the
 * authority that the token names. With munge, accept the authority that the
 * peer presents, and check its credential in enroll_answer. Return 0 or
 * -EACCES. */
int enroll_check(struct enroll *e, SSL *ssl, struct err *err);
/* Return the request as a message; NULL with err on failure. */
json_t *enroll_message(const struct enroll *e, struct err *err);
/* Check the answer and store certificate and key. Return -errno with err. */
int enroll_answer(struct enroll *e, const json_t *msg, struct err *err);
/* Return the start of the last third of the certificate's validity. */
int64_t enroll_due_unix_s(const X509 *cert);

#endif
