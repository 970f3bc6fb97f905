/* SPDX-License-Identifier: Apache-2.0 */
/* A revocation list is valid only for the CA that has signed it, whatever its
 * name, and an older list never replaces a newer one. */
#include "agents/tls/crl.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct pki_authority
authority(void)
{
	struct pki_authority ca = { NULL, pki_key_new() };

	ca.cert = pki_authority_new(NULL, "one name for all", ca.key, PKI_DAY_S,
	    NULL);
	return ca;
}

static X509 *
leaf(const struct pki_authority *ca)
{
	struct pki_order o = { .name = "mgmt",
		.role = ROLE_COLLECTOR,
		.life_s = PKI_DAY_S };
	EVP_PKEY *key = pki_key_new();
	X509 *cert = pki_cert_new(ca, &o, key, NULL);

	EVP_PKEY_free(key);
	return cert;
}

static X509_CRL *
list(const struct pki_authority *ca, X509 *revoked, long at_s)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *at = X509_gmtime_adj(NULL, at_s);

	X509_CRL_set_version(crl, 1);
	X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca->cert));
	X509_CRL_set1_lastUpdate(crl, at);
	X509_CRL_set1_nextUpdate(crl, X509_get0_notAfter(ca->cert));
	if (revoked != NULL) {
		X509_REVOKED *one = X509_REVOKED_new();

		X509_REVOKED_set_serialNumber(one,
		    X509_get_serialNumber(revoked));
		X509_REVOKED_set_revocationDate(one, at);
		X509_CRL_add0_revoked(crl, one);
	}
	assert_true(X509_CRL_sign(crl, ca->key, EVP_sha256()));
	ASN1_TIME_free(at);
	return crl;
}

static void
test_newest(void **state)
{
	struct pki_authority ca = authority();
	struct crl l = { NULL, sk_X509_CRL_new_null(), sk_X509_CRL_new_null() };
	X509 *cert = leaf(&ca), *other = leaf(&ca);
	X509_CRL *older = list(&ca, NULL, -100);
	X509_CRL *newer = list(&ca, cert, -50);

	(void)state;
	assert_int_equal(crl_keep(&l, older, ca.cert), 1);
	assert_int_equal(crl_is_on(l.handed, cert, ca.cert), 0);
	assert_int_equal(crl_keep(&l, newer, ca.cert), 1);
	assert_int_equal(sk_X509_CRL_num(l.handed), 1);
	assert_int_equal(crl_keep(&l, older, ca.cert), 0);
	assert_int_equal(crl_keep(&l, newer, ca.cert), 0);
	assert_int_equal(crl_is_on(l.handed, cert, ca.cert), 1);
	assert_int_equal(crl_is_on(l.handed, other, ca.cert), 0);
	X509_CRL_free(older);
	X509_CRL_free(newer);
	X509_free(cert);
	X509_free(other);
	sk_X509_CRL_pop_free(l.site, X509_CRL_free);
	sk_X509_CRL_pop_free(l.handed, X509_CRL_free);
	pki_authority_close(&ca);
}

static void
test_foreign(void **state)
{
	struct pki_authority ca = authority(), foreign = authority();
	STACK_OF(X509_CRL) *all = sk_X509_CRL_new_null();
	X509 *cert = leaf(&ca);

	(void)state;
	sk_X509_CRL_push(all, list(&foreign, cert, 0));
	assert_false(crl_is_by(sk_X509_CRL_value(all, 0), ca.cert));
	assert_int_equal(crl_is_on(all, cert, ca.cert), 0);
	sk_X509_CRL_push(all, list(&ca, cert, 0));
	assert_int_equal(crl_is_on(all, cert, ca.cert), 1);
	sk_X509_CRL_pop_free(all, X509_CRL_free);
	X509_free(cert);
	pki_authority_close(&ca);
	pki_authority_close(&foreign);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
