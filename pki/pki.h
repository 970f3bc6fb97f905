/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - certificates, certificate requests and tokens. coalctl manages the
 * files of the authority, a collector enrols nodes, and an agent requests its
 * certificate.
 *
 * Keys are P-256. The name of a certificate is the common name of its subject,
 * the role its organizational unit. Calls return 0, or -errno with a sentence
 * in err; calls that return a pointer return NULL with a sentence in err on
 * failure. The caller frees objects that are returned.
 */
#ifndef PKI_PKI_H
#define PKI_PKI_H

#include <openssl/x509v3.h>
#include <stdint.h>

#include "common/err.h"
#include "schema/names_role.h"

/* A DNS name in every collector's certificate, for agents that know only the
 * collector's address. */
#define PKI_COLLECTOR_SAN "coalmine-collector"
/* The server name (SNI) in a connection of a node that wants to enrol. */
#define PKI_ENROLL_SNI "enroll.coalmine.invalid"
#define PKI_DAY_S      86400L
/* Maximum size of a PEM text. A request has less than 500 bytes, a certificate
 * with its authority's less than 3 KiB. */
#define PKI_PEM_MAX (16 * 1024)

/* Let OpenSSL end the program if an allocation fails: otherwise an incomplete
 * list of revoked certificates is not noticed. Call it before any other
 * function of OpenSSL. */
void pki_memory_set(void);

/* Set err to the text `what` and OpenSSL's own error, and empty OpenSSL's error
 * queue. Return -EIO. */
int pki_fail_ssl(struct err *err, const char *what);

/* An authority: its certificate and its private key. */
struct pki_authority {
	X509 *cert;
	EVP_PKEY *key;
};
/* Free the certificate and the key. */
void pki_authority_close(struct pki_authority *ca);

/* The contents of a new certificate. */
struct pki_order {
	const char *name;
	enum role role;
	/* DNS names and IP addresses in addition to the name. */
	char *const *sans;
	size_t san_count;
	long life_s;
};
/* Return 1 for an IP address, 0 for a DNS name, or -EINVAL with err. */
int pki_san_check(const char *san, struct err *err);
EVP_PKEY *pki_key_new(void); /* NULL: OpenSSL's error queue has the reason */
/* Return a signed certificate for the public key of `key`. It contains only
 * what the order states, and is not valid longer than the authority. */
X509 *pki_cert_new(const struct pki_authority *ca, const struct pki_order *o,
    EVP_PKEY *key, struct err *err);
/* Return the certificate of an authority: ca NULL: one that signs itself;
 * otherwise one below ca that can sign certificates of agents and no others. */
X509 *pki_authority_new(const struct pki_authority *ca, const char *name,
    EVP_PKEY *key, long life_s, struct err *err);
/* Return 0, or -EACCES if an authority of the verified chain (leaf first) is
 * for another role than the leaf's. */
int pki_chain_check(STACK_OF(X509) * chain, enum role role, struct err *err);
/* Copy a field of a subject. Return 0, or -EACCES if the field does not exist
 * exactly once, or contains a NUL. */
int pki_subject_get(X509_NAME *subject, int nid, char *ret, size_t cap_bytes);
/* Return seconds since 1970; 0 if `at` is not a valid time. */
int64_t pki_unix_s(const ASN1_TIME *at);

/* ---- requests (PKCS#10) ---- */

/* Return the PEM text of a request for that name, signed by key. */
char *pki_request_new(EVP_PKEY *key, const char *name, struct err *err);
/* Read the public key of a request. The request must be for that name and
 * nothing else, have a P-256 key, and be signed by it; otherwise return
 * -EINVAL. */
int pki_request_read(const char *text, const char *name, EVP_PKEY **ret,
    struct err *err);
/* Write the SHA-256 of a public key or of a certificate, as 64 hexadecimal
 * digits. */
#define PKI_DIGEST_TEXT 65
void pki_key_digest(EVP_PKEY *key, char ret[PKI_DIGEST_TEXT]);
void pki_cert_digest(const X509 *cert, char ret[PKI_DIGEST_TEXT]);

/* ---- tokens: "coalmine1-AUTHORITY-SECRET": the SHA-256 of the CA certificate,
 * by which a node verifies the collector, and 160 random bits ---- */

#define PKI_TOKEN_TEXT 128
/* The parts of a token. */
struct pki_token {
	char authority[PKI_DIGEST_TEXT];
	char digest[PKI_DIGEST_TEXT]; /* SHA-256 of the secret, as stored */
};
/* Write a new token for nodes to trust this authority. */
int pki_token_new(const X509 *authority, char ret[PKI_TOKEN_TEXT],
    struct err *err);
/* Read a token; white space around it is skipped. Return 0 or -EINVAL. */
int pki_token_read(const char *text, struct pki_token *ret, struct err *err);

#endif
