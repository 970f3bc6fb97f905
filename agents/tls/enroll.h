/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.h - request a certificate from a collector: by token or munge, or in a
 * session when the certificate is in the last third of its validity.
 */
#ifndef AGENTS_TLS_ENROLL_H
#define AGENTS_TLS_ENROLL_H

#include <jansson.h>
#include <openssl/ssl.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"

struct enroll;

/* Return 1 if the node has no certificate, or it has expired by this host's
 * clock; 0 if not. */
int enroll_lacks(const struct conf *c);
/* Prepare a first request. *ret is NULL if a certificate exists, or neither
 * token nor munge is configured. Return 0, or -errno with err. */
int enroll_by_token(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
/* Prepare a request for the successor of a valid certificate. Return 0, or
 * -errno with err. */
int enroll_again(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err);
void enroll_free(struct enroll *e); /* NULL is allowed */
/* Return 1 if the request is a first one, by token or munge; 0 if not. */
int enroll_is_first(const struct enroll *e);
/* Verify the peer after the handshake and before the token is sent, against the
 * authority that the token names. With munge, accept the authority that the
 * peer presents; enroll_answer checks its credential. Return 0 or -EACCES. */
int enroll_check(struct enroll *e, SSL *ssl, struct err *err);
/* Return the request as a message: a new reference; NULL with err on
 * failure. */
json_t *enroll_message(const struct enroll *e, struct err *err);
/* Check the answer, and store certificate and key. Return 0, or -errno with
 * err. */
int enroll_answer(struct enroll *e, const json_t *msg, struct err *err);
/* Return the start of the last third of the certificate's validity. */
int64_t enroll_due_unix_s(const X509 *cert);

#endif
