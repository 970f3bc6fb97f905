/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - certificates, certificate requests and tokens. coalctl holds the
 * authority's files, a collector enrols nodes, an agent requests its
 * certificate.
 *
 * Keys are P-256. The name is the common name of the subject, the role its
 * organizational unit. Calls return 0, or -errno with a sentence in err;
 * pointers are NULL on error, with a sentence in err.
 */
#ifndef PKI_PKI_H
#define PKI_PKI_H

#include <openssl/x509v3.h>
#include <stdint.h>

#include "common/err.h"
#include "schema/names_role.h"

/* Stands in every collector's certificate, for agents that know only an
 * address. */
#define PKI_COLLECTOR_SAN "coalmine-collector"
/* The collector's name (SNI) in a connection that wants to enrol. */
#define PKI_ENROLL_SNI "enroll.coalmine.invalid"
#define PKI_DAY_S      86400L
/* A request is under 500 bytes, a certificate and its authority's under 3 KiB.
 */
#define PKI_PEM_MAX (16 * 1024)

/* Fail with OpenSSL's own error text and empty its error queue. Return -EIO. */
int pki_fail_ssl(struct err *err, const char *what);

struct pki_authority {
	X509 *cert;
	EVP_PKEY *key;
};
void pki_authority_close(struct pki_authority *ca);

struct pki_order {
	const char *name;
	enum role role;
	char *const *sans; /* DNS names and IP addresses besides the name */
	size_t san_count;
	long life_s;
};
EVP_PKEY *pki_key_new(void); /* NULL: OpenSSL's queue says why */
/* Signed, for that public key, with nothing in it that the order does not say;
 * no longer valid than the authority. */
X509 *pki_cert_new(const struct pki_authority *ca, const struct pki_order *o,
    EVP_PKEY *key, struct err *err);
/* An authority that signs itself, or (ca) one below it that signs certificates
 * of agents and no others. */
X509 *pki_authority_new(const struct pki_authority *ca, const char *name,
    EVP_PKEY *key, long life_s, struct err *err);
/* -EACCES where an authority of the verified chain, leaf first, is for another
 * role than the leaf's. */
int pki_chain_check(STACK_OF(X509) * chain, enum role role, struct err *err);
/* Field of a subject; -EACCES when it is not there exactly once or holds a
 * NUL. */
int pki_subject_get(X509_NAME *subject, int nid, char *ret, size_t cap_bytes);
/* Seconds since 1970; 0: none. */
int64_t pki_unix_s(const ASN1_TIME *at);

/* ---- requests (PKCS#10) ---- */

/* PEM text of a request for that name, signed by key. */
char *pki_request_new(EVP_PKEY *key, const char *name, struct err *err);
/* The key of a request that is for that name and nothing else, is P-256, and
 * has signed it. -EINVAL. */
int pki_request_read(const char *text, const char *name, EVP_PKEY **ret,
    struct err *err);
/* SHA-256 of a public key or of a certificate, as 64 hex digits. */
#define PKI_DIGEST_TEXT 65
void pki_key_digest(EVP_PKEY *key, char ret[PKI_DIGEST_TEXT]);
void pki_cert_digest(const X509 *cert, char ret[PKI_DIGEST_TEXT]);

/* ---- tokens: "coalmine1-AUTHORITY-SECRET": the SHA-256 of the CA certificate,
 * by which a node verifies the collector, and 160 random bits ---- */

#define PKI_TOKEN_TEXT 128
struct pki_token {
	char authority[PKI_DIGEST_TEXT];
	char digest[PKI_DIGEST_TEXT]; /* SHA-256 of the secret, as stored */
};
int pki_token_new(const X509 *authority, char ret[PKI_TOKEN_TEXT],
    struct err *err);
/* Read a token; surrounding white space is skipped. Return 0 or -EINVAL. */
int pki_token_read(const char *text, struct pki_token *ret, struct err *err);

#endif
