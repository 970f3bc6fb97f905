/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c - ECDSA over SHA-256 by OpenSSL, in hex digits.
 */
#include "ctl/accept/seal.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "pki/pki_file.h"

#define SIGNATURE_MAX 512

/* The text that is signed; the caller frees. */
static char *
seal_text(const json_t *report)
{
	json_t *copy = json_is_object(report)
	    ? json_copy((json_t *)(uintptr_t)report)
	    : json_incref((json_t *)(uintptr_t)report);
	char *text;

	if (json_is_object(copy))
		json_object_del(copy, "seal");
	text = json_dumps(copy,
	    JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	json_decref(copy);
	return text;
}

static void
seal_hex(const unsigned char *bytes, size_t len, char *ret)
{
	for (size_t i = 0; i < len; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

void
seal_digest(const json_t *value, char ret[PKI_DIGEST_TEXT])
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	char *text = seal_text(value);

	(void)EVP_Digest(text == NULL ? "" : text,
	    text == NULL ? 0 : strlen(text), sum, NULL, EVP_sha256(), NULL);
	seal_hex(sum, PKI_DIGEST_TEXT / 2, ret);
	free(text);
}

int
seal_sign(json_t *report, const char *dir, struct err *err)
{
	char *cert = xasprintf("%s/ca.pem", dir);
	char *key = xasprintf("%s/ca.key", dir), *text = seal_text(report);
	char hex[2 * SIGNATURE_MAX + 1], digest[PKI_DIGEST_TEXT];
	char by[PKI_DIGEST_TEXT];
	unsigned char signature[SIGNATURE_MAX];
	size_t len = sizeof(signature);
	struct pki_authority ca = { NULL, NULL };
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int rc = pki_authority_load(cert, key, &ca, err);

	if (rc == 0 &&
	    (ctx == NULL || text == NULL ||
		EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, ca.key) !=
		    1 ||
		EVP_DigestSign(ctx, signature, &len,
		    (const unsigned char *)text, strlen(text)) != 1))
		rc = pki_fail_ssl(err, "cannot sign the report");
	if (rc == 0) {
		seal_hex(signature, len, hex);
		seal_digest(report, digest);
		pki_cert_digest(ca.cert, by);
		json_object_set_new(report, "seal",
		    json_pack("{s:s, s:s, s:s}", "sha256", digest, "authority",
			by, "signature", hex));
	}
	EVP_MD_CTX_free(ctx);
	pki_authority_close(&ca);
	free(cert);
	free(key);
	free(text);
	return rc;
}

static int
seal_verify(const X509 *cert, const char *text, const char *hex)
{
	char bytes[SIGNATURE_MAX];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t len = strlen(hex) / 2;
	int ok = ctx != NULL && len <= sizeof(bytes) && strlen(hex) % 2 == 0 &&
	    str_unhex(hex, 2 * len, bytes) == 0 &&
	    EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL,
		X509_get0_pubkey(cert)) == 1 &&
	    EVP_DigestVerify(ctx, (const unsigned char *)bytes, len,
		(const unsigned char *)text, strlen(text)) == 1;

	EVP_MD_CTX_free(ctx);
	return ok;
}

int
seal_check(const json_t *report, const char *ca, char ret_name[256],
    struct err *err)
{
	const json_t *seal = json_object_get(report, "seal");
	char digest[PKI_DIGEST_TEXT], by[PKI_DIGEST_TEXT], *text;
	X509 *cert;
	int rc = 0;

	if (!json_is_object(seal))
		return err_set(err, -ENOENT, "the report is not signed");
	cert = pki_cert_load(ca, err);
	if (cert == NULL)
		return -EINVAL;
	text = seal_text(report);
	seal_digest(report, digest);
	pki_cert_digest(cert, by);
	if (strcmp(digest, member_text(seal, "sha256")) != 0)
		rc = err_set(err, -EACCES,
		    "the report was changed: SHA-256 of the report is %s, but "
		    "the signature is for %.64s",
		    digest, member_text(seal, "sha256"));
	else if (strcmp(by, member_text(seal, "authority")) != 0)
		rc = err_set(err, -EACCES,
		    "the report was signed by another authority than %.200s",
		    ca);
	else if (text == NULL ||
	    !seal_verify(cert, text, member_text(seal, "signature")))
		rc = err_set(err, -EACCES, "the signature is not valid");
	else
		rc = pki_subject_get(X509_get_subject_name(cert),
			 NID_commonName, ret_name, 256) < 0
		    ? err_set(err, -EACCES, "%.200s has no common name", ca)
		    : 0;
	ERR_clear_error();
	free(text);
	X509_free(cert);
	return rc;
}
