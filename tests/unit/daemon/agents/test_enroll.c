/* SPDX-License-Identifier: Apache-2.0 */
/* The validity of tokens, over restarts and incomplete files; which nodes may
 * renew a certificate. */
#include <semaphore.h>
#include <unistd.h>

/* A disk that can be held, and that fails with an errno. */
static int disk_sync(int fd);
#define fdatasync disk_sync
#include "daemon/agents/enroll.c"
#undef fdatasync

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cmocka.h>

static sem_t disk_lets;
static int disk_held, disk_fails;
static unsigned disk_syncs;

static int
disk_sync(int fd)
{
	disk_syncs++;
	if (disk_held)
		sem_wait(&disk_lets);
	errno = disk_fails;
	return disk_fails != 0 ? -1 : fdatasync(fd);
}

static int folder_fails;

/* In place of the C library's. */
int
fsync(int fd)
{
	struct stat st;

	if (folder_fails && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

#define NOW  1800000000
#define HOUR 3600

static char dir[64];
static struct pki_authority ca;

static struct enroll *
open_it(void)
{
	struct pki_authority mine = ca;
	struct enroll *e;

	assert_int_equal(enroll_open(dir, &e, NULL), 0);
	X509_up_ref(ca.cert);
	X509_up_ref(ca.cert);
	EVP_PKEY_up_ref(ca.key);
	enroll_set(e, mine, ca.cert, 90 * PKI_DAY_S);
	return e;
}

static int
setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/coalmine-enroll-XXXXXX");
	assert_non_null(mkdtemp(dir));
	ca.key = pki_key_new();
	ca.cert = pki_authority_new(NULL, "an authority", ca.key,
	    3650 * PKI_DAY_S, NULL);
	return 0;
}

static int
teardown(void **state)
{
	char *path = xasprintf("%s/enrolled", dir);

	(void)state;
	unlink(path);
	free(path);
	rmdir(dir);
	pki_authority_close(&ca);
	return 0;
}

static int
token(struct enroll *e, const char *names, int uses, char ret[PKI_TOKEN_TEXT])
{
	struct enroll_order o = { names, uses, HOUR };

	return enroll_token_new(e, &o, time(NULL), ret, NULL);
}

/* Send one request; a rejection has a reason. */
static int
ask(struct enroll *e, const char *tok, const char *node, EVP_PKEY *key,
    const char *word)
{
	char *request = pki_request_new(key, node, NULL), *pem = NULL;
	struct enroll_ask a = { .node = node,
		.request = request,
		.token = tok,
		.addr = "192.0.2.1" };
	struct err err = { "" };
	int rc = enroll_sign(e, &a, time(NULL), &pem, &err);

	if (word != NULL)
		assert_non_null(strstr(err.text, word));
	assert_int_equal(rc == 0, pem != NULL);
	assert_int_equal(rc == 0, word == NULL);
	if (pem != NULL) {
		STACK_OF(X509) *certs = pki_certs_read(pem);

		assert_int_equal(sk_X509_num(certs), 1); /* not the root */
		assert_int_equal(X509_check_private_key(sk_X509_value(certs, 0),
				     key),
		    1);
		sk_X509_pop_free(certs, X509_free);
	}
	free(pem);
	free(request);
	return rc;
}

static void
test_tokens(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *k[4];
	char one[PKI_TOKEN_TEXT], list[PKI_TOKEN_TEXT], any[PKI_TOKEN_TEXT];

	(void)state;
	for (int i = 0; i < 4; i++)
		k[i] = pki_key_new();
	assert_int_equal(token(e, "n1", 0, one), 0);
	assert_int_equal(token(e, "n[2-3]", 0, list), 0);
	assert_int_equal(token(e, "*", 2, any), 0);
	assert_int_equal(token(e, "n[1", 0, one), -EINVAL);
	ask(e, one, "n2", k[0], "not permit this node");
	ask(e, one, "n1", k[0], NULL);
	ask(e, one, "n1", k[1], "used for n1");
	/* the same key again, as after a power cut; also after ours */
	enroll_close(e);
	e = open_it();
	ask(e, one, "n1", k[0], NULL);
	ask(e, one, "n1", k[1], "used for n1");
	ask(e, list, "n2", k[1], NULL);
	ask(e, list, "n2", k[2], "used for n2");
	ask(e, list, "n3", k[2], NULL);
	ask(e, list, "n4", k[3], "not permit this node");
	ask(e, any, "x1", k[1], NULL);
	ask(e, any, "x1", k[1], NULL); /* counts once */
	enroll_close(e);
	e = open_it();
	ask(e, any, "x2", k[2], NULL);
	ask(e, any, "x3", k[3], "already used");
	ask(e, any, "x1", k[1], NULL);
	/* invalid names */
	ask(e, any, "x*", k[1], "invalid node name");
	ask(e, any,
	    "a23456789012345678901234567890123456789012345678901234567890",
	    k[3], "already used");
	for (int i = 0; i < 4; i++)
		EVP_PKEY_free(k[i]);
	enroll_close(e);
}

static void
test_expired(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	char text[PKI_TOKEN_TEXT];
	struct enroll_order o = { "n1", 0, 1 };

	(void)state;
	assert_int_equal(enroll_token_new(e, &o, time(NULL) - 10, text, NULL),
	    0);
	ask(e, text, "n1", key, "expired");
	enroll_close(e);
	e = open_it();
	ask(e, text, "n1", key, "expired");
	assert_int_equal(enroll_token_new(e, &o, time(NULL) - TOKEN_KEPT_S - 10,
			     text, NULL),
	    0);
	enroll_close(e);
	e = open_it(); /* it is not even kept */
	ask(e, text, "n1", key, "unknown token");
	o.life_s = 31 * PKI_DAY_S;
	assert_int_equal(enroll_token_new(e, &o, NOW, text, NULL), -EINVAL);
	EVP_PKEY_free(key);
	enroll_close(e);
}

/* Wrong tokens of an address are limited; a valid one from there is not. */
static void
test_guesses(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	char text[PKI_TOKEN_TEXT], guess[PKI_TOKEN_TEXT];
	char *request = pki_request_new(key, "n1", NULL), *pem;
	struct enroll_ask a = { .node = "n1",
		.request = request,
		.token = text,
		.addr = "192.0.2.2" };

	(void)state;
	assert_int_equal(token(e, "n1", 0, text), 0);
	for (int i = 0; i < WRONG_MAX; i++) {
		pki_token_new(ca.cert, guess, NULL);
		ask(e, guess, "n1", key, "unknown token");
	}
	pki_token_new(ca.cert, guess, NULL);
	ask(e, guess, "n1", key, "too many wrong tokens");
	ask(e, text, "n1", key, NULL);
	assert_int_equal(enroll_sign(e, &a, time(NULL), &pem, NULL), 0);
	free(pem);
	a.addr = "192.0.2.1"; /* a minute later */
	assert_int_equal(enroll_sign(e, &a, time(NULL) + 61, &pem, NULL), 0);
	free(pem);
	free(request);
	EVP_PKEY_free(key);
	enroll_close(e);
}

/* To scontrol the name all is every node. */
static void
test_name_of_all(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	char text[PKI_TOKEN_TEXT];

	(void)state;
	assert_int_equal(token(e, "*", 1, text), 0);
	ask(e, text, "ALL", key, "not all");
	ask(e, text, "all", key, "not all");
	ask(e, text, "all1", key, NULL);
	EVP_PKEY_free(key);
	enroll_close(e);
}

/* A token for any name cannot be used for the name of a connected node. */
static void
test_connected(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	char text[PKI_TOKEN_TEXT], *pem;
	char *request = pki_request_new(key, "n1", NULL);
	struct enroll_ask a = { .node = "n1",
		.request = request,
		.token = text,
		.addr = "::1",
		.connected = 1 };

	(void)state;
	assert_int_equal(token(e, "*", 1, text), 0);
	assert_int_equal(enroll_sign(e, &a, time(NULL), &pem, NULL), -EACCES);
	a.connected = 0;
	assert_int_equal(enroll_sign(e, &a, time(NULL), &pem, NULL), 0);
	free(pem);
	free(request);
	EVP_PKEY_free(key);
	enroll_close(e);
}

/* A reply that is not on disk yet was not sent: the token stays valid. */
static void
test_disk_full(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new();
	struct rlimit was, none;
	char text[PKI_TOKEN_TEXT];

	(void)state;
	assert_int_equal(token(e, "n1", 0, text), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	none = was;
	none.rlim_cur = (rlim_t)lseek(e->fd, 0, SEEK_END) + 50;
	setrlimit(RLIMIT_FSIZE, &none);
	ask(e, text, "n1", key, "enrolled");
	setrlimit(RLIMIT_FSIZE, &was);
	ask(e, text, "n1", other, NULL);
	enroll_close(e);
	e = open_it();
	ask(e, text, "n1", key, "used for n1");
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	enroll_close(e);
}

/* The power went while a line was written. */
static void
test_torn(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new();
	char text[PKI_TOKEN_TEXT];

	(void)state;
	assert_int_equal(token(e, "n1", 0, text), 0);
	ask(e, text, "n1", key, NULL);
	assert_int_equal(write(e->fd, "{\"name\":\"n2\",", 13), 13);
	enroll_close(e);
	e = open_it();
	ask(e, text, "n1", other, "used for n1");
	assert_int_equal(token(e, "n2", 0, text), 0);
	enroll_close(e);
	e = open_it(); /* the next line is whole */
	ask(e, text, "n2", other, NULL);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	enroll_close(e);
}

static void
test_renewal(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	struct pki_order o = { .name = "n1",
		.role = ROLE_AGENT,
		.life_s = 100 * PKI_DAY_S };
	X509 *old = pki_cert_new(&ca, &o, key, NULL);
	char *request = pki_request_new(key, "n1", NULL), *pem;
	struct enroll_ask a = { .node = "n1",
		.request = request,
		.addr = "::1",
		.old = old };
	int64_t now = time(NULL), late = now + 51 * PKI_DAY_S;
	struct err err;

	(void)state;
	assert_int_equal(enroll_sign(e, &a, now + 49 * PKI_DAY_S, &pem, &err),
	    -EACCES);
	/* A node that cannot store its certificate repeats the request. */
	for (int i = 0; i < 3 * SAME_KEY_MAX; i++) {
		int64_t hour = late + i / SAME_KEY_MAX * SAME_KEY_S;

		assert_int_equal(enroll_sign(e, &a, hour, &pem, &err), 0);
		free(pem);
		if (i % SAME_KEY_MAX == SAME_KEY_MAX - 1)
			assert_int_equal(enroll_sign(e, &a, hour, &pem, &err),
			    -EBUSY);
	}
	assert_non_null(strstr(err.text, "within an hour"));
	late += 3 * SAME_KEY_S;
	for (int i = 1; i <= ENROLL_ALIVE_MAX; i++) {
		EVP_PKEY *other = pki_key_new();
		char *fresh = pki_request_new(other, "n1", NULL);

		a.request = fresh;
		assert_int_equal(enroll_sign(e, &a, late, &pem, &err),
		    i < ENROLL_ALIVE_MAX ? 0 : -EACCES);
		if (i < ENROLL_ALIVE_MAX)
			free(pem);
		free(fresh);
		EVP_PKEY_free(other);
	}
	assert_non_null(strstr(err.text, "coalctl pki revoke"));
	a.request = request; /* a known key */
	assert_int_equal(enroll_sign(e, &a, late, &pem, &err), 0);
	free(pem);
	a.node = "n2"; /* the request is for another */
	assert_int_equal(enroll_sign(e, &a, late, &pem, &err), -EINVAL);
	X509_free(old);
	free(request);
	EVP_PKEY_free(key);
	enroll_close(e);
}

static void
test_off(void **state)
{
	struct enroll *e;
	char text[PKI_TOKEN_TEXT];
	struct enroll_order o = { "n1", 0, HOUR };
	struct enroll_ask a = { .node = "n1", .request = "", .token = "" };
	char *pem;

	(void)state;
	assert_int_equal(enroll_open(dir, &e, NULL), 0);
	assert_false(enroll_is_on(e));
	assert_int_equal(enroll_token_new(e, &o, NOW, text, NULL), -EPERM);
	assert_int_equal(enroll_sign(e, &a, NOW, &pem, NULL), -EPERM);
	enroll_close(e);
	assert_false(enroll_is_on(NULL));
}

#define MANY 20

static int told[MANY], told_count;

static void
told_cb(int status, void *arg)
{
	*(int *)arg = status;
	told_count++;
}

/* No reply is sent before the disk has the change, the loop never waits for the
 * disk, and all requests during a sync share the next one. Changes that the
 * disk rejects are void. */
static void
test_together(void **state)
{
	struct event_base *base = event_base_new();
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new();
	char text[PKI_TOKEN_TEXT], node[16];

	(void)state;
	assert_int_equal(sem_init(&disk_lets, 0, 0), 0);
	assert_int_equal(enroll_start(e, base), 0);
	assert_int_equal(token(e, "n[0-30]", 0, text), 0);
	disk_held = 1;
	disk_syncs = 0;
	for (int i = 0; i < MANY; i++) {
		snprintf(node, sizeof(node), "n%d", i);
		ask(e, text, node, key, NULL);
		enroll_when_synced(e, told_cb, &told[i]);
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
	}
	assert_int_equal(told_count, 0);
	sem_post(&disk_lets);
	sem_post(&disk_lets);
	while (told_count < MANY)
		(void)event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(disk_syncs, 2);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(told[i], 0);
	disk_held = 0;
	disk_fails = EIO;
	ask(e, text, "n30", key, NULL);
	ask(e, text, "n30", other, "used for n30");
	enroll_when_synced(e, told_cb, &told[0]);
	while (told_count == MANY)
		(void)event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(told[0], -EIO);
	disk_fails = 0;
	ask(e, text, "n30", other, NULL);
	ask(e, text, "n0", other, "used for n0");
	enroll_when_synced(e, told_cb, &told[0]);
	enroll_close(e);
	assert_int_equal(told[0], -ECANCELED);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	event_base_free(base);
}

static off_t
size_of(const struct enroll *e)
{
	struct stat st;

	assert_int_equal(stat(e->path, &st), 0);
	return st.st_size;
}

static void
line_of(struct enroll *e, const char *name, int64_t end_unix_s)
{
	char digest[PKI_DIGEST_TEXT];

	memset(digest, 'a', sizeof(digest) - 1);
	digest[sizeof(digest) - 1] = '\0';
	assert_int_equal(enroll_line_write(e,
			     json_pack("{s:s, s:s, s:I}", "name", name, "key",
				 digest, "end_unix_s", (json_int_t)end_unix_s),
			     0, NULL),
	    0);
	enroll_issued_add(e, name, digest, NULL, end_unix_s);
	e->kept_count = e->issued_count;
}

/* Expired entries leave the file of a collector that runs on, and certificates
 * issued meanwhile stay in it. */
static void
test_rewritten(void **state)
{
	struct event_base *base = event_base_new();
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new();
	struct enroll_order o = { "n1", 0, 1 };
	char list[PKI_TOKEN_TEXT], late[PKI_TOKEN_TEXT], node[16];
	int64_t now = time(NULL);
	off_t full;
	int last = 1;

	(void)state;
	told_count = 0;
	assert_int_equal(enroll_start(e, base), 0);
	assert_int_equal(token(e, "n[0-999]", 0, list), 0);
	assert_int_equal(enroll_token_new(e, &o, now - TOKEN_KEPT_S - 10, late,
			     NULL),
	    0);
	ask(e, list, "n0", key, NULL);
	line_of(e, "alive", now + 1000);
	for (int i = 0; i < ENDED_MIN - 2; i++)
		line_of(e, "over", now - 1);
	enroll_when_synced(e, told_cb, &told[0]);
	while (told_count == 0)
		(void)event_base_loop(base, EVLOOP_ONCE);
	full = size_of(e);
	enroll_prune(e, now); /* fewer than ENDED_MIN */
	assert_int_equal(e->issued_count, 2);
	line_of(e, "over", now - 1);
	enroll_prune(e, now);
	do { /* n1 at least, also where the file was rewritten at once */
		if (last < 200) {
			snprintf(node, sizeof(node), "n%d", last++);
			ask(e, list, node, key, NULL);
			told_count = 0;
			enroll_when_synced(e, told_cb, &told[0]);
		}
		while (told_count == 0)
			(void)event_base_loop(base, EVLOOP_ONCE);
		assert_int_equal(told[0], 0);
	} while (size_of(e) > full / 2);
	/* the new file is the one that is written */
	ask(e, list, "n999", key, NULL);
	enroll_close(e);
	e = open_it();
	ask(e, list, "n0", other, "used for n0");
	ask(e, list, "n1", other, "used for n1");
	ask(e, list, "n999", other, "used for n999");
	ask(e, late, "n1", key, "unknown token");
	assert_int_equal(e->token_count, 1);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	enroll_close(e);
	event_base_free(base);
}

/* A file of any size is read. */
/* The folder cannot be synced after the rewritten file has got its name: lines
 * that follow are written into the file of that name. */
static void
test_rewritten_folder_fails(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new();
	char text[PKI_TOKEN_TEXT];
	struct err err;

	(void)state;
	assert_int_equal(token(e, "n1", 0, text), 0);
	folder_fails = 1;
	assert_int_equal(enroll_rewrite(e, time(NULL), &err), -EIO);
	folder_fails = 0;
	assert_int_equal(token(e, "n2", 0, text), 0);
	enroll_close(e);
	e = open_it();
	ask(e, text, "n2", key, NULL);
	EVP_PKEY_free(key);
	enroll_close(e);
}

static void
test_huge(void **state)
{
	struct enroll *e = open_it();
	EVP_PKEY *key = pki_key_new(), *other = pki_key_new();
	char text[PKI_TOKEN_TEXT];

	(void)state;
	assert_int_equal(token(e, "n1", 0, text), 0);
	assert_int_equal(ftruncate(e->fd, (off_t)257 * 1024 * 1024), 0);
	assert_int_equal(write(e->fd, "\n", 1), 1);
	ask(e, text, "n1", key, NULL);
	enroll_close(e);
	e = open_it();
	ask(e, text, "n1", other, "used for n1");
	assert_true(size_of(e) < 10000);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	enroll_close(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tokens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expired, setup, teardown),
		cmocka_unit_test_setup_teardown(test_guesses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_name_of_all, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_connected, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_disk_full, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_renewal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rewritten, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_rewritten_folder_fails,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(test_huge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
