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
/* Append to the existing text; the caller frees. */
char *pki_certs_text(X509 *const *certs, size_t count);
/* A certificate, key or list of a file. */
X509 *pki_cert_load(const char *path, struct err *err);
EVP_PKEY *pki_key_load(const char *path, struct err *err);
/* Check a program's own certificate and key for what peers would reject, and
 * the key for being readable by others. Return 0, or -EACCES and the first
 * fault with its file. A wrong clock is reported as well, so a failure need not
 * end the program. */
int pki_own_check(const char *ca, const char *cert, const char *key,
    struct err *err);
int pki_authority_load(const char *cert, const char *key,
    struct pki_authority *ret, struct err *err);
char *pki_key_text(EVP_PKEY *key); /* the caller frees */
/* Replace a key and its certificate: both are written as PATH.new, synced and
 * renamed. pki_pair_recover completes it after a crash in between. */
int pki_pair_replace(const char *key_path, const char *key,
    const char *cert_path, const char *cert, struct err *err);
/* Complete an interrupted pki_pair_replace: PATH.new of the certificate matches
 * the key. */
void pki_pair_recover(const char *key_path, const char *cert_path);

#endif
