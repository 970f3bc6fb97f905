/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_file.c - keys and certificates as text and as files: how they are read,
 * and written so that a power cut leaves the old or the new.
 */
#include "pki/pki_file.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

#define FILE_BYTES_MAX ((size_t)1 << 20) /* of all authorities of a site */

STACK_OF(X509) * pki_certs_read(const char *text)
{
	STACK_OF(X509) *certs = sk_X509_new_null();
	BIO *from = BIO_new_mem_buf(text, -1);
	X509 *cert;

	while (certs != NULL && from != NULL &&
	    (cert = PEM_read_bio_X509(from, NULL, NULL, NULL)) != NULL)
		sk_X509_push(certs, cert);
	BIO_free(from);
	ERR_clear_error();
	if (sk_X509_num(certs) > 0)
		return certs;
	sk_X509_free(certs);
	return NULL;
}

int
pki_chain_use(SSL_CTX *ctx, const char *path, struct err *err)
{
	X509 *cert = NULL;
	char *text;
	size_t len;
	BIO *from;
	int ok;

	if (file_read(path, FILE_BYTES_MAX, &text, &len, err) < 0)
		return -EIO;
	ERR_clear_error();
	from = BIO_new_mem_buf(text, (int)len);
	cert = PEM_read_bio_X509(from, NULL, NULL, NULL);
	ok = cert != NULL && SSL_CTX_use_certificate(ctx, cert) == 1 &&
	    SSL_CTX_clear_chain_certs(ctx) == 1;
	X509_free(cert);
	while (
	    ok && (cert = PEM_read_bio_X509(from, NULL, NULL, NULL)) != NULL) {
		ok = SSL_CTX_add1_chain_cert(ctx, cert) == 1;
		X509_free(cert);
	}
	BIO_free(from);
	free(text);
	if (!ok)
		return pki_fail_ssl(err, path);
	ERR_clear_error(); /* of the end of the text */
	return 0;
}

EVP_PKEY *
pki_key_read(const char *text)
{
	BIO *from = BIO_new_mem_buf(text, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(from, NULL, NULL, NULL);

	BIO_free(from);
	ERR_clear_error();
	return key;
}

static char *
pki_file_bio_text(BIO *from)
{
	char *at;
	long len = BIO_get_mem_data(from, &at);
	char *text = xstrndup(at, (size_t)len);

	BIO_free(from);
	return text;
}

char *
pki_certs_text(X509 *const *certs, size_t count)
{
	BIO *to = BIO_new(BIO_s_mem());

	for (size_t i = 0; i < count; i++)
		PEM_write_bio_X509(to, certs[i]);
	return pki_file_bio_text(to);
}

char *
pki_key_text(EVP_PKEY *key)
{
	BIO *to = BIO_new(BIO_s_mem());

	PEM_write_bio_PrivateKey(to, key, NULL, NULL, 0, NULL, NULL);
	return pki_file_bio_text(to);
}

X509 *
pki_cert_load(const char *path, struct err *err)
{
	X509 *cert;
	char *text;
	size_t len;
	BIO *from;

	if (file_read(path, FILE_BYTES_MAX, &text, &len, err) < 0)
		return NULL;
	from = BIO_new_mem_buf(text, (int)len);
	cert = PEM_read_bio_X509(from, NULL, NULL, NULL);
	if (cert == NULL)
		err_say(err, "%s: expected a certificate in PEM format", path);
	BIO_free(from);
	free(text);
	ERR_clear_error();
	return cert;
}

EVP_PKEY *
pki_key_load(const char *path, struct err *err)
{
	EVP_PKEY *key = NULL;
	char *text;
	size_t len;

	if (file_read(path, PKI_PEM_MAX, &text, &len, err) < 0)
		return NULL;
	key = pki_key_read(text);
	if (key == NULL)
		err_say(err, "%s: expected a private key in PEM format", path);
	OPENSSL_cleanse(text, len);
	free(text);
	return key;
}

int
pki_authority_load(const char *cert, const char *key, struct pki_authority *ret,
    struct err *err)
{
	struct pki_authority ca = { NULL, NULL };

	ca.cert = pki_cert_load(cert, err);
	if (ca.cert != NULL)
		ca.key = pki_key_load(key, err);
	if (ca.cert == NULL || ca.key == NULL) {
		pki_authority_close(&ca);
		return -ENOENT;
	}
	if (X509_check_private_key(ca.cert, ca.key) != 1) {
		ERR_clear_error();
		pki_authority_close(&ca);
		return err_set(err, -EINVAL,
		    "the key %s does not belong to the certificate %s", key,
		    cert);
	}
	*ret = ca; /* handed over */
	return 0;
}

int
pki_own_check(const char *ca, const char *cert, const char *key,
    struct err *err)
{
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	X509_STORE *store = X509_STORE_new();
	STACK_OF(X509) *chain = NULL;
	char *text = NULL, issuer[256] = "", when[32];
	struct stat st;
	int rc, why;
	size_t len;
	X509 *own;

	ERR_clear_error();
	rc = file_read(cert, PKI_PEM_MAX, &text, &len, err);
	if (rc == 0)
		chain = pki_certs_read(text);
	free(text);
	own = chain == NULL ? NULL : sk_X509_value(chain, 0);
	if (own == NULL || store == NULL || check == NULL ||
	    X509_STORE_load_file(store, ca) != 1 ||
	    X509_STORE_CTX_init(check, store, own, chain) != 1) {
		rc = rc < 0 ? rc : pki_fail_ssl(err, cert);
	} else if (X509_verify_cert(check) != 1) {
		why = X509_STORE_CTX_get_error(check);
		X509_NAME_oneline(X509_get_issuer_name(own), issuer,
		    sizeof(issuer));
		clk_unix_format((uint64_t)pki_unix_s(X509_get0_notAfter(own)) *
			CLK_NS_PER_S,
		    when, sizeof(when));
		if (why == X509_V_ERR_CERT_HAS_EXPIRED)
			rc = err_set(err, -EACCES, "%s expired at %s", cert,
			    when);
		else
			rc = err_set(err, -EACCES,
			    "cannot verify %s, issued by %s, with the CA "
			    "certificates in %s: %s",
			    cert, issuer, ca,
			    X509_verify_cert_error_string(why));
	} else if (stat(key, &st) == 0 && (st.st_mode & S_IRWXO) != 0) {
		rc = err_set(err, -EACCES,
		    "the key %s is accessible to all users: run chmod o-rwx %s",
		    key, key);
	}
	ERR_clear_error();
	sk_X509_pop_free(chain, X509_free);
	X509_STORE_CTX_free(check);
	X509_STORE_free(store);
	return rc;
}

int
pki_pair_replace(const char *key_path, const char *key, const char *cert_path,
    const char *cert, struct err *err)
{
	char *fresh_key = xasprintf("%s.new", key_path);
	char *fresh_cert = xasprintf("%s.new", cert_path);
	int rc;

	unlink(fresh_key);
	unlink(fresh_cert);
	rc = file_new(fresh_key, 0600, key, err);
	if (rc == 0)
		rc = file_new(fresh_cert, 0644, cert, err);
	/* From here on pki_pair_recover completes an interrupted
	 * replacement. */
	if (rc == 0)
		rc = file_rename_synced(fresh_key, key_path, err);
	if (rc == 0)
		rc = file_rename_synced(fresh_cert, cert_path, err);
	free(fresh_key);
	free(fresh_cert);
	return rc;
}

static int
pki_file_fits(const char *cert_path, const char *key_path)
{
	X509 *cert = pki_cert_load(cert_path, NULL);
	EVP_PKEY *key = cert == NULL ? NULL : pki_key_load(key_path, NULL);
	int yes = key != NULL && X509_check_private_key(cert, key) == 1;

	ERR_clear_error();
	X509_free(cert);
	EVP_PKEY_free(key);
	return yes;
}

void
pki_pair_recover(const char *key_path, const char *cert_path)
{
	char *fresh_key = xasprintf("%s.new", key_path);
	char *fresh_cert = xasprintf("%s.new", cert_path);
	struct err err;
	int rc = -ENOENT;

	if (access(fresh_cert, F_OK) == 0) {
		if (pki_file_fits(fresh_cert, key_path))
			rc = 0;
		else if (pki_file_fits(fresh_cert, fresh_key))
			rc = file_rename_synced(fresh_key, key_path, &err);
	}
	if (rc == 0)
		(void)file_rename_synced(fresh_cert, cert_path, &err);
	free(fresh_key);
	free(fresh_cert);
}
