/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests are signed, and the contents of certificates; tokens; recovery
 * of an interrupted replacement of a key and its certificate. */
#include "pki/pki.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/rsa.h>

#include "common/file.h"
#include "pki/pki_file.h"

static struct pki_authority
authority(void)
{
	struct pki_authority ca = { NULL, pki_key_new() };

	ca.cert = pki_authority_new(NULL, "an authority", ca.key, PKI_DAY_S,
	    NULL);
	assert_non_null(ca.cert);
	return ca;
}

static EVP_PKEY *
other_key(int id, int what)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(id, NULL);
	EVP_PKEY *key = NULL;

	EVP_PKEY_keygen_init(ctx);
	if (id == EVP_PKEY_RSA)
		EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, what);
	if (id == EVP_PKEY_EC)
		EVP_PKEY_CTX_set_ec_paramgen_curve_nid(ctx, what);
	assert_int_equal(EVP_PKEY_keygen(ctx, &key), 1);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

/* Make a request with the given names, and the other properties of the case. */
static char *
request(EVP_PKEY *key, EVP_PKEY *signer, const char *const *fields,
    const char *san)
{
	X509_REQ *req = X509_REQ_new();
	BIO *to = BIO_new(BIO_s_mem());
	char *at, *text;
	long len;

	X509_REQ_set_version(req, 0);
	for (; fields[0] != NULL; fields += 2)
		assert_true(pki_name_add(X509_REQ_get_subject_name(req),
		    fields[0], fields[1]));
	X509_REQ_set_pubkey(req, key);
	if (san != NULL) {
		STACK_OF(X509_EXTENSION) *all = sk_X509_EXTENSION_new_null();

		sk_X509_EXTENSION_push(all,
		    X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, san));
		X509_REQ_add_extensions(req, all);
		sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
	}
	assert_true(X509_REQ_sign(req, signer,
	    EVP_PKEY_base_id(signer) == EVP_PKEY_ED25519 ? NULL
							 : EVP_sha256()));
	PEM_write_bio_X509_REQ(to, req);
	len = BIO_get_mem_data(to, &at);
	text = xstrndup(at, (size_t)len);
	BIO_free(to);
	X509_REQ_free(req);
	return text;
}

static void
refused(char *text, const char *name, const char *word)
{
	EVP_PKEY *key = NULL;
	struct err err;

	assert_int_equal(pki_request_read(text, name, &key, &err), -EINVAL);
	assert_non_null(strstr(err.text, word));
	assert_null(key);
	free(text);
}

static void
test_requests(void **state)
{
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new(), *got = NULL;
	const char *n1[] = { "CN", "n1", NULL };
	char *text = pki_request_new(key, "n1", NULL), *long_text;
	struct err err;

	(void)state;
	assert_int_equal(pki_request_read(text, "n1", &got, &err), 0);
	assert_int_equal(EVP_PKEY_eq(got, key), 1);
	EVP_PKEY_free(got);
	/* for another name, with more names, with a wildcard or a blank */
	refused(xstrdup(text), "n2", "name");
	refused(request(key, key, (const char *[]){ "CN", "*", NULL }, NULL),
	    "n1", "name");
	refused(request(key, key, (const char *[]){ "CN", "n1 ", NULL }, NULL),
	    "n1", "name");
	refused(request(key, key,
		    (const char *[]){ "CN", "n1", "CN", "n2", NULL }, NULL),
	    "n1", "name");
	refused(request(key, key,
		    (const char *[]){ "CN", "n1", "OU", "operator", NULL },
		    NULL),
	    "n1", "name");
	refused(request(key, key, (const char *[]){ NULL }, NULL), "n1",
	    "name");
	/* names and uses in addition to the subject */
	refused(request(key, key, n1, "DNS:coalmine-collector"), "n1",
	    "extensions");
	/* a key that is another's, or of another kind */
	refused(request(key, other, n1, NULL), "n1", "signature");
	EVP_PKEY_free(other);
	other = other_key(EVP_PKEY_EC, NID_secp384r1);
	refused(request(other, other, n1, NULL), "n1", "P-256");
	EVP_PKEY_free(other);
	other = other_key(EVP_PKEY_EC, NID_secp256k1);
	refused(request(other, other, n1, NULL), "n1", "P-256");
	EVP_PKEY_free(other);
	other = other_key(EVP_PKEY_RSA, 2048);
	refused(request(other, other, n1, NULL), "n1", "P-256");
	EVP_PKEY_free(other);
	other = other_key(EVP_PKEY_ED25519, 0);
	refused(request(other, other, n1, NULL), "n1", "P-256");
	/* too long, truncated, empty */
	long_text = xcalloc(1, PKI_PEM_MAX + 2);
	memset(long_text, '\n', PKI_PEM_MAX + 1);
	memcpy(long_text, text, strlen(text));
	refused(long_text, "n1", "long");
	refused(xstrndup(text, strlen(text) / 2), "n1", "PEM");
	refused(xstrdup(""), "n1", "PEM");
	free(text);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
}

static X509 *
leaf(const struct pki_authority *ca, enum role role, EVP_PKEY *key)
{
	struct pki_order o = { .name = "n1",
		.role = role,
		.life_s = 400 * PKI_DAY_S };

	return pki_cert_new(ca, &o, key, NULL);
}

/* The authority for enrolment issues certificates for agents, and none for
 * servers. */
static void
test_below(void **state)
{
	struct pki_authority top = authority(), below = { NULL, NULL };
	EVP_PKEY *key = pki_key_new();
	STACK_OF(X509) *chain = sk_X509_new_null();
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	struct err err;
	X509 *cert;

	(void)state;
	below.key = pki_key_new();
	below.cert = pki_authority_new(&top, "enrolment", below.key, PKI_DAY_S,
	    NULL);
	X509_STORE_add_cert(store, top.cert);
	sk_X509_push(chain, below.cert);
	for (int role = 0; role < ROLE_MAX; role++) {
		static const char *const purposes[] = { "ssl_client",
			"ssl_server" };

		cert = leaf(&below, (enum role)role, key);
		/* it outlives no authority */
		assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(cert),
				     X509_get0_notAfter(below.cert)),
		    0);
		for (int p = 0; p < 2; p++) {
			X509_STORE_CTX_init(check, store, cert, chain);
			X509_STORE_CTX_set_default(check, purposes[p]);
			assert_int_equal(X509_verify_cert(check), p == 0);
			if (p == 0)
				assert_int_equal(
				    pki_chain_check(X509_STORE_CTX_get0_chain(
							check),
					(enum role)role, &err),
				    role == ROLE_AGENT ? 0 : -EACCES);
			X509_STORE_CTX_cleanup(check);
		}
		X509_free(cert);
	}
	sk_X509_free(chain);
	X509_STORE_CTX_free(check);
	X509_STORE_free(store);
	EVP_PKEY_free(key);
	pki_authority_close(&top);
	pki_authority_close(&below);
}

static void
test_tokens(void **state)
{
	struct pki_authority ca = authority();
	char one[PKI_TOKEN_TEXT], two[PKI_TOKEN_TEXT], *padded;
	struct pki_token t, u;

	(void)state;
	assert_int_equal(pki_token_new(ca.cert, one, NULL), 0);
	assert_int_equal(pki_token_new(ca.cert, two, NULL), 0);
	assert_int_equal(pki_token_read(one, &t, NULL), 0);
	assert_int_equal(pki_token_read(two, &u, NULL), 0);
	assert_string_equal(t.authority, u.authority);
	assert_string_not_equal(t.digest, u.digest);
	assert_null(strstr(one,
	    t.digest)); /* the stored digest does not reveal the secret */
	padded = xasprintf(" %s\n", one);
	assert_int_equal(pki_token_read(padded, &u, NULL), 0);
	assert_string_equal(t.digest, u.digest);
	free(padded);
	for (size_t i = 0; i < strlen(one); i++) {
		char was = one[i];

		one[i] = 'G';
		assert_int_equal(pki_token_read(one, &u, NULL), -EINVAL);
		one[i] = '\0';
		assert_int_equal(pki_token_read(one, &u, NULL), -EINVAL);
		one[i] = was;
	}
	pki_authority_close(&ca);
}

static void
write_text(const char *path, const char *text)
{
	unlink(path);
	assert_int_equal(file_new(path, 0600, text, NULL), 0);
}

static int
fits_now(const char *key_path, const char *cert_path)
{
	X509 *cert = pki_cert_load(cert_path, NULL);
	EVP_PKEY *key = pki_key_load(key_path, NULL);
	int yes = cert != NULL && key != NULL &&
	    X509_check_private_key(cert, key) == 1;

	X509_free(cert);
	EVP_PKEY_free(key);
	return yes;
}

/* Power failure after each step of the replacement: afterwards the two files
 * match, and are never the old pair after the new one was visible. */
static void
test_cut(void **state)
{
	struct pki_authority ca = authority();
	EVP_PKEY *keys[] = { pki_key_new(), pki_key_new() };
	char dir[] = "/tmp/coalmine-pki-XXXXXX", *text[2], *pem[2];
	char *path[4];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 4; i++)
		path[i] = xasprintf("%s/%s%s", dir, i % 2 == 0 ? "key" : "pem",
		    i < 2 ? "" : ".new");
	for (int i = 0; i < 2; i++) {
		X509 *cert = leaf(&ca, ROLE_AGENT, keys[i]);

		text[i] = pki_key_text(keys[i]);
		pem[i] = pki_certs_text(&cert, 1);
		X509_free(cert);
	}
	for (int step = 0; step < 5; step++) {
		char *got;
		size_t len;

		write_text(path[0], text[0]);
		write_text(path[1], pem[0]);
		if (step > 0)
			write_text(path[2], text[1]);
		if (step > 1)
			write_text(path[3], pem[1]);
		if (step > 2)
			assert_int_equal(rename(path[2], path[0]), 0);
		if (step > 3)
			assert_int_equal(rename(path[3], path[1]), 0);
		pki_pair_recover(path[0], path[1]);
		assert_true(fits_now(path[0], path[1]));
		assert_int_equal(file_read(path[1], 65536, &got, &len, NULL),
		    0);
		assert_string_equal(got, pem[step > 1]);
		free(got);
		unlink(path[2]);
		unlink(path[3]);
	}
	assert_int_equal(pki_pair_replace(path[0], text[0], path[1], pem[0],
			     NULL),
	    0);
	assert_true(fits_now(path[0], path[1]));
	/* a full disk, or here: no folder */
	unlink(path[0]);
	unlink(path[1]);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(pki_pair_replace(path[0], text[0], path[1], pem[0],
			     NULL),
	    -ENOENT);
	for (int i = 0; i < 4; i++)
		free(path[i]);
	for (int i = 0; i < 2; i++) {
		free(text[i]);
		free(pem[i]);
		EVP_PKEY_free(keys[i]);
	}
	pki_authority_close(&ca);
}

static void
own_refused(const char *ca, const char *cert, const char *key, const char *word)
{
	struct err err = { "" };

	assert_int_equal(pki_own_check(ca, cert, key, &err), -EACCES);
	if (strstr(err.text, word) == NULL || strstr(err.text, "/tmp/") == NULL)
		fail_msg("%s lacks %s or its file", err.text, word);
}

/* Certificates that peers would reject are reported with the file; so is a key
 * readable by all. */
static void
test_own(void **state)
{
	struct pki_authority ca = authority(), other = authority();
	char dir[] = "/tmp/coalmine-pki.XXXXXX", *path[4];
	const char *names[] = { "ca", "other", "cert", "key" };
	EVP_PKEY *key = pki_key_new();
	struct pki_order o = { .name = "n1",
		.role = ROLE_AGENT,
		.life_s = PKI_DAY_S };
	X509 *certs[4] = { ca.cert, other.cert, NULL, NULL };
	char *text;

	(void)state;
	assert_non_null(mkdtemp(dir));
	certs[2] = pki_cert_new(&ca, &o, key, NULL);
	for (int i = 0; i < 4; i++) {
		path[i] = xasprintf("%s/%s", dir, names[i]);
		text = i == 3 ? pki_key_text(key)
			      : pki_certs_text(&certs[i], 1);
		assert_int_equal(file_new(path[i], 0600, text, NULL), 0);
		free(text);
	}
	assert_int_equal(pki_own_check(path[0], path[2], path[3], NULL), 0);
	own_refused(path[1], path[2], path[3], "issued by /CN=an authority");
	chmod(path[3], 0644);
	own_refused(path[0], path[2], path[3], "chmod o-rwx");
	X509_free(certs[2]);
	o.life_s = -60;
	certs[2] = pki_cert_new(&ca, &o, key, NULL);
	text = pki_certs_text(&certs[2], 1);
	assert_int_equal(file_replace(path[2], 0600, text, NULL), 0);
	free(text);
	own_refused(path[0], path[2], path[3], "expired at 20");
	for (int i = 0; i < 4; i++) {
		unlink(path[i]);
		free(path[i]);
	}
	rmdir(dir);
	X509_free(certs[2]);
	EVP_PKEY_free(key);
	pki_authority_close(&ca);
	pki_authority_close(&other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
