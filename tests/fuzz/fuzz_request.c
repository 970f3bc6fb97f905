/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment of a stranger: a token and a request, as PEM, or as DER if the
 * first byte is odd; and the resulting certificate. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <openssl/pem.h>

#include "pki/pki.h"
#include "pki/pki_file.h"

static char *
pem_of(const uint8_t *data, size_t len_bytes)
{
	BIO *to = BIO_new(BIO_s_mem());
	char *at, *text;
	long len;

	PEM_write_bio(to, PEM_STRING_X509_REQ, "", data, (long)len_bytes);
	len = BIO_get_mem_data(to, &at);
	text = fuzz_text((const uint8_t *)at, (size_t)len);
	BIO_free(to);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	EVP_PKEY *key = NULL;
	STACK_OF(X509) * certs;
	struct pki_token token;
	struct err err = { "" };
	char *text;

	if (len_bytes < 1)
		return 0;
	text = data[0] % 2 == 0 ? fuzz_text(data + 1, len_bytes - 1)
				: pem_of(data + 1, len_bytes - 1);
	if (pki_request_read(text, "node1", &key, &err) < 0)
		assert(key == NULL && err.text[0] != '\0');
	else
		assert(EVP_PKEY_bits(key) == 256);
	EVP_PKEY_free(key);
	(void)pki_token_read(text, &token, &err);
	certs = pki_certs_read(text);
	sk_X509_pop_free(certs, X509_free);
	free(text);
	return 0;
}
