/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - with what an agent connects: certificates of the site's, or a token,
 * and a successor of the certificate in the last third of its life.
 */
#include "agents/tls/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "pki/pki.h"
#include "pki/pki_file.h"

/* Between attempts to renew a certificate. */
#define RENEW_MIN_S 1
#define RENEW_MAX_S 3600

static SSL_CTX *
tls_client_new(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (ctx == NULL)
		return NULL;
	SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	return ctx;
}

static int
tls_load(const struct conf *c, SSL_CTX **ret_ctx, struct err *err)
{
	const char *ca = conf_string(c, "tls", "ca");
	const char *cert = conf_string(c, "tls", "cert");
	const char *key = conf_string(c, "tls", "key");
	const char *const files[] = { ca, cert, key };
	const char *bad = NULL;
	SSL_CTX *ctx;

	if (access(cert, F_OK) < 0 && errno == ENOENT)
		return err_set(err, -EINVAL,
		    "%.300s: No such file or directory; to enrol this node, "
		    "write a token into %.300s: coalctl pki token on the "
		    "collector's host prints the command",
		    cert, conf_string(c, "agent", "enroll"));
	/* OpenSSL would block on a pipe. */
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (file_check(files[i], err) < 0)
			return -EINVAL;
	ERR_clear_error();
	ctx = tls_client_new();
	if (ctx == NULL)
		return pki_fail_ssl(err, "cannot set up TLS");
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1) {
		bad = ca;
	} else if (pki_chain_use(ctx, cert, err) < 0) {
		SSL_CTX_free(ctx);
		return -EINVAL;
	} else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) !=
		1 ||
	    SSL_CTX_check_private_key(ctx) != 1) {
		bad = key;
	}
	if (bad != NULL) {
		SSL_CTX_free(ctx);
		return pki_fail_ssl(err, bad);
	}
	if (pki_own_check(ca, cert, key, err) < 0)
		log_warnx("tls: %s", err->text);
	/* The root is not part of the chain: the collector has it, and would
	 * keep a copy for each agent. If no chain can be built, the collector
	 * decides. */
	(void)SSL_CTX_build_cert_chain(ctx,
	    SSL_BUILD_CHAIN_FLAG_UNTRUSTED | SSL_BUILD_CHAIN_FLAG_NO_ROOT |
		SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR |
		SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
	ERR_clear_error();
	*ret_ctx = ctx;
	return 0;
}

int
tls_open(struct tls *t, const struct conf *c, const char *name, struct err *err)
{
	int rc;

	*t = (struct tls){ .conf = c, .name = name };
	rc = crl_open(c, &t->revoked, err);
	if (rc == 0)
		rc = enroll_by_token(c, name, &t->enroll, err);
	if (rc < 0)
		return rc;
	if (t->enroll == NULL)
		return tls_load(c, &t->ctx, err);
	t->ctx = tls_client_new();
	if (t->ctx == NULL)
		return err_set(err, -ENOMEM, "cannot allocate the TLS state");
	/* No certificate is trusted here; enroll_check decides. */
	SSL_CTX_set_verify(t->ctx, SSL_VERIFY_NONE, NULL);
	return 0;
}

void
tls_close(struct tls *t)
{
	SSL_CTX_free(t->ctx);
	enroll_free(t->enroll);
	crl_free(t->revoked);
}

int
tls_reload(struct tls *t, struct err *err)
{
	struct crl *revoked = NULL;
	SSL_CTX *ctx;
	int rc = crl_open(t->conf, &revoked, err);

	if (rc == 0)
		rc = tls_load(t->conf, &ctx, err);
	if (rc < 0) {
		crl_free(revoked);
		return rc;
	}
	crl_free(t->revoked);
	t->revoked = revoked;
	SSL_CTX_free(t->ctx);
	t->ctx = ctx;
	t->alarm[0] = '\0';
	if (enroll_is_first(t->enroll)) {
		enroll_free(t->enroll); /* the site has installed one */
		t->enroll = NULL;
	}
	return 0;
}

void
tls_renew_failed(struct tls *t, const struct err *err)
{
	snprintf(t->alarm, sizeof(t->alarm),
	    "cannot renew the certificate: %.400s", err->text);
	log_warnx("session: %s", t->alarm);
	enroll_free(t->enroll);
	t->enroll = NULL;
}

int
tls_renew_due(struct tls *t)
{
	const X509 *cert = SSL_CTX_get0_certificate(t->ctx);
	int64_t now_unix_s = (int64_t)(clk_unix_ns() / CLK_NS_PER_S);
	int64_t left_s = pki_unix_s(X509_get0_notAfter(cert)) - now_unix_s;
	int64_t wait_s = left_s / 10;
	struct err err;

	if (clk_ns() < t->renew_ns || now_unix_s < enroll_due_unix_s(cert))
		return 0;
	wait_s = wait_s < RENEW_MIN_S ? RENEW_MIN_S
	    : wait_s > RENEW_MAX_S    ? RENEW_MAX_S
				      : wait_s;
	t->renew_ns = clk_ns() + (uint64_t)wait_s * CLK_NS_PER_S;
	enroll_free(t->enroll);
	t->enroll = NULL;
	if (enroll_again(t->conf, t->name, &t->enroll, &err) == 0)
		return 1;
	tls_renew_failed(t, &err);
	return 0;
}

int
tls_take_certificate(struct tls *t, const json_t *msg, struct err *err)
{
	SSL_CTX *ctx;
	int rc = enroll_answer(t->enroll, msg, err);

	if (rc == 0)
		rc = tls_load(t->conf, &ctx, err);
	if (rc < 0)
		return rc;
	enroll_free(t->enroll);
	t->enroll = NULL;
	SSL_CTX_free(t->ctx);
	t->ctx = ctx;
	t->alarm[0] = '\0';
	return 0;
}

/* Its certificate must have the role collector and the name among its
 * alternative names; for an address also "coalmine-collector". */
static int
tls_check_collector(SSL *ssl, const char *host, struct err *err)
{
	X509 *cert = SSL_get_peer_certificate(ssl);
	const char *role = names_roles[ROLE_COLLECTOR], *bad = NULL;
	struct in6_addr in;
	char ou[64];
	int len, is_addr;

	if (cert == NULL)
		return err_set(err, -EACCES, "%s presented no certificate",
		    host);
	len = X509_NAME_get_text_by_NID(X509_get_subject_name(cert),
	    NID_organizationalUnitName, ou, sizeof(ou));
	is_addr = inet_pton(AF_INET, host, &in) == 1 ||
	    inet_pton(AF_INET6, host, &in) == 1;
	if (len < 0 || (size_t)len != strlen(role) || strcmp(ou, role) != 0)
		bad = "presented a certificate without the role collector";
	else if (X509_check_host(cert, is_addr ? PKI_COLLECTOR_SAN : host, 0, 0,
		     NULL) != 1 &&
	    !(is_addr && X509_check_ip_asc(cert, host, 0) == 1))
		bad = "presented a certificate for another name";
	X509_free(cert);
	if (bad == NULL)
		return 0;
	return err_set(err, -EACCES, "%s %s", host, bad);
}

int
tls_check(const struct tls *t, SSL *ssl, const char *host, struct err *err)
{
	int rc = 0;

	if (enroll_is_first(t->enroll))
		rc = enroll_check(t->enroll, ssl, err);
	if (rc == 0)
		rc = tls_check_collector(ssl, host, err);
	return rc == 0 ? crl_check(t->revoked, ssl, err) : rc;
}
