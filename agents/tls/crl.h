/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crl.h - revocation lists: which certificates of collectors are revoked.
 */
#ifndef AGENTS_TLS_CRL_H
#define AGENTS_TLS_CRL_H

#include <openssl/ssl.h>

#include "common/conf.h"
#include "common/err.h"

struct crl;

/* Read the lists of tls.crl and those that collectors sent earlier, which are
 * in a file in state_dir. -EINVAL and why when tls.crl holds no list. */
int crl_open(const struct conf *c, struct crl **ret, struct err *err);
void crl_free(struct crl *l); /* NULL is allowed */
/* Keep the lists (PEM) that a collector sends. Only a list that an authority
 * of the collector's verified chain has signed is kept, and an older list never
 * replaces a newer one, so the sender needs no trust. 1: a list is new. -errno
 * and why when it cannot be stored. */
int crl_take(struct crl *l, SSL *ssl, const char *text, struct err *err);
/* -EACCES and why when the peer's certificate or one above it is revoked. */
int crl_check(const struct crl *l, SSL *ssl, struct err *err);

#endif
