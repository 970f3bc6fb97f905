/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki.c - certificates, certificate requests and tokens: their contents and the
 * checks on them.
 */
#include "pki/pki.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Clocks of nodes are not quite equal: a certificate is valid a little before
 * it was made. */
#define EARLY_S      300
#define SERIAL_BYTES 16
#define SECRET_BYTES 20
#define TOKEN_HEAD   "coalmine1-"

static void *
pki_memory_new(size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return xmalloc(bytes);
}

static void *
pki_memory_resize(void *old, size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return xrealloc(old, bytes);
}

static void
pki_memory_drop(void *old, const char *file, int line)
{
	(void)file;
	(void)line;
	free(old);
}

void
pki_memory_set(void)
{
	CRYPTO_set_mem_functions(pki_memory_new, pki_memory_resize,
	    pki_memory_drop);
	/* The end of the program must not wait for a lock of OpenSSL that the
	 * failed call holds. */
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

int
pki_fail_ssl(struct err *err, const char *what)
{
	const char *text = NULL, *reason;
	unsigned long code;

	/* The first is the nearest to the cause; of a file that is something
	 * else it only says which decoder gave up. */
	while ((code = ERR_get_error()) != 0) {
		/* OpenSSL has no texts for errors of system calls. */
		reason = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
						: ERR_reason_error_string(code);
		if ((ERR_GET_LIB(code) == ERR_LIB_PEM &&
			ERR_GET_REASON(code) == PEM_R_NO_START_LINE) ||
		    ERR_GET_REASON(code) == ERR_R_UNSUPPORTED)
			text = "no PEM data found";
		else if (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH)
			text = "key does not match the certificate";
		else if (text == NULL)
			text = reason;
	}
	return err_set(err, -EIO, "%s: %s", what,
	    text != NULL ? text : "unknown reason");
}

void
pki_authority_close(struct pki_authority *ca)
{
	X509_free(ca->cert);
	EVP_PKEY_free(ca->key);
	*ca = (struct pki_authority){ NULL, NULL };
}

EVP_PKEY *
pki_key_new(void)
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

static int
pki_name_add(X509_NAME *subject, const char *field, const char *text)
{
	return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
	    (const unsigned char *)text, -1, -1, 0);
}

/* Version, serial, validity, subject: what every certificate has. */
static int
pki_fill(X509 *cert, EVP_PKEY *key, const char *name, const char *unit,
    long life_s)
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
	    X509_gmtime_adj(X509_getm_notAfter(cert), life_s) != NULL &&
	    X509_set_pubkey(cert, key) && pki_name_add(subject, "CN", name) &&
	    (unit == NULL || pki_name_add(subject, "OU", unit));
	BN_free(serial);
	return ok;
}

static int
pki_extend(X509 *cert, X509 *issuer, int nid, const char *value)
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

/* No certificate outlives the authority that vouches for it. */
static int
pki_cap_validity(X509 *cert, const X509 *ca)
{
	if (ASN1_TIME_compare(X509_get0_notAfter(cert),
		X509_get0_notAfter(ca)) <= 0)
		return 1;
	return X509_set1_notAfter(cert, X509_get0_notAfter(ca));
}

int
pki_san_check(const char *san, struct err *err)
{
	unsigned char addr[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, san, addr) == 1 ||
	    inet_pton(AF_INET6, san, addr) == 1)
		return 1;
	if (hostlist_name_check(san) == 0)
		return 0;
	return err_set(err, -EINVAL,
	    "--san %.100s: expected a DNS name or an IP address", san);
}

/* Return "DNS:a,IP:b,..." of the name and the SANs; NULL and the reason if one
 * is neither a DNS name nor an address. */
static char *
pki_san_text(const struct pki_order *o, struct err *err)
{
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "DNS:%s", o->name);
	if (o->role == ROLE_COLLECTOR &&
	    strcmp(o->name, PKI_COLLECTOR_SAN) != 0)
		strbuf_addf(&sb, ",DNS:%s", PKI_COLLECTOR_SAN);
	for (size_t i = 0; i < o->san_count; i++) {
		const char *san = o->sans[i];
		int ip = pki_san_check(san, err);

		if (strcmp(san, o->name) == 0 ||
		    (o->role == ROLE_COLLECTOR &&
			strcmp(san, PKI_COLLECTOR_SAN) == 0))
			continue;
		if (ip < 0) {
			strbuf_clear(&sb);
			return NULL;
		}
		strbuf_addf(&sb, ",%s:%s", ip ? "IP" : "DNS", san);
	}
	return sb.text;
}

X509 *
pki_cert_new(const struct pki_authority *ca, const struct pki_order *o,
    EVP_PKEY *key, struct err *err)
{
	char *sans = pki_san_text(o, err);
	X509 *cert = sans == NULL ? NULL : X509_new();

	if (sans == NULL)
		return NULL;
	if (cert == NULL ||
	    !pki_fill(cert, key, o->name, names_roles[o->role], o->life_s) ||
	    !pki_cap_validity(cert, ca->cert) ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) ||
	    !pki_extend(cert, ca->cert, NID_basic_constraints,
		"critical,CA:FALSE") ||
	    !pki_extend(cert, ca->cert, NID_key_usage,
		"critical,digitalSignature") ||
	    !pki_extend(cert, ca->cert, NID_ext_key_usage,
		o->role == ROLE_COLLECTOR ? "serverAuth,clientAuth"
					  : "clientAuth") ||
	    !pki_extend(cert, ca->cert, NID_subject_alt_name, sans) ||
	    !pki_extend(cert, ca->cert, NID_subject_key_identifier, "hash") ||
	    !pki_extend(cert, ca->cert, NID_authority_key_identifier,
		"keyid") ||
	    X509_sign(cert, ca->key, EVP_sha256()) == 0) {
		pki_fail_ssl(err, o->name);
		X509_free(cert);
		cert = NULL;
	}
	free(sans);
	return cert;
}

/* The intermediate CA may sign client certificates only, never server ones,
 * which agents would accept as the collector's. Its OU is the role that
 * pki_chain_check enforces. */
X509 *
pki_authority_new(const struct pki_authority *ca, const char *name,
    EVP_PKEY *key, long life_s, struct err *err)
{
	X509 *cert = X509_new(), *issuer = ca != NULL ? ca->cert : cert;

	if (cert == NULL ||
	    !pki_fill(cert, key, name,
		ca != NULL ? names_roles[ROLE_AGENT] : NULL, life_s) ||
	    !pki_cap_validity(cert, issuer) ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(issuer)) ||
	    !pki_extend(cert, issuer, NID_basic_constraints,
		ca != NULL ? "critical,CA:TRUE,pathlen:0"
			   : "critical,CA:TRUE,pathlen:1") ||
	    !pki_extend(cert, issuer, NID_key_usage,
		"critical,keyCertSign,cRLSign") ||
	    !pki_extend(cert, issuer, NID_subject_key_identifier, "hash") ||
	    (ca != NULL &&
		(!pki_extend(cert, issuer, NID_ext_key_usage, "clientAuth") ||
		    !pki_extend(cert, issuer, NID_authority_key_identifier,
			"keyid"))) ||
	    X509_sign(cert, ca != NULL ? ca->key : key, EVP_sha256()) == 0) {
		pki_fail_ssl(err, "cannot create the certificate");
		X509_free(cert);
		cert = NULL;
	}
	return cert;
}

int
pki_subject_get(X509_NAME *subject, int nid, char *ret, size_t cap_bytes)
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

int
pki_chain_check(STACK_OF(X509) * chain, enum role role, struct err *err)
{
	for (int i = 1; i < sk_X509_num(chain); i++) {
		X509_NAME *subject = X509_get_subject_name(
		    sk_X509_value(chain, i));
		char unit[64];

		if (pki_subject_get(subject, NID_organizationalUnitName, unit,
			sizeof(unit)) == 0 &&
		    STR_FIND(names_roles, unit) >= 0 &&
		    strcmp(unit, names_roles[role]) != 0)
			return err_set(err, -EACCES,
			    "cannot issue role %s: the CA is restricted to "
			    "role %s",
			    names_roles[role], unit);
	}
	return 0;
}

int64_t
pki_unix_s(const ASN1_TIME *at)
{
	struct tm tm;

	if (at == NULL || ASN1_TIME_to_tm(at, &tm) != 1)
		return 0;
	return (int64_t)timegm(&tm);
}

static void
pki_digest_text(const unsigned char *bytes, size_t len,
    char ret[PKI_DIGEST_TEXT])
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };

	(void)EVP_Digest(bytes, len, sum, NULL, EVP_sha256(), NULL);
	for (size_t i = 0; i < PKI_DIGEST_TEXT / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

void
pki_key_digest(EVP_PKEY *key, char ret[PKI_DIGEST_TEXT])
{
	unsigned char *der = NULL;
	int len = i2d_PUBKEY(key, &der);

	pki_digest_text(der, len > 0 ? (size_t)len : 0, ret);
	OPENSSL_free(der);
}

void
pki_cert_digest(const X509 *cert, char ret[PKI_DIGEST_TEXT])
{
	unsigned char *der = NULL;
	int len = i2d_X509(cert, &der);

	pki_digest_text(der, len > 0 ? (size_t)len : 0, ret);
	OPENSSL_free(der);
}

/* ---- requests ---- */

char *
pki_request_new(EVP_PKEY *key, const char *name, struct err *err)
{
	X509_REQ *req = X509_REQ_new();
	BIO *to = BIO_new(BIO_s_mem());
	char *text = NULL, *at;
	long len;

	if (req == NULL || to == NULL || !X509_REQ_set_version(req, 0) ||
	    !pki_name_add(X509_REQ_get_subject_name(req), "CN", name) ||
	    !X509_REQ_set_pubkey(req, key) ||
	    X509_REQ_sign(req, key, EVP_sha256()) == 0 ||
	    !PEM_write_bio_X509_REQ(to, req)) {
		pki_fail_ssl(err, name);
	} else {
		len = BIO_get_mem_data(to, &at);
		text = xstrndup(at, (size_t)len);
	}
	BIO_free(to);
	X509_REQ_free(req);
	return text;
}

/* Return the fault of a request, or NULL if it is valid. */
static const char *
pki_request_fault(X509_REQ *req, const char *name)
{
	X509_NAME *subject = X509_REQ_get_subject_name(req);
	EVP_PKEY *key = X509_REQ_get0_pubkey(req);
	char cn[HOSTLIST_NAME_MAX + 1], curve[32] = "";
	size_t len;

	if (X509_NAME_entry_count(subject) != 1 ||
	    pki_subject_get(subject, NID_commonName, cn, sizeof(cn)) < 0 ||
	    strcmp(cn, name) != 0)
		return "its subject is not just the node's name";
	if (X509_REQ_get_attr_count(req) > 0)
		return "the request has extensions or attributes, which are "
		       "not permitted";
	if (key == NULL || EVP_PKEY_base_id(key) != EVP_PKEY_EC ||
	    EVP_PKEY_bits(key) != 256 ||
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	    EVP_PKEY_get_group_name(key, curve, sizeof(curve), &len) != 1 ||
	    strcmp(curve, SN_X9_62_prime256v1) != 0
#else
	    EC_GROUP_get_curve_name(EC_KEY_get0_group(
		EVP_PKEY_get0_EC_KEY(key))) != NID_X9_62_prime256v1
#endif
	)
		return "the key of the request is not on the curve P-256";
	return X509_REQ_verify(req, key) == 1 ? NULL
					      : "the signature of the "
						"request is invalid";
}

int
pki_request_read(const char *text, const char *name, EVP_PKEY **ret,
    struct err *err)
{
	size_t len = strlen(text);
	const char *fault = "not a certificate request in PEM";
	X509_REQ *req = NULL;
	BIO *from;

	if (len > PKI_PEM_MAX)
		return err_set(err, -EINVAL, "request of %s: too long", name);
	from = BIO_new_mem_buf(text, (int)len);
	if (from != NULL)
		req = PEM_read_bio_X509_REQ(from, NULL, NULL, NULL);
	if (req != NULL)
		fault = pki_request_fault(req, name);
	if (fault == NULL)
		*ret = X509_REQ_get_pubkey(req);
	X509_REQ_free(req);
	BIO_free(from);
	ERR_clear_error();
	return fault == NULL
	    ? 0
	    : err_set(err, -EINVAL, "request of %.100s: %s", name, fault);
}

/* ---- tokens ---- */

int
pki_token_new(const X509 *authority, char ret[PKI_TOKEN_TEXT], struct err *err)
{
	unsigned char secret[SECRET_BYTES];
	char text[2 * SECRET_BYTES + 1], digest[PKI_DIGEST_TEXT];

	if (RAND_bytes(secret, sizeof(secret)) != 1)
		return pki_fail_ssl(err,
		    "cannot create random bytes for a token");
	for (size_t i = 0; i < SECRET_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", secret[i]);
	pki_cert_digest(authority, digest);
	snprintf(ret, PKI_TOKEN_TEXT, "%s%s-%s", TOKEN_HEAD, digest, text);
	OPENSSL_cleanse(text, sizeof(text));
	return 0;
}

static int
pki_is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

int
pki_token_read(const char *text, struct pki_token *ret, struct err *err)
{
	const size_t head = strlen(TOKEN_HEAD), fp = PKI_DIGEST_TEXT - 1;
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	if (len != head + fp + 1 + 2 * SECRET_BYTES ||
	    strncmp(text, TOKEN_HEAD, head) != 0 ||
	    !pki_is_hex(text + head, fp) || text[head + fp] != '-' ||
	    !pki_is_hex(text + head + fp + 1, 2 * SECRET_BYTES))
		return err_set(err, -EINVAL,
		    "invalid token: expected the output of coalctl pki "
		    "token, " TOKEN_HEAD "...");
	memcpy(ret->authority, text + head, fp);
	ret->authority[fp] = '\0';
	pki_digest_text((const unsigned char *)text + head + fp + 1,
	    2 * SECRET_BYTES, ret->digest);
	return 0;
}
