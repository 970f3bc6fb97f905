/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - all files are loaded into new contexts and checked before any is
 * used, so that a reload with a bad file changes nothing.
 */
#include "daemon/agents/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "pki/pki_file.h"

#define CRL_MAX               (64 * 1024 * 1024)
#define AUTHORITIES_BYTES_MAX (1024 * 1024)

struct files {
	const char *ca, *cert, *key;
	const char *crl; /* revocations of each authority; "" : none */
};

static int
tls_refuse(const char *what, const char *path, struct err *err)
{
	struct err text;

	pki_fail_ssl(&text, path);
	return err_set(err, -EINVAL, "%s %s", what, text.text);
}

/* OpenSSL calls a missing file "system lib", and blocks on a pipe. */
static int
tls_readable(const char *what, const char *path, struct err *err)
{
	struct err text;

	if (file_check(path, &text) == 0)
		return 0;
	return err_set(err, -EINVAL, "%s %s", what, text.text);
}

static int
tls_load(SSL_CTX *ctx, const struct files *f, struct err *err)
{
	STACK_OF(X509_NAME) * names;
	X509_LOOKUP *lookup;
	X509_STORE *store;
	struct err text;

	if (tls_readable("tls.ca", f->ca, err) < 0 ||
	    tls_readable("tls.cert", f->cert, err) < 0 ||
	    tls_readable("tls.key", f->key, err) < 0)
		return -EINVAL;
	if (SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1)
		return tls_refuse("tls.ca", f->ca, err);
	if (pki_chain_use(ctx, f->cert, &text) < 0)
		return err_set(err, -EINVAL, "tls.cert %s", text.text);
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(ctx) != 1)
		return tls_refuse("tls.key", f->key, err);
	names = SSL_load_client_CA_file(f->ca);
	if (names == NULL)
		return tls_refuse("tls.ca", f->ca, err);
	SSL_CTX_set_client_CA_list(ctx, names); /* handed over */
	if (f->crl[0] == '\0')
		return 0;
	/* From here on neither a peer's certificate nor its authorities' may be
	 * revoked, and each authority needs a revocation list. */
	if (tls_readable("tls.crl", f->crl, err) < 0)
		return -EINVAL;
	store = SSL_CTX_get_cert_store(ctx);
	lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
	if (lookup == NULL ||
	    X509_load_crl_file(lookup, f->crl, X509_FILETYPE_PEM) < 1 ||
	    X509_STORE_set_flags(store,
		X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) != 1)
		return tls_refuse("tls.crl", f->crl, err);
	return 0;
}

static int
tls_server_new(const struct files *files, SSL_CTX **ret, struct err *err)
{
	static const unsigned char id[] = "coalmined";
	SSL_CTX *ctx;
	int rc;

	ERR_clear_error();
	ctx = SSL_CTX_new(TLS_server_method());
	if (ctx == NULL)
		return tls_refuse("tls", "context", err);
	SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
	/* An idle session frees its 34 KiB of buffers. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	/* No session is resumed, so a returning peer is verified again; unused
	 * tickets would cost a tenth of a handshake. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
	SSL_CTX_set_verify(ctx,
	    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	rc = tls_load(ctx, files, err);
	if (rc < 0)
		SSL_CTX_free(ctx);
	else
		*ret = ctx;
	return rc;
}

/* The context of nodes that enrol: they have no certificate, and receive the
 * root, which their token names. Its sessions cannot be resumed. */
static int
tls_enroll_new(const struct files *files, SSL_CTX **ret, X509 **ret_root,
    struct err *err)
{
	static const unsigned char id[] = "coalmined enroll";
	STACK_OF(X509) *chain = NULL;
	SSL_CTX *ctx;
	X509 *root;
	int rc = tls_server_new(files, &ctx, err);

	if (rc < 0)
		return rc;
	SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
	/* Our own chain is not checked here against revocation lists and the
	 * clock: the peer does that, and the clock may be corrected later. */
	X509_VERIFY_PARAM_clear_flags(X509_STORE_get0_param(
					  SSL_CTX_get_cert_store(ctx)),
	    X509_V_FLAG_CRL_CHECK);
	X509_VERIFY_PARAM_set_flags(X509_STORE_get0_param(
					SSL_CTX_get_cert_store(ctx)),
	    X509_V_FLAG_NO_CHECK_TIME);
	if (SSL_CTX_build_cert_chain(ctx, 0) <= 0 ||
	    SSL_CTX_get0_chain_certs(ctx, &chain) != 1 ||
	    sk_X509_num(chain) < 1) {
		SSL_CTX_free(ctx);
		return tls_refuse("enroll.ca requires that tls.ca has issued "
				  "tls.cert:",
		    files->cert, err);
	}
	root = sk_X509_value(chain, sk_X509_num(chain) - 1);
	X509_up_ref(root);
	*ret_root = root;
	*ret = ctx;
	return 0;
}

/* Return 1 if ctx would accept a certificate signed by ca. */
static int
tls_signs_agents(SSL_CTX *ctx, X509 *ca, struct err *err)
{
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	int rc = 0;

	ERR_clear_error();
	if (check == NULL ||
	    X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(ctx), ca, NULL) !=
		1)
		rc = tls_refuse("enroll.ca", "context", err);
	else {
		/* Revocation lists are only checked for peers that show a
		 * certificate. */
		X509_VERIFY_PARAM_clear_flags(X509_STORE_CTX_get0_param(check),
		    X509_V_FLAG_CRL_CHECK);
		X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(check),
		    X509_V_FLAG_NO_CHECK_TIME);
		if (X509_verify_cert(check) != 1)
			rc = err_set(err, -EINVAL,
			    "enroll.ca is not issued by tls.ca: %s",
			    X509_verify_cert_error_string(
				X509_STORE_CTX_get_error(check)));
		else if (X509_check_ca(ca) != 1)
			rc = err_set(err, -EINVAL,
			    "enroll.ca is not a CA certificate");
	}
	ERR_clear_error();
	X509_STORE_CTX_free(check);
	return rc;
}

/* A key that only root can read is passed as a credential: systemd reads it
 * before the start. */
static const char *
tls_key_path(const char *path, char *ret, size_t cap_bytes)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	const char *name = strrchr(path, '/');

	if (access(path, R_OK) == 0 || dir == NULL || name == NULL ||
	    str_format(ret, cap_bytes, "%s%s", dir, name) < 0 ||
	    access(ret, R_OK) < 0)
		return path;
	return ret;
}

int
tls_trust_read(const struct conf *c, struct tls_trust *t, struct err *err)
{
	const char *ca = conf_string(c, "enroll", "ca");
	char key[PATH_MAX];
	const struct files files = { .ca = conf_string(c, "tls", "ca"),
		.cert = conf_string(c, "tls", "cert"),
		.key = tls_key_path(conf_string(c, "tls", "key"), key,
		    sizeof(key)),
		.crl = conf_string(c, "tls", "crl") };
	int rc = tls_server_new(&files, &t->http, err);
	size_t len;

	if (rc == 0)
		rc = tls_server_new(&files, &t->agents, err);
	if (rc == 0 && pki_own_check(files.ca, files.cert, files.key, err) < 0)
		log_warnx("tls: %s", err->text);
	if (rc == 0 && files.crl[0] != '\0')
		rc = file_read(files.crl, CRL_MAX, &t->crl, &len, err);
	if (rc < 0 || ca[0] == '\0')
		return rc;
	rc = tls_enroll_new(&files, &t->enroll, &t->root, err);
	if (rc == 0)
		rc = pki_authority_load(ca,
		    tls_key_path(conf_string(c, "enroll", "key"), key,
			sizeof(key)),
		    &t->ca, err);
	return rc < 0 ? rc : tls_signs_agents(t->agents, t->ca.cert, err);
}

void
tls_trust_free(struct tls_trust *t)
{
	SSL_CTX_free(t->http);
	SSL_CTX_free(t->agents);
	SSL_CTX_free(t->enroll);
	pki_authority_close(&t->ca);
	X509_free(t->root);
	free(t->crl);
}

static int
tls_peer_read(X509 *cert, struct tls_peer *ret, struct err *err)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	char unit[64];
	int role;

	if (pki_subject_get(subject, NID_commonName, ret->name,
		sizeof(ret->name)) < 0)
		return err_set(err, -EACCES,
		    "the peer's certificate has no common name (CN): issue it "
		    "with coalctl pki issue");
	if (pki_subject_get(subject, NID_organizationalUnitName, unit,
		sizeof(unit)) < 0)
		return err_set(err, -EACCES,
		    "the peer's certificate has no role (OU): issue it with "
		    "coalctl pki issue");
	role = STR_FIND(names_roles, unit);
	if (role < 0)
		return err_set(err, -EACCES,
		    "the peer's certificate has an unknown role (OU): issue "
		    "it with coalctl pki issue");
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
		rc = tls_peer_read(cert, &p, err);
	}
	if (rc == 0)
		rc = pki_chain_check(SSL_get0_verified_chain(ssl), p.role, err);
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
		    "cannot start to verify the peer's certificate again");
	else if (X509_verify_cert(check) != 1)
		rc = err_set(err, -EACCES,
		    "the peer's certificate is no longer valid: %s",
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
	return cert == NULL ? 0 : pki_unix_s(X509_get0_notAfter(cert));
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

char *
tls_authorities(const struct conf *c)
{
	char *text = NULL, digest[PKI_DIGEST_TEXT];
	struct strbuf all = { 0 };
	STACK_OF(X509) * certs;
	struct err err;
	size_t len;

	strbuf_add(&all, "", 0);
	if (file_read(conf_string(c, "tls", "ca"), AUTHORITIES_BYTES_MAX, &text,
		&len, &err) < 0) {
		log_warnx("%s", err.text);
		return all.text;
	}
	certs = pki_certs_read(text);
	for (int i = 0; i < sk_X509_num(certs); i++) {
		pki_cert_digest(sk_X509_value(certs, i), digest);
		strbuf_addf(&all, "%s%s", i > 0 ? " " : "", digest);
	}
	sk_X509_pop_free(certs, X509_free);
	free(text);
	return all.text;
}
