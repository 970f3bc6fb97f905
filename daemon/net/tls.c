/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/file.h"
#include "common/str.h"

/* The newest reason in OpenSSL's queue, which is emptied. */
static void
tls_error_text(char *ret, size_t cap_bytes)
{
	unsigned long e, last = 0;
	const char *reason;

	while ((e = ERR_get_error()) != 0)
		last = e;
	reason = last == 0 ? NULL : ERR_reason_error_string(last);
	snprintf(ret, cap_bytes, "%s", reason == NULL ? "unknown" : reason);
}

static int
refuse(const char *what, const char *path, struct err *err)
{
	char reason[160];

	tls_error_text(reason, sizeof(reason));
	return err_set(err, -EINVAL, "%s %s: %s", what, path, reason);
}

/* OpenSSL calls a missing file "system lib", and waits for what a pipe has to
 * say. */
static int
readable(const char *what, const char *path, struct err *err)
{
	struct err text;

	if (file_check(path, &text) == 0)
		return 0;
	return err_set(err, -EINVAL, "%s %s", what, text.text);
}

/* From here on a peer's certificate must not be on its authority's list, and
 * each authority has to have one. */
static int
load_crl(SSL_CTX *ctx, const char *path, struct err *err)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());

	if (readable("tls.crl", path, err) < 0)
		return -EINVAL;
	if (lookup == NULL ||
	    X509_load_crl_file(lookup, path, X509_FILETYPE_PEM) < 1 ||
	    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK) != 1)
		return refuse("tls.crl", path, err);
	return 0;
}

static int
load(SSL_CTX *ctx, const struct tls_files *f, struct err *err)
{
	STACK_OF(X509_NAME) * names;

	if (readable("tls.ca", f->ca, err) < 0 ||
	    readable("tls.cert", f->cert, err) < 0 ||
	    readable("tls.key", f->key, err) < 0)
		return -EINVAL;
	if (SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1)
		return refuse("tls.ca", f->ca, err);
	if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1)
		return refuse("tls.cert", f->cert, err);
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(ctx) != 1)
		return refuse("tls.key", f->key, err);
	names = SSL_load_client_CA_file(f->ca);
	if (names == NULL)
		return refuse("tls.ca", f->ca, err);
	SSL_CTX_set_client_CA_list(ctx, names); /* handed over */
	return f->crl[0] == '\0' ? 0 : load_crl(ctx, f->crl, err);
}

int
tls_server_new(const struct tls_files *files, SSL_CTX **ret, struct err *err)
{
	static const unsigned char id[] = "coalmined";
	SSL_CTX *ctx;
	int rc;

	ERR_clear_error();
	ctx = SSL_CTX_new(TLS_server_method());
	if (ctx == NULL)
		return refuse("tls", "context", err);
	SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
	/* An idle session gives its 34 KiB of buffers back. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	/* Resumption through tickets only: nothing grows with the number of
	 * agents. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
	SSL_CTX_set_verify(ctx,
	    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	rc = load(ctx, files, err);
	if (rc < 0)
		SSL_CTX_free(ctx);
	else
		*ret = ctx;
	return rc;
}

/* One field of the subject; -EACCES when it is not there exactly once or
 * holds a NUL. */
static int
subject_get(X509_NAME *subject, int nid, char *ret, size_t cap_bytes)
{
	int i = X509_NAME_get_index_by_NID(subject, nid, -1);
	unsigned char *utf8 = NULL;
	int len;

	if (i < 0 || X509_NAME_get_index_by_NID(subject, nid, i) >= 0)
		return -EACCES;
	len = ASN1_STRING_to_UTF8(&utf8,
	    X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
	if (len <= 0 || (size_t)len >= cap_bytes ||
	    memchr(utf8, '\0', (size_t)len) != NULL) {
		OPENSSL_free(utf8);
		return -EACCES;
	}
	memcpy(ret, utf8, (size_t)len);
	ret[len] = '\0';
	OPENSSL_free(utf8);
	return 0;
}

static int
peer_read(X509 *cert, struct tls_peer *ret, struct err *err)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	char unit[64];
	int role;

	if (subject_get(subject, NID_commonName, ret->name, sizeof(ret->name)) <
	    0)
		return err_set(err, -EACCES,
		    "certificate without a common name");
	if (subject_get(subject, NID_organizationalUnitName, unit,
		sizeof(unit)) < 0)
		return err_set(err, -EACCES, "certificate without a role (OU)");
	role = STR_FIND(names_roles, unit);
	if (role < 0)
		return err_set(err, -EACCES,
		    "certificate with an unknown role");
	ret->role = (enum role)role;
	ret->end_unix_s = tls_cert_end_unix_s(cert);
	return 0;
}

int
tls_peer_get(const SSL *ssl, struct tls_peer *ret, struct err *err)
{
	struct tls_peer p;
	X509 *cert = SSL_get_peer_certificate(ssl);
	int rc;

	if (cert == NULL || SSL_get_verify_result(ssl) != X509_V_OK) {
		err_say(err, "no valid certificate");
		rc = -EACCES;
	} else {
		rc = peer_read(cert, &p, err);
	}
	if (rc == 0)
		*ret = p;
	X509_free(cert);
	return rc;
}

int
tls_peer_check(const SSL *ssl, SSL_CTX *ctx, struct err *err)
{
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	X509 *cert = SSL_get_peer_certificate(ssl);
	int rc = 0;

	ERR_clear_error();
	if (check == NULL ||
	    X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(ctx), cert,
		SSL_get_peer_cert_chain(ssl)) != 1 ||
	    X509_STORE_CTX_set_default(check, "ssl_client") != 1)
		rc = err_set(err, -EACCES,
		    "its certificate cannot be verified again");
	else if (X509_verify_cert(check) != 1)
		rc = err_set(err, -EACCES,
		    "its certificate is no longer valid: %s",
		    X509_verify_cert_error_string(
			X509_STORE_CTX_get_error(check)));
	ERR_clear_error();
	X509_free(cert);
	X509_STORE_CTX_free(check);
	return rc;
}

int64_t
tls_cert_end_unix_s(const X509 *cert)
{
	struct tm tm;

	if (cert == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) != 1)
		return 0;
	return (int64_t)timegm(&tm);
}

int64_t
tls_ca_end_unix_s(SSL_CTX *ctx)
{
	STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(
	    SSL_CTX_get_cert_store(ctx));
	int64_t first_unix_s = 0;

	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		int64_t end_unix_s = tls_cert_end_unix_s(
		    X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i)));

		if (end_unix_s != 0 &&
		    (first_unix_s == 0 || end_unix_s < first_unix_s))
			first_unix_s = end_unix_s;
	}
	return first_unix_s;
}
