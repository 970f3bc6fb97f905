/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.h - what a certificate of Coalmine looks like, how it is asked for and
 * who signs it: for coalctl, which has the authority's files, for a collector
 * that enrols nodes, and for agents that ask.
 *
 * Keys are P-256, the name is the common name, the role the organizational
 * unit. Calls give 0, or -errno and a sentence in err; pointers are NULL with
 * a sentence in err. A library of its own, as no other needs OpenSSL.
 */
#ifndef SCHEMA_PKI_H
#define SCHEMA_PKI_H

#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/err.h"
#include "schema/names.h"

/* Stands in every collector's certificate, for agents that know only an
 * address. */
#define PKI_COLLECTOR_SAN "coalmine-collector"
/* What a connection that wants to enrol calls the collector (SNI). */
#define PKI_ENROLL_SNI "enroll.coalmine.invalid"
#define PKI_DAY_S      86400L
/* A request is under 500 bytes, a certificate and its authority's under 3 KiB.
 */
#define PKI_PEM_MAX (16 * 1024)

/* OpenSSL's own words for what it could not do; empties its queue. -EIO. */
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

/* ---- PEM, as text and as files ---- */

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
/* Write text into a new file and sync it; what is there is not overwritten. */
int pki_file_new(const char *path, int mode, const char *text, struct err *err);
/* The same where a file may be: it gives way in one step, so that a reader,
 * also after a power cut, sees either. */
int pki_file_replace(const char *path, int mode, const char *text,
    struct err *err);
char *pki_key_text(EVP_PKEY *key); /* the caller frees */
/* A key and its certificate take the place of others: PATH.new of both are
 * written, then renamed, and a cut between is mended by pki_pair_mend. */
int pki_pair_replace(const char *key_path, const char *key,
    const char *cert_path, const char *cert, struct err *err);
/* Finish what was cut: PATH.new of the certificate fits a key. */
void pki_pair_mend(const char *key_path, const char *cert_path);

/* ---- tokens: "coalmine1-AUTHORITY-SECRET", the SHA-256 of the authority's
 * certificate, by which a node knows whom to trust, and 160 random bits ---- */

#define PKI_TOKEN_TEXT 128
struct pki_token {
	char authority[PKI_DIGEST_TEXT];
	char digest[PKI_DIGEST_TEXT]; /* of the secret: what is stored */
};
int pki_token_new(const X509 *authority, char ret[PKI_TOKEN_TEXT],
    struct err *err);
/* White space around it is left out. -EINVAL. */
int pki_token_read(const char *text, struct pki_token *ret, struct err *err);

/* ---- credentials of munge: which user of a host of its realm wrote a text,
 * read once on a host and within minutes. Calls wait for munged behind socket,
 * "" for its own, and may be made in any thread; users are names and numbers,
 * with commas between. ---- */

/* What the agent of that name writes, and the collector for it: the digests of
 * its key, and of the authority that it was shown or is to trust. So neither is
 * of any use to another. The caller frees. */
char *pki_munge_text(enum role by, const char *name, const char *key,
    const char *authority);
/* Of this process's user; NULL and why. */
char *pki_munge_write(const char *socket, const char *text, struct err *err);
/* -EACCES: it is none of that text by one of users. */
int pki_munge_check(const char *socket, const char *credential,
    const char *text, const char *users, struct err *err);
int pki_munge_is_user(const char *users, uid_t uid);

#endif
