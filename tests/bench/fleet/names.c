/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - a certificate for each agent, signed here: 20,000 take seconds.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/bench/fleet/fleet.h"

#define DAY_S 86400

struct fleet_names {
	EVP_PKEY *ca_key, *key;
	X509 *model; /* all but serial, subject and signature */
};

void
fleet_name_text(int number, char ret[FLEET_NAME_MAX])
{
	snprintf(ret, FLEET_NAME_MAX, "node%d", number);
}

static FILE *
pki_open(const char *dir, const char *file)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	if (f == NULL)
		fatal("%s", path);
	return f;
}

static void
extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *ext;
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (ext == NULL || !X509_add_ext(cert, ext, -1))
		fatalx("a certificate cannot be made");
	X509_EXTENSION_free(ext);
}

struct fleet_names *
fleet_names_new(const char *dir, SSL_CTX **ret_ctx)
{
	struct fleet_names *n = xcalloc(1, sizeof(*n));
	FILE *cert_file = pki_open(dir, "ca.pem");
	FILE *key_file = pki_open(dir, "ca.key");
	X509 *ca = PEM_read_X509(cert_file, NULL, NULL, NULL);

	fclose(cert_file);
	n->ca_key = PEM_read_PrivateKey(key_file, NULL, NULL, NULL);
	fclose(key_file);
	n->key = EVP_EC_gen("P-256");
	n->model = X509_new();
	if (ca == NULL || n->ca_key == NULL || n->key == NULL ||
	    n->model == NULL)
		fatalx("%s: no authority", dir);
	X509_set_version(n->model, 2);
	X509_gmtime_adj(X509_getm_notBefore(n->model), -DAY_S);
	X509_gmtime_adj(X509_getm_notAfter(n->model), 2 * DAY_S);
	X509_set_issuer_name(n->model, X509_get_subject_name(ca));
	X509_set_pubkey(n->model, n->key);
	extend(n->model, ca, NID_basic_constraints, "critical,CA:FALSE");
	extend(n->model, ca, NID_key_usage, "critical,digitalSignature");
	extend(n->model, ca, NID_ext_key_usage, "clientAuth");
	extend(n->model, ca, NID_subject_key_identifier, "hash");
	extend(n->model, ca, NID_authority_key_identifier, "keyid");
	/* X509_dup needs a complete certificate. */
	ASN1_INTEGER_set(X509_get_serialNumber(n->model), 1);
	X509_sign(n->model, n->ca_key, EVP_sha256());
	*ret_ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_min_proto_version(*ret_ctx, TLS1_3_VERSION);
	/* without the root, as agents do it */
	SSL_CTX_set_mode(*ret_ctx,
	    SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
	SSL_CTX_set_session_cache_mode(*ret_ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(*ret_ctx, SSL_VERIFY_PEER, NULL);
	X509_STORE_add_cert(SSL_CTX_get_cert_store(*ret_ctx), ca);
	X509_free(ca);
	return n;
}

X509 *
fleet_name_sign(struct fleet_names *names, int number)
{
	X509 *cert = X509_dup(names->model);
	char name[FLEET_NAME_MAX];
	X509_NAME *subject;

	fleet_name_text(number, name);
	subject = X509_get_subject_name(cert);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1000 + number);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
	    (const unsigned char *)name, -1, -1, 0);
	X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_UTF8,
	    (const unsigned char *)"agent", -1, -1, 0);
	if (X509_sign(cert, names->ca_key, EVP_sha256()) == 0)
		fatalx("%s: no certificate", name);
	return cert;
}

void
fleet_name_agent(struct fleet_names *names, X509 *cert, SSL *ssl)
{
	if (SSL_use_certificate(ssl, cert) != 1 ||
	    SSL_use_PrivateKey(ssl, names->key) != 1)
		fatalx("no certificate");
}
