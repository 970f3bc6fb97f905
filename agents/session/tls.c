/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/session/session_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "schema/names.h"
#include "schema/pki.h"

static SSL_CTX *
client_new(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (ctx == NULL)
		return NULL;
	SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	return ctx;
}

SSL_CTX *
tls_load_nothing(void)
{
	SSL_CTX *ctx = client_new();

	if (ctx != NULL)
		SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
	return ctx;
}

int
tls_load(const char *ca, const char *cert, const char *key, SSL_CTX **ret_ctx,
    struct err *err)
{
	const char *const files[] = { ca, cert, key };
	const char *bad = NULL;
	SSL_CTX *ctx;

	/* OpenSSL would wait for what a pipe has to say. */
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (file_check(files[i], err) < 0)
			return -EINVAL;
	ERR_clear_error();
	ctx = client_new();
	if (ctx == NULL)
		return pki_fail_ssl(err, "tls");
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1)
		bad = ca;
	else if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
		bad = cert;
	else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		bad = key;
	else if (SSL_CTX_check_private_key(ctx) != 1)
		bad = key;
	if (bad != NULL) {
		SSL_CTX_free(ctx);
		return pki_fail_ssl(err, bad);
	}
	*ret_ctx = ctx;
	return 0;
}

int
tls_check_collector(SSL *ssl, const char *host, struct err *err)
{
	X509 *cert = SSL_get_peer_certificate(ssl);
	const char *role = names_roles[ROLE_COLLECTOR], *bad = NULL;
	struct in6_addr in;
	char ou[64];
	int len, is_addr;

	if (cert == NULL)
		return err_set(err, -EACCES, "%s has no certificate", host);
	len = X509_NAME_get_text_by_NID(X509_get_subject_name(cert),
	    NID_organizationalUnitName, ou, sizeof(ou));
	is_addr = inet_pton(AF_INET, host, &in) == 1 ||
	    inet_pton(AF_INET6, host, &in) == 1;
	if (len < 0 || (size_t)len != strlen(role) || strcmp(ou, role) != 0)
		bad = "has a certificate without the role collector";
	else if (X509_check_host(cert, is_addr ? PKI_COLLECTOR_SAN : host, 0, 0,
		     NULL) != 1 &&
	    !(is_addr && X509_check_ip_asc(cert, host, 0) == 1))
		bad = "has a certificate for another name";
	X509_free(cert);
	if (bad == NULL)
		return 0;
	return err_set(err, -EACCES, "%s %s", host, bad);
}
