/* SPDX-License-Identifier: Apache-2.0 */
/* An invalid request ends the broker before it does anything, and a valid one
 * arrives unchanged. */
#include "agents/process/broker.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static int starts, cleans, empties;
static char seen[200];

static int
start(const struct child_spec *spec, const int fds[CHILD_FDS], void *arg)
{
	(void)arg;
	starts++;
	assert_true(fcntl(fds[0], F_GETFD) & FD_CLOEXEC);
	if (spec->run == NULL) {
		assert_int_equal(fds[CHILD_FD_ENV], -1);
		snprintf(seen, sizeof(seen), "idle");
		return -EPERM;
	}
	snprintf(seen, sizeof(seen), "%s %lld %llu %d %s %s %s %s", spec->run,
	    (long long)spec->id, (unsigned long long)spec->deadline_ms,
	    spec->pass, spec->path, spec->cpus != NULL ? spec->cpus : "-",
	    spec->argv[0], spec->argv[1] != NULL ? spec->argv[1] : "-");
	return -EPERM;
}

static void
clean(const char *run, int64_t child, void *arg)
{
	(void)arg;
	cleans++;
	snprintf(seen, sizeof(seen), "%s %lld", run, (long long)child);
}

static void
empty(const char *run, void *arg)
{
	(void)arg;
	empties++;
	snprintf(seen, sizeof(seen), "%s", run);
}

static void
shm(void *arg)
{
	(void)arg;
	empties++;
}

static const struct broker_ops ops = { start, clean, empty, shm };

/* Serve all requests in the socket, up to its end. */
static int
serve(int sv[2], struct err *err)
{
	int rc;

	shutdown(sv[0], SHUT_WR);
	err->text[0] = '\0';
	rc = broker_serve(sv[1], &ops, NULL, err);
	close(sv[0]);
	close(sv[1]);
	return rc;
}

static void
pair(int sv[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			     sv),
	    0);
	starts = cleans = empties = 0;
}

struct row {
	const char *text; /* of the error */
	unsigned kind;
	const char *run; /* NULL: one without an end */
	const char *words;
	size_t words_len;
	int child;
	size_t fds;
	long more;  /* bytes beyond those that words_bytes states */
	size_t cut; /* bytes of the packet; 0: all */
};

#define HEAD     sizeof(struct broker_request)
#define WORDS(w) w, sizeof(w)
#define TRUE     WORDS("/bin/true\0\0true")
#define NONE     "", 0

static const struct row rows[] = {
	{ "packet of 1 bytes", BROKER_START, "r1", TRUE, 0, 4, 0, 1 },
	{ "packet of", BROKER_START, "r1", TRUE, 0, 4, 0, HEAD - 1 },
	{ "unknown kind 5", BROKER_KINDS, "r1", TRUE, 0, 4, 0, 0 },
	{ "unknown kind 4294967295", ~0u, "r1", TRUE, 0, 4, 0, 0 },
	{ "of words in a packet", BROKER_START, "r1", TRUE, 0, 4, 1, 0 },
	{ "of words in a packet", BROKER_START, "r1", TRUE, 0, 4, -1, 0 },
	{ "words without an end", BROKER_START, "r1", "/bin/true\0\0true", 15,
	    0, 4, 0, 0 },
	{ "words are missing", BROKER_START, "r1", WORDS("/bin/true\0"), 0, 4,
	    0, 0 },
	{ "words are missing", BROKER_START, "r1", NONE, 0, 4, 0, 0 },
	{ "not a path", BROKER_START, "r1", WORDS("true\0\0true"), 0, 4, 0, 0 },
	{ "not a path", BROKER_START, "r1", WORDS("\0\0"), 0, 4, 0, 0 },
	{ "3 descriptors", BROKER_START, "r1", TRUE, 0, 3, 0, 0 },
	{ "0 descriptors", BROKER_START, "r1", TRUE, 0, 0, 0, 0 },
	{ "6 descriptors", BROKER_START, "r1", TRUE, 0, 6, 0, 0 },
	{ "packet too long", BROKER_START, "r1", TRUE, 0, 9, 0, 0 },
	{ "malformed run id", BROKER_START, "", TRUE, 0, 4, 0, 0 },
	{ "malformed run id", BROKER_START, "../x", TRUE, 0, 4, 0, 0 },
	{ "malformed run id", BROKER_START, "-x", TRUE, 0, 4, 0, 0 },
	{ "run id without an end", BROKER_START, NULL, TRUE, 0, 4, 0, 0 },
	{ "out of range", BROKER_START, "r1", TRUE, -1, 4, 0, 0 },
	{ "out of range", BROKER_START, "r1", TRUE, CHILD_MAX + 1, 4, 0, 0 },
	{ "unexpected run id", BROKER_IDLE, "r1", NONE, 0, 3, 0, 0 },
	{ "unexpected words", BROKER_IDLE, "", TRUE, 0, 3, 0, 0 },
	{ "4 descriptors", BROKER_IDLE, "", NONE, 0, 4, 0, 0 },
	{ "malformed run id", BROKER_CLEAN, "r1/../..", NONE, 0, 0, 0, 0 },
	{ "out of range", BROKER_CLEAN, "r1", NONE, -2, 0, 0, 0 },
	{ "1 descriptors", BROKER_CLEAN, "r1", NONE, 0, 1, 0, 0 },
	{ "malformed run id", BROKER_EMPTY, "", NONE, 0, 0, 0, 0 },
	{ "unexpected words", BROKER_EMPTY, "r1", TRUE, 0, 0, 0, 0 },
	{ "unexpected run id", BROKER_SHM, "r1", NONE, 0, 0, 0, 0 },
};

static void
row_send(int fd, const struct row *row)
{
	static char text[sizeof(struct broker_request) + 100];
	union {
		char bytes[CMSG_SPACE(sizeof(int) * 9)];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct broker_request r = { .kind = row->kind, .child = row->child };
	struct iovec iov = { text, sizeof(r) + row->words_len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[9];

	r.words_bytes = (uint32_t)((long)row->words_len + row->more);
	if (row->run != NULL)
		broker_run_put(&r, row->run);
	else
		memset(r.run, 'r', sizeof(r.run));
	memcpy(text, &r, sizeof(r));
	if (row->words_len > 0)
		memcpy(text + sizeof(r), row->words, row->words_len);
	if (row->cut > 0)
		iov.iov_len = row->cut;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = STDERR_FILENO;
	if (row->fds > 0) {
		struct cmsghdr *c;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * row->fds);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * row->fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * row->fds);
	}
	assert_int_equal(sendmsg(fd, &msg, MSG_NOSIGNAL), iov.iov_len);
}

static int
fds_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 100; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
test_invalid(void **state)
{
	static const struct row right = { "", BROKER_START, "r1", TRUE, 0, 4, 0,
		0 };
	int before = fds_open();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err;
		int sv[2];

		pair(sv);
		row_send(sv[0], &rows[i]);
		row_send(sv[0], &right);
		assert_int_equal(serve(sv, &err), -EPROTO);
		if (strstr(err.text, rows[i].text) == NULL)
			fail_msg("row %zu: %s, expected %s", i, err.text,
			    rows[i].text);
		assert_int_equal(starts + cleans + empties, 0);
		assert_int_equal(fds_open(), before);
	}
}

/* The words of a packet that is as long as possible, and of one beyond. */
static void
test_long(void **state)
{
	size_t most = BROKER_PACKET_MAX - sizeof(struct broker_request) -
	    strlen("/bin/true") - 3;
	char *word = xcalloc(1, most + 2), *argv[] = { word, NULL };
	int fds[CHILD_FDS] = { 2, 2, 2, 2, -1 }, sv[2];
	struct child_spec spec = { .path = "/bin/true",
		.argv = argv,
		.run = "r1" };
	struct err err;

	(void)state;
	pair(sv);
	spec.broker = sv[0];
	memset(word, 'x', most + 1);
	assert_int_equal(broker_start(&spec, fds), -E2BIG);
	word[most] = '\0';
	assert_int_equal(broker_start(&spec, fds), 0);
	assert_int_equal(serve(sv, &err), 0);
	assert_int_equal(starts, 1);
	free(word);
}

/* The broker carries out valid requests. */
static void
test_valid(void **state)
{
	char *argv[] = { (char *)"sh", (char *)"-c", NULL };
	int fds[CHILD_FDS] = { 2, 2, -1, 2, 2 }, sv[2], control[2];
	struct child_spec spec = { .path = "/bin/sh",
		.argv = argv,
		.cpus = "0-3",
		.run = "r-1",
		.id = 7,
		.deadline_ms = 5 };
	char text[200];
	struct err err;
	ssize_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
	fds[CONTROL_INDEX] = control[1];
	pair(sv);
	spec.broker = sv[0];
	assert_int_equal(broker_start(&spec, fds), 0);
	assert_int_equal(serve(sv, &err), 0);
	assert_string_equal(seen, "r-1 7 5 1 /bin/sh 0-3 sh -c");
	n = read(control[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text,
	    "failed cannot start coalmine-keeper: "
	    "Operation not permitted\n");
	pair(sv);
	spec.broker = sv[0];
	spec.run = NULL;
	fds[CHILD_FD_ENV] = -1;
	assert_int_equal(broker_start(&spec, fds), 0);
	assert_int_equal(serve(sv, &err), 0);
	assert_string_equal(seen, "idle");
	close(control[0]);
	close(control[1]);
}

static void
test_replies(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	fd = broker_fork(&ops, NULL, &pid);
	assert_true(fd > 0);
	broker_ask(fd, BROKER_CLEAN, "r1", 3);
	broker_ask(fd, BROKER_EMPTY, "r1", -1);
	broker_ask(fd, BROKER_SHM, "", -1);
	close(fd); /* it ends with us */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
