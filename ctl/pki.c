/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "common/file.h"
#include "common/hostlist.h"
#include "common/xalloc.h"

/* Clocks of nodes are not quite equal: a certificate is valid a little before
 * it was made. */
#define EARLY_S       300
#define DAY_S         86400L
#define SERIAL_BYTES  16
#define COLLECTOR_SAN "coalmine-collector"

struct authority {
	X509 *cert;
	EVP_PKEY *key;
};

static int __attribute__((format(printf, 3, 4)))
fail(struct err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vsay(err, fmt, ap);
	va_end(ap);
	return rc;
}

/* OpenSSL's own words for what it could not do. */
static int
fail_ssl(struct err *err, const char *what)
{
	char text[256] = "no reason given";
	unsigned long code = ERR_get_error();

	if (code != 0)
		ERR_error_string_n(code, text, sizeof(text));
	ERR_clear_error();
	return fail(err, -EIO, "%s: %s", what, text);
}

static EVP_PKEY *
key_new(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
	EVP_PKEY *key = NULL;

	if (ctx == NULL || EVP_PKEY_keygen_init(ctx) <= 0 ||
	    EVP_PKEY_CTX_set_ec_paramgen_curve_nid(ctx, NID_X9_62_prime256v1) <=
		0 ||
	    EVP_PKEY_keygen(ctx, &key) <= 0)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static char *
path_of(const char *dir, const char *name, const char *end)
{
	return xasprintf("%s/%s.%s", dir, name, end);
}

/* Names of issued certificates; the authority's own files are not. */
static int
name_check(const char *name, struct err *err)
{
	if (hostlist_name_check(name) == 0 && strcmp(name, "ca") != 0 &&
	    strcmp(name, "crl") != 0)
		return 0;
	return fail(err, -EINVAL,
	    "%.100s: allowed is a name of letters, digits, . - _ other than "
	    "ca and crl",
	    name);
}

/* Any one of these. */
struct pem {
	EVP_PKEY *key;
	X509 *cert;
	X509_CRL *crl;
};

static int
pem_write(FILE *to, const struct pem *what)
{
	if (what->key != NULL)
		return PEM_write_PrivateKey(to, what->key, NULL, NULL, 0, NULL,
		    NULL);
	return what->crl != NULL ? PEM_write_X509_CRL(to, what->crl)
				 : PEM_write_X509(to, what->cert);
}

/* Write one PEM file that is not there yet. */
static int
write_new(const char *path, const struct pem *what, struct err *err)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    what->key != NULL ? 0600 : 0644);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	int ok;

	if (to == NULL)
		return fail(err, -errno, "%s: %s%s", path, strerror(errno),
		    errno == EEXIST ? "; it is not overwritten" : "");
	ok = pem_write(to, what) && fflush(to) == 0 && fsync(fd) == 0;
	if (fclose(to) == 0 && ok)
		return 0;
	unlink(path);
	return fail(err, -EIO, "%s: cannot be written", path);
}

/* Key and certificate, both or neither. */
static int
write_pair(const char *dir, const char *name, EVP_PKEY *key, X509 *cert,
    struct err *err)
{
	char *key_path = path_of(dir, name, "key");
	char *cert_path = path_of(dir, name, "pem");
	int rc;

	if (access(cert_path, F_OK) == 0)
		rc = fail(err, -EEXIST,
		    "%s: File exists; it is not overwritten", cert_path);
	else
		rc = write_new(key_path, &(struct pem){ .key = key }, err);
	if (rc == 0) {
		rc = write_new(cert_path, &(struct pem){ .cert = cert }, err);
		if (rc < 0)
			unlink(key_path);
	}
	free(key_path);
	free(cert_path);
	return rc;
}

static X509 *
cert_read(const char *dir, const char *name, struct err *err)
{
	char *path = path_of(dir, name, "pem");
	X509 *cert = NULL;
	FILE *from;

	if (file_open(path, &from, err) == 0) {
		cert = PEM_read_X509(from, NULL, NULL, NULL);
		fclose(from);
		if (cert == NULL)
			fail(err, 0, "%s: no certificate", path);
	}
	ERR_clear_error();
	free(path);
	return cert;
}

static EVP_PKEY *
key_read(const char *dir, const char *name, struct err *err)
{
	char *path = path_of(dir, name, "key");
	EVP_PKEY *key = NULL;
	FILE *from;

	if (file_open(path, &from, err) == 0) {
		key = PEM_read_PrivateKey(from, NULL, NULL, NULL);
		fclose(from);
		if (key == NULL)
			fail(err, 0, "%s: no key", path);
	}
	ERR_clear_error();
	free(path);
	return key;
}

static void
authority_close(struct authority *ca)
{
	X509_free(ca->cert);
	EVP_PKEY_free(ca->key);
}

static int
authority_open(const char *dir, struct authority *ret, struct err *err)
{
	struct authority ca = { NULL, NULL };

	ca.cert = cert_read(dir, "ca", err);
	if (ca.cert != NULL)
		ca.key = key_read(dir, "ca", err);
	if (ca.cert == NULL || ca.key == NULL) {
		authority_close(&ca);
		return -ENOENT;
	}
	if (X509_check_private_key(ca.cert, ca.key) != 1) {
		ERR_clear_error();
		authority_close(&ca);
		return fail(err, -EINVAL, "%s: ca.key is not the key of ca.pem",
		    dir);
	}
	*ret = ca; /* handed over */
	return 0;
}

/* Version, serial, validity, subject: what every certificate has. */
static int
fill(X509 *cert, EVP_PKEY *key, const char *name, const char *unit, int days)
{
	unsigned char bytes[SERIAL_BYTES];
	X509_NAME *subject = X509_get_subject_name(cert);
	BIGNUM *serial;
	int ok;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return 0;
	bytes[0] &= 0x7f; /* positive */
	bytes[0] |= 0x40; /* and of full length */
	serial = BN_bin2bn(bytes, sizeof(bytes), NULL);
	ok = serial != NULL && X509_set_version(cert, 2) &&
	    BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)) != NULL &&
	    X509_gmtime_adj(X509_getm_notBefore(cert), -EARLY_S) != NULL &&
	    X509_gmtime_adj(X509_getm_notAfter(cert), days * DAY_S) != NULL &&
	    X509_set_pubkey(cert, key) &&
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
		(const unsigned char *)name, -1, -1, 0);
	if (ok && unit != NULL)
		ok = X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_UTF8,
		    (const unsigned char *)unit, -1, -1, 0);
	BN_free(serial);
	return ok;
}

static int
extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	int ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = ext != NULL && X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

int
pki_init(const char *dir, const char *name, int days, struct err *err)
{
	EVP_PKEY *key = key_new();
	X509 *cert = X509_new();
	int rc;

	if (mkdir(dir, 0755) < 0 && errno != EEXIST) {
		rc = fail(err, -errno, "%s: %s", dir, strerror(errno));
		goto out;
	}
	if (key == NULL || cert == NULL || !fill(cert, key, name, NULL, days) ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
	    !extend(cert, cert, NID_basic_constraints,
		"critical,CA:TRUE,pathlen:0") ||
	    !extend(cert, cert, NID_key_usage,
		"critical,keyCertSign,cRLSign") ||
	    !extend(cert, cert, NID_subject_key_identifier, "hash") ||
	    X509_sign(cert, key, EVP_sha256()) == 0) {
		rc = fail_ssl(err, "making the authority");
		goto out;
	}
	rc = write_pair(dir, "ca", key, cert, err);
out:
	X509_free(cert);
	EVP_PKEY_free(key);
	return rc;
}

/* "DNS:a,IP:b,..." of a name and more; NULL and why for what is neither. */
static char *
san_text(const struct pki_order *o, struct err *err)
{
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "DNS:%s", o->name);
	if (o->role == ROLE_COLLECTOR && strcmp(o->name, COLLECTOR_SAN) != 0)
		strbuf_addf(&sb, ",DNS:%s", COLLECTOR_SAN);
	for (size_t i = 0; i < o->san_count; i++) {
		unsigned char addr[sizeof(struct in6_addr)];
		const char *san = o->sans[i];
		int ip = inet_pton(AF_INET, san, addr) == 1 ||
		    inet_pton(AF_INET6, san, addr) == 1;

		if (strcmp(san, o->name) == 0 ||
		    (o->role == ROLE_COLLECTOR &&
			strcmp(san, COLLECTOR_SAN) == 0))
			continue;
		if (!ip && hostlist_name_check(san) < 0) {
			fail(err, 0,
			    "--san %.100s: allowed is a DNS name or an IP "
			    "address",
			    san);
			strbuf_clear(&sb);
			return NULL;
		}
		strbuf_addf(&sb, ",%s:%s", ip ? "IP" : "DNS", san);
	}
	return sb.text;
}

/* No certificate outlives the authority that vouches for it. */
static int
cap_validity(X509 *cert, const X509 *ca)
{
	if (ASN1_TIME_compare(X509_get0_notAfter(cert),
		X509_get0_notAfter(ca)) <= 0)
		return 1;
	return X509_set1_notAfter(cert, X509_get0_notAfter(ca));
}

/* A signed certificate for an order and a key; the caller frees. */
static X509 *
cert_make(const struct authority *ca, const struct pki_order *o, EVP_PKEY *key,
    struct err *err)
{
	char *sans = san_text(o, err);
	X509 *cert = sans == NULL ? NULL : X509_new();

	if (sans == NULL)
		return NULL;
	if (cert == NULL ||
	    !fill(cert, key, o->name, names_roles[o->role], o->days) ||
	    !cap_validity(cert, ca->cert) ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) ||
	    !extend(cert, ca->cert, NID_basic_constraints,
		"critical,CA:FALSE") ||
	    !extend(cert, ca->cert, NID_key_usage,
		"critical,digitalSignature") ||
	    !extend(cert, ca->cert, NID_ext_key_usage,
		o->role == ROLE_COLLECTOR ? "serverAuth,clientAuth"
					  : "clientAuth") ||
	    !extend(cert, ca->cert, NID_subject_alt_name, sans) ||
	    !extend(cert, ca->cert, NID_subject_key_identifier, "hash") ||
	    !extend(cert, ca->cert, NID_authority_key_identifier, "keyid") ||
	    X509_sign(cert, ca->key, EVP_sha256()) == 0) {
		fail_ssl(err, o->name);
		X509_free(cert);
		cert = NULL;
	}
	free(sans);
	return cert;
}

int
pki_issue(const char *dir, const struct pki_order *o, struct err *err)
{
	struct authority ca = { NULL, NULL };
	EVP_PKEY *key = NULL;
	X509 *cert = NULL;
	int rc;

	rc = name_check(o->name, err);
	if (rc == 0)
		rc = authority_open(dir, &ca, err);
	if (rc < 0)
		return rc;
	key = key_new();
	if (key == NULL) {
		rc = fail_ssl(err, "making a key");
		goto out;
	}
	cert = cert_make(&ca, o, key, err);
	rc = cert == NULL ? -EIO : write_pair(dir, o->name, key, cert, err);
out:
	X509_free(cert);
	EVP_PKEY_free(key);
	authority_close(&ca);
	return rc;
}

static void
subject_text(X509 *cert, int nid, char *ret, size_t cap_bytes)
{
	ret[0] = '\0';
	X509_NAME_get_text_by_NID(X509_get_subject_name(cert), nid, ret,
	    (int)cap_bytes);
}

/* The DNS names and addresses of a certificate, as strings. */
static json_t *
sans_of(X509 *cert)
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

/* The old file gives way in one step, so that a reader sees either. */
static int
replace(const char *dir, const char *name, const struct pem *what,
    struct err *err)
{
	char *temporary = path_of(dir, name, "pem.new");
	char *path = path_of(dir, name, "pem");
	int rc;

	unlink(temporary);
	rc = write_new(temporary, what, err);
	if (rc == 0 && rename(temporary, path) < 0) {
		rc = fail(err, -errno, "%s: %s", path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	free(path);
	return rc;
}

/* The order that an existing certificate answers; sans is its storage. */
static int
order_of(X509 *cert, const char *name, int days, char ***ret_sans,
    struct pki_order *ret, struct err *err)
{
	json_t *list = sans_of(cert), *item;
	char unit[64], cn[HOSTLIST_NAME_MAX + 1];
	size_t i;
	int role;

	subject_text(cert, NID_organizationalUnitName, unit, sizeof(unit));
	subject_text(cert, NID_commonName, cn, sizeof(cn));
	role = STR_FIND(names_roles, unit);
	if (role < 0 || strcmp(cn, name) != 0) {
		json_decref(list);
		return fail(err, -EINVAL,
		    "%s.pem is for %s as %s: not one of ours", name, cn, unit);
	}
	*ret_sans = xcalloc(json_array_size(list) + 1, sizeof(**ret_sans));
	json_array_foreach (list, i, item)
		(*ret_sans)[i] = xstrdup(json_string_value(item));
	*ret = (struct pki_order){ name, (enum role)role, *ret_sans,
		json_array_size(list), days };
	json_decref(list);
	return 0;
}

int
pki_renew(const char *dir, const char *name, int days, struct err *err)
{
	struct authority ca = { NULL, NULL };
	struct pki_order o;
	EVP_PKEY *key = NULL;
	X509 *old = NULL, *cert = NULL;
	char **sans = NULL;
	int rc;

	rc = name_check(name, err);
	if (rc == 0)
		rc = authority_open(dir, &ca, err);
	if (rc == 0) {
		old = cert_read(dir, name, err);
		key = old == NULL ? NULL : key_read(dir, name, err);
		rc = key == NULL ? -ENOENT
				 : order_of(old, name, days, &sans, &o, err);
	}
	if (rc == 0) {
		cert = cert_make(&ca, &o, key, err);
		rc = cert == NULL
		    ? -EIO
		    : replace(dir, name, &(struct pem){ .cert = cert }, err);
	}
	str_list_free(sans);
	X509_free(cert);
	X509_free(old);
	EVP_PKEY_free(key);
	authority_close(&ca);
	return rc;
}

/* Two authorities of one site may have one name: the list says by its key whose
 * it is. */
static int
crl_extend(X509_CRL *crl, X509 *issuer)
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

/* The list so far, or a new one, of this authority; NULL and why. */
static X509_CRL *
crl_open(const char *dir, const struct authority *ca, struct err *err)
{
	char *path = path_of(dir, "crl", "pem");
	X509_CRL *crl = NULL;
	FILE *from;

	if (access(path, F_OK) < 0 && errno == ENOENT) {
		crl = X509_CRL_new();
		if (crl == NULL || !X509_CRL_set_version(crl, 1) ||
		    !X509_CRL_set_issuer_name(crl,
			X509_get_subject_name(ca->cert)) ||
		    !crl_extend(crl, ca->cert)) {
			fail_ssl(err, path);
			X509_CRL_free(crl);
			crl = NULL;
		}
	} else if (file_open(path, &from, err) == 0) {
		crl = PEM_read_X509_CRL(from, NULL, NULL, NULL);
		fclose(from);
		if (crl == NULL || X509_CRL_verify(crl, ca->key) != 1) {
			fail(err, 0, "%s: no list of this authority", path);
			X509_CRL_free(crl);
			crl = NULL;
		}
	}
	ERR_clear_error();
	free(path);
	return crl;
}

/* It holds until the authority itself ends: an old list shall not lock the
 * whole fleet out. */
static int
crl_add(X509_CRL *crl, const struct authority *ca, X509 *cert)
{
	ASN1_TIME *now = X509_gmtime_adj(NULL, -EARLY_S);
	X509_REVOKED *one = X509_REVOKED_new(), *was;
	int ok = now != NULL && one != NULL &&
	    X509_CRL_set1_lastUpdate(crl, now) &&
	    X509_CRL_set1_nextUpdate(crl, X509_get0_notAfter(ca->cert)) &&
	    X509_REVOKED_set_serialNumber(one, X509_get_serialNumber(cert)) &&
	    X509_REVOKED_set_revocationDate(one, now);

	if (ok && X509_CRL_get0_by_cert(crl, &was, cert) == 0) {
		ok = X509_CRL_add0_revoked(crl, one);
		one = ok ? NULL : one; /* handed over */
	}
	ok = ok && X509_CRL_sort(crl) &&
	    X509_CRL_sign(crl, ca->key, EVP_sha256()) != 0;
	X509_REVOKED_free(one);
	ASN1_TIME_free(now);
	return ok;
}

/* The name is free again. */
static int
set_aside(const char *dir, const char *name, struct err *err)
{
	static const char *const ends[] = { "key", "pem" };
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(ends) && rc == 0; i++) {
		char *path = path_of(dir, name, ends[i]);
		char *to = xasprintf("%s.revoked", path);

		/* A key may lie on its node only. */
		if (rename(path, to) < 0 && errno != ENOENT)
			rc = fail(err, -errno, "%s: %s", path, strerror(errno));
		free(to);
		free(path);
	}
	return rc;
}

int
pki_revoke(const char *dir, const char *name, struct err *err)
{
	struct authority ca = { NULL, NULL };
	X509_CRL *crl = NULL;
	X509 *cert = NULL;
	int rc = name_check(name, err);

	if (rc == 0)
		rc = authority_open(dir, &ca, err);
	if (rc == 0) {
		cert = cert_read(dir, name, err);
		crl = cert == NULL ? NULL : crl_open(dir, &ca, err);
		rc = crl == NULL ? -ENOENT : 0;
	}
	if (rc == 0 && !crl_add(crl, &ca, cert))
		rc = fail_ssl(err, "signing the list");
	if (rc == 0)
		rc = replace(dir, "crl", &(struct pem){ .crl = crl }, err);
	if (rc == 0)
		rc = set_aside(dir, name, err);
	X509_CRL_free(crl);
	X509_free(cert);
	authority_close(&ca);
	return rc;
}

static json_int_t
unix_ns_of(const ASN1_TIME *at)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(at, &tm) != 1)
		return 0;
	return (json_int_t)timegm(&tm) * 1000000000;
}

static json_t *
cert_json(const char *name, X509 *cert)
{
	char unit[64], *serial;
	BIGNUM *n = ASN1_INTEGER_to_BN(X509_get_serialNumber(cert), NULL);
	json_t *o;

	subject_text(cert, NID_organizationalUnitName, unit, sizeof(unit));
	serial = n == NULL ? NULL : BN_bn2hex(n);
	o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "name", name, "role",
	    X509_check_ca(cert) > 0 ? "authority"
		: unit[0] == '\0'   ? "?"
				    : unit,
	    "serial", serial == NULL ? "?" : serial, "not_before_unix_ns",
	    unix_ns_of(X509_get0_notBefore(cert)), "not_after_unix_ns",
	    unix_ns_of(X509_get0_notAfter(cert)), "sans", sans_of(cert));
	OPENSSL_free(serial);
	BN_free(n);
	return o;
}

/* For scandir: NAME.pem of certificates. */
static int
pem_filter_cb(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && strcmp(e->d_name, "crl.pem") != 0 &&
	    strcmp(e->d_name + n - 4, ".pem") == 0;
}

/* The authority first, then in human order. */
static int
pem_compare_cb(const struct dirent **a, const struct dirent **b)
{
	int ca_a = strcmp((*a)->d_name, "ca.pem") == 0;
	int ca_b = strcmp((*b)->d_name, "ca.pem") == 0;

	if (ca_a != ca_b)
		return ca_b - ca_a;
	return hostlist_compare((*a)->d_name, (*b)->d_name);
}

int
pki_list(const char *dir, json_t **ret, struct err *err)
{
	struct dirent **entries;
	json_t *list;
	int count = scandir(dir, &entries, pem_filter_cb, pem_compare_cb);

	if (count < 0)
		return fail(err, -errno, "%s: %s", dir, strerror(errno));
	list = json_array();
	for (int i = 0; i < count; i++) {
		char *name = xstrndup(entries[i]->d_name,
		    strlen(entries[i]->d_name) - 4);
		X509 *cert = cert_read(dir, name, err);

		if (cert != NULL)
			json_array_append_new(list, cert_json(name, cert));
		X509_free(cert);
		free(name);
		free(entries[i]);
	}
	free(entries);
	*ret = list;
	return 0;
}
