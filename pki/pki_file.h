/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_file.h - keys and certificates as PEM text and as files. Calls return as
 * those of pki.h.
 */
#ifndef PKI_PKI_FILE_H
#define PKI_PKI_FILE_H

#include "pki/pki.h"

/* All certificates of a text that ends where the last one does; NULL: none. */
STACK_OF(X509) * pki_certs_read(const char *text);
/* Adds to what is there; the caller frees. */
char *pki_certs_text(X509 *const *certs, size_t count);
/* A certificate, key or list of a file. */
X509 *pki_cert_load(const char *path, struct err *err);
EVP_PKEY *pki_key_load(const char *path, struct err *err);
/* What peers would refuse a program's own certificate for, and a key that
 * others can read: -EACCES, and the first of these with its file. A clock that
 * is wrong says so as well, so that it is no reason to end. */
int pki_own_check(const char *ca, const char *cert, const char *key,
    struct err *err);
int pki_authority_load(const char *cert, const char *key,
    struct pki_authority *ret, struct err *err);
char *pki_key_text(EVP_PKEY *key); /* the caller frees */
/* A key and its certificate take the place of others: PATH.new of both are
 * written, then renamed, and a cut between is mended by pki_pair_mend. */
int pki_pair_replace(const char *key_path, const char *key,
    const char *cert_path, const char *cert, struct err *err);
/* Finish what was cut: PATH.new of the certificate fits a key. */
void pki_pair_mend(const char *key_path, const char *cert_path);

#endif
