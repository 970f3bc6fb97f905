/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_file.h - keys and certificates as PEM text and in files. Results are as
 * in pki.h.
 */
#ifndef PKI_PKI_FILE_H
#define PKI_PKI_FILE_H

#include <openssl/ssl.h>

#include "pki/pki.h"

/* Return all certificates of a text, which must end behind the last one; NULL:
 * it has none, or is malformed. */
STACK_OF(X509) * pki_certs_read(const char *text);
/* Return the private key of a PEM text; NULL: malformed. */
EVP_PKEY *pki_key_read(const char *text);
/* Use the certificate of a file, and those behind it as its chain. Return 0, or
 * -errno with err. OpenSSL would take a failed read for the end of the chain.
 */
int pki_chain_use(SSL_CTX *ctx, const char *path, struct err *err);
/* Return certificates as PEM text; the caller frees it. */
char *pki_certs_text(X509 *const *certs, size_t count);
/* Load a certificate or a private key from a file. */
X509 *pki_cert_load(const char *path, struct err *err);
EVP_PKEY *pki_key_load(const char *path, struct err *err);
/* Check whether peers would reject a program's own certificate and key, and
 * whether other users can read the key. Return 0, or -EACCES with the first
 * error and its file in err. A wrong clock is reported too, so that a failure
 * need not end the program. */
int pki_own_check(const char *ca, const char *cert, const char *key,
    struct err *err);
/* Load the certificate and the key of an authority; the caller frees them with
 * pki_authority_close. */
int pki_authority_load(const char *cert, const char *key,
    struct pki_authority *ret, struct err *err);
char *pki_key_text(EVP_PKEY *key); /* the caller frees */
/* Replace a key and its certificate: both are written as PATH.new, synced and
 * renamed. pki_pair_recover completes it after a crash in between. */
int pki_pair_replace(const char *key_path, const char *key,
    const char *cert_path, const char *cert, struct err *err);
/* Complete an interrupted pki_pair_replace, if PATH.new of the certificate
 * matches the key. */
void pki_pair_recover(const char *key_path, const char *cert_path);

#endif
