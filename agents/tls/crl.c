/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crl.c - revoked certificates of collectors: the lists in the site's file, and
 * newer ones sent by collectors. Each list is valid only for the CA that has
 * signed it.
 */
#include "agents/tls/crl.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "schema/wire.h"

#define LISTS_MAX 16

struct crl {
	char *path; /* of those that were handed over */
	STACK_OF(X509_CRL) * site;
	STACK_OF(X509_CRL) * handed;
};

static STACK_OF(X509_CRL) * crl_read_all(const char *text)
{
	STACK_OF(X509_CRL) *all = sk_X509_CRL_new_null();
	BIO *from = BIO_new_mem_buf(text, -1);
	X509_CRL *crl;

	while (sk_X509_CRL_num(all) < LISTS_MAX &&
	    (crl = PEM_read_bio_X509_CRL(from, NULL, NULL, NULL)) != NULL)
		sk_X509_CRL_push(all, crl);
	BIO_free(from);
	ERR_clear_error();
	return all;
}

int
crl_open(const struct conf *c, struct crl **ret, struct err *err)
{
	const char *path = conf_string(c, "tls", "crl");
	struct crl *l = xcalloc(1, sizeof(*l));
	char *text = NULL;
	struct err bad;
	size_t len;
	int rc = 0;

	l->path = xasprintf("%s/crl.pem", conf_string(c, "agent", "state_dir"));
	if (path[0] != '\0')
		rc = file_read(path, WIRE_CRL_BYTES_MAX, &text, &len, err);
	l->site = crl_read_all(text != NULL ? text : "");
	if (rc == 0 && text != NULL && sk_X509_CRL_num(l->site) == 0)
		rc = err_set(err, -EINVAL,
		    "%s: not a certificate revocation list", path);
	free(text);
	text = NULL;
	/* An unreadable list will be sent again. */
	if (access(l->path, F_OK) == 0 &&
	    file_read(l->path, LISTS_MAX * WIRE_CRL_BYTES_MAX, &text, &len,
		&bad) < 0)
		log_warnx("session: %s", bad.text);
	l->handed = crl_read_all(text != NULL ? text : "");
	free(text);
	if (rc < 0)
		crl_free(l);
	else
		*ret = l;
	return rc;
}

void
crl_free(struct crl *l)
{
	if (l == NULL)
		return;
	sk_X509_CRL_pop_free(l->site, X509_CRL_free);
	sk_X509_CRL_pop_free(l->handed, X509_CRL_free);
	free(l->path);
	free(l);
}

static int
crl_is_by(X509_CRL *crl, X509 *issuer)
{
	int yes = X509_NAME_cmp(X509_CRL_get_issuer(crl),
		      X509_get_subject_name(issuer)) == 0 &&
	    X509_CRL_verify(crl, X509_get0_pubkey(issuer)) == 1;

	ERR_clear_error();
	return yes;
}

/* 1 where it is newer than what there is of that authority, which goes. */
static int
crl_keep(struct crl *l, X509_CRL *crl, X509 *issuer)
{
	for (int i = 0; i < sk_X509_CRL_num(l->handed); i++) {
		X509_CRL *old = sk_X509_CRL_value(l->handed, i);

		if (!crl_is_by(old, issuer))
			continue;
		if (ASN1_TIME_compare(X509_CRL_get0_lastUpdate(crl),
			X509_CRL_get0_lastUpdate(old)) <= 0)
			return 0;
		X509_CRL_free(sk_X509_CRL_delete(l->handed, i));
		break;
	}
	if (sk_X509_CRL_num(l->handed) >= LISTS_MAX)
		return 0;
	X509_CRL_up_ref(crl);
	return sk_X509_CRL_push(l->handed, crl) > 0;
}

int
crl_take(struct crl *l, SSL *ssl, const char *text, struct err *err)
{
	STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
	STACK_OF(X509_CRL) *all = crl_read_all(text);
	char *at, *whole;
	BIO *to;
	long len;
	int rc = 0;

	for (int i = 0; i < sk_X509_CRL_num(all); i++)
		for (int k = 1; k < sk_X509_num(chain); k++)
			if (crl_is_by(sk_X509_CRL_value(all, i),
				sk_X509_value(chain, k)))
				rc |= crl_keep(l, sk_X509_CRL_value(all, i),
				    sk_X509_value(chain, k));
	sk_X509_CRL_pop_free(all, X509_CRL_free);
	if (rc == 0)
		return 0;
	log_info("session: received a newer certificate revocation list");
	to = BIO_new(BIO_s_mem());
	for (int i = 0; i < sk_X509_CRL_num(l->handed); i++)
		PEM_write_bio_X509_CRL(to, sk_X509_CRL_value(l->handed, i));
	len = BIO_get_mem_data(to, &at);
	whole = xstrndup(at, (size_t)len);
	rc = file_replace(l->path, 0600, whole, err);
	free(whole);
	BIO_free(to);
	return rc < 0 ? rc : 1;
}

static int
crl_is_on(STACK_OF(X509_CRL) * list, X509 *cert, X509 *issuer)
{
	X509_REVOKED *row;

	for (int i = 0; i < sk_X509_CRL_num(list); i++)
		if (crl_is_by(sk_X509_CRL_value(list, i), issuer) &&
		    X509_CRL_get0_by_cert(sk_X509_CRL_value(list, i), &row,
			cert) == 1)
			return 1;
	return 0;
}

int
crl_check(const struct crl *l, SSL *ssl, struct err *err)
{
	STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);

	for (int i = 0; i + 1 < sk_X509_num(chain); i++) {
		X509 *cert = sk_X509_value(chain, i);
		X509 *issuer = sk_X509_value(chain, i + 1);

		if (crl_is_on(l->site, cert, issuer) ||
		    crl_is_on(l->handed, cert, issuer))
			return err_set(err, -EACCES,
			    "the collector's certificate was revoked");
	}
	return 0;
}
