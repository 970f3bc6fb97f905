/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.c - the network process may be under control of an attacker, so each
 * member of a request is checked before its first use, and what a request does
 * follows from the broker's own configuration wherever possible.
 */
#include "agents/process/broker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define FDS_ROOM      8     /* of a packet; even, so that no padding has one */
#define CHILD_MAX     65535 /* number of a child in its run */
#define START_WORDS   3     /* program, CPUs, argv[0] */
#define CONTROL_INDEX 2     /* of the control socket in fds */

/* What the packets of each kind have. */
static const struct {
	size_t fds_min, fds_max, words_min;
	int has_run;
} kinds[BROKER_KINDS] = {
	[BROKER_START] = { 4, 5, START_WORDS, 1 },
	[BROKER_IDLE] = { 3, 3, 0, 0 },
	[BROKER_CLEAN] = { 0, 0, 0, 1 },
	[BROKER_EMPTY] = { 0, 0, 0, 1 },
	[BROKER_SHM] = { 0, 0, 0, 0 },
};

/* A packet that was received. The words point into text. */
struct packet {
	struct broker_request head;
	char *words[BROKER_WORDS_MAX + 1]; /* NULL-ended */
	int fds[FDS_ROOM];                 /* -1: none */
	size_t fd_count;
	char text[BROKER_PACKET_MAX];
};

static int
broker_words_split(struct packet *p, struct err *err)
{
	char *at = p->text + sizeof(p->head);
	char *end = at + p->head.words_bytes;
	size_t count = 0;

	if (at < end && end[-1] != '\0')
		return err_set(err, -EPROTO, "words without an end");
	for (; at < end; at += strlen(at) + 1) {
		if (count == BROKER_WORDS_MAX)
			return err_set(err, -EPROTO, "too many words");
		p->words[count++] = at;
	}
	p->words[count] = NULL;
	if (kinds[p->head.kind].words_min == 0)
		return count == 0 ? 0
				  : err_set(err, -EPROTO, "unexpected words");
	if (count < kinds[p->head.kind].words_min)
		return err_set(err, -EPROTO, "words are missing");
	if (p->words[0][0] != '/')
		return err_set(err, -EPROTO, "the program is not a path");
	return 0;
}

static int
broker_run_check(const struct broker_request *r, struct err *err)
{
	size_t len = strnlen(r->run, sizeof(r->run));

	if (len == sizeof(r->run))
		return err_set(err, -EPROTO, "run id without an end");
	if (!kinds[r->kind].has_run)
		return len == 0 ? 0
				: err_set(err, -EPROTO, "unexpected run id");
	if (record_run_check(r->run) < 0)
		return err_set(err, -EPROTO, "malformed run id");
	if (r->child < (r->kind == BROKER_START ? 0 : -1) ||
	    r->child > CHILD_MAX)
		return err_set(err, -EPROTO, "child number out of range");
	return 0;
}

/* Check a packet of len bytes, and find its words. */
static int
broker_packet_check(struct packet *p, size_t len, struct err *err)
{
	struct broker_request *r = &p->head;

	if (len < sizeof(*r))
		return err_set(err, -EPROTO, "packet of %zu bytes", len);
	memcpy(r, p->text, sizeof(*r));
	if (r->kind >= BROKER_KINDS)
		return err_set(err, -EPROTO, "unknown kind %u", r->kind);
	if (r->words_bytes != len - sizeof(*r))
		return err_set(err, -EPROTO,
		    "%u bytes of words in a packet of %zu bytes",
		    r->words_bytes, len);
	if (p->fd_count < kinds[r->kind].fds_min ||
	    p->fd_count > kinds[r->kind].fds_max)
		return err_set(err, -EPROTO, "%zu descriptors", p->fd_count);
	if (broker_run_check(r, err) < 0)
		return -EPROTO;
	return broker_words_split(p, err);
}

/* Receive the next packet: its length; 0 at the end of file; -errno. */
static ssize_t
broker_packet_read(int fd, struct packet *p, struct err *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * FDS_ROOM)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { p->text, sizeof(p->text) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t len = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	p->fd_count = 0;
	for (size_t i = 0; i < FDS_ROOM; i++)
		p->fds[i] = -1;
	if (len < 0)
		return errno == ECONNRESET ? 0 : -errno;
	for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    count > FDS_ROOM)
			continue;
		memcpy(p->fds, CMSG_DATA(c), count * sizeof(int));
		p->fd_count = count;
	}
	if (msg.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
		return err_set(err, -EPROTO, "packet too long");
	return len;
}

static void
broker_start_failed(int control, const char *why)
{
	char line[200];
	int n = snprintf(line, sizeof(line),
	    "failed cannot start coalmine-keeper: %.100s\n", why);

	(void)!send(control, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Return 1 if a child was started. */
static int
broker_do_start(struct packet *p, const struct broker_ops *ops, int room,
    void *arg)
{
	struct child_spec spec = { .deadline_ms = p->head.deadline_ms };
	int rc = -EAGAIN;

	if (p->head.kind == BROKER_START) {
		spec.run = p->head.run;
		spec.id = p->head.child;
		spec.path = p->words[0];
		spec.cpus = p->words[1][0] != '\0' ? p->words[1] : NULL;
		spec.argv = p->words + 2;
		spec.pass = p->fd_count == CHILD_FDS;
	}
	if (room)
		rc = ops->start(&spec, p->fds, arg);
	if (rc < 0)
		broker_start_failed(p->fds[CONTROL_INDEX], strerror(-rc));
	return rc > 0;
}

/* Return 1 if a child was started. */
static int
broker_do(struct packet *p, const struct broker_ops *ops, int room, void *arg)
{
	switch ((enum broker_kind)p->head.kind) {
	case BROKER_CLEAN:
		ops->clean(p->head.run, p->head.child, arg);
		return 0;
	case BROKER_EMPTY:
		ops->empty(p->head.run, arg);
		return 0;
	case BROKER_SHM:
		ops->shm(arg);
		return 0;
	default:
		return broker_do_start(p, ops, room, arg);
	}
}

static void
broker_signal(int sig)
{
	(void)sig;
}

int
broker_serve(int fd, const struct broker_ops *ops, void *arg, struct err *err)
{
	struct sigaction act = { .sa_handler = broker_signal };
	struct packet *p = xcalloc(1, sizeof(*p));
	struct pollfd event = { .fd = fd, .events = POLLIN };
	sigset_t set, old;
	int children = 0;
	ssize_t rc = 1;

	/* SIGCHLD arrives only in ppoll. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigdelset(&old, SIGCHLD);
	sigaction(SIGCHLD, &act, NULL);
	while (rc > 0) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			children--;
		if (ppoll(&event, 1, NULL, &old) <= 0)
			continue;
		rc = broker_packet_read(fd, p, err);
		if (rc > 0 && broker_packet_check(p, (size_t)rc, err) < 0)
			rc = -EPROTO;
		if (rc > 0)
			children += broker_do(p, ops,
			    children < BROKER_CHILDREN_MAX, arg);
		for (size_t i = 0; i < p->fd_count; i++)
			close(p->fds[i]);
		if (rc > 0 && p->head.kind > BROKER_IDLE)
			(void)!send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	free(p);
	return (int)rc;
}

int
broker_fork(const struct broker_ops *ops, void *arg, pid_t *ret_pid)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGTERM };
	struct err err;
	int sv[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		rc = -errno;
		close(sv[0]);
		close(sv[1]);
		return rc;
	}
	if (pid > 0) {
		close(sv[1]);
		*ret_pid = pid;
		return sv[0];
	}
	/* Signals to the whole group are for the network process, which ends
	 * the runs first. */
	close(sv[0]);
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	rc = broker_serve(sv[1], ops, arg, &err);
	if (rc == -EPROTO)
		log_warnx("broker: invalid request of the network process: %s",
		    err.text);
	else if (rc < 0)
		log_warnx("broker: cannot read requests: %s", strerror(-rc));
	_exit(rc < 0);
}

/* ---- the network process ---- */

/* Send a packet with its descriptors. */
static int
broker_send(int fd, struct broker_request *r, const struct strbuf *words,
    const int *fds, size_t fd_count)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * CHILD_FDS)];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec iov[] = { { r, sizeof(*r) },
		{ words->text, words->len_bytes } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_LEN(iov) };
	struct cmsghdr *c;
	ssize_t n;

	r->words_bytes = (uint32_t)words->len_bytes;
	if (sizeof(*r) + words->len_bytes > BROKER_PACKET_MAX)
		return -E2BIG;
	if (fd_count > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_count);
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
		fatalx("the broker has ended");
	return n < 0 ? -errno : 0;
}

static void
broker_run_put(struct broker_request *r, const char *run)
{
	snprintf(r->run, sizeof(r->run), "%s", run);
}

int
broker_start(const struct child_spec *spec, const int fds[CHILD_FDS])
{
	struct broker_request r = { .kind = BROKER_IDLE, .child = -1 };
	struct strbuf words = { 0 };
	size_t fd_count = 0;
	int rc;

	while (fd_count < CHILD_FDS && fds[fd_count] >= 0)
		fd_count++;
	if (spec->run != NULL) {
		r.kind = BROKER_START;
		r.child = (int32_t)spec->id;
		r.deadline_ms = spec->deadline_ms;
		broker_run_put(&r, spec->run);
		strbuf_add(&words, spec->path, strlen(spec->path) + 1);
		strbuf_add(&words, spec->cpus != NULL ? spec->cpus : "",
		    spec->cpus != NULL ? strlen(spec->cpus) + 1 : 1);
		for (char **a = spec->argv; *a != NULL; a++)
			strbuf_add(&words, *a, strlen(*a) + 1);
	}
	rc = broker_send(spec->broker, &r, &words, fds, fd_count);
	strbuf_clear(&words);
	return rc;
}

void
broker_ask(int fd, enum broker_kind kind, const char *run, int64_t child)
{
	struct broker_request r = { .kind = kind, .child = (int32_t)child };
	struct strbuf none = { 0 };
	char reply;
	ssize_t n;

	broker_run_put(&r, run);
	if (broker_send(fd, &r, &none, NULL, 0) < 0)
		fatalx("cannot send a request to the broker");
	do
		n = recv(fd, &reply, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		fatalx("the broker has ended");
}
