/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enroll.c - this node asks for a certificate: by a token, of a collector that
 * the token names, or in its session. The key is made here, is on disk before
 * anybody hears of it, and takes its place together with the certificate.
 */
#include "agents/tls/enroll.h"

#include <errno.h>
#include <openssl/err.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "pki/pki.h"
#include "pki/pki_file.h"
#include "pki/pki_munge.h"

#define TOKEN_FILE_MAX 4096
/* Tolerance for clocks: the signer dates its certificates back by as much. */
#define EARLY_S 300
/* Space that must be free for a file: more than a key, or a certificate with
 * its issuer's, needs. */
#define CERT_ROOM 8192

struct enroll {
	const struct conf *conf;
	const char *name;
	char *token;      /* NULL: the session is our word */
	char *token_file; /* it is from there; NULL: from the configuration */
	int by_munge;     /* instead of a token */
	char *key_path;   /* where the key waits */
	EVP_PKEY *key;
	X509 *root; /* the root that the token names, once seen; by munge the
		       one that was shown, trusted with the answer */
};

/* Get the token from the configuration, or from the file that it names; NULL:
 * no token is configured. */
static int
enroll_token_get(struct enroll *e, struct err *err)
{
	const char *text = conf_string(e->conf, "agent", "enroll");
	const char *users = conf_string(e->conf, "agent", "munge_users");
	const char *user = conf_string(e->conf, "children", "user");
	const char *own = conf_string(e->conf, "agent", "user");
	const struct passwd *pw = own[0] != '\0' ? getpwnam(own) : NULL;
	int separate = pw != NULL && pw->pw_uid == geteuid();
	struct pki_token t;
	size_t len;
	int rc;

	if (text[0] == '\0' || (text[0] == '/' && access(text, F_OK) < 0))
		return 0;
	e->by_munge = strcmp(text, "munge") == 0;
	if (e->by_munge && separate)
		return err_set(err, -EINVAL,
		    "%s: agent.enroll = munge: expected agent.user = (empty) "
		    "until this node is enrolled: the collector trusts the "
		    "credentials of root, not of %s",
		    conf_where(e->conf, "agent", "enroll"), own);
	pw = user[0] != '\0' ? getpwnam(user) : NULL;
	/* A user who can write the collector's credential decides which
	 * collector this node trusts, so the user of probes must not be one of
	 * these users. */
	if (e->by_munge && pw != NULL && pki_munge_is_user(users, pw->pw_uid))
		return err_set(err, -EINVAL,
		    "%s: agent.munge_users contains %s, the user of probes "
		    "(children.user): probes could impersonate the collector",
		    conf_where(e->conf, "agent", "munge_users"), user);
	if (e->by_munge)
		return 0;
	if (text[0] == '/') {
		rc = file_read(text, TOKEN_FILE_MAX, &e->token, &len, err);
		if (rc < 0)
			return rc;
		e->token_file = xstrdup(text);
	} else {
		e->token = xstrdup(text);
	}
	rc = pki_token_read(e->token, &t, err);
	if (rc < 0)
		err_say(err, "%s: agent.enroll: %s",
		    conf_where(e->conf, "agent", "enroll"), err->text);
	return rc;
}

/* Try to create, rename and remove a file next to path. */
static int
enroll_store_try(const char *path, const char *text, struct err *err)
{
	char *fresh = xasprintf("%s.new", path);
	char *renamed = xasprintf("%s.try", path);
	int rc;

	unlink(fresh);
	rc = file_new(fresh, 0600, text, err);
	if (rc == 0)
		rc = file_rename_synced(fresh, renamed, err);
	if (rc == 0 && unlink(renamed) < 0)
		rc = err_set(err, -errno, "cannot remove %s: %s", renamed,
		    strerror(errno));
	if (rc < 0)
		unlink(fresh);
	free(renamed);
	free(fresh);
	return rc;
}

/* Fail before a certificate is requested, if it could not be stored: the
 * collector signs a few for a key, then none for an hour. */
static int
enroll_store_check(const struct enroll *e, struct err *err)
{
	static const char *const keys[] = { "key", "cert", "ca" };
	char *blank = xcalloc(1, CERT_ROOM + 1);
	int rc = 0;

	memset(blank, '\n', CERT_ROOM);
	for (size_t i = 0; i < ARRAY_LEN(keys) && rc == 0; i++) {
		const char *path = conf_string(e->conf, "tls", keys[i]);

		if (strcmp(keys[i], "ca") != 0 || access(path, F_OK) < 0)
			rc = enroll_store_try(path, blank, err);
	}
	free(blank);
	if (rc < 0)
		err_say(err, "cannot store a certificate: %s", err->text);
	return rc;
}

/* The key that was asked for before a power cut is asked for again: a token is
 * good for one. */
static int
enroll_key_get(struct enroll *e, struct err *err)
{
	char *text = NULL;
	size_t len;
	int rc;

	rc = file_read(e->key_path, PKI_PEM_MAX, &text, &len, err);
	if (rc < 0 && rc != -ENOENT)
		return rc; /* it may be the key of the used token */
	if (rc == 0) {
		e->key = pki_key_read(text);
		OPENSSL_cleanse(text, len);
		free(text);
	}
	if (e->key != NULL)
		return 0;
	e->key = pki_key_new();
	if (e->key == NULL)
		return pki_fail_ssl(err, "cannot create a key");
	text = pki_key_text(e->key);
	rc = file_replace(e->key_path, 0600, text, err);
	OPENSSL_cleanse(text, strlen(text));
	free(text);
	return rc;
}

static struct enroll *
enroll_begin(const struct conf *c, const char *name)
{
	struct enroll *e = xcalloc(1, sizeof(*e));

	e->conf = c;
	e->name = name;
	e->key_path = xasprintf("%s.ask", conf_string(c, "tls", "key"));
	return e;
}

int
enroll_lacks(const struct conf *c)
{
	const char *path = conf_string(c, "tls", "cert");
	X509 *cert = pki_cert_load(path, NULL);
	int lacks = access(path, F_OK) < 0 && errno == ENOENT;

	if (cert != NULL)
		lacks = pki_unix_s(X509_get0_notAfter(cert)) < time(NULL);
	X509_free(cert);
	return lacks;
}

int
enroll_by_token(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err)
{
	struct enroll *e;
	int rc;

	*ret = NULL;
	if (!enroll_lacks(c))
		return 0;
	e = enroll_begin(c, name);
	rc = enroll_token_get(e, err);
	if (rc == 0 && enroll_is_first(e))
		rc = enroll_key_get(e, err);
	if (rc < 0 || !enroll_is_first(e))
		enroll_free(e);
	else
		*ret = e;
	return rc;
}

int
enroll_again(const struct conf *c, const char *name, struct enroll **ret,
    struct err *err)
{
	struct enroll *e = enroll_begin(c, name);
	int rc = enroll_key_get(e, err);

	if (rc < 0)
		enroll_free(e);
	else
		*ret = e;
	return rc;
}

void
enroll_free(struct enroll *e)
{
	if (e == NULL)
		return;
	if (e->token != NULL)
		OPENSSL_cleanse(e->token, strlen(e->token));
	free(e->token);
	free(e->token_file);
	free(e->key_path);
	EVP_PKEY_free(e->key);
	X509_free(e->root);
	free(e);
}

int
enroll_is_first(const struct enroll *e)
{
	return e != NULL && (e->token != NULL || e->by_munge);
}

/* Is root the one above the peer? */
static int
enroll_verify(SSL *ssl, X509 *root, struct err *err)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	X509 *cert = SSL_get_peer_certificate(ssl);
	int rc = -EACCES, why;

	if (store == NULL || check == NULL || cert == NULL ||
	    X509_STORE_add_cert(store, root) != 1 ||
	    X509_STORE_CTX_init(check, store, cert,
		SSL_get_peer_cert_chain(ssl)) != 1 ||
	    X509_STORE_CTX_set_default(check, "ssl_server") != 1) {
		err_say(err,
		    "cannot set up the verification of the collector's "
		    "certificate");
	} else if (X509_verify_cert(check) == 1) {
		rc = 0;
	} else {
		why = X509_STORE_CTX_get_error(check);
		err_say(err, "cannot verify the collector's certificate: %s%s",
		    X509_verify_cert_error_string(why),
		    why == X509_V_ERR_CERT_NOT_YET_VALID ||
			    why == X509_V_ERR_CERT_HAS_EXPIRED
			? "; check the clock of this node"
			: "");
	}
	ERR_clear_error();
	X509_free(cert);
	X509_STORE_CTX_free(check);
	X509_STORE_free(store);
	return rc;
}

int
enroll_check(struct enroll *e, SSL *ssl, struct err *err)
{
	STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
	char digest[PKI_DIGEST_TEXT];
	struct pki_token t;

	if (!e->by_munge && pki_token_read(e->token, &t, err) < 0)
		return -EINVAL;
	X509_free(e->root);
	e->root = NULL;
	for (int i = 0; i < sk_X509_num(chain) && e->root == NULL; i++) {
		X509 *cert = sk_X509_value(chain, i);

		pki_cert_digest(cert, digest);
		if (e->by_munge ? X509_check_issued(cert, cert) == X509_V_OK
				: strcmp(digest, t.authority) == 0) {
			e->root = cert;
			X509_up_ref(e->root);
		}
	}
	if (e->root == NULL)
		return err_set(err, -EACCES,
		    e->by_munge
			? "the collector sent no self-signed CA certificate"
			: "the collector's CA is not the one in the token");
	return enroll_verify(ssl, e->root, err);
}

/* The text of a munge credential, of this node or of the collector for it. */
static char *
enroll_munge_text(const struct enroll *e, enum role by)
{
	char key[PKI_DIGEST_TEXT], authority[PKI_DIGEST_TEXT];

	pki_key_digest(e->key, key);
	pki_cert_digest(e->root, authority);
	return pki_munge_text(by, e->name, key, authority);
}

json_t *
enroll_message(const struct enroll *e, struct err *err)
{
	char *request;
	json_t *msg;

	if (enroll_store_check(e, err) < 0)
		return NULL;
	request = pki_request_new(e->key, e->name, err);
	if (request == NULL)
		return NULL;
	msg = json_pack("{s:o, s:s}", "node", text_json(e->name), "request",
	    request);
	if (e->token != NULL) {
		char *token = xstrndup(e->token, PKI_TOKEN_TEXT);

		token[strcspn(token, " \t\r\n")] = '\0';
		json_object_set_new(msg, "token", text_json(token));
		free(token);
	}
	if (e->by_munge) {
		char *text = enroll_munge_text(e, ROLE_AGENT);
		char *credential = pki_munge_write(conf_string(e->conf, "agent",
						       "munge_socket"),
		    text, err);

		free(text);
		if (credential == NULL) {
			json_decref(msg);
			msg = NULL;
		} else {
			json_object_set_new(msg, "munge",
			    json_string(credential));
		}
		free(credential);
	}
	free(request);
	return msg;
}

/* An answer must be for our key and name before it replaces what we have. */
static int
enroll_answer_check(const struct enroll *e, STACK_OF(X509) * certs,
    struct err *err)
{
	X509 *cert = sk_X509_value(certs, 0);
	char cn[256];

	if (certs == NULL || X509_check_private_key(cert, e->key) != 1) {
		ERR_clear_error();
		return err_set(err, -EPROTO,
		    "the received certificate does not match the local key");
	}
	if (pki_subject_get(X509_get_subject_name(cert), NID_commonName, cn,
		sizeof(cn)) < 0 ||
	    strcmp(cn, e->name) != 0)
		return err_set(err, -EPROTO,
		    "the received certificate is not for %s", e->name);
	return 0;
}

/* The authority is trusted as the token says, unless the site has put another
 * one there. */
static int
enroll_root_keep(const struct enroll *e, struct err *err)
{
	const char *path = conf_string(e->conf, "tls", "ca");
	char *text;
	int rc;

	if (e->root == NULL || access(path, F_OK) == 0)
		return 0;
	text = pki_certs_text(&e->root, 1);
	rc = file_replace(path, 0644, text, err);
	free(text);
	return rc;
}

int
enroll_answer(struct enroll *e, const json_t *msg, struct err *err)
{
	const char *pem = member_text_or(msg, "cert", NULL);
	STACK_OF(X509) * certs;
	char *key, *text;
	int rc;

	if (pem == NULL)
		return err_set(err, -EACCES,
		    "the collector refused the certificate request: %s",
		    member_text(msg, "text"));
	certs = pki_certs_read(pem);
	rc = enroll_answer_check(e, certs, err);
	/* Has a collector of the munge realm vouched for this authority, node
	 * and key? */
	if (rc == 0 && e->by_munge) {
		text = enroll_munge_text(e, ROLE_COLLECTOR);
		rc = pki_munge_check(conf_string(e->conf, "agent",
					 "munge_socket"),
		    member_text(msg, "munge"), text,
		    conf_string(e->conf, "agent", "munge_users"), err);
		free(text);
	}
	if (rc == 0)
		rc = enroll_root_keep(e, err);
	if (rc == 0) {
		key = pki_key_text(e->key);
		rc = pki_pair_replace(conf_string(e->conf, "tls", "key"), key,
		    conf_string(e->conf, "tls", "cert"), pem, err);
		OPENSSL_cleanse(key, strlen(key));
		free(key);
	}
	sk_X509_pop_free(certs, X509_free);
	if (rc < 0)
		return rc;
	if (unlink(e->key_path) < 0)
		log_warn("cannot remove %s, a copy of the key", e->key_path);
	if (e->token_file != NULL && unlink(e->token_file) < 0)
		log_warn("cannot remove the used token %s", e->token_file);
	return 0;
}

int64_t
enroll_due_unix_s(const X509 *cert)
{
	int64_t from = pki_unix_s(X509_get0_notBefore(cert)) + EARLY_S;
	int64_t to = pki_unix_s(X509_get0_notAfter(cert));

	return to - (to - from) / 3;
}
