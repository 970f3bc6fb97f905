/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crl.h - revocation lists (CRLs) for the certificates of collectors.
 */
#ifndef AGENTS_TLS_CRL_H
#define AGENTS_TLS_CRL_H

#include <openssl/ssl.h>

#include "common/conf.h"
#include "common/err.h"

struct crl;

/* Read the lists of tls.crl and the lists that collectors sent earlier, from a
 * file in state_dir. Return -EINVAL with err if tls.crl has no list. */
int crl_open(const struct conf *c, struct crl **ret, struct err *err);
void crl_free(struct crl *l); /* NULL is allowed */
/* Store the lists (PEM) that a collector sends. A list is accepted only if an
 * authority of the collector's verified chain has signed it, and an older list
 * never replaces a newer one, so the sender is not trusted. Return 1 if a list
 * is new; -errno with err if it cannot be stored. */
int crl_take(struct crl *l, SSL *ssl, const char *text, struct err *err);
/* Return 0, or -EACCES with err if the peer's certificate or one above it is
 * revoked. */
int crl_check(const struct crl *l, SSL *ssl, struct err *err);

#endif
