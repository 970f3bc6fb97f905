/* SPDX-License-Identifier: Apache-2.0 */
/* The certificates that an agent presents: its own and the intermediate ones.
 * It omits the root: the collector would keep a copy for each agent. */
#include "agents/tls/tls.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/options.h"

#define DAY_S 86400L

static char *
put(const char *dir, const char *name, char *text)
{
	char *path = xasprintf("%s/%s", dir, name);

	assert_int_equal(file_new(path, 0600, text, NULL), 0);
	free(text);
	return path;
}

/* How many certificates are sent behind the agent's own. */
static int
sent(const struct pki_authority *signer, X509 *root, int in_file)
{
	struct pki_order o = { .name = "n1",
		.role = ROLE_AGENT,
		.life_s = DAY_S };
	char dir[] = "/tmp/coalmine-tls-XXXXXX", *ca, *cert, *key;
	EVP_PKEY *own = pki_key_new();
	X509 *both[] = { pki_cert_new(signer, &o, own, NULL), signer->cert };
	STACK_OF(X509) *chain = NULL;
	struct conf *c;
	struct err err;
	SSL_CTX *ctx;
	int count;

	assert_non_null(mkdtemp(dir));
	ca = put(dir, "ca", pki_certs_text(&root, 1));
	cert = put(dir, "cert", pki_certs_text(both, in_file ? 2 : 1));
	key = put(dir, "key", pki_key_text(own));
	assert_int_equal(conf_parse(options_agent, "test", "", &c, NULL), 0);
	conf_set(c, "tls", "ca", ca, "test", NULL);
	conf_set(c, "tls", "cert", cert, "test", NULL);
	conf_set(c, "tls", "key", key, "test", NULL);
	assert_int_equal(tls_load(c, &ctx, &err), 0);
	conf_free(c);
	SSL_CTX_get0_chain_certs(ctx, &chain);
	assert_non_null(chain); /* else OpenSSL makes one up, with the root */
	count = sk_X509_num(chain);
	SSL_CTX_free(ctx);
	X509_free(both[0]);
	EVP_PKEY_free(own);
	unlink(ca);
	unlink(cert);
	unlink(key);
	free(ca);
	free(cert);
	free(key);
	rmdir(dir);
	return count;
}

static void
test_chain(void **state)
{
	struct pki_authority root = { .key = pki_key_new() };
	struct pki_authority below = { .key = pki_key_new() };
	struct pki_authority other = { .key = pki_key_new() };

	(void)state;
	root.cert = pki_authority_new(NULL, "root", root.key, DAY_S, NULL);
	other.cert = pki_authority_new(NULL, "other", other.key, DAY_S, NULL);
	below.cert = pki_authority_new(&root, "below", below.key, DAY_S, NULL);
	assert_int_equal(sent(&root, root.cert, 0), 0);
	assert_int_equal(sent(&root, root.cert, 1), 0);
	assert_int_equal(sent(&below, root.cert, 1), 1);
	/* it does not know that this is the collector's authority */
	assert_int_equal(sent(&root, other.cert, 0), 0);
	assert_int_equal(sent(&below, other.cert, 1), 1);
	pki_authority_close(&root);
	pki_authority_close(&below);
	pki_authority_close(&other);
}

/* An agent that cannot store a certificate requests none. */
static void
test_storable(void **state)
{
	static const struct {
		const char *cert;
		rlim_t most_bytes;
		int fails;
	} rows[] = { { "cert", RLIM_INFINITY, 0 }, { "cert", 4096, 1 },
		{ "missing/cert", RLIM_INFINITY, 1 },
		{ "cert", RLIM_INFINITY, 0 } };
	char dir[] = "/tmp/coalmine-tls-XXXXXX", *ask, *key, *ca;
	struct rlimit rl;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_non_null(mkdtemp(dir));
	key = xasprintf("%s/key", dir);
	ask = xasprintf("%s.ask", key);
	ca = xasprintf("%s/ca", dir);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *cert = xasprintf("%s/%s", dir, rows[i].cert);
		struct enroll *e;
		struct err err = { "" };
		struct conf *c;
		json_t *msg;

		assert_int_equal(conf_parse(options_agent, "test", "", &c,
				     NULL),
		    0);
		conf_set(c, "tls", "ca", ca, "test", NULL);
		conf_set(c, "tls", "cert", cert, "test", NULL);
		conf_set(c, "tls", "key", key, "test", NULL);
		assert_int_equal(enroll_again(c, "n1", &e, &err), 0);
		getrlimit(RLIMIT_FSIZE, &rl);
		rl.rlim_cur = rows[i].most_bytes;
		setrlimit(RLIMIT_FSIZE, &rl);
		msg = enroll_message(e, &err);
		rl.rlim_cur = RLIM_INFINITY;
		setrlimit(RLIMIT_FSIZE, &rl);
		assert_int_equal(msg == NULL, rows[i].fails);
		if (rows[i].fails)
			assert_non_null(
			    strstr(err.text, "cannot store a certificate: "));
		json_decref(msg);
		enroll_free(e);
		conf_free(c);
		free(cert);
	}
	unlink(ask);
	free(ask);
	free(key);
	free(ca);
	assert_int_equal(rmdir(dir), 0); /* no other file is left */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_storable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
