/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.c - the site's CA as one folder of files: issued certificates,
 * replaced ones, and the revocation list.
 */
#include "ctl/lib/authority.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "common/file.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "pki/pki_file.h"
#include "schema/strict.h"

#define EARLY_S  300 /* clocks are not quite equal */
#define ENROLLER "enroll"
#define REVOKED  ".revoked"

static char *
authority_path_of(const char *dir, const char *name, const char *end)
{
	return xasprintf("%s/%s.%s", dir, name, end);
}

/* Names of issued certificates; the authority's own files are not. */
static int
authority_name_check(const char *name, struct err *err)
{
	static const char *const own[] = { "ca", "crl", ENROLLER };

	if (hostlist_name_check(name) == 0 && STR_FIND(own, name) < 0)
		return 0;
	return err_set(err, -EINVAL,
	    "%.100s: expected a name of letters, digits, . - _ other than "
	    "ca, crl and " ENROLLER,
	    name);
}

/* Key and certificate, both or neither. */
static int
authority_write_pair(const char *dir, const char *name, EVP_PKEY *key,
    X509 *cert, struct err *err)
{
	char *key_path = authority_path_of(dir, name, "key");
	char *cert_path = authority_path_of(dir, name, "pem");
	char *key_pem = pki_key_text(key);
	char *cert_pem = pki_certs_text(&cert, 1);
	int rc;

	if (access(cert_path, F_OK) == 0)
		rc = err_set(err, -EEXIST, "%s: File exists; not overwritten",
		    cert_path);
	else
		rc = file_new(key_path, 0600, key_pem, err);
	if (rc == 0) {
		rc = file_new(cert_path, 0644, cert_pem, err);
		if (rc < 0)
			unlink(key_path);
	}
	OPENSSL_cleanse(key_pem, strlen(key_pem));
	free(key_pem);
	free(cert_pem);
	free(key_path);
	free(cert_path);
	return rc;
}

static X509 *
authority_cert_read(const char *dir, const char *name, struct err *err)
{
	char *path = authority_path_of(dir, name, "pem");
	X509 *cert = pki_cert_load(path, err);

	free(path);
	return cert;
}

static int
authority_open(const char *dir, const char *name, struct pki_authority *ret,
    struct err *err)
{
	char *cert = authority_path_of(dir, name, "pem");
	char *key = authority_path_of(dir, name, "key");
	int rc = pki_authority_load(cert, key, ret, err);

	free(cert);
	free(key);
	return rc;
}

/* Make one that signs itself, or one below ca. */
static int
authority_make(const char *dir, const char *file, const char *name, int days,
    const struct pki_authority *ca, struct err *err)
{
	EVP_PKEY *key = pki_key_new();
	X509 *cert = NULL;
	int rc = 0;

	if (key == NULL)
		rc = pki_fail_ssl(err, "cannot create a key");
	else if ((cert = pki_authority_new(ca, name, key, days * PKI_DAY_S,
		      err)) == NULL)
		rc = -EIO;
	if (rc == 0)
		rc = authority_write_pair(dir, file, key, cert, err);
	X509_free(cert);
	EVP_PKEY_free(key);
	return rc;
}

int
authority_init(const char *dir, const char *name, int days, struct err *err)
{
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_set(err, -errno, "%s: %s%s", dir, strerror(errno),
		    errno == ENOENT ? "; mkdir -p creates its parent" : "");
	return authority_make(dir, "ca", name, days, NULL, err);
}

int
authority_issue(const char *dir, const struct pki_order *o, struct err *err)
{
	struct pki_authority ca = { NULL, NULL };
	EVP_PKEY *key = NULL;
	X509 *cert = NULL;
	int rc;

	rc = authority_name_check(o->name, err);
	if (rc == 0)
		rc = authority_open(dir, "ca", &ca, err);
	if (rc < 0)
		return rc;
	key = pki_key_new();
	if (key == NULL) {
		rc = pki_fail_ssl(err, "cannot create a key");
		goto out;
	}
	cert = pki_cert_new(&ca, o, key, err);
	rc = cert == NULL ? -EIO
			  : authority_write_pair(dir, o->name, key, cert, err);
out:
	X509_free(cert);
	EVP_PKEY_free(key);
	pki_authority_close(&ca);
	return rc;
}

static void
authority_subject_text(X509 *cert, int nid, char *ret, size_t cap_bytes)
{
	ret[0] = '\0';
	X509_NAME_get_text_by_NID(X509_get_subject_name(cert), nid, ret,
	    (int)cap_bytes);
}

/* The DNS names and addresses of a certificate, as strings. */
static json_t *
authority_sans_of(X509 *cert)
{
	json_t *list = json_array();
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name,
	    NULL, NULL);

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *n = sk_GENERAL_NAME_value(names, i);
		char text[INET6_ADDRSTRLEN] = "";

		if (n->type == GEN_DNS) {
			json_array_append_new(list,
			    json_stringn((const char *)ASN1_STRING_get0_data(
					     n->d.dNSName),
				(size_t)ASN1_STRING_length(n->d.dNSName)));
		} else if (n->type == GEN_IPADD) {
			inet_ntop(ASN1_STRING_length(n->d.iPAddress) == 4
				? AF_INET
				: AF_INET6,
			    ASN1_STRING_get0_data(n->d.iPAddress), text,
			    sizeof(text));
			json_array_append_new(list, json_string(text));
		}
	}
	GENERAL_NAMES_free(names);
	return list;
}

/* The order that an existing certificate answers; sans is its storage. */
static int
authority_order_of(X509 *cert, const char *name, int days, char ***ret_sans,
    struct pki_order *ret, struct err *err)
{
	json_t *list = authority_sans_of(cert), *item;
	char unit[64], cn[HOSTLIST_NAME_MAX + 1];
	size_t i;
	int role;

	authority_subject_text(cert, NID_organizationalUnitName, unit,
	    sizeof(unit));
	authority_subject_text(cert, NID_commonName, cn, sizeof(cn));
	role = STR_FIND(names_roles, unit);
	if (role < 0 || strcmp(cn, name) != 0) {
		json_decref(list);
		return err_set(err, -EINVAL,
		    "%s.pem is not a certificate of coalctl: its name is %s "
		    "and its role %s",
		    name, cn, unit);
	}
	*ret_sans = xcalloc(json_array_size(list) + 1, sizeof(**ret_sans));
	json_array_foreach (list, i, item)
		(*ret_sans)[i] = xstrdup(json_string_value(item));
	*ret = (struct pki_order){ name, (enum role)role, *ret_sans,
		json_array_size(list), days * PKI_DAY_S };
	json_decref(list);
	return 0;
}

int
authority_renew(const char *dir, const char *name, int days, int rekey,
    struct err *err)
{
	struct pki_authority ca = { NULL, NULL };
	char *key_path = authority_path_of(dir, name, "key");
	char *cert_path = authority_path_of(dir, name, "pem"), *text = NULL,
	     *pem = NULL;
	struct pki_order o;
	EVP_PKEY *key = NULL;
	X509 *old = NULL, *cert = NULL;
	char **sans = NULL;
	int rc = authority_name_check(name, err);

	if (rc == 0)
		rc = authority_open(dir, "ca", &ca, err);
	if (rc == 0) {
		pki_pair_recover(key_path, cert_path);
		old = authority_cert_read(dir, name, err);
		key = old == NULL ? NULL
		    : rekey       ? pki_key_new()
				  : pki_key_load(key_path, err);
		rc = key == NULL
		    ? -ENOENT
		    : authority_order_of(old, name, days, &sans, &o, err);
	}
	if (rc == 0) {
		cert = pki_cert_new(&ca, &o, key, err);
		rc = cert == NULL ? -EIO : 0;
	}
	if (rc == 0) {
		text = pki_key_text(key);
		pem = pki_certs_text(&cert, 1);
		rc = rekey
		    ? pki_pair_replace(key_path, text, cert_path, pem, err)
		    : file_replace(cert_path, 0644, pem, err);
		OPENSSL_cleanse(text, strlen(text));
	}
	free(text);
	free(pem);
	free(key_path);
	free(cert_path);
	str_list_free(sans);
	X509_free(cert);
	X509_free(old);
	EVP_PKEY_free(key);
	pki_authority_close(&ca);
	return rc;
}

/* ---- the lists of revoked ones: DIR/crl.pem has one of each authority ---- */

enum { AUTHORITIES = 2 };
struct lists {
	struct pki_authority ca[AUTHORITIES]; /* that of ENROLLER may lack */
	X509_CRL *crl[AUTHORITIES];
};

static void
authority_lists_close(struct lists *l)
{
	for (int i = 0; i < AUTHORITIES; i++) {
		pki_authority_close(&l->ca[i]);
		X509_CRL_free(l->crl[i]);
	}
}

/* Two authorities of one site may have one name: the list says by its key whose
 * it is. */
static int
authority_crl_extend(X509_CRL *crl, X509 *issuer)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	int ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, NULL, NULL, crl, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, NID_authority_key_identifier,
	    "keyid:always");
	ok = ext != NULL && X509_CRL_add_ext(crl, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

/* Those of the file, each to its authority. */
static int
authority_lists_read(struct lists *l, const char *path, struct err *err)
{
	X509_CRL *crl;
	FILE *from;
	int rc;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	rc = file_open(path, &from, err);
	if (rc < 0)
		return rc;
	ERR_clear_error();
	while ((crl = PEM_read_X509_CRL(from, NULL, NULL, NULL)) != NULL) {
		int i = 0;

		while (i < AUTHORITIES &&
		    (l->ca[i].key == NULL || l->crl[i] != NULL ||
			X509_CRL_verify(crl, l->ca[i].key) != 1))
			i++;
		if (i == AUTHORITIES) {
			X509_CRL_free(crl);
			rc = -EINVAL;
			break;
		}
		l->crl[i] = crl;
	}
	fclose(from);
	/* If a damaged list counted as missing, a new one would replace it and
	 * its revoked certificates would be accepted again. */
	if (rc == 0 &&
	    ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		rc = -EINVAL;
	ERR_clear_error();
	if (rc == 0 && l->crl[0] == NULL && l->crl[1] == NULL)
		rc = -EINVAL;
	return rc == 0
	    ? 0
	    : err_set(err, rc,
		  "%s: the revocation list is damaged, or another authority "
		  "has signed it",
		  path);
}

static int
authority_lists_open(const char *dir, struct lists *ret, struct err *err)
{
	struct lists l = { 0 };
	char *crl = authority_path_of(dir, "crl", "pem");
	char *below = authority_path_of(dir, ENROLLER, "pem");
	int rc = authority_open(dir, "ca", &l.ca[0], err);

	if (rc == 0 && access(below, F_OK) == 0)
		rc = authority_open(dir, ENROLLER, &l.ca[1], err);
	if (rc == 0)
		rc = authority_lists_read(&l, crl, err);
	for (int i = 0; rc == 0 && i < AUTHORITIES; i++) {
		if (l.ca[i].cert == NULL || l.crl[i] != NULL)
			continue;
		l.crl[i] = X509_CRL_new();
		if (l.crl[i] == NULL || !X509_CRL_set_version(l.crl[i], 1) ||
		    !X509_CRL_set_issuer_name(l.crl[i],
			X509_get_subject_name(l.ca[i].cert)) ||
		    !authority_crl_extend(l.crl[i], l.ca[i].cert))
			rc = pki_fail_ssl(err, crl);
	}
	if (rc == 0)
		*ret = l; /* handed over */
	else
		authority_lists_close(&l);
	free(crl);
	free(below);
	return rc;
}

/* Which one has signed it; negative: none of ours. */
static int
authority_of(const struct lists *l, X509 *cert)
{
	int i = AUTHORITIES - 1;

	while (i >= 0 &&
	    (l->ca[i].key == NULL || X509_verify(cert, l->ca[i].key) != 1))
		i--;
	ERR_clear_error();
	return i;
}

static int
authority_lists_add(struct lists *l, X509 *cert, struct err *err)
{
	int i = authority_of(l, cert), rc = 0;
	X509_REVOKED *one = X509_REVOKED_new(), *was;
	ASN1_TIME *now = X509_gmtime_adj(NULL, -EARLY_S);

	if (i < 0)
		rc = err_set(err, -EINVAL,
		    "the certificate was issued by another authority");
	else if (one == NULL || now == NULL ||
	    !X509_REVOKED_set_serialNumber(one, X509_get_serialNumber(cert)) ||
	    !X509_REVOKED_set_revocationDate(one, now))
		rc = pki_fail_ssl(err, "cannot revoke the certificate");
	else if (X509_CRL_get0_by_cert(l->crl[i], &was, cert) == 0) {
		if (X509_CRL_add0_revoked(l->crl[i], one))
			one = NULL; /* handed over */
		else
			rc = pki_fail_ssl(err, "cannot revoke the certificate");
	}
	X509_REVOKED_free(one);
	ASN1_TIME_free(now);
	return rc;
}

/* They hold until their authority itself ends: an old list shall not lock the
 * whole fleet out. */
static int
authority_lists_write(struct lists *l, const char *dir, struct err *err)
{
	char *path = authority_path_of(dir, "crl", "pem"), *at, *text;
	ASN1_TIME *now = X509_gmtime_adj(NULL, -EARLY_S);
	BIO *to = BIO_new(BIO_s_mem());
	int ok = now != NULL && to != NULL, rc;

	for (int i = 0; ok && i < AUTHORITIES; i++)
		ok = l->crl[i] == NULL ||
		    (X509_CRL_set1_lastUpdate(l->crl[i], now) &&
			X509_CRL_set1_nextUpdate(l->crl[i],
			    X509_get0_notAfter(l->ca[i].cert)) &&
			X509_CRL_sort(l->crl[i]) &&
			X509_CRL_sign(l->crl[i], l->ca[i].key, EVP_sha256()) !=
			    0 &&
			PEM_write_bio_X509_CRL(to, l->crl[i]));
	if (ok) {
		long len = BIO_get_mem_data(to, &at);

		text = xstrndup(at, (size_t)len);
		rc = file_replace(path, 0644, text, err);
		free(text);
	} else {
		rc = pki_fail_ssl(err, "cannot sign the revocation list");
	}
	ASN1_TIME_free(now);
	BIO_free(to);
	free(path);
	return rc;
}

int
authority_enroller(const char *dir, int days, struct err *err)
{
	struct pki_authority ca = { NULL, NULL };
	struct lists l;
	int rc = authority_open(dir, "ca", &ca, err);

	if (rc == 0 && X509_get_pathlen(ca.cert) == 0)
		rc = err_set(err, -EINVAL,
		    "%s/ca.pem was created by an older coalctl and cannot sign "
		    "the certificate of another authority: set enroll.ca and "
		    "enroll.key of the collector to ca.pem and ca.key, or "
		    "create a new authority",
		    dir);
	if (rc == 0)
		rc = authority_make(dir, ENROLLER, "Coalmine enrolment", days,
		    &ca, err);
	pki_authority_close(&ca);
	/* A collector that asks for lists asks each authority. */
	if (rc == 0 && (rc = authority_lists_open(dir, &l, err)) == 0) {
		rc = authority_lists_write(&l, dir, err);
		authority_lists_close(&l);
	}
	return rc;
}

/* The name is free again. */
static int
authority_set_aside(const char *dir, const char *name, struct err *err)
{
	static const char *const ends[] = { "key", "pem" };
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(ends) && rc == 0; i++) {
		char *path = authority_path_of(dir, name, ends[i]);
		char *to = xasprintf("%s" REVOKED, path);

		/* A key may lie on its node only. */
		if (rename(path, to) < 0 && errno != ENOENT)
			rc = err_set(err, -errno, "%s: %s", path,
			    strerror(errno));
		free(to);
		free(path);
	}
	return rc;
}

struct enrolled {
	struct lists *lists;
	const char *name;
	int count; /* of its certificates */
	struct err *err;
};

static int
authority_enrolled_line_cb(char *line, int ended, void *arg)
{
	struct enrolled *e = arg;
	STACK_OF(X509) *certs = NULL;
	json_t *o;
	int rc = 0;

	(void)ended;
	if (strict_object(line, strlen(line), 2, &o, NULL) < 0)
		return 0; /* torn by a power cut */
	if (strcmp(member_text(o, "name"), e->name) == 0)
		certs = pki_certs_read(member_text(o, "cert"));
	/* Another authority may have enrolled it before. */
	if (certs != NULL &&
	    authority_of(e->lists, sk_X509_value(certs, 0)) >= 0) {
		rc = authority_lists_add(e->lists, sk_X509_value(certs, 0),
		    e->err);
		e->count++;
	}
	sk_X509_pop_free(certs, X509_free);
	json_decref(o);
	return rc;
}

/* Add the certificates that a collector has issued to that name, from the file
 * that it keeps: a node that renewed has several. */
static int
authority_enrolled_add(struct lists *l, const char *file, const char *name,
    int *count, struct err *err)
{
	struct enrolled e = { .lists = l, .name = name, .err = err };
	FILE *from;
	int rc = file_open(file, &from, err);

	if (rc < 0)
		return rc;
	rc = file_lines(from, INT64_MAX, authority_enrolled_line_cb, &e);
	if (rc < 0 && ferror(from))
		err_say(err, "%.300s: %s", file, strerror(-rc));
	fclose(from);
	*count = e.count;
	return rc;
}

int
authority_revoke(const char *dir, const char *name, const char *enrolled,
    struct err *err)
{
	char *path = authority_path_of(dir, name, "pem");
	int below = strcmp(name, ENROLLER) == 0;
	struct lists l = { 0 };
	X509 *cert;
	int count = 0, rc = below ? 0 : authority_name_check(name, err);

	if (rc == 0)
		rc = authority_lists_open(dir, &l, err);
	if (rc == 0 && enrolled != NULL && !below)
		rc = authority_enrolled_add(&l, enrolled, name, &count, err);
	if (rc == 0 && (count == 0 || access(path, F_OK) == 0)) {
		cert = pki_cert_load(path, err);
		rc = cert == NULL ? -ENOENT
				  : authority_lists_add(&l, cert, err);
		X509_free(cert);
	}
	if (below) { /* nor does it say anything more */
		X509_CRL_free(l.crl[1]);
		l.crl[1] = NULL;
	}
	if (rc == 0)
		rc = authority_lists_write(&l, dir, err);
	if (rc == 0)
		rc = authority_set_aside(dir, name, err);
	authority_lists_close(&l);
	free(path);
	return rc;
}

int
authority_has_name(const char *dir, const char *cert, const char *name,
    struct err *err)
{
	X509 *x = authority_cert_read(dir, cert, err);
	int has;

	if (x == NULL)
		return -ENOENT;
	has = X509_check_host(x, name, 0, 0, NULL) == 1 ||
	    X509_check_ip_asc(x, name, 0) == 1;
	X509_free(x);
	return has;
}

static json_t *
authority_cert_json(const char *name, X509 *cert)
{
	char unit[64], *serial;
	BIGNUM *n = ASN1_INTEGER_to_BN(X509_get_serialNumber(cert), NULL);
	json_t *o;

	authority_subject_text(cert, NID_organizationalUnitName, unit,
	    sizeof(unit));
	serial = n == NULL ? NULL : BN_bn2hex(n);
	o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "name", name, "role",
	    X509_check_ca(cert) > 0 ? "authority"
		: unit[0] == '\0'   ? "?"
				    : unit,
	    "serial", serial == NULL ? "?" : serial, "not_before_unix_ns",
	    (json_int_t)pki_unix_s(X509_get0_notBefore(cert)) * 1000000000,
	    "not_after_unix_ns",
	    (json_int_t)pki_unix_s(X509_get0_notAfter(cert)) * 1000000000,
	    "sans", authority_sans_of(cert));
	OPENSSL_free(serial);
	BN_free(n);
	return o;
}

/* Return the length of NAME if the file is NAME.pem of a certificate, or
 * NAME.pem.revoked; else 0. */
static size_t
authority_name_bytes(const char *file)
{
	static const char *const ends[] = { ".pem", ".pem" REVOKED };
	size_t n = strlen(file);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (n > strlen(ends[i]) && strcmp(file, "crl.pem") != 0 &&
		    strcmp(file + n - strlen(ends[i]), ends[i]) == 0)
			return n - strlen(ends[i]);
	return 0;
}

/* For scandir. */
static int
authority_pem_filter_cb(const struct dirent *e)
{
	return authority_name_bytes(e->d_name) > 0;
}

/* The lists in DIR/crl.pem, without a check of their signatures. */
static STACK_OF(X509_CRL) * authority_crls_read(const char *dir)
{
	STACK_OF(X509_CRL) *all = sk_X509_CRL_new_null();
	char *path = authority_path_of(dir, "crl", "pem");
	FILE *from = fopen(path, "re");
	X509_CRL *crl;

	while (from != NULL &&
	    (crl = PEM_read_X509_CRL(from, NULL, NULL, NULL)) != NULL)
		if (!sk_X509_CRL_push(all, crl))
			X509_CRL_free(crl);
	ERR_clear_error();
	if (from != NULL)
		fclose(from);
	free(path);
	return all;
}

/* Return when the certificate was revoked; 0: the lists do not have it. */
static int64_t
authority_revoked_unix_s(const STACK_OF(X509_CRL) * crls, X509 *cert)
{
	X509_REVOKED *entry;
	int64_t at_s = 0;

	for (int i = 0; i < sk_X509_CRL_num(crls); i++)
		if (X509_CRL_get0_by_cert(sk_X509_CRL_value(crls, i), &entry,
			cert) == 1)
			at_s = EARLY_S +
			    pki_unix_s(X509_REVOKED_get0_revocationDate(entry));
	return at_s;
}

static void
authority_row_revoke(json_t *row, int64_t at_s)
{
	json_object_set_new(row, "revoked_unix_ns",
	    json_integer(at_s * 1000000000));
}

static json_t *
authority_row(const char *dir, const char *file,
    const STACK_OF(X509_CRL) * crls, struct err *err)
{
	size_t n = authority_name_bytes(file);
	char *name = xstrndup(file, n), *path = xasprintf("%s/%s", dir, file);
	X509 *cert = pki_cert_load(path, err);
	json_t *row = cert == NULL ? NULL : authority_cert_json(name, cert);

	if (row != NULL && strcmp(file + n, ".pem") != 0)
		authority_row_revoke(row, authority_revoked_unix_s(crls, cert));
	X509_free(cert);
	free(path);
	free(name);
	return row;
}

struct enrolled_list {
	const STACK_OF(X509_CRL) * crls;
	json_t *list;
};

/* Add the certificate of a line if it was revoked. */
static int
authority_enrolled_list_cb(char *line, int ended, void *arg)
{
	struct enrolled_list *e = arg;
	STACK_OF(X509) * certs;
	int64_t at_s = 0;
	json_t *o, *row;

	(void)ended;
	if (strict_object(line, strlen(line), 2, &o, NULL) < 0)
		return 0; /* torn by a power cut */
	certs = pki_certs_read(member_text(o, "cert"));
	if (certs != NULL)
		at_s = authority_revoked_unix_s(e->crls,
		    sk_X509_value(certs, 0));
	if (at_s != 0) {
		row = authority_cert_json(member_text(o, "name"),
		    sk_X509_value(certs, 0));
		authority_row_revoke(row, at_s);
		json_array_append_new(e->list, row);
	}
	sk_X509_pop_free(certs, X509_free);
	json_decref(o);
	return 0;
}

/* The authority first, then in human order. */
static int
authority_pem_compare_cb(const struct dirent **a, const struct dirent **b)
{
	int ca_a = strcmp((*a)->d_name, "ca.pem") == 0;
	int ca_b = strcmp((*b)->d_name, "ca.pem") == 0;

	if (ca_a != ca_b)
		return ca_b - ca_a;
	return hostlist_compare((*a)->d_name, (*b)->d_name);
}

/* Add the revoked certificates of the collector's file to the list. */
static int
authority_enrolled_list(const char *file, struct enrolled_list *e,
    struct err *err)
{
	FILE *from;
	int rc = file_open(file, &from, err);

	if (rc < 0)
		return rc;
	rc = file_lines(from, INT64_MAX, authority_enrolled_list_cb, e);
	fclose(from);
	return rc < 0 ? err_set(err, rc, "%.300s: %s", file, strerror(-rc)) : 0;
}

int
authority_list(const char *dir, const char *enrolled, json_t **ret,
    struct err *err)
{
	char *ca = authority_path_of(dir, "ca", "pem");
	STACK_OF(X509_CRL) * crls;
	struct enrolled_list e;
	struct dirent **entries;
	int count = scandir(dir, &entries, authority_pem_filter_cb,
	    authority_pem_compare_cb);
	int rc = 0;

	if (count < 0)
		rc = err_set(err, -errno, "%s: %s", dir, strerror(errno));
	else if (access(ca, F_OK) < 0)
		rc = err_set(err, -ENOENT,
		    "%s has no authority: ca.pem is missing", dir);
	crls = authority_crls_read(dir);
	e = (struct enrolled_list){ crls, json_array() };
	for (int i = 0; i < count; i++) {
		json_t *row = rc < 0
		    ? NULL
		    : authority_row(dir, entries[i]->d_name, crls, err);

		if (row != NULL)
			json_array_append_new(e.list, row);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (rc == 0 && enrolled != NULL && sk_X509_CRL_num(crls) > 0)
		rc = authority_enrolled_list(enrolled, &e, err);
	sk_X509_CRL_pop_free(crls, X509_CRL_free);
	free(ca);
	if (rc == 0)
		*ret = e.list; /* handed over */
	else
		json_decref(e.list);
	return rc;
}
